"""Compare the rows of queries, and find all results that a reference query may return.

Ours compares bags of rows, and their order where the reference has one. What a reference query
*may* return is a list of groups: rows that its ORDER BY does not tell apart are one group, in any
order, and a LIMIT takes as many as it says out of the group in which it ends. A result is right if
it is one of those. The rule of the test-suite evaluation is here too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice, permutations, product
from typing import Any, Final, NamedTuple

from assay.rewards.outcome.sql.execution import BadQuery, Database, QueryLimits, ResultTable, SqlRow
from assay.rewards.outcome.sql.text import OrderTerm, QueryShape, shape_of, unquoted

DIGITS: Final = 12
"""Significant digits to which numbers with a fraction are compared."""
EXACT_FLOAT: Final = 2**53
MOST_ORDERS: Final = 1_000
"""Orders of columns that are tried."""
MOST_CELLS: Final = 20_000_000
"""Cells that are put into other orders; of a large result fewer orders are tried."""
CACHED: Final = 256
"""References that are kept for one database."""
CACHED_CELLS: Final = 200_000
"""Cells of their results, beside those of the latest."""


class ResultGroups(NamedTuple):
    """The possible rows of a query, in groups of fixed order, with its LIMIT and OFFSET."""

    groups: tuple[tuple[SqlRow, ...], ...]
    """Rows in the form of `comparable`."""
    offset: int = 0
    limit: int | None = None

    def allows(self, rows: Sequence[SqlRow]) -> bool:
        """Whether these rows, in this order, are a possible result."""
        at = 0
        for group, size in self._cut():
            part = rows[at : at + size]
            if len(part) < size or Counter(part) - Counter(group):
                return False
            at += size
        return at == len(rows)

    @property
    def determined(self) -> bool:
        """Whether the result is certain: its limit does not cut a group of different rows."""
        return all(size == len(group) or len(set(group)) == 1 for group, size in self._cut())

    def with_ties(self) -> Counter[SqlRow]:
        """The rows of the result, with the rows that tie with its last row."""
        return Counter(row for group, _ in self._cut() for row in group)

    def _cut(self) -> Iterator[tuple[tuple[SqlRow, ...], int]]:
        """The groups that are left after OFFSET and LIMIT, and the number of rows of each."""
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
    """Normalise the numbers in rows, so that 2.0 equals 2 and fractions have 12 digits."""
    return [tuple(map(_comparable, row)) if float in map(type, row) else row for row in rows]


def _comparable(cell: Any) -> Any:
    if not isinstance(cell, float):
        return cell
    if cell.is_integer() and abs(cell) < EXACT_FLOAT:
        return int(cell)
    short = float(f"{cell:.{DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < EXACT_FLOAT else short


def column_orders(rows: Sequence[SqlRow], reference: Sequence[SqlRow]) -> Iterator[tuple[int, ...]]:
    """Find column orders in which each column holds the same cells as the reference's column."""
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
    """Group the columns that hold the same cells in any order."""
    columns: dict[frozenset[Any], list[int]] = {}
    for at in range(width):
        cells = frozenset(Counter(row[at] for row in rows).items())
        columns.setdefault(cells, []).append(at)
    return columns


def reordered(rows: Iterable[SqlRow], order: Sequence[int]) -> list[SqlRow]:
    return [tuple(row[at] for at in order) for row in rows]


