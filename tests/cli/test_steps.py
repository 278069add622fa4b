"""`assay steps`: a recorded trace, scored again from the file alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.browser.step_records import StepLog
from assay.cli.main import main
from assay.ledger.steps import StepsWriter
from assay.schema.episode import Step
from assay.schema.evidence import PageEvidence
from assay.schema.observation import Observation
from assay.schema.outcome import ToolOutcome

WALK = [
    ("", "form", None),
    ('click("7")', "done", None),
    ('click("9")', "done", "stale_ref"),
    ('click("9")', "done", "stale_ref"),
]


def steps() -> list[Step]:
    scoring = StepLog()
    written = []
    for action, page, error in WALK:
        evidence = PageEvidence(url=page, text=page)
        outcome = ToolOutcome("click", action, ok=error is None, error=error)  # type: ignore[arg-type]  # from a table
        written.append(scoring.record(action, Observation(page, evidence, outcome=outcome)))
    return written


def write(path: Path, records: list[Step]) -> Path:
    with StepsWriter(path) as writer:
        for record in records:
            writer.write(record)
    return path


def run(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code: Any = main(["steps", *arguments])
    shown = capfd.readouterr()
    return code, shown.out, shown.err


def test_the_table_says_what_each_step_is_worth_and_why(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    code, out, err = run(capfd, str(write(tmp_path / "t.jsonl", steps())))
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0].split() == ["step", "action", "class", "score", "confidence", "reasons"]
    assert lines[1].split() == ["0", "(reset)", "-", "-", "-"]
    assert "progress" in lines[2]
    assert "url_changed, text_changed" in lines[2]
    assert "-0.500" in lines[4]
    assert "repeated_failure (1)" in lines[4]


def test_json_is_one_object_a_step(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = run(capfd, str(write(tmp_path / "t.jsonl", steps())), "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [row["step"] for row in rows] == [0, 1, 2, 3]
    assert rows[0]["score"] is None
    assert rows[3]["score"]["classification"] == "failure"
    assert rows[3]["stored"]["score"] == rows[3]["score"]["score"] == -0.5
    assert not any(row["differs"] for row in rows)


@pytest.mark.parametrize(
    ("scorer", "code", "words"),
    [
        ("recovery@0", 0, "recovery@0 wrote them; recovery@4 has other rules"),
        ("recovery@4", 3, "gives other scores: the file changed"),
    ],
)
def test_stored_scores_that_differ_are_named(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, scorer: str, code: int, words: str
) -> None:
    records = steps()
    other = {**records[1].scores[0], "scorer": scorer, "score": 0.123}
    records[1] = records[1].model_copy(update={"scores": (other,)})
    got, out, err = run(capfd, str(write(tmp_path / "t.jsonl", records)))
    assert got == code
    assert words in err
    assert "(steps 1)" in err
    assert "*" in out


def test_a_file_that_is_no_trace_is_one_sentence(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for path, text in [(tmp_path / "absent", None), (tmp_path / "odd", '{"a": 1}\n')]:
        if text is not None:
            path.write_text(text)
        code, out, err = run(capfd, str(path))
        assert (code, out) == (1, "")
        assert err.startswith("assay: ")
        assert "Traceback" not in err


def test_hostile_text_in_a_trace_cannot_drive_the_terminal(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    records = steps()
    records[1] = records[1].model_copy(update={"action": "\x1b[2J[bold]x"})
    _, out, _ = run(capfd, str(write(tmp_path / "t.jsonl", records)))
    assert "\x1b[2J" not in out
    assert "[bold]x" in out
