"""The index says what the run folders say, and can be thrown away."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.ledger.index import TEXT_CHARS, LedgerIndex
from assay.ledger.run import Run
from assay.ledger.summary import summarise
from assay.ledger.writer import RunWriter
from assay.schema.episode import Episode, Failure, StopReason, Trajectory
from assay.schema.manifest import RunManifest
from assay.schema.score import Scored
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


def scored(runs_dir: Path, rewards: list[float]) -> Path:
    """A run with one attempt for each reward, whose lines are longer than what is read at once."""
    with RunWriter.create(runs_dir, MANIFEST) as writer:
        for number, reward in enumerate(rewards):
            task = Task(id=f"task {number}", goal="." * 2_000)
            writer.append(episode(writer.new_attempt(task), task, reward=reward))
    return writer.path


def test_after_a_lost_tail_and_a_resume_the_numbers_are_those_of_the_run(tmp_path: Path) -> None:
    folder = scored(tmp_path, [1.0, 1.0, 1.0, 1.0, 0.0])
    index = LedgerIndex(tmp_path)
    assert index.runs()[0].mean == 0.8
    path = folder / "episodes.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]))
    with RunWriter.open(folder) as writer:
        for number in range(2, 5):
            task = Task(id=f"task {number}", goal="." * 2_100)
            writer.append(episode(writer.new_attempt(task), task, reward=0.0))
    assert path.stat().st_size > sum(map(len, lines))
    assert index.runs()[0].mean == LedgerIndex(tmp_path).runs()[0].mean == 0.4


def test_a_line_that_was_changed_in_its_place_is_noticed(tmp_path: Path) -> None:
    path = scored(tmp_path, [1.0] * 5) / "episodes.jsonl"
    index = LedgerIndex(tmp_path)
    assert index.runs()[0].mean == 1.0
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b'"value":1.0', b'"value":0.0')
    path.write_bytes(b"".join(lines))
    assert index.runs()[0].mean == 0.8


def test_whichever_page_of_the_index_is_damaged_the_numbers_are_right(tmp_path: Path) -> None:
    scored(tmp_path, [1.0, 0.0, 0.5])
    right = LedgerIndex(tmp_path).runs(), LedgerIndex(tmp_path).attempts(task_id="task 1")
    content = (tmp_path / "index.sqlite").read_bytes()
    for start in range(0, len(content), 4096):
        damaged = content[:start] + bytes(4096) + content[start + 4096 :]
        (tmp_path / "index.sqlite").write_bytes(damaged)
        index = LedgerIndex(tmp_path)
        assert (index.runs(), index.attempts(task_id="task 1")) == right, start


def test_readers_beside_a_rebuild_see_the_old_index_or_the_new_one(tmp_path: Path) -> None:
    write_example(tmp_path)
    right = LedgerIndex(tmp_path).runs()
    stop = threading.Event()

    def rebuild() -> None:
        while not stop.is_set():
            LedgerIndex(tmp_path).rebuild()

    rebuilding = [threading.Thread(target=rebuild) for _ in range(2)]
    for thread in rebuilding:
        thread.start()
    try:
        with ThreadPoolExecutor(4) as readers:
            answers = list(readers.map(lambda _: LedgerIndex(tmp_path).runs(), range(100)))
    finally:
        stop.set()
        for thread in rebuilding:
            thread.join()
    assert all(answer == right for answer in answers)
    assert [path.name for path in tmp_path.glob(".index*")] == []


def test_nobody_waits_for_a_process_that_holds_a_lock_on_the_index(tmp_path: Path) -> None:
    run = write_example(tmp_path)
    index = LedgerIndex(tmp_path)
    index.update()
    with closing(sqlite3.connect(index.path, timeout=0)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with RunWriter.open(run.path) as writer:
            writer.append(episode(writer.new_attempt(WEATHER)))
        # Anything that asked for the lock would give up with an error, and only after a while.
        assert index.runs()[0].attempts == 4


@pytest.mark.parametrize("name", ["manifest.json", "episodes.jsonl"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "circle", "unreadable"])
def test_one_damaged_folder_does_not_hide_the_others(tmp_path: Path, name: str, kind: str) -> None:
    write_example(tmp_path)
    with RunWriter.create(tmp_path, OTHER) as writer:
        writer.append(episode(writer.new_attempt(WEATHER), reward=0.5))
    path = writer.path / name
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "circle":
        path.symlink_to(path)
    else:
        path.symlink_to("/proc/self/mem")
    rows = {row.run_id: row for row in LedgerIndex(tmp_path).runs()}
    assert rows[MANIFEST.run_id].attempts == 3
    assert rows[OTHER.run_id].focus.startswith("unreadable: ")


def test_a_folder_that_is_a_circle_of_links_is_passed_over(tmp_path: Path) -> None:
    write_example(tmp_path)
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    (tmp_path / "up").symlink_to(tmp_path)
    assert [row.run_id for row in LedgerIndex(tmp_path).runs()] == [MANIFEST.run_id]


def test_the_index_keeps_what_was_asked_submitted_right_and_broken_as_far_as_a_list_shows(
    tmp_path: Path,
) -> None:
    asked = Task(id="a", goal="Which?" + "x" * 5_000, answer=["Café", 2])
    broken = Task(id="b", goal="\ud800", answer=None)
    config = {"agent": {"options": {"model": "openai", "model_options": {"model": "m-1"}}}}
    head = RunManifest(run_id="texts", benchmark="made", agent="made", config=config)
    with RunWriter.create(tmp_path, head) as writer:
        writer.append(Episode(attempt="a.r0.a1", task=asked, final_response="2\x00"))
        writer.append(
            Episode(
                attempt="b.r0.a1",
                task=broken,
                trajectory=Trajectory(stop_reason="model_error"),
                failure=Failure(kind="model_error", message="401"),
            )
        )
    index = LedgerIndex(tmp_path)
    first, second = index.attempts(run_id="texts")
    assert first.question == asked.goal[:TEXT_CHARS] + "…"
    assert (first.submitted, first.reference, first.failure) == ("2\x00", '["Café", 2]', "")
    assert (second.question, second.submitted, second.reference) == ("\ud800", None, "")
    assert second.failure == "401"
    assert index.runs()[0].model == "m-1"


def test_the_tasks_of_a_run_have_their_mean_and_how_often_they_pass(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, RunManifest(run_id="r", benchmark="b", agent="a")) as writer:
        for task, repeat, reward in (("x", 0, 1.0), ("x", 1, 0.5), ("y", 0, None)):
            record = Task(id=task)
            scores = () if reward is None else (Scored(reward, scorer="s@1"),)
            name = writer.new_attempt(record, repeat)
            writer.append(Episode(attempt=name, task=record, repeat=repeat, scores=scores))
    index = LedgerIndex(tmp_path)
    index.update()
    x, y = index.tasks("r")
    assert (x.task_id, x.mean, x.passed, x.n) == ("x", 0.75, 0.5, 2)
    assert (y.mean, y.passed, y.n) == (None, None, 1)
