"""Statistics of a reward in each training step, their drift, and alerts."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import Final, NamedTuple

from assay.schema.score import Score

RECENT: Final = 5
"""Steps whose mean is compared with that of the first."""
MORE_ABSTAINED: Final = 0.1
HIGHER_REWARD: Final = 0.05
LONGER: Final = 2.0
DOMINANT: Final = 0.5
FEW_ROWS: Final = 8
ALERTS: Final = ("abstentions_rose", "longer_for_more", "one_answer_dominates")


class TrackedRow(NamedTuple):
    """One scored row of the current training step, with shortened texts."""

    reward: str
    score: Score
    response: str
    length: int
    """Characters of the whole response."""
    answer: str
    answer_digest: bytes
    """Equal for two rows whose whole answers are."""
    group: Hashable


@dataclass(frozen=True, slots=True)
class Alert:
    """A warning about the signals of a training step."""

    name: str
    step: int
    reward: str
    text: str
    """What was seen, and what it may mean."""


@dataclass(frozen=True, slots=True)
class StepSignals:
    """Statistics of one reward over the rows of one training step."""

    rows: int
    groups: int
    abstained: float
    reward: float | None
    """The mean of the scored rows; `None` if there are none."""
    deviation: float | None
    parts: Mapping[str, float]
    reasons: Mapping[str, float]
    """The share of rows without a score, by reason."""
    flat_groups: float | None
    """The share of groups whose scored rows, two at least, have one reward: they teach nothing."""
    length: float
    """Mean characters of a response."""
    top_answer: str
    top_share: float
    """The share of rows whose answer is the commonest text."""

    def compared(self) -> dict[str, float]:
        """The available numbers for which drift is computed, by name."""
        numbers = {
            "reward": self.reward,
            "reward_deviation": self.deviation,
            "abstained": self.abstained,
            "flat_groups": self.flat_groups,
            "length": self.length,
            "top_answer_share": self.top_share,
            **{f"parts/{name}": value for name, value in self.parts.items()},
        }
        return {name: value for name, value in numbers.items() if value is not None}

    def metrics(self) -> dict[str, float]:
        """All numbers of the step that have a value, by name."""
        reasons = {f"abstained/{reason}": share for reason, share in self.reasons.items()}
        return {**self.compared(), **reasons, "rows": float(self.rows)}


def signals(rows: Sequence[TrackedRow]) -> StepSignals:
    """Compute the statistics of one reward from at least one row."""
    scored = [row for row in rows if not row.score.abstained]
    values = [float(row.score) for row in scored]
    reasons = Counter(row.score["abstained"] for row in rows if row.score.abstained)
    digest, top_count = Counter(row.answer_digest for row in rows).most_common(1)[0]
    mean = _mean(values)
    parts = {
        name: _mean(row.score.parts.get(name) for row in scored)
        for name in dict.fromkeys(name for row in scored for name in row.score.parts)
    }
    return StepSignals(
        rows=len(rows),
        groups=len({row.group for row in rows}),
        abstained=1 - len(scored) / len(rows),
        reward=mean,
        deviation=None if mean is None else sqrt(_mean((x - mean) ** 2 for x in values) or 0.0),
        parts={name: value for name, value in parts.items() if value is not None},
        reasons={reason: count / len(rows) for reason, count in reasons.items()},
        flat_groups=_flat_share(scored),
        length=fsum(row.length for row in rows) / len(rows),
        top_answer=next(row.answer for row in rows if row.answer_digest == digest),
        top_share=top_count / len(rows),
    )


def _mean(numbers: Iterable[float | None]) -> float | None:
    present = [number for number in numbers if number is not None]
    return fsum(present) / len(present) if present else None


def _flat_share(scored: Iterable[TrackedRow]) -> float | None:
    groups: dict[Hashable, list[float]] = defaultdict(list)
    for row in scored:
        groups[row.group].append(float(row.score))
    compared = [values for values in groups.values() if len(values) > 1]
    return _mean(float(len(set(values)) == 1) for values in compared)


class RewardHistory:
    """The signals of a reward in the first and in the latest training steps."""

    def __init__(self, first: int) -> None:
        self._count = first
        self._first: list[dict[str, float]] = []
        self._recent: deque[dict[str, float]] = deque(maxlen=RECENT)
        self._raised: set[str] = set()

    def add(self, step: StepSignals) -> dict[str, float]:
        """The difference between this step and the mean of the first steps."""
        numbers = step.compared()
        if len(self._first) < self._count:
            self._first.append(numbers)
            return {}
        self._recent.append(numbers)
        before = {name: _mean_of(self._first, name) for name in numbers}
        return {
            f"drift/{name}": numbers[name] - mean
            for name, mean in before.items()
            if mean is not None
        }

    def alerts(self, reward: str, number: int, step: StepSignals) -> tuple[list[Alert], set[str]]:
        """The new alerts of this step, and the names of all current alerts."""
        texts = {"one_answer_dominates": _dominance(step)}
        if len(self._recent) == RECENT:
            texts["abstentions_rose"] = self._rise(step)
            texts["longer_for_more"] = self._growth()
        raised = {name: text for name, text in texts.items() if text}
        new = [
            Alert(name, number, reward, raised[name])
            for name in ALERTS
            if name in raised and name not in self._raised
        ]
        self._raised = set(raised)
        return new, set(raised)

    def _rise(self, step: StepSignals) -> str:
        before, now = _mean_of(self._first, "abstained"), _mean_of(self._recent, "abstained")
        if before is None or now is None or now < before + MORE_ABSTAINED:
            return ""
        return (
            f"{now:.0%} of the latest rows have no score, {before:.0%} of the first: the "
            f"grader fails on what the policy writes now, or its data changed; {_why(step)}"
        )

    def _growth(self) -> str:
        paid_before, paid = _mean_of(self._first, "reward"), _mean_of(self._recent, "reward")
        long_before, long = _mean_of(self._first, "length"), _mean_of(self._recent, "length")
        if paid_before is None or paid is None or not long_before or long is None:
            return ""
        if paid < paid_before + HIGHER_REWARD or long < LONGER * long_before:
            return ""
        return (
            f"reward {paid_before:.2f} to {paid:.2f} while responses grew from "
            f"{long_before:.0f} to {long:.0f} characters: the task may need the room, or long "
            "answers are paid for being long or for naming many candidates; compare the reward "
            "of short and long ones"
        )


def _mean_of(steps: Iterable[Mapping[str, float]], name: str) -> float | None:
    return _mean(step.get(name) for step in steps)


def _dominance(step: StepSignals) -> str:
    if step.rows < FEW_ROWS or step.groups < 2 or step.top_share < DOMINANT:
        return ""
    return (
        f"{step.top_share:.0%} of {step.rows} responses to {step.groups} prompts are "
        f"{step.top_answer[:80]!r}: it may be the right answer of most, the policy may have "
        "collapsed, or this text is paid whatever was asked; score it against other references"
    )


def _why(step: StepSignals) -> str:
    reasons = ", ".join(f"{reason} {share:.0%}" for reason, share in step.reasons.items())
    return f"reasons now: {reasons or 'none'}"
