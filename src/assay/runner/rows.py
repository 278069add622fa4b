"""A row of a file, and the block of rows that one worker takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Block:
    """Rows that one worker scores and writes as one piece."""

    index: int
    start: int
    """First byte of a JSONL block; number of the row group of a Parquet block."""
    end: int
    first_row: int
    """Line number of the first row in the whole file, counted from 1."""
    rows: int
    """Lines or rows in the block, blank lines included."""


class Row(NamedTuple):
    """One row and where it stands; `problem` says why there is no value."""

    number: int
    value: Any
    problem: str = ""
