"""The options that say where the work is done: what they take, and what they refuse."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import main

REWARD = """
import assay

@assay.reward(name="of_a_file", version=2)
def of_a_file(final_response: str) -> float:
    return len(final_response) / 2
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("rows").mkdir()
    for name in "ab":
        row = {"final_response": name * 4, "answer": name * 4}
        Path("rows", f"{name}.jsonl").write_text(json.dumps(row) + "\n")


def run(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code: Any = main(list(arguments))
    shown = capfd.readouterr()
    return code, shown.out, shown.err


def test_a_folder_is_scored_with_a_reward_of_a_file(capfd: pytest.CaptureFixture[str]) -> None:
    Path("rewards_of_mine.py").write_text(REWARD)
    given = ["score", "rows", "--reward", "of_a_file", "--out", "out"]
    code, out, _ = run(capfd, *given, "--import", "rewards_of_mine.py", "--workers", "2", "--json")
    assert code == 0
    counts = json.loads(out)["rewards"]["of_a_file"]
    assert counts == {"mean": 2.0, "scored": 2, "abstained": {}, "examples": []}
    assert len(list(Path("out").glob("part-*.parquet"))) == 2
    code, out, _ = run(capfd, *given, "--resume", "--json")
    assert (code, json.loads(out)["resumed_rows"]) == (0, 2)


def test_a_file_goes_into_a_folder_when_the_name_ends_like_one(
    capfd: pytest.CaptureFixture[str],
) -> None:
    given = ["score", "rows/a.jsonl", "--reward", "fuzzy_answer_reward"]
    assert run(capfd, *given, "--out", "out/")[0] == 0
    assert Path("out", "part-00000.parquet").is_file()
    assert run(capfd, *given, "--out", "out.jsonl")[0] == 0
    assert Path("out.jsonl").is_file()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["score", "rows", "--reward", "qa_f1_reward"], "needs --out"),
        (["score", "rows/a.jsonl", "--reward", "qa_f1_reward", "--engine", "ray"], "needs --out"),
        (
            ["score", "rows", "--reward", "qa_f1_reward", "--out", "out", "--address", "auto"],
            "add --engine ray",
        ),
        (["run", "townsquare", "--agent", "rules", "--address", "auto"], "set the engine to 'ray'"),
        (["score", "rows", "--reward", "x", "--import", "no_such_module"], "--import no_such"),
        (["run", "--import", "json.py"], "another module has the name 'json'"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(
    capfd: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    Path("json.py").write_text("")
    code, out, err = run(capfd, *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert not Path("out").exists()
