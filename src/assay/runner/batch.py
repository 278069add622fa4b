"""Scores for any number of rows, in order, from one process or several."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from itertools import islice
from typing import Any

from assay.errors import BadParameter, MissingParameter
from assay.resources.processes import naming_losses, worker_pool
from assay.schema.score import Abstained, Json, Score
from assay.schema.values import describe
from assay.scoring.scorer import ROW_REASONS, Scorer

ROWS_PER_TASK = 512
"""Rows sent to a worker at a time: enough to hide the cost of sending them."""


def score_batch(
    reward: str | Callable[..., Any],
    rows: Iterable[Mapping[str, Any]],
    *,
    params: Mapping[str, Json] | None = None,
    workers: int = 1,
) -> Iterator[Score]:
    """The score of every row, in order, as a stream.

    A row that is not a mapping, or lacks a column that the reward needs, abstains (`bad_row`)
    with its number; it never ends the batch. At most a few thousand rows are held at a time, so
    `rows` may be endless. More than one worker pays off only when scoring a row costs more than
    sending it to another process; for files, `assay score` lets workers read for themselves.
    """
    if workers < 1:
        raise BadParameter(f"workers={workers!r}; at least one is needed")
    scorer = Scorer(reward, params)
    numbered = enumerate(rows, start=1)
    if workers == 1:
        return (score_row(scorer, row, f"row {number}") for number, row in numbered)
    try:
        pickle.dumps(scorer)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise BadParameter(
            f"{scorer.spec.name} cannot be sent to another process ({error}); define it with `def` "
            "in a module, or leave `workers` at 1"
        ) from error
    return naming_losses(_in_processes(scorer, numbered, workers))


def score_row(scorer: Scorer, row: Any, place: str) -> Score:
    """The score of one row, or an abstention that says where the bad row is."""
    if not isinstance(row, Mapping):
        return scorer.abstain("bad_row", f"{place} is {describe(row)}, not an object")
    try:
        score = scorer(row)
    except MissingParameter as error:
        return scorer.abstain("bad_row", f"{place}: {error}")
    return at_place(score, place)


def at_place(score: Score, place: str) -> Score:
    """The score; where the row's own data made the reward abstain, its reason names the row."""
    if not isinstance(score, Abstained) or score.reason not in ROW_REASONS:
        return score
    because = f"{place}: {score.because}"
    return Abstained(score.reason, because, score.parts, score.notes, score.scorer, score.params)


def _in_processes(
    scorer: Scorer, numbered: Iterator[tuple[int, Any]], workers: int
) -> Iterator[Score]:
    pool = worker_pool(workers)
    waiting: deque[Future[list[Score]]] = deque()
    try:
        while chunk := list(islice(numbered, ROWS_PER_TASK)):
            waiting.append(pool.submit(_score_chunk, scorer, chunk))
            if len(waiting) > 2 * workers:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _score_chunk(scorer: Scorer, chunk: list[tuple[int, Any]]) -> list[Score]:
    return [score_row(scorer, row, f"row {number}") for number, row in chunk]
