"""Read the saved audits that the pages of the rewards show."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from assay.errors import BadRecord
from assay.formats.lines import load_record
from assay.schema.audit import AUDIT_SCHEMA, AuditReport, audit_file_stem
from assay.viewer.lru_cache import LruCache, stamp

FOLDER = "audits"
"""Below the folder of runs."""
LARGEST_BYTES = 8 * 2**20
TEXT_CHARS = 4_000
MOST_FINDINGS = 100
MOST_CACHED = 64


@dataclass(frozen=True, slots=True)
class StoredAudit:
    """The latest audit of a reward, or why its file cannot be read."""

    version: int
    """Of the reward, when it was audited."""
    saved_at: str
    report: AuditReport | None
    problem: str


class Audits:
    """The saved audits in the folder of runs; any thread may call every method."""

    def __init__(self, runs_dir: Path) -> None:
        self._folder = runs_dir / FOLDER
        self._cache: LruCache[StoredAudit] = LruCache(MOST_CACHED)

    def latest(self, name: str, version: int) -> StoredAudit | None:
        """The audit of this version of the reward, or else of the highest audited version."""
        stem = audit_file_stem(name)
        paths = {
            int(digits): path
            for path in self._folder.glob(f"{glob.escape(stem)}@*.json")
            if (digits := path.name[len(stem) + 1 : -len(".json")]).isdecimal()
        }
        if not paths:
            return None
        number = version if version in paths else max(paths)
        path = paths[number]
        return self._cache.get_or_make((path, stamp(path)), lambda: _read(path, number))


def _read(path: Path, version: int) -> StoredAudit:
    try:
        saved_at = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat()
        return StoredAudit(version, saved_at, _report(path), "")
    except (OSError, BadRecord) as error:
        return StoredAudit(version, "", None, f"{path.name} cannot be read: {error!s:.300}")


def _report(path: Path) -> AuditReport:
    with path.open("rb") as stream:
        data = stream.read(LARGEST_BYTES + 1)
    if len(data) > LARGEST_BYTES:
        raise BadRecord(f"the file is larger than {LARGEST_BYTES:,} bytes")
    record = load_record(data)
    if record.get("schema") != AUDIT_SCHEMA:
        raise BadRecord(f"the schema is {record.get('schema')!r:.100}, not {AUDIT_SCHEMA!r}")
    findings = record.get("findings")
    if isinstance(findings, list):
        # They are ranked: the worst are first. No page shows a reproducer, which may be large.
        # Older records name no causes: each finding is its own.
        record["findings"] = [
            {"cause": finding.get("check"), **finding, "reproducer": None}
            if isinstance(finding, dict)
            else finding
            for finding in findings[:MOST_FINDINGS]
        ]
    record = _shorten({"fooled": None, "causes": [], **record})
    try:
        return TypeAdapter(AuditReport).validate_python(record)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise BadRecord(f"{where}: {first['msg']}") from error


def _shorten(value: Any) -> Any:
    """The record with every text cut to the length that a page can show."""
    if isinstance(value, str):
        return value[:TEXT_CHARS]
    if isinstance(value, dict):
        return {key: _shorten(item) for key, item in value.items()}
    return [_shorten(item) for item in value] if isinstance(value, list) else value
