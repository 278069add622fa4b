"""What a trainer would make of a reward: groups of rollouts, simulated without training.

Trainers of the GRPO family compare the rollouts of one prompt with each other. So it matters less
what a reward pays than how it spreads within a group: where every answer is wrong and the rewards
still differ, the difference becomes an advantage of full size, and teaches how to fail.

The simulation asks the reward about real responses: right and wrong answers given silently,
tersely, with some working, at length, repetitively, in and out of the form. A policy that mixes
these ways of answering, and is right as often as the way and the prompt's difficulty allow, is
drawn from in groups; its mixture then follows the advantages, for as many steps as a published
collapse took.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import exp, fsum, sqrt
from typing import Any, Final, NamedTuple

from assay.audit.behaviours import BEHAVIOURS, PROMPTS, response
from assay.audit.findings import CallResult, Sample, at_least
from assay.audit.frames import BARE, FRAMES, AnswerFrame, to_call
from assay.audit.session import AuditSession
from assay.errors import BadParameter
from assay.schema.audit import SEVERITIES, Kind, Severity

GROUP_SCHEMA: Final = "assay.audit-group/1"
GROUP_SIZE: Final = 8
GROUPS: Final = 1_000
"""Groups of the policy as it starts, for the shares."""
STEPS: Final = 40
STEP_GROUPS: Final = 100
RATE: Final = 0.5
"""How far the mixture follows the mean advantage in one step."""
ROWS: Final = 8
ZERO: Final = 1e-6
"""Rewards that differ by less are equal, as in the trainers' own divisor."""
PAID: Final = "paid/"
GATE: Final = "gate/"
REST: Final = "the rest"
OUTCOMES: Final = ("acc", "accuracy", "correct", "outcome", "em", "won", "success")
"""Parts that say whether an answer is right, in a reward that is no composition."""
RIGHT: Final = 0.5
LOST: Final = 0.7
"""A success rate that falls below this share of where it began is a collapse."""
DOMINANT: Final = 0.5
NOTICED: Final = 0.01


class Rollout(NamedTuple):
    """What the reward pays for one way of answering one row, rightly or wrongly."""

    reward: float
    outcome: float
    shares: Mapping[str, float]
    """By component, what it adds."""
    gates: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class GroupFinding:
    """One way in which groups would teach something else than the task."""

    check: str
    severity: Severity
    title: str


@dataclass(frozen=True, slots=True)
class GroupAudit:
    """What groups of rollouts would make of a reward."""

    target: str
    kind: Kind
    seed: int
    size: int
    rows: int
    outcome: str
    components: Mapping[str, float]
    """By component: its share of the variance of the reward within groups."""
    gates: Mapping[str, float]
    """By component with a gate: how often the gate is open, right answers included."""
    failed: float
    """The share of groups in which every answer is wrong."""
    spread: float
    """Of those, the share in which the rewards differ."""
    phantom: float
    """The share of all advantage that those groups hand out."""
    inverted: float
    """The share of pairs, one right and one wrong, in which the wrong one earns as much or more."""
    policies: Sequence[Mapping[str, float]]
    """The mixture of behaviours, step by step."""
    success: Sequence[float]
    """How often the policy is right, step by step."""
    gains: Mapping[str, float]
    """By behaviour: its mean advantage in the groups in which every answer is wrong."""
    findings: tuple[GroupFinding, ...] = field(default=())

    @property
    def collapses(self) -> bool:
        return min(self.success) < LOST * self.success[0]

    def fails(self, bar: Severity) -> bool:
        """Whether there is a finding of that severity, or a worse one."""
        return any(at_least(finding.severity, bar) for finding in self.findings)

    @property
    def verdict(self) -> str:
        end = min(self.success) if self.collapses else self.success[-1]
        change = f"{self.success[0]:.2f} to {end:.2f} within {len(self.success) - 1} steps"
        what = "collapse" if self.collapses else "no collapse"
        count = len(self.findings)
        findings = f"; {count} finding{'s' * (count > 1)}" if count else ""
        return f"{self.target}: {what} predicted: right answers go from {change}{findings}"

    def to_record(self) -> dict[str, Any]:
        """The audit as plain JSON values."""
        return {
            "schema": GROUP_SCHEMA,
            "target": self.target,
            "kind": self.kind,
            "seed": self.seed,
            "group_size": self.size,
            "rows": self.rows,
            "outcome": self.outcome,
            "variance_shares": _rounded(self.components),
            "gates_open": _rounded(self.gates),
            "failed_groups": round(self.failed, 4),
            "spread_in_failed_groups": round(self.spread, 4),
            "advantage_out_of_nothing": round(self.phantom, 4),
            "wrong_not_below_right": round(self.inverted, 4),
            "gains_in_failed_groups": _rounded(self.gains),
            "success": [round(value, 4) for value in self.success],
            "policy_at_start": _rounded(self.policies[0]),
            "policy_at_end": _rounded(self.policies[-1]),
            "collapse": self.collapses,
            "findings": [
                {"check": each.check, "severity": each.severity, "title": each.title}
                for each in self.findings
            ],
            "verdict": self.verdict,
        }


