"""A policy that mixes ways of answering, drawn from in groups, and how it follows the advantages.

It is right as often as the way of answering and the prompt's difficulty allow; its mixture follows
the mean advantages, for as many steps as a published collapse took.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from math import exp, fsum, sqrt
from typing import Final, NamedTuple

from assay.audit.behaviours import BEHAVIOURS, PROMPTS
from assay.audit.group_audit import GroupAudit, with_findings
from assay.schema.audit import Kind

GROUPS: Final = 1_000
"""Groups of the policy as it starts, for the shares."""
STEPS: Final = 40
STEP_GROUPS: Final = 100
RATE: Final = 0.5
"""How far the mixture follows the mean advantage in one step."""
ZERO: Final = 1e-6
"""Rewards that differ by less are equal, as in the trainers' own divisor."""
RIGHT: Final = 0.5


class Rollout(NamedTuple):
    """What the reward pays for one way of answering one row, rightly or wrongly."""

    reward: float
    outcome: float
    shares: Mapping[str, float]
    """By component, what it adds."""
    gates: Mapping[str, float]
    is_graded: bool = True
    """Whether there is a reward at all; a trainer leaves the others out of their group."""


class _Draw(NamedTuple):
    behaviour: str
    rollout: Rollout
    right: bool


def simulate(
    target: str,
    kind: Kind,
    table: Sequence[Mapping[str, tuple[Rollout, Rollout]]],
    outcome: str,
    *,
    seed: int,
    size: int,
) -> GroupAudit:
    """What becomes of the policy; `table` has for each row and behaviour a wrong and a right
    rollout."""
    rng = random.Random(seed)
    start = {each.name: each.start for each in BEHAVIOURS}
    groups = [group for _ in range(GROUPS) if (group := _group(rng, table, start, size))]
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
        outcome=outcome,
        components=_variance_shares(groups),
        gates=_gates(table),
        ungraded=_ungraded(table),
        failed=shares.failed,
        spread=shares.spread,
        phantom=shares.phantom,
        inverted=shares.inverted,
        policies=policies,
        success=success,
        gains=_gains(groups),
    )
    return with_findings(audit)


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
        if rollout.is_graded:
            draws.append(_Draw(name, rollout, rollout.outcome >= RIGHT))
    return draws


_NAMED: Final = {each.name: each for each in BEHAVIOURS}
_SUCCESS: Final = {
    each.name: fsum(prompt.success(each) for prompt in PROMPTS) / len(PROMPTS)
    for each in BEHAVIOURS
}
"""By behaviour: how often it is right, over all prompts."""


def advantages(rewards: Sequence[float]) -> list[float]:
    """The rewards less their mean, by their deviation: GRPO's advantage; none of one alone."""
    if not rewards:
        return []
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


def _ungraded(table: Sequence[Mapping[str, tuple[Rollout, Rollout]]]) -> float:
    rollouts = [one for rows in table for pair in rows.values() for one in pair]
    return sum(not one.is_graded for one in rollouts) / len(rollouts)


def _gates(table: Sequence[Mapping[str, tuple[Rollout, Rollout]]]) -> dict[str, float]:
    rollouts = [one for rows in table for pair in rows.values() for one in pair if one.is_graded]
    names = list(rollouts[0].gates)
    return {name: fsum(one.gates[name] for one in rollouts) / len(rollouts) for name in names}
