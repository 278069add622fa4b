"""Two results compared: by the rule of this project, of BIRD, and of the test-suite evaluation.

Ours compares bags of rows, and their order where the reference has one. What a reference query
*may* return is a list of groups: rows that its ORDER BY does not tell apart are one group, in any
order, and a LIMIT takes as many as it says out of the group in which it ends. A result is right if
it is one of those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, permutations, product
from typing import Any, Final

from assay.rewards.outcome.sql.execution import SqlRow

DIGITS: Final = 12
"""Significant digits to which numbers with a fraction are compared."""
EXACT_FLOAT: Final = 2**53
MOST_ORDERS: Final = 1_000
"""Orders of columns that are tried."""
MOST_CELLS: Final = 20_000_000
"""Cells that are put into other orders; of a large result fewer orders are tried."""


@dataclass(frozen=True, slots=True)
class ResultGroups:
    """What a query may return: its groups in their order, cut by a limit."""

    groups: tuple[tuple[SqlRow, ...], ...]
    """Rows in the form of `comparable`."""
    offset: int = 0
    limit: int | None = None

    def allows(self, rows: Sequence[SqlRow]) -> bool:
        """Whether these rows, in this order, are one of the results."""
        at = 0
        for group, size in self._cut():
            part = rows[at : at + size]
            if len(part) < size or Counter(part) - Counter(group):
                return False
            at += size
        return at == len(rows)

    @property
    def determined(self) -> bool:
        """Whether every row of the result is known: no group of different rows is cut."""
        return all(size == len(group) or len(set(group)) == 1 for group, size in self._cut())

    def with_ties(self) -> Counter[SqlRow]:
        """The rows of the result, and those that its limit cut off though they are no later."""
        return Counter(row for group, _ in self._cut() for row in group)

    def _cut(self) -> Iterator[tuple[tuple[SqlRow, ...], int]]:
        """The groups of which something is left, and how many rows of each."""
        skip, left = self.offset, self.limit
        for group in self.groups:
            size = max(0, len(group) - skip)
            skip = max(0, skip - len(group))
            if left is not None:
                size = min(size, left)
                left -= size
            if size:
                yield group, size


def comparable(rows: Iterable[SqlRow]) -> list[SqlRow]:
    """The rows with equal numbers written equally: 2.0 as 2, and twelve digits of a fraction."""
    return [tuple(map(_comparable, row)) if float in map(type, row) else row for row in rows]


def _comparable(cell: Any) -> Any:
    if not isinstance(cell, float):
        return cell
    if cell.is_integer() and abs(cell) < EXACT_FLOAT:
        return int(cell)
    short = float(f"{cell:.{DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < EXACT_FLOAT else short


def column_orders(rows: Sequence[SqlRow], reference: Sequence[SqlRow]) -> Iterator[tuple[int, ...]]:
    """Orders of the columns in which each holds what the reference's column holds."""
    width = len(reference[0])
    ours, theirs = _by_contents(rows, width), _by_contents(reference, width)
    if any(len(places) != len(ours.get(cells, ())) for cells, places in theirs.items()):
        return
    most = max(2, min(MOST_ORDERS, MOST_CELLS // (width * len(rows))))
    ways = [list(islice(permutations(ours[cells]), most)) for cells in theirs]
    places = [place for group in theirs.values() for place in group]
    for way in islice(product(*ways), most):
        order = dict(zip(places, (at for group in way for at in group), strict=True))
        yield tuple(order[place] for place in range(width))


def _by_contents(rows: Sequence[SqlRow], width: int) -> dict[frozenset[Any], list[int]]:
    """The columns that hold the same cells, whatever their order."""
    columns: dict[frozenset[Any], list[int]] = {}
    for at in range(width):
        cells = frozenset(Counter(row[at] for row in rows).items())
        columns.setdefault(cells, []).append(at)
    return columns


def reordered(rows: Iterable[SqlRow], order: Sequence[int]) -> list[SqlRow]:
    """The rows with their columns in this order."""
    return [tuple(row[at] for at in order) for row in rows]


def equal_in_test_suite(
    rows: Sequence[SqlRow], reference: Sequence[SqlRow], *, ordered: bool
) -> bool:
    """The rule of test-suite-sql-eval: the same bag under some order of the columns.

    With `ordered`, which there means that the reference's text holds "order by", the same list.
    """
    if not rows and not reference:
        return True
    if len(rows) != len(reference) or len(rows[0]) != len(reference[0]):
        return False
    width = len(reference[0])
    orders = column_orders(rows, reference) if width > 1 else permutations(range(width))
    for order in orders:
        moved = reordered(rows, order)
        if moved == list(reference) if ordered else Counter(moved) == Counter(reference):
            return True
    return False
