"""What a worker process does: rows in, results out as JSON, within a time.

Nothing of the web is imported here: a worker starts faster without it.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Literal, NamedTuple

from assay.adapters.binding import Binding, bind
from assay.errors import BadParameter, BadRecord, MissingParameter, UnknownName
from assay.registry import find_reward
from assay.runner.batch import score_row
from assay.runner.results import result_of
from assay.schema.score import Score
from assay.server.strict_json import read_json, write_json

NICE = 5
"""By how much a worker gives way to the processes around it."""


class ScorerSpec(NamedTuple):
    """One reward with its configuration, by name: what a worker needs to find it again."""

    reward: str
    params: dict[str, Any]


class UnreadableRow(NamedTuple):
    """A line that cannot be read, and why."""

    problem: str


class Chunk(NamedTuple):
    """Rows for one worker, and what to ask about each."""

    scorers: tuple[ScorerSpec, ...]
    columns: dict[str, str]
    """Where a parameter of the reward is found."""
    unit: Literal["row", "line"]
    items: Sequence[tuple[int, Any]]
    """Number and row; bytes, which no JSON value is, are a line that the worker reads."""

    def alone(self) -> list[Chunk]:
        """Each row as a chunk of its own."""
        return [self._replace(items=[item]) for item in self.items]


class ChunkResult(NamedTuple):
    """What became of a chunk."""

    results: list[bytes]
    """A JSON object for each row, as `assay score --json` prints it."""
    scored: dict[str, int]
    abstained: dict[str, int]
    elapsed_s: float
    """What the workers took; 0 when none brought it back."""


class OutOfTime(BaseException):
    """The alarm of a worker. Not an `Exception`: a reward that catches those must not catch it."""


def prepare(imports: Sequence[str], rewards: Sequence[str]) -> None:
    """Every module and reward is loaded, so that no request waits for it.

    On a busy machine the server's event loop goes first: it has little to do, and soon.
    """
    os.nice(NICE)
    for module in imports:
        import_module(module)
    for name in rewards:
        try:
            find_reward(name)
        except UnknownName:
            # What cannot be loaded abstains when it is asked for, with the reason.
            continue


def whoami() -> int:
    """The id of this process, which has started."""
    return os.getpid()


def read_body(body: bytes, budget_s: float) -> Any:  # noqa: ARG001 - it cannot be interrupted
    """The JSON value in the body of a request."""
    return read_json(body)


def score_chunk(chunk: Chunk, budget_s: float) -> ChunkResult:
    """Every row of the chunk scored; those that the time did not suffice for abstain."""
    bindings = bind_all(chunk.scorers, chunk.columns)
    started = time.monotonic()
    results = []
    counts = RequestCounts()
    for number, item in chunk.items:
        row, problem = _row(item)
        scores = {}
        for binding in bindings:
            left_s = budget_s - (time.monotonic() - started)
            score = _score(binding, row, problem, f"{chunk.unit} {number}", left_s)
            scores[binding.name] = score
            counts.add(binding.name, score)
        results.append(_result(number, row, scores))
    return ChunkResult(results, counts.scored, counts.abstained, time.monotonic() - started)


def abstain_all(chunk: Chunk, reason: str, because: str) -> ChunkResult:
    """The chunk with every row abstained: its worker did not bring it back."""
    bindings = bind_all(chunk.scorers, chunk.columns)
    counts = RequestCounts()
    results = []
    for number, item in chunk.items:
        scores: dict[str, Score] = {}
        for binding in bindings:
            scores[binding.name] = binding.scorer.abstain(reason, because)
            counts.add(binding.name, scores[binding.name])
        row = None if isinstance(item, (bytes, UnreadableRow)) else item
        results.append(_result(number, row, scores))
    return ChunkResult(results, counts.scored, counts.abstained, 0.0)


def join_results(parts: Iterable[ChunkResult]) -> ChunkResult:
    """Several as one, in order."""
    results: list[bytes] = []
    counts = RequestCounts()
    elapsed_s = 0.0
    for part in parts:
        results += part.results
        counts.merge(part)
        elapsed_s += part.elapsed_s
    return ChunkResult(results, counts.scored, counts.abstained, elapsed_s)


class RequestCounts:
    """Rows counted for each reward."""

    def __init__(self) -> None:
        self.scored: dict[str, int] = {}
        self.abstained: dict[str, int] = {}

    def add(self, name: str, score: Score) -> None:
        counts = self.abstained if score.abstained else self.scored
        counts[name] = counts.get(name, 0) + 1

    def merge(self, done: ChunkResult) -> None:
        for mine, theirs in ((self.scored, done.scored), (self.abstained, done.abstained)):
            for name, count in theirs.items():
                mine[name] = mine.get(name, 0) + count


def bind_all(scorers: Sequence[ScorerSpec], columns: Mapping[str, str]) -> list[Binding]:
    """The rewards, found by name and configured."""
    return [bind(ask.reward, params=ask.params, columns=columns) for ask in scorers]


def _result(number: int, row: Any, scores: dict[str, Score]) -> bytes:
    """The result as JSON; an `id` that cannot be written again is left out."""
    try:
        return write_json(result_of(number, row, (), scores))
    except RecursionError:
        return write_json(result_of(number, None, (), scores))


def _row(item: Any) -> tuple[Any, str]:
    """The row, and why there is none."""
    if isinstance(item, UnreadableRow):
        return None, item.problem
    if not isinstance(item, bytes):
        return item, ""
    try:
        return read_json(item), ""
    except BadRecord as error:
        return None, str(error)


def _score(binding: Binding, row: Any, problem: str, place: str, left_s: float) -> Score:
    scorer = binding.scorer
    if problem:
        return scorer.abstain("bad_row", f"{place} {problem}")
    if left_s <= 0:
        return scorer.abstain("deadline", f"{place} was not begun before the deadline")
    try:
        with alarm(left_s):
            named = binding.row(row) if binding.columns and isinstance(row, Mapping) else row
            return score_row(scorer, named, place)
    except MissingParameter as error:
        return scorer.abstain("bad_row", f"{place}: {error}")
    except OutOfTime:
        return scorer.abstain("deadline", f"{place} was not finished before the deadline")
    except BadParameter:
        raise
    except BaseException as error:  # noqa: BLE001 - a reward that calls sys.exit() ends no worker
        return scorer.abstain("grader_error", f"{scorer.spec.name} raised {type(error).__name__}")


@contextmanager
def alarm(after_s: float) -> Iterator[None]:
    """`OutOfTime` is raised in the block after this long, wherever Python code runs.

    Code that does not return to Python is not reached: the pool ends such a worker.
    """

    def ring(number: int, frame: Any) -> None:  # noqa: ARG001 - the signature of signal handlers
        raise OutOfTime

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, after_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
