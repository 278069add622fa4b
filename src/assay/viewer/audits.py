"""Audits that were saved beside the runs, as the pages of the rewards show them.

`assay audit` writes one JSON file for each target. It is read here by its form alone: the audit is
a floor above, and a file may be of another version, torn, or somebody else's.
"""

from __future__ import annotations

import glob
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, TypeAdapter, ValidationError

from assay.errors import BadRecord
from assay.formats.jsonl import load_record
from assay.viewer.memory import Memory, stamp

FOLDER = "audits"
"""Below the folder of runs."""
SCHEMA = "assay.audit/1"
LARGEST_BYTES = 8 * 2**20
TEXT_CHARS = 4_000
MOST_FINDINGS = 100
MOST_HELD = 64

Severity: TypeAlias = Literal["info", "low", "medium", "high", "critical"]
Text: TypeAlias = Annotated[str, AfterValidator(lambda text: text[:TEXT_CHARS])]


@dataclass(frozen=True, slots=True)
class Rate:
    """A proportion with its interval (95 %)."""

    name: Text
    hits: int
    n: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Check:
    """One question that the audit asked."""

    name: Text
    outcome: Literal["passed", "found", "accepted", "skipped"]
    rates: tuple[Rate, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which the reward is wrong, with the code that shows it."""

    check: Text
    family: Text
    severity: Severity
    title: Text
    observed: Text
    expected: Text
    fix: Text
    count: int
    tried: int
    accepted: Text | None
    """Why it is meant to be so; `None` when nobody said that it is."""
    snippet: Text


@dataclass(frozen=True, slots=True)
class AuditReport:
    """A saved audit; fields of the file that no page shows are left out."""

    assay: Text
    kind: Text
    budget: Text
    data: Text
    samples: int
    probes: int
    verdict: Text
    worst: Severity | None
    """Among the findings that are not accepted."""
    passes_at: Severity | None
    """The strictest gate that it passes."""
    findings: tuple[Finding, ...]
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class StoredAudit:
    """The latest audit of a reward, or why its file cannot be read."""

    version: int
    """Of the reward, when it was audited."""
    saved_at: str
    report: AuditReport | None
    problem: str


class Audits:
    """The audits in the folder of runs. Every method may be called from any thread."""

    def __init__(self, runs_dir: Path) -> None:
        self._folder = runs_dir / FOLDER
        self._held: Memory[StoredAudit] = Memory(MOST_HELD)

    def latest(self, name: str, version: int) -> StoredAudit | None:
        """The audit of this version of the reward; else the one of the highest other version."""
        stem = re.sub(r"[^\w.@-]+", "_", name)
        found = {
            int(number): path
            for path in self._folder.glob(f"{glob.escape(stem)}@*.json")
            if (number := path.name[len(stem) + 1 : -len(".json")]).isdecimal()
        }
        if not found:
            return None
        at = version if version in found else max(found)
        path = found[at]
        return self._held.made((path, stamp(path)), lambda: _stored(path, at))


def _stored(path: Path, version: int) -> StoredAudit:
    try:
        saved_at = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat()
        return StoredAudit(version, saved_at, _report(path), "")
    except (OSError, BadRecord) as error:
        return StoredAudit(version, "", None, f"{path.name} cannot be read: {error!s:.300}")


def _report(path: Path) -> AuditReport:
    with path.open("rb") as stream:
        data = stream.read(LARGEST_BYTES + 1)
    if len(data) > LARGEST_BYTES:
        raise BadRecord(f"it is larger than {LARGEST_BYTES:,} bytes")
    record = load_record(data)
    if record.get("schema") != SCHEMA:
        raise BadRecord(f"its schema is {record.get('schema')!r:.100}, not {SCHEMA!r}")
    findings = record.get("findings")
    if isinstance(findings, list):
        # They are ranked: the worst are first.
        record["findings"] = findings[:MOST_FINDINGS]
    try:
        return TypeAdapter(AuditReport).validate_python(record)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise BadRecord(f"{where}: {first['msg']}") from error
