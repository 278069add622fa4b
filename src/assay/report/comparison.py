"""Compare a candidate run with a base run: tests, a verdict and its reasons.

The unit is the task: repeats of a task are averaged before anything is tested, since they are not
independent of each other. Only tasks that were scored in both runs are paired.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from math import copysign, sqrt
from pathlib import Path
from statistics import variance
from typing import Any, Literal, TypeAlias

from assay.errors import BadParameter
from assay.ledger.passes import PERFECT
from assay.ledger.run import RunLike
from assay.ledger.summary import zeros_replaced
from assay.registry import REWARDS
from assay.report import statistics
from assay.report.attempts import EQUAL, RunAttempts, ScoredAttempt, mean, read_attempts, rewards_of
from assay.report.comparability import (
    CodeChanges,
    changes,
    code_changes,
    labels,
    obstacles,
    primary_reward,
    with_ids_of,
)
from assay.report.statistics import ALPHA, ConfidenceInterval, McNemarTest, PermutationTest
from assay.report.task_changes import (
    DROP,
    PairedTask,
    TaskChange,
    TaskDrops,
    flaky_tasks,
    pair_tasks,
    steady_drops,
    task_changes,
    task_drops,
    unsteady_tasks,
)

BY_QUESTION = "tasks are paired by their questions, since ids that are line numbers differ"
FEWEST_PAIRS = 6
"""Below so many pairs no test can reach 5 %."""
CHANGE = 0.05
"""The change of the mean whose price is named: so many tasks, or so many repeats."""

Verdict: TypeAlias = Literal[
    "improved", "regressed", "mixed", "no difference shown", "no verdict possible", "not comparable"
]
"""`mixed`: one test shows a gain and another one a loss."""


@dataclass(frozen=True, slots=True)
class MeanShift:
    """The change of a mean from base to candidate, over the paired tasks."""

    base: float
    cand: float
    difference: float
    interval: ConfidenceInterval | None
    n: int


@dataclass(frozen=True, slots=True)
class SampleSize:
    """The sample size that shows a change of the mean with 80 % power."""

    change: float
    tasks: int
    """In all, at as many repeats as there are."""
    repeats: int | None
    """Of each of these tasks; `None` where no number is enough."""
    at_least: bool
    """Whether `repeats` is a lower bound: one repeat does not tell how much a task varies."""
    n: int
    """The tasks that there are."""

    @property
    def sentence(self) -> str:
        """The sample size in words, such as `208 more tasks … would show a change of 0.05`."""
        if self.tasks <= self.n:
            return f"these {self.n} tasks are enough to show a change of {self.change:g}"
        more = f"about {self.tasks - self.n:,} more tasks"
        if self.repeats is None:
            instead = " (repeats of these are not enough)"
        else:
            number = f"{'at least ' * self.at_least}{self.repeats:,}"
            instead = f", or {number} repeats of these {self.n},"
        return f"{more}{instead} would show a change of {self.change:g}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of comparing a candidate run with a base run."""

    base: str
    cand: str
    verdict: Verdict
    because: str
    obstacles: tuple[str, ...] = ()
    """Differences that make the two runs incomparable; a forced comparison carries them."""
    labels: tuple[str, ...] = ()
    """What the comparison is one of, such as of two models."""
    changes: tuple[str, ...] = ()
    """Other differences of configuration: what was tried."""
    code: CodeChanges = field(default_factory=CodeChanges)
    """What differs in the agent's code, as far as the runs kept it."""
    n: int = 0
    """Tasks scored in both runs."""
    only_base: int = 0
    only_cand: int = 0
    reward: MeanShift | None = None
    permutation: PermutationTest | None = None
    p: float | None = None
    """The permutation p, adjusted by Holm's method where several candidates were compared."""
    mcnemar: McNemarTest | None = None
    pass_p: float | None = None
    """McNemar's p, adjusted in the same way."""
    pass_rate: MeanShift | None = None
    """The share of repeats that passed, over the paired tasks."""
    pass_at: float = PERFECT
    detectable: float | None = None
    """The change of the mean that would be found with 80 % power."""
    needed: SampleSize | None = None
    """`None` where no two tasks moved differently, which says nothing of the spread."""
    tasks: tuple[TaskChange, ...] = ()
    """Regressed tasks first."""
    steps: MeanShift | None = None
    cost_usd: MeanShift | None = None
    elapsed_s: MeanShift | None = None
    steady_drops: tuple[str, ...] = ()
    """Tasks lower in all of their repeats, where that is more than chance explains."""
    drops: TaskDrops | None = None
    """Tasks that fell far, in any number of repeats."""
    notes: tuple[str, ...] = ()

    @property
    def flaky(self) -> tuple[str, ...]:
        return tuple(task.task_id for task in self.tasks if task.flaky)

    @property
    def regressed(self) -> bool:
        """Whether a test shows a loss, even if another test shows a gain."""
        return -1 in _directions(self)

    def to_record(self) -> dict[str, Any]:
        """The comparison as plain JSON values."""
        record = {**asdict(self), "flaky": list(self.flaky), "regressed": self.regressed}
        if self.needed is not None:
            record["needed"]["sentence"] = self.needed.sentence
        if self.drops is not None:
            record["drops"] |= {"alarm": self.drops.alarm, "sentence": self.drops.sentence}
        return record


