"""Count a job's scores and abstentions, and stop a job with too many abstentions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, Self

from assay.errors import BadParameter, TooManyAbstained
from assay.schema.score import Abstained, Score

KINDS = 20
"""Kinds of abstention that are told apart; the rest is counted together."""
OTHERS = "of other kinds"
SHARE_ROWS = 1_000
"""Rows before a share means anything, where it is not known how many there will be."""

_VALUES = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")
_KIND_CHARS = 300


@dataclass(slots=True)
class AbstentionExample:
    """The first abstention of one kind, and the number of abstentions of this kind."""

    because: str
    count: int = 0


@dataclass(slots=True)
class RewardCounts:
    """Running counts for one reward."""

    scored: int = 0
    total: float = 0.0
    abstained: dict[str, int] = field(default_factory=dict)
    examples: dict[str, AbstentionExample] = field(default_factory=dict)
    """By kind: a reason, and what is said of it apart from the values of the row."""

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Read written counts; records of older versions have no examples."""
        examples = {
            kind: AbstentionExample(**example)
            for kind, example in record.get("examples", {}).items()
        }
        return cls(record["scored"], record["total"], dict(record["abstained"]), examples)

    def add(self, score: Score) -> None:
        if type(score) is Abstained:
            self.abstained[score.reason] = self.abstained.get(score.reason, 0) + 1
            # Abstentions of a kind differ only in the row's values and number.
            kind = f"{score.reason}: {_VALUES.sub('…', score.because[:_KIND_CHARS])}"
            self._add_example(kind, score.because, 1)
        else:
            self.scored += 1
            self.total += float(score)

    def merge(self, other: RewardCounts) -> None:
        self.scored += other.scored
        self.total += other.total
        for reason, count in other.abstained.items():
            self.abstained[reason] = self.abstained.get(reason, 0) + count
        for kind, example in other.examples.items():
            self._add_example(kind, example.because, example.count)

    def _add_example(self, kind: str, because: str, count: int) -> None:
        if kind not in self.examples and len(self.examples) >= KINDS:
            kind = because = OTHERS
        example = self.examples.setdefault(kind, AbstentionExample(because[:_KIND_CHARS]))
        example.count += count

    @property
    def mean(self) -> float | None:
        """The mean of the scores, without abstentions."""
        return self.total / self.scored if self.scored else None

    @property
    def abstentions(self) -> int:
        return sum(self.abstained.values())

    @property
    def rows(self) -> int:
        return self.scored + self.abstentions


@dataclass(frozen=True, slots=True)
class AbstentionLimit:
    """The greatest number or share of rows that may abstain before a job stops."""

    most: float
    """A number of rows (an `int`), or a share of them (a `float`)."""
    total: int | None = None
    """How many rows there are, of which it is a share."""

    @classmethod
    def of(cls, most: float | None) -> AbstentionLimit | None:
        """Make the limit. Raises `BadParameter` if `most` is not a count and not a share."""
        if most is None:
            return None
        is_count = isinstance(most, int) and not isinstance(most, bool)
        if most < 0 or not isfinite(most) or (most > 1 and not is_count):
            raise BadParameter(
                f"max_abstained={most!r}; give a number of rows, or a share of them such as 0.1"
            )
        return cls(most)

    def of_rows(self, total: int) -> AbstentionLimit:
        """Return the limit for a known number of rows, which a share needs."""
        return replace(self, total=total)

    def check(self, counts: Mapping[str, RewardCounts], *, at_end: bool = False) -> None:
        """Raise `TooManyAbstained` if a reward has more abstentions than the limit."""
        for name, reward in counts.items():
            if self._is_exceeded(reward, at_end=at_end):
                worst = max(reward.examples.values(), key=lambda example: example.count)
                raise TooManyAbstained(
                    f"{name} abstained from {reward.abstentions:,} of {reward.rows:,} rows, more "
                    f"than max_abstained={self.most!r} allows; most often: {worst.because}"
                )

    def _is_exceeded(self, counts: RewardCounts, *, at_end: bool) -> bool:
        if isinstance(self.most, int):
            return counts.abstentions > self.most
        if at_end or self.total is None:
            enough = at_end or counts.rows >= SHARE_ROWS
            return enough and counts.abstentions > self.most * counts.rows
        return counts.abstentions > self.most * self.total


def nothing_scored(counts: Mapping[str, RewardCounts]) -> Iterable[str]:
    """Yield a sentence for each reward that scored no rows, with the reasons."""
    for name, reward in counts.items():
        if reward.rows and not reward.scored:
            examples = sorted(reward.examples.values(), key=lambda example: -example.count)
            reasons = "; ".join(example.because for example in examples[:3])
            yield f"{name} scored none of {reward.rows:,} rows: {reasons}"
