"""Read the rows of a file in shards, and write the results of each shard.

A JSONL file is cut at line ends into shards of about the same size, a CSV file where a record
begins; a Parquet file is cut at its row groups. All are read in small amounts, so memory does not
grow with the file. Results are JSONL or Parquet, in order.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import orjson

from assay.errors import BadRecord
from assay.formats import parquet
from assay.formats.csv_rows import is_csv, read_header, read_records
from assay.formats.lines import load_exact
from assay.formats.table import ColumnType
from assay.resources.files import atomic_write
from assay.schema.score import Score, score_to_record
from assay.scoring.scorer import Scorer

SHARD_BYTES = 4 * 1024 * 1024
LINE_BYTES = 64 * 1024 * 1024
"""A longer line is a bad row; it is skipped without being held in memory."""


class InputRow(NamedTuple):
    """One input row and its line number; `problem` says why its value is missing."""

    number: int
    value: Any
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Shard:
    """A range of rows in one file, which one worker scores."""

    index: int
    start: int
    """First byte of a shard of JSONL or CSV; number of the row group of a shard of Parquet."""
    end: int
    first_row: int
    """Line number of the first row in the whole file, counted from 1."""
    rows: int
    """Lines or rows in the shard, blank lines included."""


def plan_shards(source: Path, shard_bytes: int = SHARD_BYTES) -> list[Shard]:
    """Divide a file into shards; the same file always gives the same shards."""
    if parquet.is_parquet(source):
        counts = list(parquet.count_rows(source))
        first_rows = accumulate(counts, initial=1)
        numbered = enumerate(zip(first_rows, counts, strict=False))
        return [Shard(group, group, group + 1, first, rows) for group, (first, rows) in numbered]
    if is_csv(source):
        return _plan_records(source, shard_bytes)
    return _plan_lines(source, shard_bytes)


def read_rows(source: Path, shard: Shard) -> Iterator[InputRow]:
    """Read the rows of one shard; blank lines are skipped, but still counted."""
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
    """The column names in a file's header; `None` if the file has no header."""
    if parquet.is_parquet(source):
        return parquet.column_names(source)
    return read_header(source) if is_csv(source) else None


def fingerprint(source: Path) -> str:
    """A digest of the file's size, its beginning and its end."""
    size = source.stat().st_size
    with source.open("rb") as stream:
        head = stream.read(1024 * 1024)
        stream.seek(max(0, size - 1024 * 1024))
        tail = stream.read()
    return hashlib.sha256(b"%d\n" % size + head + tail).hexdigest()


def read_stream(stream: BinaryIO, number: int = 1, end: int | None = None) -> Iterator[InputRow]:
    """Read rows from a stream up to the position `end`, numbered from `number`."""
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
        try:
            # NaN and other things that only Python's own JSON reads are let pass.
            yield InputRow(number, load_exact(line))
        except BadRecord as error:
            yield InputRow(number, None, f"line {number} {error}")


def _plan_records(source: Path, shard_bytes: int) -> list[Shard]:
    """Divide a CSV file into shards of whole records; this reads the file."""
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


IDENTITY = ("id", "task_id")
"""Columns copied into the result when the row has them."""


def result_of(
    number: int, row: Any, keep: Sequence[str], scores: dict[str, Score]
) -> dict[str, Any]:
    """Make one result row: its line number, the kept columns and every score."""
    result: dict[str, Any] = {"line": number}
    if isinstance(row, dict):
        result |= {name: row[name] for name in (*IDENTITY, *keep) if name in row}
    result["scores"] = {name: score_to_record(score) for name, score in scores.items()}
    return result


def encode(result: dict[str, Any]) -> bytes:
    """Encode one result as a JSON line; lone surrogates are escaped."""
    try:
        return orjson.dumps(result, default=repr, option=orjson.OPT_APPEND_NEWLINE)
    except (TypeError, orjson.JSONEncodeError):
        return json.dumps(result, default=repr).encode() + b"\n"


def write_shard(
    path: Path,
    results: Iterator[dict[str, Any]],
    scorers: Sequence[Scorer],
    keep: Sequence[str],
    drafts: Path | None = None,
) -> None:
    """Write the results of one shard; the file is written whole or not at all."""
    with atomic_write(path, drafts) as draft:
        if parquet.is_parquet(path):
            columns = _columns(scorers, (*IDENTITY, *keep))
            rows = (_flat(result, scorers, (*IDENTITY, *keep)) for result in results)
            parquet.write_rows(draft, rows, columns)
        else:
            with draft.open("wb") as stream:
                for result in results:
                    stream.write(encode(result))


def join_shards(shards: Sequence[Path], out: Path) -> None:
    """Join the results of all shards into one file, in order."""
    with atomic_write(out) as draft:
        if parquet.is_parquet(out):
            parquet.join(shards, draft)
        else:
            with draft.open("wb") as stream:
                for shard in shards:
                    with shard.open("rb") as source:
                        shutil.copyfileobj(source, stream, 1024 * 1024)


def _columns(scorers: Sequence[Scorer], keep: Sequence[str]) -> dict[str, ColumnType]:
    """The columns of a Parquet result: `NAME`, `NAME.because`, `NAME.<part>` and others."""
    columns: dict[str, ColumnType] = {"line": "integer", **dict.fromkeys(keep, "text")}
    for scorer in scorers:
        name = scorer.spec.name
        columns[name] = "number"
        columns |= {f"{name}.{field}": "text" for field in ("because", "abstained", "scorer")}
        columns |= {f"{name}.{part}": "number" for part in scorer.spec.parts or ()}
    return columns


def _flat(
    result: dict[str, Any], scorers: Sequence[Scorer], columns: Sequence[str]
) -> dict[str, Any]:
    row: dict[str, Any] = {"line": result["line"]}
    for column in columns:
        row[column] = _cell(result.get(column))
    for scorer in scorers:
        name = scorer.spec.name
        record = result["scores"][name]
        row[name] = record["value"]
        row[f"{name}.because"] = record["because"]
        row[f"{name}.abstained"] = record.get("abstained")
        row[f"{name}.scorer"] = record["scorer"]
        for part in scorer.spec.parts or ():
            row[f"{name}.{part}"] = record["parts"][part]
    return row


def _cell(value: Any) -> str | None:
    """Convert an input value to text, since a Parquet column has one type."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, default=repr)
