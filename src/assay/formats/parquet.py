"""Parquet in and out; the one module that knows pyarrow, and imports it only when called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.errors import BadRecord, MissingExtra
from assay.formats import RunRecords
from assay.formats.table import ColumnType, columns_of, rows

READ_ROWS = 1_024
WRITE_ROWS = 4_096
WRITE_CHARS = 50_000_000


def is_parquet(path: Path) -> bool:
    return path.suffix.lower() in {".parquet", ".pq"}


def check_installed() -> None:
    """Parquet can be read and written here; raises `MissingExtra` without pyarrow."""
    _pyarrow()


def write(run: RunRecords, path: Path) -> int:
    """Write every attempt of the run as a row of the table; how many there are."""
    columns = columns_of(run)
    return write_rows(path, rows(run, columns), columns)


def count_rows(source: Path) -> list[int]:
    """The number of rows in each row group."""
    with _open(source) as file:
        groups = range(file.metadata.num_row_groups)
        return [file.metadata.row_group(group).num_rows for group in groups]


def column_names(source: Path) -> list[str]:
    """The names of the columns."""
    with _open(source) as file:
        return list(map(str, file.schema_arrow.names))


def read_rows(source: Path, group: int) -> Iterator[dict[str, Any]]:
    """The rows of one row group, a few at a time."""
    with _open(source) as file:
        for batch in file.iter_batches(batch_size=READ_ROWS, row_groups=[group]):
            yield from batch.to_pylist()


def write_rows(
    path: Path, rows: Iterable[Mapping[str, Any]], columns: Mapping[str, ColumnType]
) -> int:
    """Write rows that have these columns; how many there are.

    Parquet holds valid Unicode only, so a lone surrogate becomes its escape.
    """
    arrow, parquet = _pyarrow()
    types = {
        "text": arrow.string(),
        "integer": arrow.int64(),
        "number": arrow.float64(),
        "truth": arrow.bool_(),
    }
    schema = arrow.schema([(_valid(name), types[kind]) for name, kind in columns.items()])
    texts = [name for name, kind in columns.items() if kind == "text"]
    count = 0
    with parquet.ParquetWriter(path, schema) as writer:
        for batch in _batches(rows, texts):
            cells = [
                _column(arrow, [row.get(name) for row in batch], types[kind])
                for name, kind in columns.items()
            ]
            writer.write_table(arrow.table(cells, schema=schema))
            count += len(batch)
    return count


def join(parts: Sequence[Path], out: Path) -> None:
    """One file from files of the same schema, in order."""
    _, parquet = _pyarrow()
    with _open(parts[0]) as first:
        schema = first.schema_arrow
    with parquet.ParquetWriter(out, schema) as writer:
        for part in parts:
            with _open(part) as file:
                for batch in file.iter_batches():
                    writer.write_batch(batch)


# pyarrow ships no complete types; its objects stay inside this module.
def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra.of("Parquet", "pyarrow") from error
    return pa, parquet


def _open(source: Path) -> Any:
    arrow, parquet = _pyarrow()
    try:
        return parquet.ParquetFile(source)
    except arrow.ArrowInvalid as error:
        raise BadRecord(f"{source} is not a Parquet file: {error}") from error


def _batches(
    rows: Iterable[Mapping[str, Any]], texts: Sequence[str]
) -> Iterator[list[Mapping[str, Any]]]:
    """The rows in batches that fit into memory; `texts` are the columns that may be long."""
    batch: list[Mapping[str, Any]] = []
    chars = 0
    for row in rows:
        batch.append(row)
        for name in texts:
            chars += len(row.get(name) or "")
        if len(batch) == WRITE_ROWS or chars > WRITE_CHARS:
            yield batch
            batch, chars = [], 0
    if batch:
        yield batch


def _column(arrow: Any, values: list[Any], kind: Any) -> Any:
    try:
        return arrow.array(values, kind)
    except UnicodeEncodeError:
        return arrow.array([_valid(value) for value in values], kind)


def _valid(value: Any) -> Any:
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-8", "backslashreplace").decode("utf-8")