def audit_groups(
    session: AuditSession,
    kind: Kind,
    samples: Sequence[Sample],
    *,
    seed: int = 0,
    size: int = GROUP_SIZE,
    outcome: str | None = None,
) -> GroupAudit:
    """What groups of `size` rollouts would make of the target, by its answers alone.

    The outcome is the first component of a composition; of any other reward the part that is named,
    or one that is usually called so. Raises `BadParameter` where nothing says whether an answer is
    right, or where the target pays no right answer.
    """
    if size < 2:
        raise BadParameter(f"a group has {size} rollouts; it takes 2 to compare")
    rows = [sample for sample in samples if sample.right and _wrong_of(sample, samples)][:ROWS]
    if not rows:
        raise BadParameter("no row has a right and a wrong answer; give others with --data")
    reader = _reader(session, kind, rows, outcome)
    frame = _best_frame(session, kind, rows, reader)
    table = [_table(session, kind, row, samples, frame, reader) for row in rows]
    if not any(table[0][behaviour.name][1].outcome >= RIGHT for behaviour in BEHAVIOURS):
        raise BadParameter(
            f"{session.target.name} calls no right answer right; is its kind {kind!r}? --kind "
            "names another"
        )
    return _simulate(session.target.name, kind, table, reader, seed=seed, size=size)


# What the target pays


@dataclass(frozen=True, slots=True)
class _Reader:
    """Which of the target's parts are the outcome and the components."""

    outcome: str
    components: tuple[str, ...]

    def read(self, result: CallResult) -> Rollout:
        parts = {name: value or 0.0 for name, value in result.parts.items()}
        outcome = parts.get(self.outcome, 0.0)
        shares = {name: parts.get(PAID + name, 0.0) for name in self.components}
        if not self.components:
            shares = {self.outcome: outcome, REST: result.amount - outcome}
        gates = {
            name.removeprefix(GATE): value for name, value in parts.items() if name.startswith(GATE)
        }
        return Rollout(result.amount, outcome, shares, gates)


def _reader(
    session: AuditSession, kind: Kind, rows: Sequence[Sample], outcome: str | None
) -> _Reader:
    probe = session.ask([to_call(kind, rows[0], rows[0].right[0])])[0]
    parts = tuple(session.target.parts or ()) or tuple(probe.parts)
    components = tuple(name for name in parts if PAID + name in parts)
    chosen = outcome or next(iter(components), None)
    chosen = chosen or next((name for name in OUTCOMES if name in parts), None)
    if chosen is None or chosen not in parts:
        have = ", ".join(parts) or "none"
        raise BadParameter(
            f"nothing says whether an answer of {session.target.name} is right; name the part with "
            f"--outcome (it has: {have})"
        )
    return _Reader(chosen, components)


def _best_frame(
    session: AuditSession, kind: Kind, rows: Sequence[Sample], reader: _Reader
) -> AnswerFrame:
    """The frame in which worked answers are found right most often."""
    frames = (*(frame for frame in FRAMES if frame is not BARE), BARE)
    worked = next(each for each in BEHAVIOURS if each.name == "8 sentences")

    def score(frame: AnswerFrame) -> tuple[float, float]:
        texts = [response(worked, frame, row.right[0]) for row in rows]
        calls = [to_call(kind, row, text) for row, text in zip(rows, texts, strict=True)]
        rollouts = [reader.read(result) for result in session.ask(calls)]
        right = sum(one.outcome >= RIGHT for one in rollouts)
        return right, fsum(one.reward for one in rollouts)

    scores = [score(frame) for frame in frames]
    return frames[scores.index(max(scores))]


def _table(
    session: AuditSession,
    kind: Kind,
    row: Sample,
    samples: Sequence[Sample],
    frame: AnswerFrame,
    reader: _Reader,
) -> dict[str, tuple[Rollout, Rollout]]:
    """By behaviour: a wrong rollout and a right one."""
    answers = (_wrong_of(row, samples), row.right[0])
    texts = [response(each, frame, answer) for each in BEHAVIOURS for answer in answers]
    results = session.ask([to_call(kind, row, text) for text in texts])
    rollouts = [reader.read(result) for result in results]
    return {
        each.name: (rollouts[2 * at], rollouts[2 * at + 1]) for at, each in enumerate(BEHAVIOURS)
    }


