"""Read the rows of CSV and TSV files, which begin with a header.

A record begins at a line and may go over several, in quotes. An empty cell is no value, since such
a file cannot say that a text was empty. Quotes that are out of place are not guessed at: the text
that came out might be another one than was meant.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from assay.errors import BadRecord

CELL_BYTES = 64 * 1024 * 1024
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
BOM = b"\xef\xbb\xbf"


class CsvRecord(NamedTuple):
    """One record of a CSV file, its place, and its problem if it has one."""

    line: int
    """The line at which it begins."""
    next_line: int
    end: int
    """Where the next record begins in the file."""
    value: dict[str, str | None] | None
    problem: str = ""


def is_csv(path: Path) -> bool:
    return path.suffix.lower() in _DELIMITERS


def read_header(source: Path) -> list[str]:
    """The names of the columns; raises `BadRecord` if the header is invalid."""
    with source.open("rb") as stream:
        header, _ = _read_header(source, stream)
    return header


def read_records(
    source: Path, start: int = 0, line: int = 0, end: int | None = None
) -> Iterator[CsvRecord]:
    """The records from byte `start` on, whose line number is `line`."""
    with source.open("rb") as stream:
        header, lines = _read_header(source, stream)
        if start:
            stream.seek(start)
        else:
            line = lines + 1
        yield from _records(source, stream, header, line, end)


def _read_header(source: Path, stream: BinaryIO) -> tuple[list[str], int]:
    reader = _LineReader(stream, 1)
    try:
        cells: list[str] = next(_reader(source, reader), [])
    except csv.Error as error:
        raise BadRecord(
            f"the header of {str(source)!r} is not CSV: {_problem(error, reader)}"
        ) from error
    if reader.problem:
        raise BadRecord(f"the header of {str(source)!r} {reader.problem}")
    names = [cell.strip() for cell in cells]
    if not any(names):
        raise BadRecord(f"{str(source)!r} has no header: the first line must name the columns")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadRecord(f"{str(source)!r} has the column {twice[0]!r} twice")
    stream.seek(reader.offset)
    return names, reader.lines


class _LineReader:
    """Reads a stream as lines of text, counts them, and notes invalid UTF-8."""

    def __init__(self, stream: BinaryIO, line: int) -> None:
        self._stream = stream
        self._first = line == 1 and stream.tell() == 0
        self.offset = stream.tell()
        self.lines = 0
        self.problem = ""
        self.at_end = False

    def __iter__(self) -> Iterator[str]:
        while data := self._stream.readline(CELL_BYTES):
            self.lines += 1
            self.offset += len(data)
            if self._first:
                data, self._first = data.removeprefix(BOM), False
            try:
                yield data.decode("utf-8")
            except UnicodeDecodeError as error:
                self.problem = f"is not UTF-8: {error.reason}"
                yield data.decode("utf-8", "replace")
        self.at_end = True


def _reader(source: Path, lines: _LineReader) -> Any:
    # Answers may be longer than what the module takes by default; the limit is the process's.
    csv.field_size_limit(max(csv.field_size_limit(), CELL_BYTES))
    return csv.reader(iter(lines), delimiter=_DELIMITERS[source.suffix.lower()], strict=True)


def _problem(error: csv.Error, lines: _LineReader) -> str:
    if lines.at_end:
        return "a quotation mark is opened, and not closed before the end of the file"
    if str(error).startswith("new-line character"):
        return "a line ends with a carriage return alone; lines end with \\n or \\r\\n"
    return str(error)


def _records(
    source: Path, stream: BinaryIO, header: list[str], line: int, end: int | None
) -> Iterator[CsvRecord]:
    lines = _LineReader(stream, line)
    reader = _reader(source, lines)
    while end is None or lines.offset < end:
        first = line + lines.lines
        lines.problem = ""
        try:
            cells = next(reader, None)
        except csv.Error as error:
            problem = f"line {first} is not CSV: {_problem(error, lines)}"
            yield CsvRecord(first, line + lines.lines, lines.offset, None, problem)
            continue
        if cells is None:
            return
        if not cells:  # a blank line
            continue
        problem, value = lines.problem and f"line {first} {lines.problem}", None
        if not problem and len(cells) != len(header):
            problem = f"line {first} has {len(cells)} cells, and the header has {len(header)}"
        if not problem:
            value = {name: cell or None for name, cell in zip(header, cells, strict=True)}
        yield CsvRecord(first, line + lines.lines, lines.offset, value, problem)
