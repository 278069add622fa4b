"""How another reward changes the advantages of rows in groups of rollouts.

A trainer such as GRPO's compares each rollout with the mean of its group: a row earns a positive,
a negative or no advantage. A group whose rewards are all equal is flat and teaches nothing. A row
whose reward abstained has no advantage, and is in no mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import fsum, isnan
from typing import Any, Literal, TypeAlias

import numpy as np

GroupChange = Literal["flipped", "flat", "no_longer_flat", "reordered"]
"""What happens to a group: a row's advantage turns round, the group becomes flat or ceases to be,
or rows change places."""
EXAMPLES = 3
EXAMPLE_ROWS = 16
ROWS = np.dtype(
    [("key", "<u8", (2,)), ("old", "<f8"), ("new", "<f8"), ("shard", "<u4"), ("line", "<u8")]
)
"""A row of a group: a digest of the group's key, both rewards (NaN where one abstained), and where
the row stands."""
RowArray: TypeAlias = "np.ndarray[Any, np.dtype[np.void]]"


@dataclass(frozen=True, slots=True)
class GroupExample:
    """A small group that shows a change."""

    size: int
    shard: int
    line: int
    """Of its first row."""
    rows: tuple[tuple[int, float | None, float | None], ...]
    """The line and both rewards of its first rows."""
    key: str = ""
    """What the rows have in common, as the data say it."""

    @property
    def place(self) -> tuple[int, int, int]:
        """The sort key: smaller groups come first, then earlier groups."""
        return self.size, self.shard, self.line


@dataclass(slots=True)
class GroupEffects:
    """The counts of changes in groups of rows, from one reward to another."""

    groups: int = 0
    """Groups of at least two rows."""
    single: int = 0
    """Groups of one row, which have no advantage under any reward."""
    rows: int = 0
    """Rows in groups of at least two."""
    flat_old: int = 0
    flat_new: int = 0
    flat: int = 0
    """Groups that become flat."""
    no_longer_flat: int = 0
    flipped: int = 0
    """Rows whose advantage turns from positive to negative, or round."""
    flipped_groups: int = 0
    vanished: int = 0
    """Rows that lose their advantage."""
    appeared: int = 0
    """Rows that had none and have one."""
    pairs: int = 0
    """Pairs of rows in a group that both rewards score."""
    inverted: int = 0
    """Pairs that change places."""
    ties_made: int = 0
    ties_broken: int = 0
    reordered: int = 0
    """Groups in which rows change places."""
    best_changed: int = 0
    """Groups in which none of the best rows is still among the best."""
    examples: dict[GroupChange, list[GroupExample]] = field(default_factory=dict)

    def merge(self, other: GroupEffects) -> None:
        """Add the counts of other groups, and keep the smallest examples of both."""
        for name in self.__slots__:
            if name != "examples":
                setattr(self, name, getattr(self, name) + getattr(other, name))
        for change, examples in other.examples.items():
            for example in examples:
                self.keep(change, example)

    def keep(self, change: GroupChange, example: GroupExample) -> None:
        """Keep the example if its group is among the smallest."""
        examples = self.examples.setdefault(change, [])
        examples.append(example)
        examples.sort(key=lambda each: each.place)
        del examples[EXAMPLES:]


def compare_groups(rows: RowArray, tolerance: float) -> GroupEffects:
    """Compare both rewards on whole groups; the order of the rows does not matter."""
    effects = GroupEffects()
    if not len(rows):
        return effects
    ordered = rows[np.lexsort((rows["line"], rows["shard"], rows["key"][:, 1], rows["key"][:, 0]))]
    keys = ordered["key"]
    starts = np.flatnonzero(np.concatenate([[True], (keys[1:] != keys[:-1]).any(axis=1)]))
    ends = np.append(starts[1:], len(ordered))
    old, new = ordered["old"], ordered["new"]
    same = (np.abs(old - new) <= tolerance) | (np.isnan(old) & np.isnan(new))
    moved = ~np.logical_and.reduceat(same, starts)
    sizes = ends - starts
    scored = np.add.reduceat(~np.isnan(old), starts)
    many = sizes >= 2
    effects.groups = int(many.sum())
    effects.single = int((~many).sum())
    effects.rows = int(sizes[many].sum())
    still = many & ~moved
    span = np.fmax.reduceat(old, starts) - np.fmin.reduceat(old, starts)
    flat = int((still & ((scored < 2) | (span <= tolerance))).sum())
    effects.flat_old = effects.flat_new = flat
    effects.pairs = int((scored * (scored - 1) // 2)[still].sum())
    for index in np.flatnonzero(many & moved):
        _add_group(effects, ordered[starts[index] : ends[index]], tolerance)
    return effects


def _add_group(effects: GroupEffects, group: RowArray, tolerance: float) -> None:
    """Count the changes in a group in which a reward changed."""
    old, new = (
        [None if isnan(value) else value for value in group[side].tolist()]
        for side in ("old", "new")
    )
    before, after = _signs(old, tolerance), _signs(new, tolerance)
    was_flat, is_flat = (not any(signs) for signs in (before, after))
    flipped = sum(a * b < 0 for a, b in zip(before, after, strict=True))
    becomes_flat, revives = is_flat and not was_flat, was_flat and not is_flat
    effects.flat_old += was_flat
    effects.flat_new += is_flat
    effects.flat += becomes_flat
    effects.no_longer_flat += revives
    effects.flipped += flipped
    effects.flipped_groups += flipped > 0
    effects.vanished += sum(a != 0 and b == 0 for a, b in zip(before, after, strict=True))
    effects.appeared += sum(a == 0 and b != 0 for a, b in zip(before, after, strict=True))
    both = [(a, b) for a, b in zip(old, new, strict=True) if a is not None and b is not None]
    inverted = _count_pairs(effects, both)
    effects.best_changed += bool(both) and not _best(both, 0) & _best(both, 1)
    changes: dict[GroupChange, bool] = {
        "flipped": flipped > 0,
        "flat": becomes_flat,
        "no_longer_flat": revives,
        "reordered": inverted > 0,
    }
    if not any(changes.values()):
        return
    lines = group["line"].tolist()
    shown = tuple(zip(lines, old, new, strict=True))[:EXAMPLE_ROWS]
    example = GroupExample(len(lines), int(group["shard"][0]), lines[0], shown)
    for change, happens in changes.items():
        if happens:
            effects.keep(change, example)


def _signs(values: Sequence[float | None], tolerance: float) -> list[int]:
    """The sign of each row's advantage; 0 for a row without a reward, and in a flat group."""
    scored = [value for value in values if value is not None]
    if len(scored) < 2 or max(scored) - min(scored) <= tolerance:
        return [0] * len(values)
    mean = fsum(scored) / len(scored)
    least = max(tolerance, 1e-12 * max(map(abs, scored)))
    return [
        0 if value is None or abs(value - mean) <= least else (1 if value > mean else -1)
        for value in values
    ]


