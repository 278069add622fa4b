"""The records of a file job: rows, the shards they are cut into, and what was counted in each."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from assay.schema.score import Abstained, Score


class InputRow(NamedTuple):
    """One row and where it stands; `problem` says why there is no value."""

    number: int
    value: Any
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Shard:
    """A range of rows of one file, which one worker scores."""

    index: int
    start: int
    """First byte of a shard of JSONL; number of the row group of a shard of Parquet."""
    end: int
    first_row: int
    """Line number of the first row in the whole file, counted from 1."""
    rows: int
    """Lines or rows in the shard, blank lines included."""


@dataclass(frozen=True, slots=True)
class ShardJob:
    """A shard of a file, and where its results go."""

    number: int
    source: Path
    shard: Shard
    out: Path
    tally: Path
    """Where the counts go, which are written after the results."""
    drafts: Path
    """Where both are written before they are complete."""
    file: str = ""
    """The file's name within its folder, for results that have to tell files apart."""


@dataclass(slots=True)
class RewardCounts:
    """Running counts for one reward."""

    scored: int = 0
    total: float = 0.0
    abstained: dict[str, int] = field(default_factory=dict)

    def add(self, score: Score) -> None:
        if isinstance(score, Abstained):
            self.abstained[score.reason] = self.abstained.get(score.reason, 0) + 1
        else:
            self.scored += 1
            self.total += score.value

    def merge(self, other: RewardCounts) -> None:
        self.scored += other.scored
        self.total += other.total
        for reason, count in other.abstained.items():
            self.abstained[reason] = self.abstained.get(reason, 0) + count

    @property
    def mean(self) -> float | None:
        """Over what was scored; abstentions are counted beside it, never in it."""
        return self.total / self.scored if self.scored else None


@dataclass(frozen=True, slots=True)
class ShardCounts:
    """What was counted in a finished shard."""

    number: int
    rows: int
    rewards: dict[str, RewardCounts]
