"""Score any number of rows, in order, in one process or in several."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from concurrent.futures import Executor as PoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from assay.errors import BadParameter, MissingParameter
from assay.formats.tables import read_table
from assay.isolation.processes import guarded_work, naming_losses, worker_pool
from assay.schema.score import Abstained, Json, Score
from assay.schema.values import describe
from assay.scoring.counts import AbstentionLimit, RewardCounts
from assay.scoring.scorer import ROW_REASONS, RewardLike, Scorer

EngineName: TypeAlias = Literal["local", "ray"]
T = TypeVar("T")
R = TypeVar("R")

WAITING_ROWS = 16
"""Rows at a time of a reward that mostly waits."""
ROWS_PER_TASK = 512
"""Rows sent to a worker at a time: enough to hide the cost of sending them."""


def score_batch(
    reward: RewardLike,
    rows: Any,
    *,
    params: Mapping[str, Json] | None = None,
    columns: Mapping[str, str] | None = None,
    workers: int = 1,
    max_abstained: float | None = None,
) -> ScoreStream:
    """Score every row and return the scores as a stream, in order.

    `rows` is an iterable of mappings, a data frame, a data set or a slice of one, an Arrow table,
    or a mapping of columns; anything else raises `BadParameter`. `columns` says which column holds
    a parameter of the reward: `{"answer": "solution"}`.

    A row that is not a mapping, lacks a column or holds what the reward cannot read abstains with
    its number (`bad_row`, `bad_reference`, `bad_response`); it never ends the batch. A column that
    the whole table lacks raises `MissingParameter`. More abstentions than `max_abstained`, a number
    of rows or a share of them, raise `TooManyAbstained`.

    At most a few thousand rows are held at a time, so `rows` may be endless. More than one worker
    pays off only when scoring a row costs more than sending it to another process; for files,
    `assay score` lets workers read for themselves.
    """
    if workers < 1:
        raise BadParameter(f"workers={workers!r}; give a number of at least 1")
    scorer = _scorer(reward, params, columns)
    limit = AbstentionLimit.of(max_abstained)
    table = read_table(rows)
    if table.columns is not None:
        check_table(scorer, table.columns)
    if limit is not None and isinstance(table.rows, Sized):
        limit = limit.of_rows(len(table.rows))
    numbered = enumerate(table.rows, start=1)
    if workers == 1:
        return ScoreStream(_score_numbered(scorer, numbered), scorer.spec.name, limit)
    try:
        pickle.dumps(scorer)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise BadParameter(
            f"{scorer.spec.name} cannot be sent to another process ({error}); define it with `def` "
            "in a module, or set `workers` to 1"
        ) from error
    return ScoreStream(
        naming_losses(_in_processes(scorer, numbered, workers)), scorer.spec.name, limit
    )


class ScoreStream(Iterator[Score]):
    """An iterator of scores that also counts the scores so far."""

    def __init__(
        self, scores: Iterator[Score], reward: str, limit: AbstentionLimit | None = None
    ) -> None:
        self._scores = scores
        self._reward = reward
        self._limit = limit
        self.counts = RewardCounts()

    def __next__(self) -> Score:
        score = next(self._scores, None)
        if score is not None:
            self.counts.add(score)
        if self._limit is not None:
            self._limit.check({self._reward: self.counts}, at_end=score is None)
        if score is None:
            raise StopIteration
        return score

    @property
    def mean(self) -> float | None:
        """The mean score so far, without abstentions; `None` without scores."""
        return self.counts.mean

    @property
    def abstained(self) -> dict[str, int]:
        """The number of abstentions so far, for each reason."""
        return self.counts.abstained

    def close(self) -> None:
        """Stop the workers; the stream then yields no more scores."""
        close = getattr(self._scores, "close", None)
        if close is not None:
            close()


def mean(scores: Iterable[Score]) -> float | None:
    """The mean of the scores without abstentions; `None` if there are no numbers."""
    counts = RewardCounts()
    for score in scores:
        counts.add(score)
    return counts.mean


def _scorer(
    reward: RewardLike,
    params: Mapping[str, Json] | None,
    columns: Mapping[str, str] | None,
) -> Scorer:
    if not isinstance(reward, Scorer):
        return Scorer(reward, params, columns=columns)
    options = {**reward.params, **(params or {})}
    return Scorer(reward.spec.function, options, columns={**reward.columns, **(columns or {})})


def check_table(scorer: Scorer, columns: Sequence[str], where: str = "the table") -> None:
    """Raise `MissingParameter` if the table lacks a column that the reward needs."""
    for parameter in scorer.spec.required:
        column = scorer.columns.get(parameter, parameter)
        if column not in columns and column.partition(".")[0] not in columns:
            raise MissingParameter(
                f"{scorer.spec.name} needs {parameter!r}, and {where} has no column {column!r}; "
                f"it has: {', '.join(columns)}; name the one that holds it: "
                f"columns={{{parameter!r}: …}}, or --column {parameter}=NAME"
            )


def score_row(scorer: Scorer, row: Any, place: str) -> Score:
    """The score of one row; for a bad row, an abstention that names its position."""
    if not isinstance(row, Mapping):
        return scorer.abstain("bad_row", f"{place} is {describe(row)}, not an object")
    try:
        score = scorer(row)
    except MissingParameter as error:
        return scorer.abstain("bad_row", f"{place}: {error}")
    return at_place(score, place)


def at_place(score: Score, place: str) -> Score:
    """Add the row's position to an abstention that is about the row's data."""
    if type(score) is not Abstained or score.reason not in ROW_REASONS:
        return score
    because = f"{place}: {score.because}"
    return Abstained(score.reason, because, score.parts, score.notes, score.scorer, score.params)


def _in_processes(
    scorer: Scorer, numbered: Iterator[tuple[int, Any]], workers: int
) -> Iterator[Score]:
    chunks = iter(lambda: list(islice(numbered, ROWS_PER_TASK)), [])
    pool = worker_pool(workers)
    try:
        for scores in _map_ordered(pool, partial(_score_chunk, scorer), chunks, 2 * workers + 1):
            yield from scores
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _map_ordered(
    pool: PoolExecutor, work: Callable[[T], R], items: Iterator[T], most: int
) -> Iterator[R]:
    """Apply `work` to every item, in order, with fewer than `most` items in progress."""
    under_way: deque[Future[R]] = deque()
    for item in items:
        under_way.append(pool.submit(work, item))
        if len(under_way) >= most:
            yield under_way.popleft().result()
    while under_way:
        yield under_way.popleft().result()


def _score_chunk(scorer: Scorer, chunk: list[tuple[int, Any]]) -> list[Score]:
    return list(_score_numbered(scorer, iter(chunk)))


def _score_numbered(scorer: Scorer, numbered: Iterator[tuple[int, Any]]) -> Iterator[Score]:
    return map_rows([scorer], lambda one: score_row(scorer, one[1], f"row {one[0]}"), numbered)


def map_rows(scorers: Sequence[Scorer], work: Callable[[T], R], rows: Iterator[T]) -> Iterator[R]:
    """Apply `work` to every row, in order; rewards that wait run in threads."""
    if not any(scorer.spec.waits for scorer in scorers):
        yield from map(work, rows)
        return
    pool = ThreadPoolExecutor(WAITING_ROWS, thread_name_prefix="waiting")
    try:
        yield from _map_ordered(pool, work, rows, 2 * WAITING_ROWS)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class Engine(Protocol):
    """An engine applies a function to many items, in this process or in others."""

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """Yield each result once, in the order in which the work finishes.

        An item may be worked on more than once, so `work` has to have the same effect each time.
        """


@dataclass(frozen=True, slots=True)
class LocalProcesses:
    """Runs work in `workers` processes of this machine; one worker means this process."""

    workers: int = 1

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise BadParameter(f"workers={self.workers!r}; give a number of at least 1")

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        if self.workers == 1 or len(items) < 2:
            yield from map(work, items)
            return
        pool = worker_pool(min(self.workers, len(items)))
        remaining = iter(items)
        running: set[Future[R]] = set()
        try:
            while True:
                capacity = 2 * self.workers - len(running)
                running.update(pool.submit(_do, work, item) for item in islice(remaining, capacity))
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from naming_losses(future.result() for future in done)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _do(work: Callable[[T], R], item: T) -> R:
    """Do the work in a process of the pool."""
    with guarded_work():
        return work(item)