def _best(both: Sequence[tuple[float, float]], side: int) -> set[int]:
    top = max(pair[side] for pair in both)
    return {index for index, pair in enumerate(both) if pair[side] == top}


def _count_pairs(effects: GroupEffects, both: Sequence[tuple[float, float]]) -> int:
    """Count changed orders and ties of row pairs; return how many pairs changed their order."""
    inverted = _inversions([new for _, new in sorted(both)])
    tied = _pairs(both)
    effects.pairs += len(both) * (len(both) - 1) // 2
    effects.inverted += inverted
    effects.ties_made += _pairs(new for _, new in both) - tied
    effects.ties_broken += _pairs(old for old, _ in both) - tied
    effects.reordered += inverted > 0
    return inverted


def _pairs(values: Iterable[Any]) -> int:
    """The number of pairs of equal values."""
    return sum(count * (count - 1) // 2 for count in Counter(values).values())


def _inversions(values: Sequence[float]) -> int:
    """The number of pairs in descending order, counted by merging."""
    inverted, width, current = 0, 1, list(values)
    while width < len(current):
        merged: list[float] = []
        for start in range(0, len(current), 2 * width):
            left, right = current[start : start + width], current[start + width : start + 2 * width]
            at = 0
            for value in right:
                while at < len(left) and left[at] <= value:
                    merged.append(left[at])
                    at += 1
                inverted += len(left) - at
                merged.append(value)
            merged += left[at:]
        current, width = merged, 2 * width
    return inverted
