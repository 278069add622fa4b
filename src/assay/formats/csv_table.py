"""A run as CSV: the flat table of its attempts, for spreadsheets.

A spreadsheet would run a text that begins like a formula, and a model can write one: such a text
gets an apostrophe in front. Numbers stay as they are.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from assay.formats import RunRecords
from assay.formats.lines import valid_text
from assay.formats.table import columns_of, rows

_FORMULA = ("=", "@", "\t", "\r")
_SIGNS = ("+", "-")


def write(run: RunRecords, path: Path) -> int:
    """Write every attempt as a row under a header; how many there are."""
    columns = columns_of(run)
    count = 0
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(map(csv_cell, columns))
        for row in rows(run, columns):
            writer.writerow(csv_cell(row[name]) for name in columns)
            count += 1
    return count


def csv_cell(value: Any) -> Any:
    """The value as a cell that no spreadsheet computes."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    text = valid_text(value)
    return f"'{text}" if _is_formula(text) else text


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet would compute the text; a number with a sign is none."""
    if not text.startswith(_SIGNS):
        return text.startswith(_FORMULA)
    try:
        float(text)
    except ValueError:
        return len(text) > 1
    return False
