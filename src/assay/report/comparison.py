"""Did the change help, what did it break, and is that enough to say so.

The unit is the task: repeats of a task are averaged before anything is tested, since they are not
independent of each other. Only tasks that were scored in both runs are paired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from assay.ledger.failures import zeros_replaced
from assay.ledger.run import RunLike
from assay.ledger.summary import PERFECT
from assay.report import statistics
from assay.report.attempts import EQUAL, RunAttempts, mean, read_attempts
from assay.report.comparability import changes, obstacles
from assay.report.statistics import ALPHA, ConfidenceInterval, McNemarTest, PermutationTest
from assay.report.task_changes import (
    TaskChange,
    TaskPair,
    flaky_tasks,
    pair_tasks,
    steady_drops,
    task_changes,
    unsteady_tasks,
)

Verdict: TypeAlias = Literal[
    "improved", "regressed", "no difference shown", "no verdict possible", "not comparable"
]


@dataclass(frozen=True, slots=True)
class MeanShift:
    """How a quantity moved, over the paired tasks."""

    base: float
    cand: float
    difference: float
    interval: ConfidenceInterval | None
    n: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """What can be said of a candidate run against a base run."""

    base: str
    cand: str
    verdict: Verdict
    because: str
    obstacles: tuple[str, ...] = ()
    """Differences that make the two runs incomparable; a forced comparison carries them."""
    changes: tuple[str, ...] = ()
    """Other differences of configuration: what was tried."""
    n: int = 0
    """Tasks scored in both runs."""
    only_base: int = 0
    only_cand: int = 0
    reward: MeanShift | None = None
    permutation: PermutationTest | None = None
    p: float | None = None
    """The permutation p, adjusted by Holm's method where several candidates were compared."""
    mcnemar: McNemarTest | None = None
    pass_at: float = PERFECT
    detectable: float | None = None
    """The change of the mean that would be found with 80 % power."""
    tasks: tuple[TaskChange, ...] = ()
    """Regressed tasks first."""
    steps: MeanShift | None = None
    cost_usd: MeanShift | None = None
    elapsed_s: MeanShift | None = None
    steady_drops: tuple[str, ...] = ()
    """Tasks lower in all of their repeats, where that is more than chance explains."""
    notes: tuple[str, ...] = ()

    @property
    def flaky(self) -> tuple[str, ...]:
        return tuple(task.task_id for task in self.tasks if task.flaky)

    def to_record(self) -> dict[str, Any]:
        """The comparison as plain JSON values."""
        return {**asdict(self), "flaky": list(self.flaky)}


def compare(
    base: RunLike,
    cand: RunLike,
    *,
    force: bool = False,
    pass_at: float = PERFECT,
    runs_dir: str | Path = "runs",
) -> Comparison:
    """What the candidate run says against the base run.

    Runs whose reward, task set, step budget or model differ are `not comparable`, and nothing is
    computed; `force` computes it and keeps the differences as labels. `pass_at` is the reward from
    which a task passes.
    """
    return compare_many(base, [cand], force=force, pass_at=pass_at, runs_dir=runs_dir)[0]


def compare_many(
    base: RunLike,
    cands: Sequence[RunLike],
    *,
    force: bool = False,
    pass_at: float = PERFECT,
    runs_dir: str | Path = "runs",
) -> list[Comparison]:
    """Each candidate against the same base, their p-values corrected for their number."""
    before = read_attempts(base, runs_dir)
    settings = _Settings(force, pass_at, unsteady_tasks(before))
    drafts = [_compare(before, read_attempts(cand, runs_dir), settings) for cand in cands]
    return adjust(drafts)


def compare_attempts(base: RunAttempts, cand: RunAttempts, *, force: bool = False) -> Comparison:
    """The same for runs that were read already, without looking for others of their kind."""
    return adjust([_compare(base, cand, _Settings(force, PERFECT, None))])[0]


