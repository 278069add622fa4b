"""`assay rewards diff`: what it shows first, how it exits, and where a reward may live."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import main
from assay.registry import REWARDS
from tests.report.ledgers import write_run

GRADER = """
from helpers import normal

def grade(final_response, answer):
    return float(normal(final_response) == normal(answer))
"""


@pytest.fixture
def rollouts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    rows = [
        {"prompt_id": n // 4, "final_response": text, "answer": "1/2"}
        for n, text in enumerate(("1/2", "0.5", "1/3", "1/2 ") * 5)
    ]
    path = tmp_path / "rollouts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def git(*words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *words], check=True, capture_output=True)


def run_json(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    assert main(["rewards", "diff", *words, "--json"]) == code
    record: dict[str, Any] = json.loads(capsys.readouterr().out)
    return record


def test_what_a_row_loses_is_shown_first(
    rollouts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("letter_grade.py").write_text(
        "def grade(final_response, answer):\n"
        "    return {'reward': float(final_response.strip() in (answer, '1/3'))}\n"
    )
    words = ["math_equal_reward", "letter_grade.py:grade", "--data", rollouts.name]
    command = ["rewards", "diff", *words, "--group", "prompt_id", "--html", "page.html"]
    assert main([*command, "--fail-on", "down=10", "--fail-on", "flips=100%"]) == 0
    out = capsys.readouterr().out
    assert "20 rows, 10 change (50.00%)" in out
    assert out.index("down: 5 rows") < out.index("up: 5 rows")
    assert "rollouts.jsonl:2  0.5   reference: 1/2" in out
    assert "old 1: '0.5'" in out
    assert "advantages turn round in 5 groups" in out
    assert "letter_grade.py:grade" in Path("page.html").read_text()
    assert main([*command, "--fail-on", "down=4"]) == 3
    assert "the gate failed: down: 5 of 20 rows, more than 4" in capsys.readouterr().err
    record = run_json(capsys, *words, "--fail-on", "moved=10%", code=3)
    assert record["closed"] == ["moved: 10 of 20 rows, more than 10.00%"]
    assert record["groups"] is None


def test_a_gate_that_cannot_close_is_refused_before_the_first_row(
    rollouts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["qa_f1_reward", "no_such_reward", "--data", str(rollouts), "--fail-on", "flat"]
    assert main(["rewards", "diff", *words]) == 2
    assert "--fail-on flat is about groups" in capsys.readouterr().err


def test_a_revision_of_a_file_brings_what_it_imports(
    rollouts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git("init", "-q")
    Path("revised.py").write_text(GRADER)
    Path("helpers.py").write_text("def normal(text):\n    return text.strip()\n")
    git("add", "revised.py", "helpers.py")
    git("commit", "-qm", "first")
    Path("helpers.py").write_text("def normal(text):\n    return text\n")
    words = ["revised.py:grade@HEAD", "revised.py:grade", "--data", str(rollouts)]
    record = run_json(capsys, *words)
    assert record["changes"]["down"] == 5
    assert [each["response"] for each in record["kinds"][0]["examples"]] == ["1/2 "]
    assert record["old"].startswith("revised.py:grade@HEAD (")
    assert main(["rewards", "diff", "revised.py:grade@v9", *words[1:]]) == 2
    assert "has no revision 'v9'" in capsys.readouterr().err


def test_a_grader_in_another_interpreter_is_called_in_its_own_shape(
    rollouts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("foreign.py").write_text(
        "def compute_score(data_source, solution_str, ground_truth, extra_info=None):\n"
        "    if solution_str == '1/3':\n"
        "        raise ValueError('no thirds')\n"
        "    return {'score': float(solution_str == ground_truth)}\n"
    )
    words = ["foreign.py:compute_score", "qa_f1_reward", "--data", str(rollouts)]
    record = run_json(capsys, *words, "--old-python", sys.executable)
    assert record["changes"]["abstained_to_scored"] == 5
    example = record["kinds"][0]["examples"][0]
    assert example["old"]["abstained"] == "grader_error"
    assert "no thirds" in example["old"]["because"]


def test_two_files_may_hold_two_codes_of_one_version(
    rollouts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = (
        "import assay\n\n\n@assay.reward(name='cli_same_name')\n"
        "def grade(final_response, answer):\n    return {'reward': float(final_response == %s)}\n"
    )
    Path("grade_one.py").write_text(code % "answer")
    Path("grade_two.py").write_text(code % "answer + ' '")
    words = ["grade_one.py:grade", "grade_two.py:grade", "--data", str(rollouts)]
    record = run_json(capsys, *words)
    assert record["changes"]["down"] == record["changes"]["up"] == 5


def test_options_and_versions_of_one_reward(
    rollouts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("two_versions.py").write_text(
        "import assay\n\n\n@assay.reward(name='cli_versions', version=1)\n"
        "def one(final_response, answer):\n    return float(final_response == answer)\n\n\n"
        "@assay.reward(name='cli_versions', version=2)\n"
        "def two(final_response, answer, *, pay=1.0):\n"
        "    return pay * (final_response.strip() == answer)\n"
    )
    words = ["cli_versions@1", "cli_versions", "--data", str(rollouts)]
    record = run_json(capsys, *words, "--import", "two_versions.py")
    assert (record["old"], record["new"]) == ("cli_versions@1", "cli_versions@2")
    assert record["changes"]["up"] == 5
    record = run_json(capsys, *words, "--new-param", "pay=0.5")
    assert record["new"] == "cli_versions@2 (pay=0.5)"
    assert record["changes"]["down"] == 5
    assert main(["rewards", "diff", *words, "--param", "pay=2"]) == 2
    assert "--param pay: cli_versions@1 has no such option" in capsys.readouterr().err
    assert "cli_versions" in REWARDS.names()


def test_a_reward_is_listed_with_its_versions_and_their_changes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["list", "rewards", "scienceworld_reward"]) == 0
    out = capsys.readouterr().out
    assert "scienceworld_reward@1, scienceworld_reward@2" in out
    assert "with agentfly=True, `acc` is 0.0 under four messages" in out
    assert main(["list", "rewards", "scienceworld_reward@1", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["version"], record["versions"], record["changes"]) == (1, [1, 2], {})


def test_a_run_is_scored_again_by_the_version_that_is_named(
    rollouts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("run_versions.py").write_text(
        "import assay\n\n\n@assay.reward(name='run_versions', version=1)\n"
        "def one(final_response):\n    return 1.0\n\n\n"
        "@assay.reward(name='run_versions', version=2, changes={2: 'pays half'})\n"
        "def two(final_response):\n    return 0.5\n"
    )
    write_run(rollouts.parent, "old-1", {"task.0": [1.0, 0.0]})
    for version, mean in ((1, 1.0), (2, 0.5)):
        reward = f"run_versions@{version}"
        words = ["old-1", "--reward", reward, "--runs", ".", "--import", "run_versions.py"]
        assert main(["score", *words, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["mean"] == mean
    words = ["run_versions@1", "--import", "run_versions.py", "--json"]
    assert main(["list", "rewards", *words]) == 0
    assert json.loads(capsys.readouterr().out)["versions"] == [1, 2]
    # What scoring again made is not compared a second time.
    record = run_json(capsys, "run_versions@1", "run_versions", "--data", ".")
    assert record["data"] == ["old-1"]
    assert (record["changes"]["down"], record["group"]) == (2, ["run_id", "task_id"])


@pytest.mark.parametrize("rows", [[], [{"final_response": "1", "gold": "1"}] * 2])
def test_no_gate_passes_where_neither_reward_scored_a_row(
    rows: list[Any], rollouts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rollouts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["math_equal_reward", "qa_f1_reward", "--data", str(rollouts)]
    record = run_json(capsys, *words, "--fail-on", "down", code=3)
    assert record["closed"] == ["nothing was compared: neither reward scored a row"]
    assert main(["rewards", "diff", *words]) == 0
    assert "nothing was compared" in capsys.readouterr().out
