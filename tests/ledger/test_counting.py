"""Every reader of a run counts the same attempts, also in a damaged ledger."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from assay.errors import BadRecord
from assay.ledger.index import LedgerIndex
from assay.ledger.run import Run
from assay.ledger.summary import summarise
from assay.ledger.writer import RunWriter
from assay.report.attempts import read_attempts
from tests.ledger.example import MANIFEST, WEATHER, episode

Line: TypeAlias = dict[str, Any]


def _repeats_an_attempt(line: Line) -> Line:
    scores = [{**line["scores"][0], "value": 0.0}]
    return {**line, "scores": scores}


def _has_an_unknown_field(line: Line) -> Line:
    return {**_repeats_an_attempt(line), "attempt": "weather.r0.a9", "colour": "red"}


def _ends_in_an_unknown_way(line: Line) -> Line:
    return {**_repeats_an_attempt(line), "attempt": "weather.r0.a9", "stop_reason": "exploded"}


def _repeats_an_attempt_at_another_task(line: Line) -> Line:
    return {**_repeats_an_attempt(line), "task": {**line["task"], "id": "another"}}


@pytest.mark.parametrize(
    "extra",
    [
        _repeats_an_attempt,
        _repeats_an_attempt_at_another_task,
        _has_an_unknown_field,
        _ends_in_an_unknown_way,
    ],
)
@pytest.mark.parametrize("indexed_before", [True, False])
def test_a_line_that_is_no_attempt_of_its_own_changes_no_number(
    extra: Callable[[Line], Line], indexed_before: bool, tmp_path: Path
) -> None:
    with RunWriter.create(tmp_path, MANIFEST) as writer:
        writer.append(episode(writer.new_attempt(WEATHER), reward=1.0))
    index = LedgerIndex(tmp_path)
    if indexed_before:
        index.update()
    path = writer.path / "episodes.jsonl"
    (line,) = path.read_bytes().splitlines()
    with path.open("ab") as stream:
        stream.write(json.dumps(extra(json.loads(line))).encode() + b"\n")

    run = Run(writer.path, strict=False)
    (row,) = index.runs()
    summary = summarise(run)
    attempts = read_attempts(run)
    assert (row.mean, row.n, row.attempts, row.damaged) == (1.0, 1, 1, 1)
    assert (summary.counts.mean, summary.counts.n, summary.attempts) == (1.0, 1, 1)
    assert (attempts.task_means, attempts.retried) == ({WEATHER.id: 1.0}, 0)
    assert len(run.problems) == len(attempts.problems) == 1
    assert [attempt.counts for attempt in index.attempts()] == [True]
    with pytest.raises(BadRecord, match="line 2"):
        list(Run(writer.path).episodes())


def test_an_attempt_is_replaced_over_several_updates_of_the_index(tmp_path: Path) -> None:
    index = LedgerIndex(tmp_path)
    with RunWriter.create(tmp_path, MANIFEST) as writer:
        for ending, reward, mean in (
            ("env_error", 0.0, None),
            ("answered", 0.25, 0.25),
            ("env_error", 0.0, 0.25),
            ("step_limit", 0.5, 0.5),
        ):
            attempt = writer.new_attempt(WEATHER)
            writer.append(episode(attempt, stop_reason=ending, reward=reward))  # type: ignore[arg-type]
            (row,) = index.runs()
            assert (row.mean, row.n) == (mean, 1)
            assert read_attempts(writer.path).task_means == (
                {} if mean is None else {WEATHER.id: mean}
            )
            assert summarise(Run(writer.path)).counts.mean == mean


def test_reading_a_damaged_run_changes_nothing_for_its_other_readers(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, MANIFEST) as writer:
        attempts = [writer.new_attempt(WEATHER) for _ in range(2)]
        for attempt in attempts:
            writer.append(episode(attempt))
    path = writer.path / "episodes.jsonl"
    first, last = path.read_bytes().splitlines()
    broken = json.dumps({**json.loads(last), "scores": "broken"}).encode()
    path.write_bytes(first + b"\n" + broken + b"\n")

    run = Run(writer.path, strict=False)
    before = run.unfinished()
    readers = [run.final(), run.final()]
    assert [next(reader).attempt for reader in readers] == [attempts[0]] * 2
    assert run.unfinished() == before