def compare(
    base: RunLike | RunAttempts,
    cand: RunLike | RunAttempts,
    *,
    force: bool = False,
    pass_at: float = PERFECT,
    change: float = CHANGE,
    drop: float = DROP,
    runs_dir: str | Path = "runs",
) -> Comparison:
    """Compare a candidate run with a base run.

    Runs whose reward, task set or step budget differ are `not comparable`, and nothing is
    computed; `force` computes it and keeps the differences. Two models are compared, and labelled.
    `pass_at` is the reward from which a task passes, `change` the change of the mean whose price is
    named, and `drop` by how much a task falls far.
    """
    return compare_many(
        base, [cand], force=force, pass_at=pass_at, change=change, drop=drop, runs_dir=runs_dir
    )[0]


def compare_many(
    base: RunLike | RunAttempts,
    cands: Sequence[RunLike | RunAttempts],
    *,
    force: bool = False,
    pass_at: float = PERFECT,
    change: float = CHANGE,
    drop: float = DROP,
    runs_dir: str | Path = "runs",
) -> list[Comparison]:
    """Compare several candidates with one base run, and correct the p-values for their number."""
    for name, size in (("change", change), ("drop", drop)):
        if not 0 < size <= 1:
            raise BadParameter(f"{name} is {size!r}; give a number above 0 and at most 1")
    before = _attempts(base, runs_dir)
    settings = _Settings(force, pass_at, change, drop, unsteady_tasks(before))
    return adjust([_compare(before, _attempts(cand, runs_dir), settings) for cand in cands])


def _attempts(run: RunLike | RunAttempts, runs_dir: str | Path) -> RunAttempts:
    return run if isinstance(run, RunAttempts) else read_attempts(run, runs_dir)


def compare_attempts(base: RunAttempts, cand: RunAttempts) -> Comparison:
    """Compare two runs that were read already, without other runs of their configuration."""
    return adjust([_compare(base, cand, _Settings())])[0]


