"""The index says what the run folders say, and can be thrown away."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.ledger.index import LedgerIndex
from assay.ledger.run import Run
from assay.ledger.summary import summarise
from assay.ledger.writer import RunWriter
from assay.schema.episode import StopReason
from assay.schema.task import Task
from tests.ledger.example import MANIFEST, WEATHER, episode, write_example

OTHER = MANIFEST.model_copy(update={"run_id": "20260330-020804-2881e2", "focus": "per year\ud800"})


def dump(runs_dir: Path) -> list[str]:
    with sqlite3.connect(runs_dir / "index.sqlite") as database:
        database.text_factory = bytes
        tables = ("runs", "attempts")
        rows = [str(row) for table in tables for row in database.execute(f"SELECT * FROM {table}")]
    database.close()
    return rows


def test_an_index_that_grew_equals_one_that_was_rebuilt(tmp_path: Path) -> None:
    index = LedgerIndex(tmp_path)
    assert index.update() == 0
    write_example(tmp_path)
    assert index.update() == 3
    with RunWriter.create(tmp_path, OTHER) as writer:
        for number in range(5):
            task = Task(id=f"task {number} \ud800\x00", metadata={"domain": "\udfff"})
            writer.append(episode(writer.new_attempt(task), task, reward=number / 4))
            assert index.update() == 1
    with (writer.path / "episodes.jsonl").open("ab") as stream:
        stream.write(b'{"damaged": true}\n{"torn": ')
    assert index.update() == 1
    assert index.update() == 0
    grown = dump(tmp_path)
    index.path.unlink()
    assert index.update() == 9
    assert dump(tmp_path) == grown
    assert index.rebuild() == 9
    assert dump(tmp_path) == grown


ATTEMPTS = st.tuples(
    st.integers(0, 2),
    st.integers(0, 1),
    st.sampled_from(["answered", "env_error", "agent_error", "step_limit"]),
    st.sampled_from([None, 0.0, 0.5, 1.0]),
)


@settings(max_examples=15, deadline=None)
@given(st.lists(ATTEMPTS, max_size=8))
def test_a_row_of_the_index_agrees_with_the_summary_of_the_run(
    tmp_path_factory: pytest.TempPathFactory,
    attempts: list[tuple[int, int, StopReason, float | None]],
) -> None:
    runs_dir = tmp_path_factory.mktemp("runs")
    with RunWriter.create(runs_dir, MANIFEST) as writer:
        for number, repeat, ending, reward in attempts:
            task = Task(id=f"t{number}")
            attempt = writer.new_attempt(task, repeat)
            writer.submit(episode(attempt, task, stop_reason=ending, reward=reward, repeat=repeat))
    run = Run(writer.path)
    counts = summarise(run).counts
    index = LedgerIndex(runs_dir)
    (row,) = index.runs()
    assert (row.attempts, row.n, row.scored) == (len(attempts), counts.n, counts.scored)
    assert row.mean == (None if counts.mean is None else pytest.approx(counts.mean))
    assert row.errors == counts.agent_errors + counts.env_errors
    assert (row.answered, row.abstained) == (counts.answered, counts.abstained)
    final = {attempt.attempt for attempt in run.final()}
    assert {attempt.attempt for attempt in index.attempts() if attempt.counts} == final


def test_runs_and_attempts_can_be_asked_for(tmp_path: Path) -> None:
    write_example(tmp_path)
    with RunWriter.create(tmp_path, OTHER) as writer:
        writer.append(episode(writer.new_attempt(WEATHER), reward=0.5))
    index = LedgerIndex(tmp_path)
    first, second = index.runs()
    assert (first.run_id, first.planned, first.n, first.attempts) == (MANIFEST.run_id, 2, 2, 3)
    assert (second.focus, second.mean) == ("per year\ud800", 0.5)
    history = index.attempts(task_id=WEATHER.id)
    assert [(attempt.run_id, attempt.reward) for attempt in history] == [
        (MANIFEST.run_id, 0.993),
        (OTHER.run_id, 0.5),
    ]
    replaced, retry = index.attempts(run_id=MANIFEST.run_id)[1:]
    assert (replaced.counts, retry.counts) == (False, True)


def test_a_run_that_was_deleted_replaced_or_cut_is_indexed_anew(tmp_path: Path) -> None:
    run = write_example(tmp_path)
    path = run.path / "episodes.jsonl"
    index = LedgerIndex(tmp_path)
    assert index.runs()[0].attempts == 3
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]))
    assert index.runs()[0].attempts == 2
    path.write_bytes(b"".join(reversed(lines)))
    assert [attempt.attempt[:6] for attempt in index.attempts()] == ["prices", "prices", "weathe"]
    shutil.rmtree(run.path)
    assert index.runs() == []


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b""])
def test_a_damaged_index_is_made_anew(content: bytes, tmp_path: Path) -> None:
    write_example(tmp_path)
    (tmp_path / "index.sqlite").write_bytes(content)
    assert LedgerIndex(tmp_path).runs()[0].attempts == 3


def test_an_index_of_another_version_is_made_anew(tmp_path: Path) -> None:
    write_example(tmp_path)
    with sqlite3.connect(tmp_path / "index.sqlite") as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    assert LedgerIndex(tmp_path).runs()[0].attempts == 3


def test_where_no_file_can_be_made_the_index_lives_in_memory(tmp_path: Path) -> None:
    write_example(tmp_path)
    (tmp_path / "index.sqlite").mkdir()
    index = LedgerIndex(tmp_path)
    assert index.runs()[0].attempts == 3
    assert len(index.attempts()) == 3


def test_a_run_with_an_unreadable_manifest_is_listed_as_such(tmp_path: Path) -> None:
    run = write_example(tmp_path)
    (run.path / "manifest.json").write_text("{")
    (row,) = LedgerIndex(tmp_path).runs()
    assert row.focus.startswith("unreadable: ")
    assert row.attempts == 3


def test_a_folder_that_does_not_exist_has_no_runs(tmp_path: Path) -> None:
    assert LedgerIndex(tmp_path / "nowhere").runs() == []


def test_a_line_with_numbers_out_of_reason_is_damaged_not_fatal(tmp_path: Path) -> None:
    run = write_example(tmp_path)
    path = run.path / "episodes.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"repeat":0', b'"repeat":' + b"9" * 30, 1))
    (row,) = LedgerIndex(tmp_path).runs()
    assert (row.damaged, row.attempts) == (1, 2)
