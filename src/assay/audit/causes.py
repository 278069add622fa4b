"""Find the root causes of an audit's findings: one flaw may fail many checks.

A cause is a row of `data/causes.toml`. It is established by the checks that only it explains
(`shows`), and then takes every finding that follows from it (`explains`). Rows are tried in order,
so the flaw that explains most comes first. A finding that no row explains is its own cause, under
the name of its check.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from assay.audit.data import read_table
from assay.audit.findings import Finding, at_least
from assay.schema.audit import SEVERITIES, CauseRecord, Concern

EQUAL: Final = 1e-9

Findings: TypeAlias = dict[str, Finding]
"""By check; a check that reports twice reports one flaw."""


def _checks(text: str) -> frozenset[str]:
    """Return the checks named in a text; `@paid` stands for the whole group `paid`."""
    names: set[str] = set()
    for word in text.split():
        names |= _checks(_TABLE["groups"][word[1:]]) if word.startswith("@") else {word}
    return frozenset(names)


_TABLE: Final = read_table("causes")
PAID: Final = _checks("@paid")
"""Checks that find pay for what should earn none: the target is fooled."""
REFUSED: Final = _checks("@refused")
"""Checks that find right answers without their pay: a matter of recall."""
UNREADABLE: Final = _checks("@unreadable")


def concern_of(check: str) -> Concern:
    if check in PAID:
        return "fooled"
    return "recall" if check in REFUSED else "robustness"


@dataclass(frozen=True, slots=True)
class Cause:
    """One kind of flaw, with the checks that reveal the flaw."""

    name: str
    title: str
    fix: str
    shows: frozenset[str]
    explains: frozenset[str]
    needs_all: bool = False
    """Whether it takes all of the checks that show it, not any."""
    serious: bool = False
    """Whether these findings must be of high severity or worse."""
    only_unreadable: bool = False
    """Whether it explains only answers that earned no more than one that cannot be read."""

    def takes(self, findings: Findings) -> list[str]:
        """Return the checks whose findings result from this cause; empty if there are none."""
        seen = self.shows & findings.keys()
        if not seen or (self.needs_all and seen != self.shows):
            return []
        if self.serious and not all(at_least(findings[name].severity, "high") for name in seen):
            return []
        explained = {
            name
            for name in self.explains & findings.keys()
            if not self.only_unreadable or _pays_like_nothing(findings, findings[name])
        }
        return [name for name in findings if name in self.shows | explained]


def _pays_like_nothing(findings: Findings, finding: Finding) -> bool:
    """Whether the finding's answer earned at most as much as an unreadable answer."""
    pays = [findings[name].pay for name in UNREADABLE if name in findings]
    known = [pay for pay in pays if pay is not None]
    if finding.pay is None or not known:
        return finding.check in UNREADABLE
    return finding.pay <= max(known) + EQUAL


def _cause(row: Mapping[str, Any]) -> Cause:
    explains = row.get("explains", row["shows"])
    return Cause(**{**row, "shows": _checks(row["shows"]), "explains": _checks(explains)})


CAUSES: Final = tuple(map(_cause, _TABLE["cause"]))


def with_causes(findings: Sequence[Finding]) -> list[Finding]:
    by_severity = sorted(findings, key=lambda one: SEVERITIES.index(one.severity))
    # In the order of the findings; of each check the worst, and of several as bad the last.
    worst = {one.check: one for one in by_severity}
    open_checks: Findings = {one.check: worst[one.check] for one in findings}
    causes: dict[str, str] = {}
    for cause in CAUSES:
        for check in cause.takes(open_checks):
            causes[check] = cause.name
            del open_checks[check]
    return [replace(one, cause=causes.get(one.check, one.check)) for one in findings]


def cause_records(findings: Sequence[Finding]) -> tuple[CauseRecord, ...]:
    """Group findings by cause, worst cause first; accepted findings form separate groups."""
    groups: dict[tuple[bool, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.accepted is not None, finding.cause), []).append(finding)
    records = [_record(*group) for group in groups.items()]
    return tuple(sorted(records, key=lambda one: (one.accepted, -SEVERITIES.index(one.severity))))


def _record(key: tuple[bool, str], group: Sequence[Finding]) -> CauseRecord:
    """Build the record of a cause, with the concern of its worst findings."""
    accepted, name = key
    cause = next((cause for cause in CAUSES if cause.name == name), group[0])
    severity = max((one.severity for one in group), key=SEVERITIES.index)
    concerns = {concern_of(one.check) for one in group if one.severity == severity}
    return CauseRecord(
        name=name,
        title=cause.title,
        concern=next(one for one in ("fooled", "robustness", "recall") if one in concerns),
        severity=severity,
        fix=cause.fix,
        accepted=accepted,
        checks=tuple(dict.fromkeys(one.check for one in group)),
    )
