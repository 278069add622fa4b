"""Use Assay rewards in TRL's `GRPOTrainer(reward_funcs=…)` and other TRL trainers.

    GRPOTrainer(reward_funcs=[trl.reward("math_equal_reward", answer="solution")], …)

Abstained: `None`, which TRL leaves out of the sum of rewards and of the group's mean. A reward that
scores nothing any more stops the training with the cause, instead of a loss of 0 to the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import nan
from typing import Any

from assay.adapters.binding import MAX_ABSTAINED, Binding, Reward, bind
from assay.adapters.messages import read_completion
from assay.adapters.tally import mean_of
from assay.schema.score import Score
from assay.scoring.batch import at_place

MACHINERY = ("trainer_state", "log_extra", "log_metric", "completion_ids")
"""What TRL passes with the columns of the data set."""


def reward(
    which: Reward,
    /,
    *,
    params: Mapping[str, Any] | None = None,
    name: str | None = None,
    asynchronous: bool | None = None,
    max_abstained: int | None = MAX_ABSTAINED,
    **columns: str,
) -> Callable[..., Any]:
    """Create a reward function `(prompts, completions, **columns)` for TRL.

    `answer="solution"` says that the reward's `answer` is the data set's column `solution`. The
    function is a coroutine function when the reward is one, or when `asynchronous` asks for it; TRL
    then scores the rows at the same time. It is logged under `name`, by default the reward's own.

    For every batch, `<name>/<part>` and `<name>/abstained` are logged as metrics (means over the
    rows that have a number), and why each row got its number as a column of the completions table.
    It raises `NoScore` when `max_abstained` rows have followed each other without a score.
    """
    binding = bind(which, params=params, columns=columns, max_abstained=max_abstained)
    title = name or binding.name
    if asynchronous is None:
        asynchronous = binding.scorer.spec.is_async
    return binding.function(_score_async if asynchronous else _score, title, name=title)


def _score(
    binding: Binding,
    title: str,
    /,
    prompts: Sequence[Any],
    completions: Sequence[Any],
    **columns: Any,
) -> list[float | None]:
    scores = [binding.score(row) for row in _rows(prompts, completions, columns)]
    return _report(binding, title, scores, columns)


async def _score_async(
    binding: Binding,
    title: str,
    /,
    prompts: Sequence[Any],
    completions: Sequence[Any],
    **columns: Any,
) -> list[float | None]:
    rows = _rows(prompts, completions, columns)
    scores = await asyncio.gather(*map(binding.score_async, rows))
    return _report(binding, title, scores, columns)


def _rows(
    prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]
) -> list[dict[str, Any]]:
    count = len(completions)
    shared = {key: value for key, value in columns.items() if key not in MACHINERY}
    rows: list[dict[str, Any]] = []
    for index, completion in enumerate(completions):
        row = {key: _cell(value, index, count) for key, value in shared.items()}
        output = read_completion(completion)
        rows.append({**row, "prompt": prompts[index], **output._asdict()})
    return rows


def _cell(column: Any, index: int, count: int) -> Any:
    is_column = isinstance(column, Sequence) and not isinstance(column, str)
    return column[index] if is_column and len(column) == count else column


def _report(
    binding: Binding, title: str, scores: Sequence[Score], columns: Mapping[str, Any]
) -> list[float | None]:
    """Return the numbers for TRL, and log the parts and the reasons."""
    placed = [at_place(score, f"row {number}") for number, score in enumerate(scores, 1)]
    log_metric, log_extra = columns.get("log_metric"), columns.get("log_extra")
    if log_metric is not None:
        # The same keys on every process and every batch: TRL gathers them across processes.
        for part in binding.parts:
            log_metric(f"{title}/{part}", _mean(score.parts[part] for score in scores))
        log_metric(f"{title}/abstained", _mean(float(score.abstained) for score in scores))
    if log_extra is not None:
        log_extra(f"{title}/because", [score.because for score in placed])
    return [score["reward"] for score in scores]


def _mean(numbers: Iterable[float | None]) -> float:
    return mean_of([number for number in numbers if number is not None], nan)
