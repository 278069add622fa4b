"""Audits on disk: one JSON file for each target, the newest only."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from assay.audit.result import SCHEMA, Audit
from assay.errors import BadRecord
from assay.resources.files import atomic_write

FOLDER: Final = Path("runs/audits")


def save(audit: Audit, folder: Path = FOLDER) -> Path:
    """The audit is in the folder, whole, in the place of an older one of the same target."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{_slug(_title(audit))}.json"
    with atomic_write(file) as draft:
        draft.write_text(to_json(audit.to_record(timings=True)), encoding="ascii")
    return file


def load(name: str, folder: Path = FOLDER) -> dict[str, Any] | None:
    """The record of the last audit of a reward (`name@version`, or a target as it was written)."""
    file = folder / f"{_slug(name)}.json"
    if not file.is_file():
        return None
    try:
        record = json.loads(file.read_bytes())
    except ValueError as error:
        raise BadRecord(f"{file} is not JSON: {error}") from error
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise BadRecord(f"{file} is not an audit ({SCHEMA}); audit the reward again")
    return record


def to_json(record: dict[str, Any]) -> str:
    """The record as ASCII: a reproducer may hold what has no other form."""
    return json.dumps(record, indent=2, allow_nan=False) + "\n"


def _title(audit: Audit) -> str:
    """What the file is called after: the reward's identity, or where it was found."""
    return audit.target.name if audit.target.form == "registered" else audit.target.text


def _slug(text: str) -> str:
    return re.sub(r"[^\w.@-]+", "_", text)
