"""Simulate a policy that mixes ways of answering and follows its advantages.

The ways differ in what rewards look at in addition to the outcome: how much working is shown,
whether the form is kept, whether something is said twice, whether there is an answer at all. The
policy is right as often as the way of answering and the prompt's difficulty allow; its mixture
follows the mean advantages, for as many steps as a published collapse took.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import exp, fsum, sqrt
from typing import Final, NamedTuple, TypeAlias

from assay.audit.data import read_table
from assay.audit.frames import AnswerTemplate
from assay.audit.group_audit import GroupAudit, with_findings
from assay.schema.audit import Kind

LEVELS: Final = (0.0, 0.3, 0.7, 0.9, 1.0, 1.0)
"""How often a prompt is answered rightly with enough working: some never are, some always."""
NEEDS: Final = (0, 1, 2, 3, 4, 5, 6, 8)
"""The sentences of working that a prompt takes; with less, right answers soon become rare."""
SLOPE: Final = 0.8
GROUPS: Final = 1_000
"""Groups of the policy as it starts, for the shares."""
STEPS: Final = 40
STEP_GROUPS: Final = 100
RATE: Final = 0.5
"""How far the mixture follows the mean advantage in one step."""
ZERO: Final = 1e-6
"""Rewards that differ by less are equal, as in the trainers' own divisor."""
RIGHT: Final = 0.5


@dataclass(frozen=True, slots=True)
class PolicyBehaviour:
    """One way in which a simulated policy responds, with its share of the responses."""

    name: str
    start: float
    """Its share in the policy as it starts."""
    sentences: int = 0
    """Sentences of working before the answer."""
    distinct: int = 12
    """After how many the sentences are said again."""
    framed: bool = True
    answers: bool = True

    def success(self, level: float, needs: int) -> float:
        """Probability of a right answer, given the prompt's level and needed sentences."""
        if not self.answers:
            return 0.0
        return level / (1 + exp((needs - self.sentences - 0.5) / SLOPE))

    def response(self, frame: AnswerTemplate, answer: str) -> str:
        working = " ".join(_WORKING[at % self.distinct] for at in range(self.sentences))
        if not self.answers:
            return frame.put("") if self.framed else ""
        end = frame.put(answer) if self.framed else f"So it is {answer}"
        # A thought that the frame begins with is the place of the working.
        if working and end.startswith("<think>"):
            thought, closing, rest = end.partition("</think>")
            return f"{thought} {working}{closing}{rest}"
        return "\n".join(filter(None, (working, end)))


_WORKING: Final[Sequence[str]] = read_table("texts")["working"]
BEHAVIOURS: Final = tuple(PolicyBehaviour(**row) for row in read_table("texts")["behaviours"])
_NAMED: Final = {each.name: each for each in BEHAVIOURS}
_PROMPTS: Final = tuple((level, needs) for level in LEVELS for needs in NEEDS)
_SUCCESS: Final = {
    each.name: fsum(each.success(*prompt) for prompt in _PROMPTS) / len(_PROMPTS)
    for each in BEHAVIOURS
}
"""By behaviour: how often it is right, over all prompts."""


class SimulatedRollout(NamedTuple):
    """One simulated response: its reward, true outcome and components."""

    reward: float
    outcome: float
    shares: Mapping[str, float]
    """By component, what it adds."""
    gates: Mapping[str, float]
    is_graded: bool = True
    """Whether there is a reward at all; a trainer leaves the others out of their group."""


Table: TypeAlias = Sequence[Mapping[str, tuple[SimulatedRollout, SimulatedRollout]]]
"""For each row and behaviour a wrong and a right rollout."""


class _Draw(NamedTuple):
    behaviour: str
    rollout: SimulatedRollout

    @property
    def right(self) -> bool:
        return self.rollout.outcome >= RIGHT


_Group: TypeAlias = Sequence[_Draw]


