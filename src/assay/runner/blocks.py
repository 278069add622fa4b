"""Where the rows of a file are: blocks that a worker can read without the others.

A JSONL file is cut at line ends into blocks of about the same size; a Parquet file is cut at its
row groups. Both are read in small pieces, so memory does not grow with the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import orjson

from assay.runner import parquet
from assay.runner.rows import Block, Row

BLOCK_BYTES = 4 * 1024 * 1024
LINE_BYTES = 64 * 1024 * 1024
"""A longer line is a bad row; it is skipped without being held in memory."""


def plan_blocks(source: Path, block_bytes: int = BLOCK_BYTES) -> list[Block]:
    """Every block of the file; the same file always gives the same ones."""
    return parquet.plan(source) if parquet.is_parquet(source) else _plan_lines(source, block_bytes)


def read_rows(source: Path, block: Block) -> Iterator[Row]:
    """The rows of one block; blank lines are passed over but counted."""
    return parquet.read(source, block) if parquet.is_parquet(source) else _read_lines(source, block)


def fingerprint(source: Path) -> str:
    """A digest that changes when the file does: its size, its beginning and its end."""
    size = source.stat().st_size
    with source.open("rb") as stream:
        head = stream.read(1024 * 1024)
        stream.seek(max(0, size - 1024 * 1024))
        tail = stream.read()
    return hashlib.sha256(b"%d\n" % size + head + tail).hexdigest()


def parse_line(line: bytes, number: int) -> Row:
    """One line as a row. NaN and other things that only Python's own JSON reads are let pass."""
    try:
        return Row(number, orjson.loads(line))
    except orjson.JSONDecodeError as error:
        try:
            return Row(number, json.loads(line))
        except (ValueError, RecursionError):
            return Row(number, None, f"line {number} is not JSON: {error}")


def read_stream(stream: BinaryIO) -> Iterator[Row]:
    """Rows of a stream that cannot be cut into blocks."""
    number = 0
    while line := stream.readline(LINE_BYTES + 1):
        number += 1
        yield from _row_of(line, number, stream)


def _row_of(line: bytes, number: int, stream: BinaryIO) -> Iterator[Row]:
    if len(line) > LINE_BYTES and not line.endswith(b"\n"):
        _skip_line(stream)
        yield Row(number, None, f"line {number} is longer than {LINE_BYTES:,} bytes")
        return
    if number == 1:
        line = line.removeprefix(b"\xef\xbb\xbf")
    if line.strip():
        yield parse_line(line, number)


def _skip_line(stream: BinaryIO) -> None:
    while (piece := stream.readline(LINE_BYTES)) and not piece.endswith(b"\n"):
        pass


def _plan_lines(source: Path, block_bytes: int) -> list[Block]:
    blocks: list[Block] = []
    start, first_row = 0, 1
    with source.open("rb") as stream:
        while piece := stream.read(block_bytes):
            rows = piece.count(b"\n")
            whole = piece.endswith(b"\n")
            while not whole and (rest := stream.readline(block_bytes)):
                whole = rest.endswith(b"\n")
                rows += whole
            rows += not whole
            blocks.append(Block(len(blocks), start, stream.tell(), first_row, rows))
            start, first_row = stream.tell(), first_row + rows
    return blocks


def _read_lines(source: Path, block: Block) -> Iterator[Row]:
    with source.open("rb") as stream:
        stream.seek(block.start)
        number = block.first_row
        while stream.tell() < block.end and (line := stream.readline(LINE_BYTES + 1)):
            yield from _row_of(line, number, stream)
            number += 1
