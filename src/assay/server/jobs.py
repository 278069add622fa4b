"""Work of a worker process: score rows within a time limit, and write JSON results.

Nothing of the web is imported here: a worker starts faster without it.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from assay.adapters.binding import Binding
from assay.errors import BadRecord, RewardStopped, UnknownName
from assay.registry import find_reward
from assay.resources.row_files import confine_row_files
from assay.schema.score import Score
from assay.scoring.batch import score_row
from assay.scoring.files.rows import result_of
from assay.scoring.gate import RequestScorer
from assay.web.strict_json import read_json, write_json

Outcome: TypeAlias = Literal["scored", "abstained"]
Counts: TypeAlias = Counter[tuple[str, Outcome]]
"""Rows by reward and outcome."""

NICE = 5
"""The niceness of a worker: other processes go first."""
OOM_SCORE = 500
"""How far before others the kernel chooses a worker to end, out of 1,000."""
ROW_SHARE = 0.5
"""Of the time that is left, what one row may take while others wait behind it."""


class ScorerSpec(NamedTuple):
    """Name and options of a reward, from which a worker builds the scorer."""

    reward: str
    params: dict[str, Any]


class UnreadableRow(NamedTuple):
    """A line that cannot be read, with the reason."""

    problem: str


class RowChunk(NamedTuple):
    """Rows for one worker, with the rewards that score each row."""

    scorers: tuple[ScorerSpec, ...]
    columns: dict[str, str]
    """Which column holds a parameter of the reward."""
    unit: Literal["row", "line"]
    items: Sequence[tuple[int, Any]]
    """Number and row; bytes, which no JSON value is, are a line that the worker reads."""


class ChunkResult(NamedTuple):
    """The scores of a chunk."""

    results: list[bytes]
    """A JSON object for each row, as `assay score --json` prints it."""
    counts: Counts
    elapsed_s: float
    """What the workers took; 0 when none brought it back."""


class WorkerSetup(NamedTuple):
    """Modules, rewards and file folder that a worker loads before its first call."""

    imports: Sequence[str] = ()
    rewards: Sequence[str] = ()
    root: str | None = None
    """The folder of the files that rows may name; `None` for any."""


class WorkerCallContext(NamedTuple):
    """Time budget of one call, and a function that reports progress."""

    budget_s: float
    begin: Callable[[int, int], None] = lambda row, behind: None  # noqa: ARG005 - not shown
    """Says which row is next, from 0, and how many are behind it."""


class DeadlineReached(RewardStopped):
    """The time limit of a worker's call is over."""


def prepare(argument: WorkerSetup, turn: WorkerCallContext) -> int:  # noqa: ARG001 - as any work
    """Load all modules and rewards before the first request; return the process id."""
    os.nice(NICE)
    with suppress(OSError):
        # When memory runs out the kernel ends a worker, and never the server.
        Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE))
    if argument.root is not None:
        confine_row_files(argument.root)
    for module in argument.imports:
        import_module(module)
    for name in argument.rewards:
        # A reward that cannot be loaded abstains when it is used, with the reason.
        with suppress(UnknownName):
            find_reward(name)
    return os.getpid()


def read_body(body: bytes, turn: WorkerCallContext) -> Any:  # noqa: ARG001 - it cannot be interrupted
    """Parse the body of a request as JSON."""
    return read_json(body)


def score_chunk(chunk: RowChunk, turn: WorkerCallContext) -> ChunkResult:
    """Score every row of the chunk; rows without enough time abstain.

    A row that others wait behind may take half of the time that is left, so that one which never
    returns costs no other its score.
    """
    bindings = bind_all(chunk.scorers, chunk.columns)
    started = time.monotonic()
    ends = started + turn.budget_s
    results = []
    counts: Counts = Counter()
    rows = [(number, *_read_row(item)) for number, item in chunk.items]
    waiting = _start_waiting(bindings, rows, chunk.unit)
    for place, (number, row, problem) in enumerate(rows):
        behind = len(rows) - 1 - place
        turn.begin(place, behind)
        scores = {}
        share = ROW_SHARE if behind else 1.0
        row_ends = time.monotonic() + share * (ends - time.monotonic())
        for binding in bindings:
            where = f"{chunk.unit} {number}"
            if (place, binding.name) in waiting:
                score = _await(waiting[place, binding.name], binding, where, ends)
            else:
                score = _score(binding, row, problem, where, row_ends - time.monotonic())
            scores[binding.name] = score
            counts[binding.name, "abstained" if score.abstained else "scored"] += 1
        results.append(_result(number, row, scores))
    return ChunkResult(results, counts, time.monotonic() - started)