def simulate(
    target: str, kind: Kind, table: Table, outcome: str, *, seed: int, size: int
) -> GroupAudit:
    rng = random.Random(seed)
    start = {each.name: each.start for each in BEHAVIOURS}
    groups = [group for _ in range(GROUPS) if (group := _group(rng, table, start, size))]
    policies, success = [start], [_success(start, table)]
    logits = dict.fromkeys(start, 0.0)
    for _ in range(STEPS):
        drawn = [_group(rng, table, policies[-1], size) for _ in range(STEP_GROUPS)]
        for name, gain in _mean_advantages(drawn).items():
            # The natural policy gradient.
            logits[name] += RATE * gain
        policies.append(_mixture(start, logits))
        success.append(_success(policies[-1], table))
    failed = [group for group in groups if not any(draw.right for draw in group)]
    sizes = [fsum(map(abs, _advantages_of(group))) for group in failed]
    total = fsum(fsum(map(abs, _advantages_of(group))) for group in groups)
    rollouts = [one for rows in table for pair in rows.values() for one in pair]
    graded = [one for one in rollouts if one.is_graded]
    audit = GroupAudit(
        target=target,
        kind=kind,
        seed=seed,
        size=size,
        rows=len(table),
        outcome=outcome,
        components=_variance_shares(groups),
        gates={
            name: fsum(one.gates[name] for one in graded) / len(graded) for name in graded[0].gates
        },
        ungraded=1 - len(graded) / len(rollouts),
        failed=len(failed) / len(groups),
        spread=sum(size > 0 for size in sizes) / max(1, len(failed)),
        phantom=fsum(sizes) / (total or 1.0),
        inverted=_inverted(groups),
        policies=policies,
        success=success,
        gains=dict.fromkeys(start, 0.0) | _mean_advantages(failed),
    )
    return with_findings(audit)


def _group(rng: random.Random, table: Table, policy: Mapping[str, float], size: int) -> list[_Draw]:
    """Draw a group of rollouts for one prompt of one difficulty."""
    rows, prompt = rng.choice(table), rng.choice(_PROMPTS)
    draws: list[_Draw] = []
    for name in rng.choices(list(policy), cum_weights=list(accumulate(policy.values())), k=size):
        rollout = rows[name][rng.random() < _NAMED[name].success(*prompt)]
        if rollout.is_graded:
            draws.append(_Draw(name, rollout))
    return draws


def advantages(rewards: Sequence[float]) -> list[float]:
    """Normalise rewards to GRPO advantages: subtract the mean, divide by the deviation."""
    if not rewards:
        return []
    centred = _centred(rewards)
    deviation = sqrt(fsum(reward**2 for reward in centred) / len(rewards))
    if deviation < ZERO:
        return [0.0] * len(rewards)
    return [reward / (deviation + ZERO) for reward in centred]


def _advantages_of(group: _Group) -> list[float]:
    return advantages([draw.rollout.reward for draw in group])


def _mean_advantages(groups: Sequence[_Group]) -> dict[str, float]:
    """Return the mean advantage of each behaviour that was drawn."""
    sums: defaultdict[str, list[float]] = defaultdict(list)
    for group in groups:
        for draw, advantage in zip(group, _advantages_of(group), strict=True):
            sums[draw.behaviour].append(advantage)
    return {name: fsum(values) / len(values) for name, values in sums.items()}


def _mixture(start: Mapping[str, float], logits: Mapping[str, float]) -> dict[str, float]:
    weights = {name: share * exp(logits[name]) for name, share in start.items()}
    total = fsum(weights.values())
    return {name: max(weight / total, 1e-6) for name, weight in weights.items()}


def _success(policy: Mapping[str, float], table: Table) -> float:
    """Return how often the policy is right, over all rows and difficulties."""
    rights = {
        name: fsum(rows[name][1].outcome >= RIGHT for rows in table) / len(table) for name in policy
    }
    return fsum(share * _SUCCESS[name] * rights[name] for name, share in policy.items())


def _inverted(groups: Sequence[_Group]) -> float:
    """Return the share of right-wrong pairs in which the wrong answer earns as much or more."""
    pairs = [
        one.rollout.reward <= other.rollout.reward
        for group in groups
        for one in group
        if one.right
        for other in group
        if not other.right
    ]
    return sum(pairs) / max(1, len(pairs))


def _variance_shares(groups: Sequence[_Group]) -> dict[str, float]:
    """Return each component's share of the reward variance within groups."""
    covariance = dict.fromkeys(groups[0][0].rollout.shares, 0.0)
    variance = 0.0
    for group in groups:
        rewards = _centred([draw.rollout.reward for draw in group])
        variance += fsum(reward * reward for reward in rewards)
        for name in covariance:
            own = _centred([draw.rollout.shares[name] for draw in group])
            covariance[name] += fsum(one * other for one, other in zip(own, rewards, strict=True))
    return {name: value / (variance or 1.0) for name, value in covariance.items()}


def _centred(values: Sequence[float]) -> list[float]:
    mean = fsum(values) / len(values)
    return [value - mean for value in values]
