"""The history of runs: each run is compared with an earlier comparable run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from assay.errors import AssayError
from assay.ledger.layout import is_archived, list_runs
from assay.ledger.passes import PERFECT
from assay.ledger.summary import other_code, zeros_replaced
from assay.report import statistics
from assay.report.attempts import EQUAL, RunAttempts, mean, read_attempts
from assay.report.comparability import labels, obstacles, with_ids_of
from assay.report.comparison import Verdict, compare_attempts
from assay.report.statistics import ConfidenceInterval
from assay.schema.manifest import RunManifest

FEWEST = 5
"""Below so many tasks a bootstrap interval is too narrow to be honest, and none is given."""
REPORTED = "reported"
"""The key of a manifest's configuration that holds the means of a table typed in from elsewhere."""

GRID_TASKS = 400
GRID_RUNS = 60

Direction: TypeAlias = Literal["up", "flat", "down"]


@dataclass(frozen=True, slots=True)
class PredictionOutcome:
    """The predicted and the actual changes of a run's tasks."""

    up: tuple[str, ...]
    down: tuple[str, ...]
    outcomes: Mapping[str, Direction]
    """Of the tasks that were predicted; one that cannot be told is not in it."""
    others_down: int
    """Tasks that fell and were not expected to."""
    prefix: str = ""
    """What the ids of all tasks have before their last dot, and the sentence leaves out."""

    @property
    def came_true(self) -> bool | None:
        """Whether every predicted task moved as predicted; `None` if a result is unknown."""
        expected = dict.fromkeys(self.up, "up") | dict.fromkeys(self.down, "down")
        known = [
            self.outcomes[task] == way for task, way in expected.items() if task in self.outcomes
        ]
        if not all(known):
            return False
        return True if len(known) == len(expected) else None

    @property
    def sentence(self) -> str:
        """The outcome in words, such as `predicted 3, 7 up: 3 up, 7 flat, 0 down`."""
        names = {task: task.removeprefix(self.prefix) for task in (*self.up, *self.down)}
        predicted = [
            f"{', '.join(names[task] for task in tasks)} {way}"
            for way, tasks in (("up", self.up), ("down", self.down))
            if tasks
        ]
        came = [
            f"{names[task]} {self.outcomes.get(task, 'unknown')}" for task in (*self.up, *self.down)
        ]
        others = f"{self.others_down} {'others ' if self.down else ''}down"
        return f"predicted {'; '.join(predicted)}: {', '.join([*came, others])}"


