"""The best one-to-one assignment between two small lists, exactly.

The Hungarian method with row and column potentials: O(n² m) for n rows and m columns, n <= m.
The caller bounds the sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf


def best_assignment(scores: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Pairs (row, column) with the greatest total score, in row order.

    Scores are 0.0 or more; pairs that score nothing are left out. Among equal totals the choice
    is deterministic and otherwise unspecified.
    """
    if not scores or not scores[0]:
        return []
    if len(scores) > len(scores[0]):
        flipped = best_assignment(list(zip(*scores, strict=True)))
        return sorted((row, column) for column, row in flipped)
    peaks = [(row, line.index(peak)) for row, line in enumerate(scores) if (peak := max(line)) > 0]
    # When no two rows want the same column, each gets its best: no total is greater.
    if len({column for _, column in peaks}) == len(peaks):
        return peaks
    return [(row, column) for row, column in _assign_rows(scores) if scores[row][column] > 0]


def _assign_rows(scores: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    rows, columns = len(scores), len(scores[0])
    row_price = [0.0] * rows
    column_price = [0.0] * columns
    owner = [-1] * columns
    for row in range(rows):
        path, end = _cheapest_path(scores, row, row_price, column_price, owner)
        while end >= 0:
            before = path[end]
            owner[end] = row if before < 0 else owner[before]
            end = before
    return sorted((row, column) for column, row in enumerate(owner) if row >= 0)


def _cheapest_path(
    scores: Sequence[Sequence[float]],
    start: int,
    row_price: list[float],
    column_price: list[float],
    owner: Sequence[int],
) -> tuple[list[int], int]:
    """The column before each column on the way from row `start`, and the free column it ends in.

    Prices are updated so that the next search stays exact.
    """
    columns = len(column_price)
    slack = [inf] * columns
    path = [-1] * columns
    visited: list[int] = []
    free = set(range(columns))
    row, column = start, -1
    while True:
        line, price = scores[row], row_price[row]
        best, nearest = inf, -1
        for other in free:
            reduced = -line[other] - price - column_price[other]
            if reduced < slack[other]:
                slack[other] = reduced
                path[other] = column
            if slack[other] < best:
                best, nearest = slack[other], other
        row_price[start] += best
        for other in visited:
            row_price[owner[other]] += best
            column_price[other] -= best
        for other in free:
            slack[other] -= best
        column = nearest
        if owner[column] < 0:
            return path, column
        free.discard(column)
        visited.append(column)
        row = owner[column]
