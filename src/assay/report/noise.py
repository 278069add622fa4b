"""How much two single runs must differ before the difference means anything.

The same configuration, run several times, differs by nothing but chance. The spread of each task
over the runs gives the spread of a run's mean, and from it the difference that two runs of one
configuration stay below 95 times in 100.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import fsum, sqrt
from pathlib import Path
from statistics import NormalDist, variance
from typing import Any

from assay.errors import UsageError
from assay.ledger.run import RunLike
from assay.report.attempts import EQUAL, RunAttempts, mean, read_attempts
from assay.report.comparability import labels, obstacles
from assay.report.statistics import ALPHA


@dataclass(frozen=True, slots=True)
class TaskNoise:
    """One task over all runs."""

    task_id: str
    rewards: tuple[float, ...]
    mean: float
    spread: float
    """The standard deviation of its reward from run to run."""


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """How much the results of one configuration vary when nothing changes."""

    runs: tuple[str, ...]
    n: int
    """Tasks that were scored in every run."""
    k: int
    """How often each was run: runs times repeats."""
    means: tuple[float, ...]
    """Of each run, or of each repeat of a single one."""
    floor: float
    """Two single runs differ by less than this, 95 times in 100."""
    largest: float
    """The largest difference that was seen between two of them."""
    flaky: tuple[TaskNoise, ...]
    """Tasks whose reward varied, the noisiest first."""
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The finding in one sentence."""
        if self.flaky:
            return (
                f"two single runs must differ by more than {self.floor:.3f} before it means "
                f"anything ({len(self.flaky)} of {self.n} tasks are flaky over {self.k} runs)"
            )
        return (
            f"{self.n} tasks scored the same in all of {self.k} runs: any difference between "
            "two runs comes from a change, or from noise too rare to be seen here"
        )

    def to_record(self) -> dict[str, Any]:
        """The noise floor as plain JSON values."""
        return {**asdict(self), "sentence": self.sentence}


def noise_floor(runs: Sequence[RunLike], *, runs_dir: str | Path = "runs") -> NoiseFloor:
    """Estimate the noise floor from several runs of one configuration, or one with repeats."""
    read = [read_attempts(run, runs_dir) for run in runs]
    if not read:
        raise UsageError("name at least one run")
    for other in read[1:]:
        differences = obstacles(read[0], other) + labels(read[0].manifest, other.manifest)
        if differences:
            raise UsageError(
                f"{other.run_id} is not a repeat of {read[0].run_id}: {'; '.join(differences)}"
            )
    columns = [column for attempts in read for column in _columns(attempts)]
    if len(columns) < 2:
        raise UsageError(
            "noise needs at least two runs of each task; try `assay run --repeat-run 3`"
        )
    shared = [task for task in columns[0] if all(task in column for column in columns)]
    if not shared:
        raise UsageError("no task was scored in every run, so the noise cannot be estimated")
    return _floor_of(read, columns, shared)


def _columns(attempts: RunAttempts) -> list[dict[str, float]]:
    """The rewards of the tasks, one mapping for each repeat."""
    columns: dict[int, dict[str, float]] = {}
    for attempt in attempts.final:
        if attempt.reward is not None:
            columns.setdefault(attempt.repeat, {})[attempt.task_id] = attempt.reward
    return [columns[repeat] for repeat in sorted(columns)]


def _floor_of(
    read: Sequence[RunAttempts], columns: Sequence[dict[str, float]], shared: Sequence[str]
) -> NoiseFloor:
    rows = ((task, tuple(column[task] for column in columns)) for task in shared)
    tasks = [TaskNoise(task, row, mean(row), sqrt(variance(row))) for task, row in rows]
    means = tuple(mean(column[task] for task in shared) for column in columns)
    # Of the mean of one run: the tasks vary independently of each other.
    spread = sqrt(fsum(task.spread**2 for task in tasks)) / len(tasks)
    reach = NormalDist().inv_cdf(1 - ALPHA / 2)
    varied = [task for task in tasks if max(task.rewards) - min(task.rewards) > EQUAL]
    everything = {a.task_id for attempts in read for a in attempts.final}
    left_out = len(everything) - len(shared)
    return NoiseFloor(
        runs=tuple(attempts.run_id for attempts in read),
        n=len(shared),
        k=len(columns),
        means=means,
        floor=reach * sqrt(2) * spread,
        largest=max(means) - min(means),
        flaky=tuple(sorted(varied, key=lambda task: (-task.spread, task.task_id))),
        notes=(f"{left_out} tasks have no reward in some run and are left out",) * bool(left_out),
    )
