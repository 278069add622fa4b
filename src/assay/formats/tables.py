"""Read rows from lists of dictionaries, data frames, Arrow tables and data sets.

No library is imported to ask: a table is known by what it can do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from assay.errors import BadParameter
from assay.schema.values import describe

BATCH_ROWS = 1_024


class RowTable(NamedTuple):
    """The rows of a table, and the names of its columns if they are known."""

    rows: Iterable[Any]
    columns: tuple[str, ...] | None = None


def read_table(table: Any) -> RowTable:
    """The rows of a table; raises `BadParameter` for another object or repeated columns.

    Takes an iterable of rows, a data frame of pandas or polars, a table of Arrow, a data set of
    Hugging Face or a slice of one, and a mapping of columns. A row among others that is no mapping
    is passed on, and fails alone.
    """
    if isinstance(table, (str, bytes, PurePath)):
        raise BadParameter(f"rows is {table!r:.80}; use `assay.score_file` to score a file")
    if isinstance(table, Mapping):
        return _from_mapping(table)
    if _has(table, "to_pylist", "schema", "slice"):
        starts = range(0, table.num_rows, BATCH_ROWS)
        arrow_rows = (row for at in starts for row in table.slice(at, BATCH_ROWS).to_pylist())
        return RowTable(arrow_rows, _names(table.schema.names))
    if _has(table, "iter_rows", "columns"):
        return RowTable(table.iter_rows(named=True), _names(table.columns))
    if _has(table, "itertuples", "columns"):
        names, cells = _names(table.columns), table.itertuples(index=False, name=None)
        return RowTable((dict(zip(names, each, strict=True)) for each in cells), names)
    if _has(table, "iter", "column_names"):
        # A data set that is streamed may not know them before its first row.
        unknown = table.column_names is None
        return RowTable(table, None if unknown else _names(table.column_names))
    if _has(table, "tolist") or not isinstance(table, Iterable):
        raise BadParameter(
            f"rows is {describe(table)}; pass an iterable of dicts, a data frame, a data set, an "
            "Arrow table or a dict of columns"
        )
    return RowTable(table)


def _names(columns: Iterable[Any]) -> tuple[str, ...]:
    names = tuple(map(str, columns))
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise BadParameter(f"rows has the column {twice[0]!r} twice; rename one of the two columns")
    return names


def _from_mapping(table: Mapping[Any, Any]) -> RowTable:
    if table and all(_has(column, "column_names") for column in table.values()):
        raise BadParameter(f"rows has the splits {list(table)}; choose one split")
    columns = dict(zip(_names(table), map(_cells, table.values()), strict=True))
    whole = {name: cells for name, cells in columns.items() if cells is not None}
    lengths = {name: len(cells) for name, cells in whole.items()}
    if len(whole) < len(columns):
        name, value = next(item for item in table.items() if columns[str(item[0])] is None)
        raise BadParameter(
            f"rows is a dict whose {name!r} is {describe(value)}, not a column; for one row, "
            "pass a list: [row]"
        )
    if len(set(lengths.values())) > 1:
        raise BadParameter(f"rows is a dict of columns of different lengths: {lengths}")
    cells = zip(*whole.values(), strict=True)
    return RowTable((dict(zip(whole, each, strict=True)) for each in cells), tuple(whole))


def _cells(column: Any) -> Sequence[Any] | None:
    if isinstance(column, (str, bytes, Mapping)):
        return None
    if isinstance(column, Sequence):
        return column
    for name in ("tolist", "to_pylist"):
        if _has(column, name):
            cells = getattr(column, name)()
            return cells if isinstance(cells, list) else None
    return None


def _has(value: Any, *names: str) -> bool:
    return all(hasattr(value, name) for name in names)