@dataclass(frozen=True, slots=True)
class RunChange:
    """The comparison of a run with an earlier comparable run."""

    against: str
    difference: float | None
    p: float | None
    verdict: Verdict
    because: str
    labels: tuple[str, ...] = ()
    """What tells the two apart, where it is more than a change of the agent: another model."""


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One run of the table."""

    run_id: str
    created_at: str
    benchmark: str
    agent: str
    model: str
    commit: str
    focus: str
    n: int
    """Tasks."""
    attempts: int
    mean: float | None
    interval: ConfidenceInterval | None
    pass_rate: float | None
    """The share of attempts with full reward, over tasks."""
    best: float | None
    worst: float | None
    answered: int | None
    errors: int | None
    abstained: int | None
    change: RunChange | None
    not_comparable: str
    """Why the run right before it is no measure for it; empty when it is one."""
    prediction: PredictionOutcome | None
    reported: bool
    """Whether the numbers were typed in from elsewhere: no attempt stands behind them."""
    archived: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunHistory:
    """All runs, oldest first."""

    rows: tuple[HistoryRow, ...]
    notes: tuple[str, ...] = ()

    def to_record(self) -> dict[str, Any]:
        """The table as plain JSON values."""
        record = asdict(self)
        for written, row in zip(record["rows"], self.rows, strict=True):
            if row.prediction is not None:
                written["prediction"]["came_true"] = row.prediction.came_true
                written["prediction"]["sentence"] = row.prediction.sentence
        return record


def history(
    benchmark: str | None = None,
    *,
    agent: str | None = None,
    model: str | None = None,
    archived: bool = False,
    runs_dir: str | Path = "runs",
) -> RunHistory:
    """The history of the runs in a folder, or of one benchmark, agent or model, oldest first.

    A run is compared with the latest scored one before it that has the same reward, task set, step
    budget and model; where there is none of this model, with one of another, and labelled. A run
    that was scored again is not an iteration, and is left out; so are archived runs, unless they
    are asked for.
    """
    filters = {"benchmark": benchmark, "agent": agent, "model_name": model}
    read: list[RunAttempts] = []
    notes: list[str] = []
    for path in list_runs(Path(runs_dir)):
        if not archived and is_archived(path):
            continue
        try:
            attempts = read_attempts(path)
        except AssayError as error:
            notes.append(f"{path.name} cannot be read: {error}")
            continue
        manifest = attempts.manifest
        fits = all(value in (None, getattr(manifest, name)) for name, value in filters.items())
        if fits and manifest.parent is None:
            read.append(attempts)
    read.sort(key=lambda attempts: (attempts.manifest.created_at, attempts.run_id))
    rows = [_row(attempts, read[:i]) for i, attempts in enumerate(read)]
    return RunHistory(tuple(rows), tuple(notes))


def _row(attempts: RunAttempts, before: Sequence[RunAttempts]) -> HistoryRow:
    manifest = attempts.manifest
    reported = manifest.config.get(REPORTED)
    typed = reported if isinstance(reported, Mapping) and not attempts.final else {}
    means = attempts.task_means
    values = list(means.values())
    order = order_of_bases([run.manifest for run in before], manifest)
    earlier = _first_comparable((before[place] for place in order), attempts)
    differences = obstacles(before[-1], attempts) if before else ()
    has = bool(attempts.final)
    return HistoryRow(
        run_id=attempts.run_id,
        created_at=manifest.created_at,
        benchmark=manifest.benchmark,
        agent=manifest.agent,
        model=manifest.model_name,
        commit=manifest.short_commit,
        focus=manifest.focus,
        n=len({a.task_id for a in attempts.final}) or manifest.n_tasks,
        attempts=len(attempts.final),
        mean=mean(values) if values else _number(typed.get("mean")),
        interval=statistics.bootstrap_mean(values) if len(values) >= FEWEST else None,
        pass_rate=_pass_rate(attempts),
        best=max(values) if values else _number(typed.get("best")),
        worst=min(values) if values else _number(typed.get("worst")),
        answered=sum(a.stop_reason == "answered" for a in attempts.final) if has else None,
        errors=sum(a.errored for a in attempts.final) if has else None,
        abstained=sum(bool(a.abstained) for a in attempts.final) if has else None,
        change=change_from([earlier], attempts) if earlier is not None else None,
        not_comparable="; ".join(differences),
        prediction=_prediction(manifest, earlier, attempts),
        reported=bool(typed),
        archived=is_archived(attempts.path),
        notes=_notes(attempts, typed),
    )


def order_of_bases(before: Sequence[RunManifest], manifest: RunManifest) -> list[int]:
    """The indexes of earlier runs to try as base: same model first, then latest first."""
    latest_first = range(len(before) - 1, -1, -1)
    return sorted(latest_first, key=lambda place: bool(labels(before[place], manifest)))


def change_from(bases: Iterable[RunAttempts], attempts: RunAttempts) -> RunChange | None:
    """Compare the run with the first comparable run of `bases` that has rewards."""
    earlier = _first_comparable(bases, attempts)
    if earlier is None:
        return None
    change = compare_attempts(earlier, attempts)
    shift = change.reward.difference if change.reward else None
    return RunChange(earlier.run_id, shift, change.p, change.verdict, change.because, change.labels)


def _first_comparable(bases: Iterable[RunAttempts], attempts: RunAttempts) -> RunAttempts | None:
    """The first comparable run that has rewards, else the first comparable run."""
    unscored: RunAttempts | None = None
    for run in bases:
        if obstacles(run, attempts):
            continue
        if run.rewards:
            return run
        unscored = unscored or run
    return unscored


def _pass_rate(attempts: RunAttempts) -> float | None:
    shares = [mean(float(r >= PERFECT) for r in rewards) for rewards in attempts.rewards.values()]
    return mean(shares) if shares else None


def _prediction(
    manifest: RunManifest, earlier: RunAttempts | None, attempts: RunAttempts
) -> PredictionOutcome | None:
    """Check the run's prediction against an earlier run; `None` without prediction or run."""
    expected = manifest.config.get("expect")
    if not isinstance(expected, Mapping) or earlier is None:
        return None
    up, down = (tuple(map(str, expected.get(way) or ())) for way in ("up", "down"))
    if not up and not down:
        return None
    before, after = with_ids_of(attempts, earlier).task_means, attempts.task_means
    directions: dict[str, Direction] = {}
    for task in after.keys() & before.keys():
        difference = after[task] - before[task]
        moved: Direction = "up" if difference > 0 else "down"
        directions[task] = "flat" if abs(difference) <= EQUAL else moved
    heads = {task.rpartition(".")[0] for task in after}
    return PredictionOutcome(
        up=up,
        down=down,
        outcomes={task: directions[task] for task in (*up, *down) if task in directions},
        others_down=sum(directions[task] == "down" for task in directions.keys() - {*up, *down}),
        prefix=f"{heads.pop()}." if len(heads) == 1 and len(after) > 1 and heads != {""} else "",
    )