def adjust(drafts: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons with Holm-corrected p-values and final verdicts."""
    tests = {
        i: (draft.permutation.p, draft.mcnemar.p)
        for i, draft in enumerate(drafts)
        if draft.permutation is not None and draft.mcnemar is not None
    }
    means, passes = (statistics.holm([pair[which] for pair in tests.values()]) for which in (0, 1))
    done = list(drafts)
    for i, p, pass_p in zip(tests, means, passes, strict=True):
        draft = replace(done[i], p=p, pass_p=pass_p)
        verdict, because = _verdict(draft, family=len(tests))
        done[i] = replace(draft, verdict=verdict, because=because)
    return done


@dataclass(frozen=True, slots=True)
class _Settings:
    force: bool = False
    pass_at: float = PERFECT
    change: float = CHANGE
    drop: float = DROP
    known_flaky: set[str] | None = None
    """Tasks that vary in runs like the base; `None` to leave other runs alone."""


def _compare(base: RunAttempts, cand: RunAttempts, settings: _Settings) -> Comparison:
    numbered, cand = cand, with_ids_of(base, cand)
    differences = obstacles(base, cand)
    draft = Comparison(
        base.run_id,
        cand.run_id,
        "not comparable",
        "not comparable: " + "; ".join((*differences, *_without_rewards(base, cand))),
        obstacles=differences,
        labels=labels(base.manifest, cand.manifest),
        changes=changes(base.manifest, cand.manifest),
        code=CodeChanges() if settings.known_flaky is None else code_changes(base, cand),
        pass_at=settings.pass_at,
        notes=(
            *_notes(base, cand),
            *((BY_QUESTION,) if cand is not numbered else ()),
            *_same_reward(base, cand),
        ),
    )
    if differences and not settings.force:
        return draft
    pairs = list(pair_tasks(base, cand))
    if not pairs:
        why = "; ".join(_without_rewards(base, cand)) or "no task was scored in both runs"
        sentence = f"no verdict possible: {why}"
        return replace(draft, verdict="no verdict possible", because=sentence)
    return _with_numbers(draft, base, cand, pairs, settings)


def _with_numbers(
    draft: Comparison,
    base: RunAttempts,
    cand: RunAttempts,
    pairs: list[PairedTask],
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
        pass_rate=_pass_rate(pairs, settings.pass_at),
        detectable=statistics.detectable(differences),
        needed=_sample_size(pairs, differences, settings.change),
        tasks=task_changes(base, cand, pairs, flaky_tasks(base, cand, settings.known_flaky)),
        steps=_shift_of((base, cand), pairs, "n_steps"),
        cost_usd=_shift_of((base, cand), pairs, "cost_usd"),
        elapsed_s=_shift_of((base, cand), pairs, "elapsed_s"),
        steady_drops=steady_drops(pairs),
        drops=task_drops(pairs, settings.drop),
    )


def _verdict(draft: Comparison, *, family: int) -> tuple[Verdict, str]:
    """The verdict of a comparison with numbers, and the sentence for the verdict."""
    forced = f"(forced although {'; '.join(draft.obstacles)}) " if draft.obstacles else ""
    label = forced + "".join(f"({label}) " for label in draft.labels)
    directions = _directions(draft)
    if not directions:
        best = statistics.best_p(draft.n)
        if best > ALPHA:
            why = f"no verdict possible: n={draft.n}, the best possible p is {best:.3g}"
            return "no verdict possible", f"{label}{why}{_lead(draft)}"
        unmoved = draft.permutation is not None and not draft.permutation.nonzero
        same = f"all {draft.n} tasks have the same reward in both runs"
        shown = same if unmoved else _movement(draft, family)
        return "no difference shown", f"{label}{shown}{_lead(draft)}"
    reasons = [reason for _, reason in _reasons(draft, family)]
    if not _mean_differs(draft):
        reasons.append(_movement(draft, family))
    because = label + "; ".join(reasons)
    if len(directions) > 1:
        return "mixed", because
    return ("regressed" if directions == {-1} else "improved"), because


def _directions(draft: Comparison) -> set[int]:
    """The directions of the significant differences: 1 for a gain, -1 for a loss."""
    directions = {direction for direction, _ in _reasons(draft, 1)}
    opposite = draft.reward is not None and {-1.0: 1, 1.0: -1}.get(_sign(draft.reward.difference))
    # Passes that change against the mean are no plain gain or loss.
    if directions and not _mean_differs(draft) and opposite in directions:
        directions.add(-int(opposite))
    return directions


def _reasons(draft: Comparison, family: int) -> list[tuple[int, str]]:
    """The direction and the sentence of each test that shows a difference."""
    reasons: list[tuple[int, str]] = []
    if draft.reward is None or draft.mcnemar is None:
        return reasons
    if _mean_differs(draft):
        reasons.append((int(_sign(draft.reward.difference)), _movement(draft, family)))
    passes = draft.mcnemar
    if draft.pass_p is not None and draft.pass_p <= ALPHA and passes.gained != passes.lost:
        words = "more tasks pass" if passes.gained > passes.lost else "fewer tasks pass"
        tests = f"{passes.gained} gained, {passes.lost} lost, McNemar p = {draft.pass_p:.3g}"
        # Where every task moved by as much, this is the same test again.
        if not reasons or draft.permutation is None or passes.p != draft.permutation.p:
            reasons.append((1 if passes.gained > passes.lost else -1, f"{words}: {tests}"))
    if draft.steady_drops:
        reasons.append((-1, f"lower in every repeat: {', '.join(draft.steady_drops[:5])}"))
    return reasons


def _mean_differs(draft: Comparison) -> bool:
    moved = draft.reward is not None and abs(draft.reward.difference) > EQUAL
    return moved and draft.p is not None and draft.p <= ALPHA


def _sign(value: float) -> float:
    return 0.0 if abs(value) <= EQUAL else copysign(1.0, value)


def _movement(draft: Comparison, family: int) -> str:
    assert draft.reward is not None
    assert draft.pass_rate is not None
    test = f"p = {draft.p:.3g}" + (f" after Holm's correction for {family} runs" * (family > 1))
    passes = f"pass rate {draft.pass_rate.base:.0%} → {draft.pass_rate.cand:.0%}"
    moved = f"the mean moved by {draft.reward.difference:+.3f} over {draft.n} tasks, {test}"
    return f"{moved}, {passes}"


def _lead(draft: Comparison) -> str:
    """The last part of the sentence: large drops, the detectable change and the sample size."""
    parts = []
    if draft.drops is not None and draft.drops.alarm:
        parts.append(draft.drops.sentence)
    if draft.detectable is not None and statistics.best_p(draft.n) <= ALPHA:
        hidden = f"a change below {draft.detectable:.2f} is likely to hide"
        parts.append(f"with {draft.n} tasks {hidden}")
    if draft.needed is not None:
        parts.append(draft.needed.sentence)
    return "".join(f"; {part}" for part in parts)


def _pass_rate(pairs: Sequence[PairedTask], pass_at: float) -> MeanShift:
    def share(attempts: Sequence[ScoredAttempt]) -> float:
        return mean([float(reward >= pass_at) for reward in rewards_of(attempts)])

    return _shift([share(pair.base) for pair in pairs], [share(pair.cand) for pair in pairs])


def _sample_size(
    pairs: Sequence[PairedTask], differences: Sequence[float], change: float
) -> SampleSize | None:
    """The sample size that shows the change; `None` if the differences do not vary."""
    if len(pairs) < 2 or len(set(differences)) < 2:
        return None
    total = variance(differences)
    repeated = [pair for pair in pairs if len(pair.base) > 1]
    if repeated:
        within = mean(
            variance(rewards_of(pair.base)) + variance(rewards_of(pair.cand)) for pair in repeated
        )
        chance = mean(1 / len(pair.base) for pair in pairs)
        steady = max(0.0, total - within * chance)
    else:
        # If the change is the same for every task, all of the spread is chance.
        within, steady = total, 0.0
    repeats = statistics.needed_repeats(sqrt(steady), sqrt(within), len(pairs), change)
    return SampleSize(
        change=change,
        tasks=max(statistics.needed_pairs(sqrt(total), change), FEWEST_PAIRS),
        repeats=repeats if len(pairs) >= FEWEST_PAIRS else None,
        at_least=not repeated,
        n=len(pairs),
    )


def _shift_of(
    runs: tuple[RunAttempts, RunAttempts],
    pairs: Sequence[PairedTask],
    quantity: Literal["n_steps", "cost_usd", "elapsed_s"],
) -> MeanShift | None:
    """The change of a quantity, over the tasks for which both runs recorded it."""
    for run in runs:
        # A log that does not record the quantity has zeros.
        zeros = quantity != "cost_usd" and not any(getattr(a, quantity) for a in run.final)
        if zeros and run.manifest.is_imported:
            return None
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
    """The change of each task; a change within rounding error is 0."""
    differences = (a - b for b, a in zip(before, after, strict=True))
    return [difference if abs(difference) > EQUAL else 0.0 for difference in differences]


def _without_rewards(base: RunAttempts, cand: RunAttempts) -> tuple[str, ...]:
    without = [run for run in (base, cand) if not run.rewards]
    if without and not any(run.final for run in without):
        ids = [run.run_id for run in without]
        who = "neither run records" if len(ids) == 2 else f"run {ids[0]} does not record"
        return (f"{who} per-task rewards, so nothing can be paired",)
    return tuple(f"no attempt of {run.run_id} has a reward ({_why(run)})" for run in without)


def _why(run: RunAttempts) -> str:
    """How the attempts without a reward ended, in words."""
    ends = Counter(a.abstained or (a.stop_reason if a.errored else "not scored") for a in run.final)
    return ", ".join(f"{n} × {end}" for end, n in ends.most_common(3)) or "none is finished"


def _same_reward(base: RunAttempts, cand: RunAttempts) -> tuple[str, ...]:
    """A note with the command that gives an imported log the other run's reward."""
    for log, run in ((base, cand), (cand, base)):
        name = primary_reward(run).partition("@")[0]
        if not log.manifest.is_imported or not log.final or name not in REWARDS.names():
            continue
        if primary_reward(log) != primary_reward(run):
            command = f"assay score {log.run_id} --reward {name}"
            return (f"{command} gives {log.run_id} the reward of the other run",)
    return ()


def _notes(base: RunAttempts, cand: RunAttempts) -> tuple[str, ...]:
    notes = [f"left out: {problem}" for problem in (*base.problems, *cand.problems)]
    for run in (base, cand):
        unscored = sum(a.reward is None for a in run.final)
        why = "(abstained, or ended by the model or the environment) and are in no mean"
        if unscored:
            of = f"{len(run.final)} attempts of {run.run_id}"
            notes.append(f"{unscored} of {of} have no reward {why}")
        if run.retried:
            were = "1 attempt was" if run.retried == 1 else f"{run.retried:,} attempts were"
            notes.append(f"{were} replaced by a retry in {run.run_id}")
        if run.replaced_zeros:
            notes.append(f"{run.run_id}: {zeros_replaced(run.replaced_zeros)}")
    if base.run_id == cand.run_id:
        notes.append("a run was compared with itself")
    return tuple(notes)
