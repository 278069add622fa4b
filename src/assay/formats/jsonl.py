"""A run as JSON lines: the flat table of its attempts, with every text exactly as it was."""

from __future__ import annotations

from pathlib import Path

from assay.formats import RunRecords
from assay.formats.lines import write_lines
from assay.formats.table import columns_of, rows


def write(run: RunRecords, path: Path) -> int:
    """Write every attempt as a line; how many there are."""
    return write_lines(path, rows(run, columns_of(run)))