def equal_in_test_suite(
    rows: Sequence[SqlRow], reference: Sequence[SqlRow], *, ordered: bool
) -> bool:
    """The rule of test-suite-sql-eval: the same bag of rows in some order of the columns.

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


class PossibleResults(NamedTuple):
    """The result of a reference query, and all other results that it may return."""

    table: ResultTable
    rows: list[SqlRow]
    """Of the table, as they are compared."""
    possible: tuple[ResultGroups, ...]
    """More than one where NULL may stand first or last."""
    ordered: bool
    repeatable: bool
    """Whether it gives one of these also when SQLite reads the tables the other way round."""

    @property
    def determined(self) -> bool:
        return self.repeatable and all(
            one.determined and one == self.possible[0] for one in self.possible
        )


def possible_results(
    database: Database, query: str, limits: QueryLimits, *, rows_only: bool = False
) -> PossibleResults:
    """Find the results that a reference may return; with `rows_only`, only its actual result."""
    key = (query, limits.steps, limits.rows, rows_only)
    known = database.cache.get(key)
    if not isinstance(known, PossibleResults):
        if rows_only:
            table = database.run(query, limits)
            known = PossibleResults(table, table.rows, (), ordered=False, repeatable=True)
        else:
            known = _find_out(database, query, limits)
        if not known.table.reads_clock:
            _keep(database.cache, key, known)
    return known


def _keep(cache: dict[Any, PossibleResults], key: Any, results: PossibleResults) -> None:
    while len(cache) >= CACHED or (cache and sum(map(_cells, cache.values())) > CACHED_CELLS):
        cache.pop(next(iter(cache)))
    cache[key] = results


def _cells(results: PossibleResults) -> int:
    return len(results.rows) * len(results.table.columns)


def _find_out(database: Database, query: str, limits: QueryLimits) -> PossibleResults:
    table = database.run(query, limits)
    rows = comparable(table.rows)
    shape = shape_of(query)
    ordered = shape is None or shape.ordered
    possible = () if shape is None else tuple(_variants(database, shape, table, limits))
    if not any(one.allows(rows) for one in possible):
        # Its text was not understood: the rows as they came are all that is known.
        groups = tuple((row,) for row in rows) if ordered else (tuple(rows),)
        possible = (ResultGroups(groups),)
    reverse = comparable(database.run(query, limits, reverse=True).rows)
    repeatable = any(one.allows(reverse) for one in possible)
    return PossibleResults(table, rows, possible, ordered, repeatable)


def _variants(
    database: Database, shape: QueryShape, table: ResultTable, limits: QueryLimits
) -> Iterator[ResultGroups]:
    """Yield the groups of rows; also with NULL sorted at the other end, if there is NULL."""
    if not shape.ordered:
        rows = table.rows if shape.limit is None else _try(database, shape.body, limits)
        if rows is not None:
            yield ResultGroups((tuple(comparable(rows)),), shape.offset, shape.limit)
        return
    for query in _ranked(shape, shape.terms, table.columns):
        ranked = _try(database, query, limits)
        if ranked is None:
            continue
        yield _grouped(ranked, shape)
        if any(row[-1] for row in ranked):
            terms = tuple(term.flipped() for term in shape.terms)
            flipped = next(_ranked(shape, terms, table.columns, like=query), None)
            others = None if flipped is None else _try(database, flipped, limits)
            if others is not None:
                yield _grouped(others, shape)
        return


def _try(database: Database, query: str, limits: QueryLimits) -> list[SqlRow] | None:
    try:
        return database.run(query, limits).rows
    except BadQuery:
        return None


def _grouped(ranked: Sequence[SqlRow], shape: QueryShape) -> ResultGroups:
    """Group rows by the rank in their second-to-last cell."""
    in_order = sorted(ranked, key=lambda row: row[-2])
    groups = groupby(in_order, key=lambda row: row[-2])
    return ResultGroups(
        tuple(tuple(comparable(row[:-2] for row in group)) for _, group in groups),
        shape.offset,
        shape.limit,
    )


def _ranked(
    shape: QueryShape, terms: Sequence[OrderTerm], columns: Sequence[str], like: str = ""
) -> Iterator[str]:
    """Write queries that rank all rows; `like` keeps those of the same form as another query."""
    names = [f"assay_{at}" for at in range(len(columns))]
    by_output = [_output_of(term.text, shape, columns, names) for term in terms]
    if all(by_output):
        head = f"WITH assay_rows({', '.join(names)}) AS (\n{shape.body}\n) SELECT *, "
        query = f"{head}{_ranks(terms, by_output)} FROM assay_rows"
        if not like or like.startswith(head):
            yield query
    if shape.items:
        expressions = [_expression_of(term.text, shape) for term in terms]
        before, after = shape.body[: shape.list_end].rstrip(), shape.body[shape.list_end :]
        yield f"{before}\n, {_ranks(terms, expressions)} {after}"


def _ranks(terms: Sequence[OrderTerm], expressions: Sequence[str]) -> str:
    pairs = list(zip(terms, expressions, strict=True))
    order = ", ".join(term.to_sql(expression) for term, expression in pairs)
    nulls = " OR ".join(f"({expression}) IS NULL" for term, expression in pairs if not term.nulls)
    return f"DENSE_RANK() OVER (ORDER BY {order}), ({nulls or 0})"


def _output_of(term: str, shape: QueryShape, columns: Sequence[str], names: Sequence[str]) -> str:
    """The output column that an ORDER BY term names; empty if it names none."""
    if term.isdecimal():
        return names[int(term) - 1] if 0 < int(term) <= len(names) else ""
    for at, (expression, alias) in enumerate(shape.items):
        if unquoted(term).lower() == alias.lower() != "" or _same(term, expression):
            # With `*` among the items their places are not those of the columns.
            return names[at] if len(shape.items) == len(columns) else ""
    if shape.items:
        return ""
    lowered = [column.lower() for column in columns]
    name = unquoted(term).lower()
    return names[lowered.index(name)] if lowered.count(name) == 1 else ""


def _expression_of(term: str, shape: QueryShape) -> str:
    if term.isdecimal():
        at = int(term) - 1
        return shape.items[at][0] if 0 <= at < len(shape.items) else term
    for expression, alias in shape.items:
        if alias and unquoted(term).lower() == alias.lower():
            return expression
    return term


def _same(one: str, other: str) -> bool:
    return "".join(one.split()).lower() == "".join(other.split()).lower()