def _start_waiting(
    bindings: Sequence[Binding], rows: Sequence[tuple[int, Any, str]], unit: str
) -> dict[tuple[int, str], Future[Score]]:
    """Start the scores of all rewards that mostly wait, each in its own thread."""
    under_way: dict[tuple[int, str], Future[Score]] = {}
    for binding in bindings:
        if not binding.scorer.spec.waits:
            continue
        for place, (number, row, problem) in enumerate(rows):
            if not problem:
                under_way[place, binding.name] = _in_thread(binding, row, f"{unit} {number}")
    return under_way


def _in_thread(binding: Binding, row: Any, place: str) -> Future[Score]:
    future: Future[Score] = Future()

    def run() -> None:
        try:
            future.set_result(score_row(binding.scorer, row, place))
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            future.set_exception(error)

    # One that never returns keeps neither its worker nor the others waiting.
    threading.Thread(target=run, daemon=True, name="waiting").start()
    return future


def _await(future: Future[Score], binding: Binding, place: str, ends: float) -> Score:
    try:
        return future.result(max(0.0, ends - time.monotonic()))
    except (TimeoutError, KeyboardInterrupt) as error:
        return _interrupted(binding, place, error)


def abstain_all(chunk: RowChunk, reason: str, because: str) -> ChunkResult:
    """Return an abstention for every row of a chunk that no worker finished."""
    bindings = bind_all(chunk.scorers, chunk.columns)
    scores: dict[str, Score] = {
        binding.name: binding.scorer.abstain(reason, because) for binding in bindings
    }
    results = [
        _result(number, None if isinstance(item, (bytes, UnreadableRow)) else item, scores)
        for number, item in chunk.items
    ]
    return ChunkResult(results, Counter({(name, "abstained"): len(results) for name in scores}), 0)


def join_results(results: Sequence[ChunkResult]) -> ChunkResult:
    """Join the results of several chunks in order."""
    return ChunkResult(
        [row for result in results for row in result.results],
        sum((result.counts for result in results), Counter()),
        sum(result.elapsed_s for result in results),
    )


def bind_all(scorers: Sequence[ScorerSpec], columns: Mapping[str, str]) -> list[Binding]:
    """Look up the rewards by name, and bind their options and columns."""
    # A trainer's route has cut off its end tokens; any other response is scored as it came.
    return [
        Binding(RequestScorer(name, params, columns=columns), end_tokens=())
        for name, params in scorers
    ]


def _result(number: int, row: Any, scores: dict[str, Score]) -> bytes:
    """Write the result as JSON, without the row's `id` if that cannot be written."""
    try:
        return write_json(result_of(number, row, (), scores))
    except RecursionError:
        return write_json(result_of(number, None, (), scores))


def _read_row(item: Any) -> tuple[Any, str]:
    """Parse a row; return the row, or `None` and the problem."""
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
            return score_row(scorer, row, place)
    except (DeadlineReached, KeyboardInterrupt) as error:
        return _interrupted(binding, place, error)


def _interrupted(binding: Binding, place: str, error: BaseException) -> Score:
    scorer = binding.scorer
    if isinstance(error, KeyboardInterrupt):
        # A worker takes no Ctrl-C, so it is the reward that raised it.
        return scorer.abstain("grader_error", f"{scorer.spec.name} raised {type(error).__name__}")
    return scorer.abstain("deadline", f"{place} was not finished before the deadline")


@contextmanager
def alarm(after_s: float) -> Iterator[None]:
    """Raise `DeadlineReached` in the block after `after_s` seconds, where Python code runs.

    Code that does not return to Python is not reached: the pool ends such a worker.
    """

    def ring(number: int, frame: Any) -> None:  # noqa: ARG001 - the signature of signal handlers
        raise DeadlineReached

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, after_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
