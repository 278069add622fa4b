"""Where the rows of a file are: shards that a worker can read without the others.

A JSONL file is cut at line ends into shards of about the same size, a CSV file where a record
begins; a Parquet file is cut at its row groups. All are read in small amounts, so memory does not
grow with the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from assay.errors import BadRecord
from assay.formats import parquet
from assay.formats.csv_rows import is_csv, read_header, read_records
from assay.formats.exact_json import load_exact

SHARD_BYTES = 4 * 1024 * 1024
LINE_BYTES = 64 * 1024 * 1024
"""A longer line is a bad row; it is skipped without being held in memory."""


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
    """First byte of a shard of JSONL or CSV; number of the row group of a shard of Parquet."""
    end: int
    first_row: int
    """Line number of the first row in the whole file, counted from 1."""
    rows: int
    """Lines or rows in the shard, blank lines included."""


def plan_shards(source: Path, shard_bytes: int = SHARD_BYTES) -> list[Shard]:
    """Every shard of the file; the same file always gives the same ones."""
    if parquet.is_parquet(source):
        return _plan_groups(source)
    if is_csv(source):
        return _plan_records(source, shard_bytes)
    return _plan_lines(source, shard_bytes)


def read_rows(source: Path, shard: Shard) -> Iterator[InputRow]:
    """The rows of one shard; blank lines are passed over but counted."""
    if parquet.is_parquet(source):
        values = parquet.read_rows(source, shard.start)
        yield from (InputRow(number, value) for number, value in enumerate(values, shard.first_row))
        return
    if is_csv(source):
        for record in read_records(source, shard.start, shard.first_row, shard.end):
            yield InputRow(record.line, record.value, record.problem)
        return
    with source.open("rb") as stream:
        stream.seek(shard.start)
        yield from read_stream(stream, shard.first_row, shard.end)


def column_names(source: Path) -> list[str] | None:
    """The columns that the rows of the file have, if it says so before they are read."""
    if parquet.is_parquet(source):
        return parquet.column_names(source)
    return read_header(source) if is_csv(source) else None


def fingerprint(source: Path) -> str:
    """A digest that changes when the file does: its size, its beginning and its end."""
    size = source.stat().st_size
    with source.open("rb") as stream:
        head = stream.read(1024 * 1024)
        stream.seek(max(0, size - 1024 * 1024))
        tail = stream.read()
    return hashlib.sha256(b"%d\n" % size + head + tail).hexdigest()


def parse_line(line: bytes, number: int) -> InputRow:
    """One line as a row. NaN and other things that only Python's own JSON reads are let pass."""
    try:
        return InputRow(number, load_exact(line))
    except BadRecord as error:
        return InputRow(number, None, f"line {number} {error}")


def read_stream(stream: BinaryIO, number: int = 1, end: int | None = None) -> Iterator[InputRow]:
    """The rows from here on, the first of which has that number, until the stream is at `end`.

    A stream that is read to its own end need not know where it is.
    """
    while (end is None or stream.tell() < end) and (line := stream.readline(LINE_BYTES + 1)):
        yield from _row_of(line, number, stream)
        number += 1


def _row_of(line: bytes, number: int, stream: BinaryIO) -> Iterator[InputRow]:
    if len(line) > LINE_BYTES and not line.endswith(b"\n"):
        while (chunk := stream.readline(LINE_BYTES)) and not chunk.endswith(b"\n"):
            pass
        yield InputRow(number, None, f"line {number} is longer than {LINE_BYTES:,} bytes")
        return
    if number == 1:
        line = line.removeprefix(b"\xef\xbb\xbf")
    if line.strip():
        yield parse_line(line, number)


def _plan_groups(source: Path) -> list[Shard]:
    """One shard for each row group."""
    shards: list[Shard] = []
    first_row = 1
    for group, rows in enumerate(parquet.count_rows(source)):
        shards.append(Shard(group, group, group + 1, first_row, rows))
        first_row += rows
    return shards


def _plan_records(source: Path, shard_bytes: int) -> list[Shard]:
    """Shards of whole records, for which all of them are read."""
    shards: list[Shard] = []
    start, rows, first_row = 0, 0, 0
    end = 0
    for record in read_records(source):
        first_row = first_row or record.line
        rows += 1
        end = record.end
        if end - start >= shard_bytes:
            shards.append(Shard(len(shards), start, end, first_row, rows))
            start, rows, first_row = end, 0, record.next_line
    if rows:
        shards.append(Shard(len(shards), start, end, first_row, rows))
    return shards


def _plan_lines(source: Path, shard_bytes: int) -> list[Shard]:
    shards: list[Shard] = []
    start, first_row = 0, 1
    with source.open("rb") as stream:
        while chunk := stream.read(shard_bytes):
            rows = chunk.count(b"\n")
            whole = chunk.endswith(b"\n")
            while not whole and (rest := stream.readline(shard_bytes)):
                whole = rest.endswith(b"\n")
                rows += whole
            rows += not whole
            shards.append(Shard(len(shards), start, stream.tell(), first_row, rows))
            start, first_row = stream.tell(), first_row + rows
    return shards