def _wrong_of(sample: Sample, samples: Sequence[Sample]) -> str:
    if sample.wrong:
        return sample.wrong[0]
    right = set(sample.right)
    others = (answer for other in samples for answer in other.right if answer not in right)
    return next(others, "")


# The simulation


class _Draw(NamedTuple):
    behaviour: str
    rollout: Rollout
    right: bool


def _simulate(
    target: str,
    kind: Kind,
    table: Sequence[Mapping[str, tuple[Rollout, Rollout]]],
    reader: _Reader,
    *,
    seed: int,
    size: int,
) -> GroupAudit:
    rng = random.Random(seed)
    start = {each.name: each.start for each in BEHAVIOURS}
    groups = [_group(rng, table, start, size) for _ in range(GROUPS)]
    policies, success = [start], [_success(start, table)]
    logits = dict.fromkeys(start, 0.0)
    for _ in range(STEPS):
        policy = policies[-1]
        drawn = [_group(rng, table, policy, size) for _ in range(STEP_GROUPS)]
        _follow(logits, drawn)
        policies.append(_mixture(start, logits))
        success.append(_success(policies[-1], table))
    shares = _shares(groups)
    audit = GroupAudit(
        target=target,
        kind=kind,
        seed=seed,
        size=size,
        rows=len(table),
        outcome=reader.outcome,
        components=_variance_shares(groups),
        gates=_gates(table),
        failed=shares.failed,
        spread=shares.spread,
        phantom=shares.phantom,
        inverted=shares.inverted,
        policies=policies,
        success=success,
        gains=_gains(groups),
    )
    return _with_findings(audit)


def _group(
    rng: random.Random,
    table: Sequence[Mapping[str, tuple[Rollout, Rollout]]],
    policy: Mapping[str, float],
    size: int,
) -> list[_Draw]:
    """A group of rollouts of one prompt, of one difficulty."""
    rows, prompt = rng.choice(table), rng.choice(PROMPTS)
    names, bounds = list(policy), list(accumulate(policy.values()))
    draws: list[_Draw] = []
    for name in rng.choices(names, cum_weights=bounds, k=size):
        is_right = rng.random() < prompt.success(_NAMED[name])
        rollout = rows[name][is_right]
        draws.append(_Draw(name, rollout, rollout.outcome >= RIGHT))
    return draws


_NAMED: Final = {each.name: each for each in BEHAVIOURS}
_SUCCESS: Final = {
    each.name: fsum(prompt.success(each) for prompt in PROMPTS) / len(PROMPTS)
    for each in BEHAVIOURS
}
"""By behaviour: how often it is right, over all prompts."""


def advantages(rewards: Sequence[float]) -> list[float]:
    """The rewards less their mean, by their deviation: GRPO's advantage."""
    mean = fsum(rewards) / len(rewards)
    deviation = sqrt(fsum((reward - mean) ** 2 for reward in rewards) / len(rewards))
    if deviation < ZERO:
        return [0.0] * len(rewards)
    return [(reward - mean) / (deviation + ZERO) for reward in rewards]


def _of(group: Sequence[_Draw]) -> list[float]:
    return advantages([draw.rollout.reward for draw in group])


def _follow(logits: dict[str, float], groups: Sequence[Sequence[_Draw]]) -> None:
    """Move each behaviour's logit by its mean advantage: the natural policy gradient."""
    sums: defaultdict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    for group in groups:
        for draw, advantage in zip(group, _of(group), strict=True):
            sums[draw.behaviour] += advantage
            counts[draw.behaviour] += 1
    for name, count in counts.items():
        logits[name] += RATE * sums[name] / count


def _mixture(start: Mapping[str, float], logits: Mapping[str, float]) -> dict[str, float]:
    weights = {name: share * exp(logits[name]) for name, share in start.items()}
    total = fsum(weights.values())
    return {name: max(weight / total, 1e-6) for name, weight in weights.items()}


def _success(
    policy: Mapping[str, float], table: Sequence[Mapping[str, tuple[Rollout, Rollout]]]
) -> float:
    """How often the policy is right, over all rows and difficulties."""
    rights = {
        name: fsum(rows[name][1].outcome >= RIGHT for rows in table) / len(table) for name in policy
    }
    return fsum(share * _SUCCESS[name] * rights[name] for name, share in policy.items())


class _Shares(NamedTuple):
    failed: float
    spread: float
    phantom: float
    inverted: float


