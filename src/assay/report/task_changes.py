"""Compare two runs task by task: changes, flaky tasks and drops."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Literal, TypeAlias, get_args

from assay.report.attempts import EQUAL, RunAttempts, ScoredAttempt, mean, rewards_of
from assay.report.comparability import identical_runs
from assay.report.statistics import ALPHA, one_sided_sign, tail_binomial

Change: TypeAlias = Literal[
    "regressed", "newly errored", "newly abstained", "improved", "recovered", "unchanged"
]
ORDER: tuple[Change, ...] = get_args(Change)
DROP = 0.5
"""A task fell or rose if its mean reward moved by as much as this."""
DROP_ALPHA = 0.125
"""How often the gate on falling tasks may close although nothing was changed."""
REPEATS = 3
"""From so many repeats on, a task that is lower in all of them can be a regression by itself."""


@dataclass(frozen=True, slots=True)
class TaskChange:
    """The change of one task between two runs, over its repeats."""

    task_id: str
    change: Change
    base: float | None
    cand: float | None
    difference: float | None
    repeats: int
    """Pairs of attempts that were scored on both sides."""
    flaky: bool
    base_ending: str
    cand_ending: str


@dataclass(frozen=True)
class PairedTask:
    """The repeats of one task that were scored in both runs."""

    task_id: str
    base: tuple[ScoredAttempt, ...]
    cand: tuple[ScoredAttempt, ...]

    @cached_property
    def means(self) -> tuple[float, float]:
        """The mean reward of the task in the base run and in the candidate run."""
        return mean(rewards_of(self.base)), mean(rewards_of(self.cand))


def pair_tasks(base: RunAttempts, cand: RunAttempts) -> Iterable[PairedTask]:
    """Pair the tasks that have a repeat with a reward in both runs."""
    there = cand.by_task
    for task, attempts in base.by_task.items():
        after = {a.repeat: a for a in there.get(task, ()) if a.reward is not None}
        both = [a for a in attempts if a.reward is not None and a.repeat in after]
        if both:
            yield PairedTask(task, tuple(both), tuple(after[a.repeat] for a in both))


def steady_drops(pairs: Sequence[PairedTask]) -> tuple[str, ...]:
    """Tasks whose repeats all score below the base run, if chance does not explain them.

    By chance, the lower half of a task's 2k rewards is all on one side once in C(2k, k) times. The
    number of such drops is tested against that, over all tasks that fall into two halves.
    """
    split, drops, chance = 0, [], 0.0
    for pair in pairs:
        k = len(pair.base)
        rewards = sorted(rewards_of((*pair.base, *pair.cand)))
        if k < REPEATS or rewards[k] - rewards[k - 1] <= EQUAL:
            continue
        split += 1
        chance = max(chance, 1 / comb(2 * k, k))
        if max(rewards_of(pair.cand)) < min(rewards_of(pair.base)):
            drops.append(pair.task_id)
    if not drops or tail_binomial(len(drops), split, chance) > ALPHA:
        return ()
    return tuple(drops)


@dataclass(frozen=True, slots=True)
class TaskDrops:
    """The tasks with a large drop, and the number of tasks with a large rise."""

    size: float
    fell: tuple[str, ...]
    """The furthest first."""
    rose: int
    p: float
    """The chance of so many among them, if each were as likely to rise as to fall."""

    @property
    def alarm(self) -> bool:
        """Whether chance is an unlikely explanation of so many large drops."""
        return bool(self.fell) and self.p <= DROP_ALPHA

    @property
    def sentence(self) -> str:
        """The drops in words, such as `3 tasks fell by 0.5 or more, none rose: a, b, c`."""
        rose = f"{self.rose} rose" if self.rose else "none rose"
        names = ", ".join(self.fell[:5]) + (" …" if len(self.fell) > 5 else "")
        tasks = "1 task" if len(self.fell) == 1 else f"{len(self.fell)} tasks"
        return f"{tasks} fell by {self.size:g} or more, {rose}" + (f": {names}" if names else "")


def task_drops(pairs: Sequence[PairedTask], size: float = DROP) -> TaskDrops:
    """Find the tasks that fell by `size` or more, and the p-value of their number.

    Without a change, a task that moved far is as likely to rise as to fall: a sign test, which
    needs no repeats.
    """
    moved = [(after - before, pair.task_id) for pair in pairs for before, after in (pair.means,)]
    fell = sorted((difference, task) for difference, task in moved if difference <= EQUAL - size)
    rose = sum(difference >= size - EQUAL for difference, _ in moved)
    p = one_sided_sign(rose, len(fell))
    return TaskDrops(size, tuple(task for _, task in fell), rose, p)


def task_changes(
    base: RunAttempts, cand: RunAttempts, pairs: Sequence[PairedTask], flaky: set[str]
) -> tuple[TaskChange, ...]:
    pair_of = {pair.task_id: pair for pair in pairs}
    rows: list[TaskChange] = []
    for task, before in base.by_task.items():
        after, pair = cand.by_task.get(task), pair_of.get(task)
        if after is None:
            continue
        difference = None if pair is None else pair.means[1] - pair.means[0]
        row = TaskChange(
            task_id=task,
            change=_change(before, after, difference),
            base=base.task_means.get(task),
            cand=cand.task_means.get(task),
            difference=difference,
            repeats=0 if pair is None else len(pair.base),
            flaky=task in flaky,
            base_ending=_endings(before),
            cand_ending=_endings(after),
        )
        rows.append(row)
    rows.sort(key=lambda row: (ORDER.index(row.change), -abs(row.difference or 0.0)))
    return tuple(rows)


def _change(
    before: list[ScoredAttempt], after: list[ScoredAttempt], difference: float | None
) -> Change:
    errors = sum(a.errored for a in after) - sum(a.errored for a in before)
    unscored = sum(a.reward is None for a in after) - sum(a.reward is None for a in before)
    if errors > 0:
        return "newly errored"
    if unscored > 0:
        return "newly abstained"
    if difference is not None and difference < -EQUAL:
        return "regressed"
    if errors < 0 or unscored < 0:
        return "recovered"
    return "improved" if difference is not None and difference > EQUAL else "unchanged"


def flaky_tasks(base: RunAttempts, cand: RunAttempts, others: set[str] | None) -> set[str]:
    """The tasks whose reward varies between runs of one configuration."""
    varied = _varying([base.rewards]) | _varying([cand.rewards])
    return varied if others is None else varied | others | unsteady_tasks(cand)


def unsteady_tasks(attempts: RunAttempts) -> set[str]:
    return _varying([attempts.rewards, *(twin.rewards for twin in identical_runs(attempts))])


def _varying(runs: Iterable[dict[str, list[float]]]) -> set[str]:
    pooled: defaultdict[str, list[float]] = defaultdict(list)
    for rewards in runs:
        for task, values in rewards.items():
            pooled[task] += values
    return {task for task, values in pooled.items() if max(values) - min(values) > EQUAL}


def _endings(attempts: Iterable[ScoredAttempt]) -> str:
    return ", ".join(sorted({a.abstained or a.stop_reason for a in attempts}))
