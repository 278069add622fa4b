"""Labels are appended, the last of each person counts, and nothing is lost or made up."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assay.errors import BadParameter, BadRecord, ResourceError
from assay.ledger.labels import (
    Label,
    add_label,
    append_labels,
    author_name,
    can_label,
    consensus,
    read_labels,
)
from assay.ledger.run import Run
from tests.report.ledgers import write_run
from tests.viewer.ledgers import HOSTILE, write_marked


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return write_marked(tmp_path)


ATTEMPT = "marked.r0.a1"


def test_a_label_is_a_line_with_its_author_and_time(run: Run) -> None:
    label = add_label(run.path, ATTEMPT, "wrong", note=HOSTILE, author="ann")
    assert read_labels(run.path).labels == (label,)
    assert (label.author, label.note, label.at[-1]) == ("ann", HOSTILE, "Z")
    data = (run.path / "labels.jsonl").read_bytes()
    assert data.isascii()
    assert data.count(b"\n") == 1


def test_the_last_label_of_each_person_counts_and_nothing_is_overwritten(run: Run) -> None:
    add_label(run.path, ATTEMPT, "wrong", author="ann")
    add_label(run.path, ATTEMPT, "right", author="ann")
    add_label(run.path, ATTEMPT, "doubtful", author="bob")
    add_label(run.path, ATTEMPT, "wrong", step=3, author="ann")
    labels = read_labels(run.path)
    assert len(labels.labels) == 4
    assert [(label.author, label.value) for label in labels.of(ATTEMPT)] == [
        ("ann", "right"),
        ("bob", "doubtful"),
    ]
    assert [label.value for label in labels.of(ATTEMPT, 3)] == ["wrong"]
    add_label(run.path, ATTEMPT, "withdrawn", step=3, author="ann")
    assert read_labels(run.path).of(ATTEMPT, 3) == ()


def test_saying_the_same_again_adds_nothing(run: Run) -> None:
    for _ in range(2):
        add_label(run.path, ATTEMPT, "right", author="ann")
    assert len(read_labels(run.path).labels) == 1


def test_what_most_people_say_counts_and_a_tie_is_doubtful() -> None:
    def says(*values: str) -> str | None:
        return consensus(Label.model_validate({"attempt": "a", "value": v}) for v in values)

    assert says() is None
    assert says("right", "wrong", "right") == "right"
    assert says("right", "wrong") == "doubtful"


@pytest.mark.parametrize(
    ("attempt", "value", "step", "error"),
    [
        (ATTEMPT, "good", None, BadParameter),
        (ATTEMPT, "right", -1, BadParameter),
        (ATTEMPT, "right", 99, BadRecord),
        ("nobody", "right", None, BadRecord),
        ("../marked", "right", None, BadParameter),
    ],
)
def test_a_label_of_nothing_is_refused(
    run: Run, attempt: str, value: str, step: int | None, error: type[Exception]
) -> None:
    with pytest.raises(error):
        add_label(run.path, attempt, value, step=step)
    assert not (run.path / "labels.jsonl").exists()


def test_a_note_that_is_too_long_is_refused(run: Run) -> None:
    with pytest.raises(BadParameter, match="note"):
        add_label(run.path, ATTEMPT, "right", note="x" * 4_001)


def test_a_torn_or_damaged_line_hides_no_other(run: Run) -> None:
    add_label(run.path, ATTEMPT, "right", author="ann")
    path = run.path / "labels.jsonl"
    with path.open("ab") as stream:
        stream.write(b'{"attempt": "mark')
    add_label(run.path, ATTEMPT, "wrong", author="bob")
    labels = read_labels(run.path)
    assert [label.value for label in labels.labels] == ["right", "wrong"]
    assert len(labels.problems) == 1
    assert "line 2" in labels.problems[0]


def test_many_writers_lose_nothing(run: Run) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda i: add_label(run.path, ATTEMPT, "right", author=f"{i}"), range(40)))
    assert len(read_labels(run.path).labels) == 40


def test_a_read_only_folder_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *_: object) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    assert can_label(run.path)
    monkeypatch.setattr("assay.ledger.labels.os.access", lambda *_: False)
    assert not can_label(run.path)
    monkeypatch.setattr("assay.ledger.labels.os.open", refuse)
    with pytest.raises(ResourceError, match="Read-only file system; make the folder writable"):
        append_labels(run.path, [Label(attempt=ATTEMPT, value="right")])


def test_a_link_in_the_place_of_the_file_is_not_followed(run: Run, tmp_path: Path) -> None:
    (run.path / "labels.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ResourceError):
        append_labels(run.path, [Label(attempt=ATTEMPT, value="right")])
    assert not (tmp_path / "elsewhere").exists()


def test_an_author_is_who_the_environment_names() -> None:
    assert author_name({"ASSAY_AUTHOR": " ann "}) == "ann"
    assert author_name({}) == author_name({"ASSAY_AUTHOR": ""})


def test_labels_change_nothing_else_of_a_run(tmp_path: Path) -> None:
    made = write_run(tmp_path, "made-1", {"a": 1.0})
    before = {path: path.read_bytes() for path in made.path.rglob("*") if path.is_file()}
    add_label(made.path, next(iter(made.attempts().attempts)), "right")
    after = {path: path.read_bytes() for path in made.path.rglob("*") if path.is_file()}
    assert {**before, made.path / "labels.jsonl": after[made.path / "labels.jsonl"]} == after
