"""Read and write Parquet files with pyarrow, which is imported only when needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.errors import BadRecord, MissingExtra
from assay.formats import RunRecords
from assay.formats.lines import valid_text
from assay.formats.table import ColumnType, columns_of, rows

READ_ROWS = 32
"""Rows unpacked at a time; more are no faster."""
READ_BYTES = 512 * 2**20
"""What the rows unpacked at a time may take, if each were as large as its whole column."""
BOMB_BYTES = 2**30
BOMB_RATIO = 200
"""A row group that unpacks to more than that many bytes, and so many times its size, is refused."""
WRITE_ROWS = 4_096
WRITE_CHARS = 50_000_000


def is_parquet(path: Path) -> bool:
    return path.suffix.lower() in {".parquet", ".pq"}


def check_installed() -> None:
    """Raise `MissingExtra` if pyarrow is not installed."""
    _pyarrow()


def write(run: RunRecords, path: Path) -> int:
    """Write each attempt of the run as a row, and return the number of rows."""
    columns = columns_of(run)
    return write_rows(path, rows(run, columns), columns)


def count_rows(source: Path) -> list[int]:
    """The number of rows in each row group; raises `BadRecord` for an implausible file."""
    with _open(source) as file:
        groups = range(file.metadata.num_row_groups)
        for group in groups:
            _check_size(source, file.metadata.row_group(group), group)
        return [file.metadata.row_group(group).num_rows for group in groups]


def column_names(source: Path) -> list[str]:
    """The names of the columns; raises `BadRecord` if a name occurs twice."""
    with _open(source) as file:
        names = list(map(str, file.schema_arrow.names))
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise BadRecord(f"{str(source)!r} has the column {twice[0]!r} twice")
    return names


def read_rows(source: Path, group: int) -> Iterator[dict[str, Any]]:
    """The rows of one row group, read in small batches.

    A column may hold one long text for many rows. No value is longer than its column, so that
    bounds how many are unpacked together.
    """
    with _open(source) as file:
        row_group = file.metadata.row_group(group)
        _check_size(source, row_group, group)
        rows = max(1, min(READ_ROWS, READ_BYTES // max(1, _unpacked_bytes(row_group))))
        for batch in file.iter_batches(batch_size=rows, row_groups=[group]):
            yield from batch.to_pylist()


def write_rows(
    path: Path, rows: Iterable[Mapping[str, Any]], columns: Mapping[str, ColumnType]
) -> int:
    """Write rows with these columns, with lone surrogates escaped; return their number."""
    arrow, parquet = _pyarrow()
    types = {
        "text": arrow.string(),
        "integer": arrow.int64(),
        "number": arrow.float64(),
        "truth": arrow.bool_(),
    }
    schema = arrow.schema([(valid_text(name), types[kind]) for name, kind in columns.items()])
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
    """Join Parquet files of the same schema into one file, in order."""
    _, parquet = _pyarrow()
    with _open(parts[0]) as first:
        schema = first.schema_arrow
    with parquet.ParquetWriter(out, schema) as writer:
        for part in parts:
            with _open(part) as file:
                for batch in file.iter_batches():
                    writer.write_batch(batch)


def _unpacked_bytes(row_group: Any) -> int:
    columns = range(row_group.num_columns)
    return sum(int(row_group.column(column).total_uncompressed_size) for column in columns)


def _check_size(source: Path, row_group: Any, group: int) -> None:
    columns = range(row_group.num_columns)
    packed = sum(int(row_group.column(column).total_compressed_size) for column in columns)
    unpacked = _unpacked_bytes(row_group)
    if unpacked > BOMB_BYTES and unpacked > BOMB_RATIO * max(packed, 1):
        raise BadRecord(
            f"{source}: row group {group} unpacks from {packed:,} to {unpacked:,} bytes, too much "
            f"for real data; if the file is valid, write smaller row groups (up to {BOMB_BYTES:,})"
        )


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
    """Group the rows into batches that fit into memory; `texts` are the text columns."""
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
        return arrow.array(
            [valid_text(value) if isinstance(value, str) else value for value in values], kind
        )
