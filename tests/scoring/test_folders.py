"""Scoring a folder: a file for each shard, exactly what is missing is scored, nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pytest
from pyarrow import dataset, parquet

from assay.errors import BadParameter, BadRecord
from assay.scoring.batch import LocalProcesses
from assay.scoring.files.folders import score_folder
from tests.runner.rewards_for_tests import length

T = TypeVar("T")
R = TypeVar("R")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Seven rows in three files, one of them in a folder of its own; two files are passed over."""
    folder = tmp_path / "in"
    (folder / "day=2").mkdir(parents=True)
    write_lines(folder / "a.jsonl", "one", "two", "raise")
    rows = [{"id": 7, "final_response": word} for word in ("three", "four", "")]
    parquet.write_table(pa.Table.from_pylist(rows), folder / "b.parquet", row_group_size=2)
    write_lines(folder / "day=2" / "c.jsonl", "five")
    (folder / "_notes.txt").write_text("not data")
    (folder / ".hidden").write_text("not data")
    return folder


def write_lines(path: Path, *words: str) -> None:
    path.write_text("".join(json.dumps({"final_response": word}) + "\n" for word in words))


def contents(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*.*")}


def test_every_row_of_every_file_is_in_one_shard(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    report = score_folder(source, [length], out, keep=["final_response"])
    assert sorted(path.name for path in out.glob("*.parquet")) == [
        "part-00000.parquet",
        "part-00001.parquet",
        "part-00002.parquet",
        "part-00003.parquet",
    ]
    # Anything that reads Parquet folders reads it, and does not stumble over the job's own files.
    table = dataset.dataset(out).to_table().sort_by([("file", "ascending"), ("line", "ascending")])
    found = [(r["file"], r["line"], r["final_response"], r["length"]) for r in table.to_pylist()]
    assert found == [
        ("a.jsonl", 1, "one", 3.0),
        ("a.jsonl", 2, "two", 3.0),
        ("a.jsonl", 3, "raise", None),
        ("b.parquet", 1, "three", 5.0),
        ("b.parquet", 2, "four", 4.0),
        ("b.parquet", 3, "", 0.0),
        ("day=2/c.jsonl", 1, "five", 4.0),
    ]
    assert (report.rows, report.rewards["length"].abstained) == (7, {"grader_error": 1})
    summary = json.loads((out / "_assay" / "summary.json").read_text())
    assert (summary["rows"], summary["rewards"]["length"]["total"]) == (7, 19.0)


def test_the_shards_do_not_depend_on_the_number_of_workers(source: Path, tmp_path: Path) -> None:
    score_folder(source, [length], tmp_path / "one")
    score_folder(source, [length], tmp_path / "two", engine=LocalProcesses(2))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_a_single_file_can_have_a_folder_of_shards_too(source: Path, tmp_path: Path) -> None:
    report = score_folder(source / "b.parquet", [length], tmp_path / "out")
    assert report.rows == 3
    assert len(list((tmp_path / "out").glob("part-*"))) == 2


class Stop(Exception):
    """Raised by a progress callback to stop a job half-way."""


def stopped(source: Path, out: Path, *, after: int) -> None:
    def stop(done: int, total: int) -> None:
        if done >= after:
            raise Stop

    with pytest.raises(Stop):
        score_folder(source, [length], out, progress=stop)


def test_a_stopped_job_makes_only_what_is_missing(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    stopped(source, out, after=5)
    done = {path: path.stat().st_mtime_ns for path in out.glob("part-*")}
    (out / "_assay" / "drafts" / "0123.tmp").write_text("left by a killed worker")
    report = score_folder(source, [length], out, resume=True)
    assert (report.rows, report.resumed_rows, len(done)) == (7, 5, 2)
    assert {path: path.stat().st_mtime_ns for path in done} == done
    score_folder(source, [length], tmp_path / "calm")
    assert contents(out) == contents(tmp_path / "calm")


def test_a_worker_that_comes_too_late_changes_nothing(source: Path, tmp_path: Path) -> None:
    handed_out: list[tuple[Callable[[Any], Any], Any]] = []

    class Noting:
        def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
            handed_out.extend((work, item) for item in items)
            return map(work, items)

    score_folder(source, [length], tmp_path / "out", engine=Noting())
    before = contents(tmp_path / "out")
    for work, job in handed_out:
        with pytest.raises(FileNotFoundError):
            work(job)
    assert contents(tmp_path / "out") == before
    assert len(handed_out) == 4


def test_a_finished_job_has_nothing_left_to_do(source: Path, tmp_path: Path) -> None:
    score_folder(source, [length], tmp_path / "out")
    before = contents(tmp_path / "out")
    report = score_folder(source, [length], tmp_path / "out", resume=True)
    assert report.resumed_rows == report.rows == 7
    assert contents(tmp_path / "out") == before


def test_a_shard_that_was_deleted_is_scored_again(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    score_folder(source, [length], out)
    before = contents(out)
    (out / "part-00001.parquet").unlink()
    report = score_folder(source, [length], out, resume=True)
    assert report.resumed_rows == 5
    assert contents(out) == before


def test_another_input_is_refused_by_its_name(source: Path, tmp_path: Path) -> None:
    stopped(source, tmp_path / "out", after=3)
    write_lines(source / "day=2" / "c.jsonl", "five", "six")
    with pytest.raises(
        BadRecord, match=r"'day=2/c\.jsonl' was changed, added or removed \(1 files"
    ):
        score_folder(source, [length], tmp_path / "out", resume=True)


def test_another_configuration_is_refused(source: Path, tmp_path: Path) -> None:
    stopped(source, tmp_path / "out", after=3)
    with pytest.raises(BadRecord, match="its keep was"):
        score_folder(source, [length], tmp_path / "out", resume=True, keep=["id"])


def test_nothing_is_replaced_unasked_and_nothing_but_results_ever(
    source: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    score_folder(source, [length], out)
    with pytest.raises(BadRecord, match="--resume scores its missing rows"):
        score_folder(source, [length], out)
    (out / "mine.txt").write_text("precious")
    write_lines(source / "a.jsonl", "one")
    score_folder(source, [length], out, overwrite=True)
    assert (out / "mine.txt").read_text() == "precious"
    assert dataset.dataset(sorted(map(str, out.glob("part-*")))).count_rows() == 5


def test_a_folder_that_holds_something_else_is_left_alone(source: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "part-00000.parquet").write_text("precious")
    for overwrite in (False, True):
        with pytest.raises(BadRecord, match="other files and no earlier job"):
            score_folder(source, [length], tmp_path / "home", overwrite=overwrite)
    assert (tmp_path / "home" / "part-00000.parquet").read_text() == "precious"


def test_a_file_that_cannot_be_read_is_named_rather_than_left_out(
    source: Path, tmp_path: Path
) -> None:
    (source / "more.jsonl.gz").write_bytes(b"\x1f\x8b")
    with pytest.raises(BadRecord, match=r"'more\.jsonl\.gz'.*is not a \.jsonl, \.csv or \.parquet"):
        score_folder(source, [length], tmp_path / "out")


def test_calls_that_make_no_sense_are_refused(source: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(BadRecord, match=r"holds no \.jsonl, \.csv or \.parquet"):
        score_folder(tmp_path / "empty", [length], tmp_path / "out")
    with pytest.raises(BadRecord, match="there is no file or folder"):
        score_folder(tmp_path / "nowhere", [length], tmp_path / "out")
    with pytest.raises(BadRecord, match="is a file; give a folder for the results"):
        score_folder(source, [length], tmp_path / "file")
    with pytest.raises(BadParameter, match="choose a folder outside of it"):
        score_folder(source, [length], source / "out")
    with pytest.raises(BadParameter, match="already have a column of this name"):
        score_folder(source, [length], tmp_path / "out", keep=["file"])
    with pytest.raises(BadParameter, match="at least 1"):
        LocalProcesses(0)
