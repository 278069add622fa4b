"""The command line: data on stdout, sentences on stderr, exit codes that mean something."""

import json
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.cli.main import COMMANDS, main
from assay.cli.terminal import plain


@assay.reward(name="cli_length", parts=("half",))
def cli_length(final_response: str, *, scale: float = 1.0) -> dict[str, float]:
    """How long the answer is."""
    return {"reward": len(final_response) * scale, "half": len(final_response) / 2}


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"id": "a", "final_response": "four"}\n{"id": "b"}\n')
    return path


def run(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code: Any = main(list(arguments))
    shown = capfd.readouterr()
    return code, shown.out, shown.err


def test_help_names_every_command(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capfd, "--help")
    assert code == 0
    shown = " ".join(out.split())
    for name, help_line in COMMANDS.items():
        assert f"{name} {help_line}" in shown


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_help(capfd: pytest.CaptureFixture[str], command: str) -> None:
    code, out, _ = run(capfd, command, "--help")
    assert code == 0
    assert "Usage: assay" in out


def test_a_pipe_gets_one_object_a_row(capfd: pytest.CaptureFixture[str], answers: Path) -> None:
    code, out, err = run(capfd, "score", str(answers), "--reward", "cli_length")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [row["scores"]["cli_length"]["value"] for row in rows] == [4.0, None]
    assert "1 bad_row" in err


def test_results_go_to_a_file_and_the_summary_to_stdout(
    capfd: pytest.CaptureFixture[str], answers: Path, tmp_path: Path
) -> None:
    out_file = tmp_path / "out.jsonl"
    code, out, _ = run(
        capfd, "score", str(answers), "--reward", "cli_length", "--out", str(out_file), "--json"
    )
    report = json.loads(out)
    assert code == 0
    assert report["rows"] == 2
    assert report["rewards"]["cli_length"] == {
        "mean": 4.0,
        "scored": 1,
        "abstained": {"bad_row": 1},
        "examples": [
            {"because": "line 2: cli_length needs 'final_response'; the row has: id", "count": 1}
        ],
    }
    assert len(out_file.read_text().splitlines()) == 2


def test_an_option_is_passed_to_the_reward(
    capfd: pytest.CaptureFixture[str], answers: Path
) -> None:
    arguments = ["score", str(answers), "--reward", "cli_length", "--param", "scale=2"]
    _, out, _ = run(capfd, *arguments)
    assert json.loads(out.splitlines()[0])["scores"]["cli_length"]["value"] == 8.0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--reward", "cli_lenght"], 2, "did you mean 'cli_length'"),
        (["--reward", "cli_length", "--param", "scales=2"], 2, "their options are: scale"),
        (["--reward", "cli_length", "--param", "scale"], 2, "not KEY=VALUE"),
        (["--reward", "cli_length", "--resume"], 2, "--resume needs --out"),
        (["--nonsense"], 2, "No such option"),
    ],
)
def test_a_call_that_makes_no_sense_is_one_sentence(
    capfd: pytest.CaptureFixture[str], answers: Path, arguments: list[str], code: int, words: str
) -> None:
    got, out, err = run(capfd, "score", str(answers), *arguments)
    assert (got, out) == (code, "")
    assert words in err
    assert "Traceback" not in err


def test_a_file_that_is_not_there_is_one_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capfd, "score", "absent.jsonl", "--reward", "cli_length")
    assert code == 1
    assert err.strip() == "assay: there is no file 'absent.jsonl'"


def test_rewards_are_listed_and_documented(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capfd, "list", "rewards", "--json")
    listed = {record["name"]: record for record in json.loads(out)}
    assert code == 0
    assert listed["cli_length"]["summary"] == "How long the answer is."
    assert listed["qa_f1_reward"]["parts"] == ["f1", "em", "precision", "recall"]
    _, out, _ = run(capfd, "list", "rewards", "cli_length")
    assert "cli_length@1" in out
    assert "option scale" in out


def test_text_from_a_model_cannot_drive_the_terminal() -> None:
    assert plain("a\x1b[2Jb\r\n\u202ec") == r"a\x1b[2Jb\r\n\u202ec"
    assert plain("[red]x[/red]") == "[red]x[/red]"
    assert len(plain("x" * 10_000_000, 50)) == 50