def _shares(groups: Sequence[Sequence[_Draw]]) -> _Shares:
    failed = [group for group in groups if not any(draw.right for draw in group)]
    sizes = [fsum(map(abs, _of(group))) for group in groups]
    nothing = [fsum(map(abs, _of(group))) for group in failed]
    pairs = [
        one.rollout.reward <= other.rollout.reward
        for group in groups
        for one in group
        if one.right
        for other in group
        if not other.right
    ]
    return _Shares(
        failed=len(failed) / len(groups),
        spread=sum(size > 0 for size in nothing) / max(1, len(failed)),
        phantom=fsum(nothing) / (fsum(sizes) or 1.0),
        inverted=sum(pairs) / max(1, len(pairs)),
    )


def _gains(groups: Iterable[Sequence[_Draw]]) -> dict[str, float]:
    sums: dict[str, list[float]] = {each.name: [] for each in BEHAVIOURS}
    for group in groups:
        if not any(draw.right for draw in group):
            for draw, advantage in zip(group, _of(group), strict=True):
                sums[draw.behaviour].append(advantage)
    return {name: fsum(values) / max(1, len(values)) for name, values in sums.items()}


def _variance_shares(groups: Sequence[Sequence[_Draw]]) -> dict[str, float]:
    """By component: the covariance with the reward within groups, as a share of its variance."""
    names = list(groups[0][0].rollout.shares)
    covariance = dict.fromkeys(names, 0.0)
    variance = 0.0
    for group in groups:
        rewards = _centred([draw.rollout.reward for draw in group])
        variance += fsum(reward * reward for reward in rewards)
        for name in names:
            own = _centred([draw.rollout.shares[name] for draw in group])
            covariance[name] += fsum(one * other for one, other in zip(own, rewards, strict=True))
    return {name: value / (variance or 1.0) for name, value in covariance.items()}


def _centred(values: Sequence[float]) -> list[float]:
    mean = fsum(values) / len(values)
    return [value - mean for value in values]


def _gates(table: Sequence[Mapping[str, tuple[Rollout, Rollout]]]) -> dict[str, float]:
    rollouts = [one for rows in table for pair in rows.values() for one in pair]
    names = list(rollouts[0].gates)
    return {name: fsum(one.gates[name] for one in rollouts) / len(rollouts) for name in names}


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in values.items()}


# What it means


def _with_findings(audit: GroupAudit) -> GroupAudit:
    findings = [*_about_outcome(audit), *_about_components(audit)]
    findings.sort(key=lambda each: SEVERITIES.index(each.severity), reverse=True)
    return replace(audit, findings=tuple(findings))


def _about_outcome(audit: GroupAudit) -> Iterable[GroupFinding]:
    if audit.collapses:
        worst = min(range(len(audit.success)), key=lambda step: audit.success[step])
        policy = audit.policies[worst]
        most = max(policy, key=lambda name: policy[name])
        yield GroupFinding(
            "collapse",
            "critical",
            f"right answers are predicted to go from {audit.success[0]:.0%} to "
            f"{audit.success[worst]:.0%}, and the commonest way of answering to be {most!r}",
        )
    if audit.phantom >= NOTICED:
        gain = max(audit.gains, key=lambda name: audit.gains[name])
        yield GroupFinding(
            "pay_out_of_nothing",
            "high",
            f"{audit.spread:.0%} of the groups in which every answer is wrong still have an "
            f"advantage to hand out, {audit.phantom:.0%} of all advantage; the {gain!r} failure "
            f"gains most ({audit.gains[gain]:+.2f}): put what is not the outcome behind a gate",
        )
    if audit.inverted >= NOTICED:
        yield GroupFinding(
            "wrong_not_below_right",
            "high",
            f"in {audit.inverted:.0%} of the pairs a wrong answer earns as much as a right one of "
            "its group, or more: lower the weights beside the outcome",
        )


def _about_components(audit: GroupAudit) -> Iterable[GroupFinding]:
    for name, share in audit.components.items():
        if name != audit.outcome and share > DOMINANT:
            yield GroupFinding(
                "dominates",
                "medium",
                f"{name!r} makes {share:.0%} of the variance within groups, and {audit.outcome!r} "
                f"{audit.components.get(audit.outcome, 0.0):.0%}: lower its weight",
            )
    for name, share in audit.gates.items():
        if share == 0.0:
            yield GroupFinding(
                "gate_never_opens",
                "medium",
                f"the gate of {name!r} opened for no answer, right ones included: look at its "
                "opens_at",
            )
        elif share == 1.0:
            yield GroupFinding(
                "gate_never_closes",
                "low",
                f"the gate of {name!r} was open for every answer, wrong ones included",
            )