def adjust(drafts: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons with Holm-corrected p-values, and the verdicts that follow."""
    tests = {i: draft.permutation.p for i, draft in enumerate(drafts) if draft.permutation}
    done = list(drafts)
    for i, p in zip(tests, statistics.holm(list(tests.values())), strict=True):
        draft = replace(done[i], p=p)
        verdict, because = _verdict(draft, family=len(tests))
        done[i] = replace(draft, verdict=verdict, because=because)
    return done


@dataclass(frozen=True, slots=True)
class _Settings:
    force: bool
    pass_at: float
    known_flaky: set[str] | None
    """Tasks that vary in runs like the base; `None` to leave other runs alone."""


def _compare(base: RunAttempts, cand: RunAttempts, settings: _Settings) -> Comparison:
    hindrances = obstacles(base, cand)
    draft = Comparison(
        base.run_id,
        cand.run_id,
        "not comparable",
        "not comparable: " + "; ".join((*hindrances, *_without_rewards(base, cand))),
        obstacles=hindrances,
        changes=changes(base.manifest, cand.manifest),
        pass_at=settings.pass_at,
        notes=_notes(base, cand),
    )
    if hindrances and not settings.force:
        return draft
    pairs = list(pair_tasks(base, cand))
    if not pairs:
        return replace(draft, verdict="no verdict possible", because=_no_pairs(base, cand))
    return _with_numbers(draft, base, cand, pairs, settings)


def _with_numbers(
    draft: Comparison,
    base: RunAttempts,
    cand: RunAttempts,
    pairs: list[TaskPair],
    settings: _Settings,
) -> Comparison:
    before, after = zip(*(pair.means for pair in pairs), strict=True)
    differences = _differences(before, after)
    scored = {p.task_id for p in pairs}
    return replace(
        draft,
        n=len(pairs),
        only_base=len({a.task_id for a in base.final} - scored),
        only_cand=len({a.task_id for a in cand.final} - scored),
        reward=_shift(before, after),
        permutation=statistics.sign_flip(differences),
        mcnemar=statistics.mcnemar(
            gained=sum(b < settings.pass_at <= a for b, a in zip(before, after, strict=True)),
            lost=sum(a < settings.pass_at <= b for b, a in zip(before, after, strict=True)),
        ),
        detectable=statistics.detectable(differences),
        tasks=task_changes(base, cand, pairs, flaky_tasks(base, cand, settings.known_flaky)),
        steps=_shift_of(pairs, "n_steps"),
        cost_usd=_shift_of(pairs, "cost_usd"),
        elapsed_s=_shift_of(pairs, "elapsed_s"),
        steady_drops=steady_drops(pairs),
    )


def _verdict(draft: Comparison, *, family: int) -> tuple[Verdict, str]:
    """The verdict of a comparison that has its numbers, and the sentence for it."""
    assert draft.reward is not None
    assert draft.p is not None
    label = f"(forced although {'; '.join(draft.obstacles)}) " if draft.obstacles else ""
    difference = draft.reward.difference
    test = f"p = {draft.p:.3g}" + (f" after Holm's correction for {family} runs" * (family > 1))
    if draft.p <= ALPHA and abs(difference) > EQUAL:
        verdict: Verdict = "regressed" if difference < 0 else "improved"
        return verdict, f"{label}{_movement(draft, test)}"
    if draft.steady_drops:
        names = ", ".join(draft.steady_drops[:5])
        return "regressed", f"{label}lower in every repeat: {names}"
    best = statistics.best_p(draft.n)
    if best > ALPHA:
        verdict = "no verdict possible"
        return verdict, f"{label}{verdict}: n={draft.n}, the best possible p is {best:.3g}"
    return "no difference shown", f"{label}{_no_difference(draft, test)}"


def _movement(draft: Comparison, test: str) -> str:
    assert draft.reward is not None
    return f"the mean moved by {draft.reward.difference:+.3f} over {draft.n} tasks, {test}"


def _no_difference(draft: Comparison, test: str) -> str:
    assert draft.permutation is not None
    if not draft.permutation.nonzero:
        return f"all {draft.n} tasks have the same reward in both runs"
    hidden = ""
    if draft.detectable is not None:
        hidden = f"; with {draft.n} tasks a change below {draft.detectable:.2f} is likely to hide"
    return f"{_movement(draft, test)}{hidden}"


def _shift_of(
    pairs: Sequence[TaskPair], quantity: Literal["n_steps", "cost_usd", "elapsed_s"]
) -> MeanShift | None:
    """The shift of a quantity over the tasks for which both runs recorded it."""
    before, after = [], []
    for pair in pairs:
        here = [getattr(a, quantity) for a in pair.base]
        there = [getattr(a, quantity) for a in pair.cand]
        if None not in here and None not in there:
            before.append(mean(here))
            after.append(mean(there))
    return _shift(before, after) if before else None


def _shift(before: Sequence[float], after: Sequence[float]) -> MeanShift:
    differences = _differences(before, after)
    interval = statistics.bootstrap_mean(differences)
    return MeanShift(mean(before), mean(after), mean(differences), interval, len(differences))


def _differences(before: Sequence[float], after: Sequence[float]) -> list[float]:
    """The changes; one that only rounding makes is none."""
    differences = (a - b for b, a in zip(before, after, strict=True))
    return [difference if abs(difference) > EQUAL else 0.0 for difference in differences]


def _without_rewards(base: RunAttempts, cand: RunAttempts) -> tuple[str, ...]:
    without = [run.run_id for run in (base, cand) if not run.rewards()]
    if not without:
        return ()
    who = "neither run records" if len(without) == 2 else f"run {without[0]} does not record"
    return (f"{who} per-task rewards, so nothing can be paired",)


def _no_pairs(base: RunAttempts, cand: RunAttempts) -> str:
    missing = _without_rewards(base, cand) or ("no task was scored in both runs",)
    return "no verdict possible: " + "; ".join(missing)


def _notes(base: RunAttempts, cand: RunAttempts) -> tuple[str, ...]:
    notes = [f"left out: {problem}" for problem in (*base.problems, *cand.problems)]
    for run in (base, cand):
        unscored = sum(a.reward is None for a in run.final)
        if unscored:
            notes.append(
                f"{unscored} of {len(run.final)} attempts of {run.run_id} have no reward "
                "(abstained, or ended by the model or the environment) and are in no mean"
            )
        if run.retried:
            notes.append(f"{run.retried} attempts of {run.run_id} were replaced by a retry")
        if run.replaced_zeros:
            notes.append(f"{run.run_id}: {zeros_replaced(run.replaced_zeros)}")
    if base.run_id == cand.run_id:
        notes.append("a run was compared with itself")
    return tuple(notes)
