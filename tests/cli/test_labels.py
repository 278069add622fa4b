"""Labels go out and come in again, as JSON lines and as a table."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.ledger.labels import add_label, read_labels
from assay.ledger.run import Run
from tests.report.ledgers import write_run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return write_run(tmp_path / "runs", "made-1", {"a": 1.0, "b": 0.0, "c": 1.0})


def labels(run: Run, *words: str) -> int:
    code: int = main(["labels", *words, "--runs", str(run.path.parent)])
    return code


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl"])
def test_what_is_exported_can_be_imported(run: Run, tmp_path: Path, name: str) -> None:
    attempt = next(iter(run.attempts().attempts))
    add_label(run.path, attempt, "wrong", note='=cmd|"x", "quoted"\nline', author="ann")
    add_label(run.path, attempt, "right", author="bob")
    out = tmp_path / name
    assert labels(run, "export", "made-1", "--out", str(out)) == 0
    before = read_labels(run.path)
    assert labels(run, "import", str(out), "made-1") == 0
    assert read_labels(run.path) == before
    (run.path / "labels.jsonl").unlink()
    assert labels(run, "import", str(out), "made-1") == 0
    assert set(read_labels(run.path).labels) == set(before.labels)


def test_a_table_to_fill_in_has_every_attempt_and_no_formula(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "fill.csv"
    assert labels(run, "export", "made-1", "--all", "--out", str(out)) == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["task_id"] for row in rows] == ["a", "b", "c"]
    assert {row["label"] for row in rows} == {""}
    rows[0]["label"], rows[1]["label"] = "yes", "Wrong"
    with out.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert labels(run, "import", str(out), "made-1", "--author", "ann") == 0
    found = {label.value: label.author for label in read_labels(run.path).labels}
    assert found == {"right": "ann", "wrong": "ann"}
    assert labels(run, "export", "made-1", "--out", str(out)) == 2


def test_a_task_stands_for_the_attempt_that_counts(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text(json.dumps({"task_id": "b", "label": 0, "note": "off by one"}) + "\n\n")
    assert labels(run, "import", str(file), "made-1") == 0
    (label,) = read_labels(run.path).labels
    assert run.attempts().attempts[label.attempt].task_id == "b"
    assert (label.value, label.note) == ("wrong", "off by one")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"task_id": "zzz", "label": "right"}, "no attempt at repeat 0 of task 'zzz'"),
        ({"label": "right"}, "neither an attempt nor a task_id"),
        ({"task_id": "a", "label": "good"}, "choose one of right, wrong, doubtful"),
        ({"task_id": "a", "label": "right", "step": "two"}, "step is 'two'"),
        ({"attempt": "nobody", "label": "right"}, "no attempt 'nobody'"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_taken_in(
    run: Run,
    tmp_path: Path,
    row: dict[str, str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text(json.dumps({"task_id": "a", "label": "right"}) + "\n" + json.dumps(row))
    assert labels(run, "import", str(file), "made-1") == 1
    error = capsys.readouterr().err
    assert "line 2" in error
    assert message in error
    assert read_labels(run.path).labels == ()


def test_agreement_is_printed_and_is_json(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert labels(run, "agreement", "made-1") == 0
    assert "no labels yet" in capsys.readouterr().out
    for line, word in zip(run.attempts().attempts, ("right", "right", "wrong"), strict=True):
        add_label(run.path, line, word, note="because", author="ann")
    assert labels(run, "agreement", "made-1") == 0
    shown = capsys.readouterr().out
    assert "kappa" in shown
    assert "because" in shown
    assert labels(run, "agreement", "made-1", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)["rewards"]
    assert (row["right_paid"], row["right_unpaid"], row["wrong_paid"]) == (1, 1, 1)
