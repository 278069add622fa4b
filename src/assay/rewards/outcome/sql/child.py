"""The child process that runs queries: one request at a time, over two pipes.

A request names databases, the reference and the query. Two frames answer: the first when the
reference has been run, so that whoever waits knows whose time it is; the second with the result.
What is kept from earlier requests takes memory. Where that does not suffice the process ends
without an answer, unless this is its first request: then it is the request that takes too much.
"""

from __future__ import annotations

import sys
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from assay.isolation import frames
from assay.rewards.outcome.sql.execution import (
    BadDatabase,
    BadQuery,
    Database,
    OutOfMemory,
    QueryLimits,
    ResultTable,
    open_database,
)
from assay.rewards.outcome.sql.references import (
    PossibleResults,
    column_orders,
    comparable,
    equal_in_test_suite,
    possible_results,
    reordered,
)

AGAIN_S: Final = 1.0
"""For a reference that reads the clock to be run once more."""
OPEN: Final = 16
"""Databases that stay open."""


Databases: TypeAlias = OrderedDict[str, Database]
"""Those that were asked for lately, still open, by their source, which names their state too."""


def _open(databases: Databases, source: Mapping[str, Any]) -> Database:
    """Open the database of a source, or reuse an open one. Raises `BadDatabase`."""
    key = repr(sorted(source.items()))
    if key not in databases:
        databases[key] = open_database(source)
        if len(databases) > OPEN:
            databases.popitem(last=False)[1].connection.close()
    databases.move_to_end(key)
    return databases[key]


def main() -> None:
    read_fd, write_fd = frames.inherited_pipes(sys.argv)
    databases: Databases = OrderedDict()
    is_first = True
    while True:
        try:
            request = frames.receive(read_fd)
        except frames.PipeClosed:
            return
        try:
            _serve(databases, request, write_fd, is_first=is_first)
        except (MemoryError, OutOfMemory):
            return
        is_first = False


def _serve(
    databases: Databases, request: Mapping[str, Any], write_fd: int, *, is_first: bool
) -> None:
    """Answer one request. Raises `OutOfMemory` if another process may have enough memory."""
    reference = _references(databases, request, is_first=is_first)
    frames.send(write_fd, reference if isinstance(reference, dict) else {})
    if not isinstance(reference, dict):
        frames.send(write_fd, _answer(reference, request, is_first=is_first))


def _limits(request: Mapping[str, Any]) -> QueryLimits:
    return QueryLimits(request["steps"], request["seconds"], request["rows"])


def _references(
    databases: Databases, request: Mapping[str, Any], *, is_first: bool
) -> list[tuple[Database, PossibleResults]] | dict[str, str]:
    """The possible reference results on each database, or the reason why there are none."""
    results: list[tuple[Database, PossibleResults]] = []
    limits = _limits(request)
    for number, source in enumerate(request["databases"]):
        where = f"database {number + 1}" if len(request["databases"]) > 1 else "the database"
        try:
            database = _open(databases, source)
        except (BadDatabase, OutOfMemory) as error:
            if isinstance(error, OutOfMemory) and not is_first:
                raise
            return {"reason": "bad_database", "because": f"{where} cannot be read: {error}"}
        try:
            reference = possible_results(
                database, request["reference"], limits, rows_only=request["mode"] != "assay"
            )
            results.append((database, reference))
        except BadQuery as error:
            if isinstance(error, OutOfMemory) and not is_first:
                raise
            because = f"the reference cannot be run on {where}: {error}"
            return {"reason": "unparseable_reference", "because": because}
    return results


def _answer(
    references: Sequence[tuple[Database, PossibleResults]],
    request: Mapping[str, Any],
    *,
    is_first: bool,
) -> dict[str, Any]:
    """Run the query on each database, and return the comparisons as plain values."""
    comparisons = {"assay": _compare, "bird": _compare_bird, "test_suite": _compare_test_suite}
    compare = comparisons[request["mode"]]
    results: list[dict[str, Any]] = []
    for database, reference in references:
        try:
            table = database.run(request["query"], _limits(request))
        except BadQuery as error:
            if isinstance(error, OutOfMemory) and not is_first:
                raise
            return {"executed": False, "because": f"the query was not run: {error}"}
        results.append(compare(table, reference, request))
    facts = [reference for _, reference in references]
    moved = not all(result["same"] for result in results) and any(
        reference.table.reads_clock and _has_moved(database, reference, request)
        for database, reference in references
    )
    return {
        "executed": True,
        "results": results,
        "ordered": any(one.ordered for one in facts),
        "determined": all(one.determined for one in facts),
        "repeatable": not moved and all(one.repeatable for one in facts),
        "empty": not any(one.table.rows for one in facts),
        "constant": any(one.table.tables for one in facts)
        and not any(result["tables"] for result in results),
    }


def _has_moved(database: Database, reference: PossibleResults, request: Mapping[str, Any]) -> bool:
    """Whether the reference query returns a different result now than before the query."""
    limits = replace(_limits(request), seconds=AGAIN_S)
    try:
        rows = database.run(request["reference"], limits).rows
    except BadQuery:
        return True
    return comparable(rows) != comparable(reference.table.rows)


def _compare(
    table: ResultTable, reference: PossibleResults, request: Mapping[str, Any]
) -> dict[str, Any]:
    rows, expected = comparable(table.rows), reference.rows
    facts = _facts(table)
    if len(table.columns) != len(reference.table.columns):
        because = f"{len(table.columns)} columns, where the reference has "
        return {**facts, "because": f"{because}{len(reference.table.columns)}"}
    orders: Any = [tuple(range(len(table.columns)))]
    if request["columns"] == "any" and rows and expected:
        orders = [*orders, *column_orders(rows, expected)]
    size = f"{len(rows)} row{'' if len(rows) == 1 else 's'}"
    because = f"{size}, of which not all are the reference's {len(expected)}"
    if rows == expected:
        return {**facts, "same": True, "rows": True, "because": size}
    for order in orders:
        moved = rows if order == orders[0] else reordered(rows, order)
        for possible in reference.possible:
            if possible.allows(moved):
                return {**facts, "same": True, "rows": True, "because": size}
            if not facts["rows"] and Counter(moved) == Counter(expected):
                facts["rows"] = True
                because = f"the {size} of the reference in another order"
            if not possible.determined and Counter(moved) == possible.with_ties():
                facts["ties"] = True
    return {**facts, "because": because}


def _compare_bird(
    table: ResultTable, reference: PossibleResults, request: Mapping[str, Any]
) -> dict[str, Any]:
    del request
    same = set(table.rows) == set(reference.table.rows)
    because = f"{'the same' if same else 'another'} set of rows"
    return {**_facts(table), "same": same, "rows": same, "because": because}


def _compare_test_suite(
    table: ResultTable, reference: PossibleResults, request: Mapping[str, Any]
) -> dict[str, Any]:
    rows, expected = table.rows, reference.table.rows
    ordered = "order by" in request["reference"].lower()
    same = equal_in_test_suite(rows, expected, ordered=ordered)
    bags = same or (ordered and equal_in_test_suite(rows, expected, ordered=False))
    because = f"{'the same' if same else 'another'} {'list' if ordered else 'bag'} of rows"
    return {**_facts(table), "same": same, "rows": bags, "because": because}


def _facts(table: ResultTable) -> dict[str, Any]:
    return {"same": False, "rows": False, "ties": False, "tables": sorted(table.tables)}


if __name__ == "__main__":
    main()