def _notes(attempts: RunAttempts, typed: Mapping[str, Any]) -> tuple[str, ...]:
    notes = [f"left out: {problem}" for problem in attempts.problems]
    if typed:
        notes.append("* as reported elsewhere: no attempt is recorded, so nothing can be checked")
    elif not attempts.final:
        notes.append("no finished attempt")
    elif not attempts.rewards:
        notes.append("no attempt has a reward")
    planned = attempts.manifest.n_tasks * attempts.manifest.repeats
    if attempts.final and planned > len(attempts.final):
        notes.append(f"unfinished: {len(attempts.final)} of {planned} episodes")
    if others := sum(attempt.other_code for attempt in attempts.final):
        notes.append(other_code(others, len(attempts.final)))
    if attempts.retried:
        notes.append(f"{attempts.retried} attempts were replaced by a retry")
    if attempts.replaced_zeros:
        notes.append(zeros_replaced(attempts.replaced_zeros))
    return tuple(notes)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


@dataclass(frozen=True, slots=True)
class RewardGrid:
    """The reward of every task in every run; `None` where there is no reward."""

    runs: tuple[str, ...]
    tasks: tuple[str, ...]
    rewards: tuple[tuple[float | None, ...], ...]
    """One row for each task."""


def grid(runs: RunHistory, *, runs_dir: str | Path = "runs") -> RewardGrid:
    """The rewards of every task in the newest runs, as a grid."""
    names = [row.run_id for row in runs.rows if not row.reported][-GRID_RUNS:]
    means = [read_attempts(name, runs_dir).task_means for name in names]
    tasks = list(dict.fromkeys(task for run in means for task in run))[:GRID_TASKS]
    rewards = tuple(tuple(run.get(task) for run in means) for task in tasks)
    return RewardGrid(tuple(names), tuple(tasks), rewards)


def comparable_groups(runs: RunHistory) -> list[int]:
    """A group number for each run; runs with the same number are comparable."""
    groups: dict[str, int] = {}
    numbers = []
    for row in runs.rows:
        number = groups[row.change.against] if row.change else len(set(groups.values()))
        groups[row.run_id] = number
        numbers.append(number)
    return numbers
