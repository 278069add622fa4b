"""What an audit found: findings ranked, checks with their rates, a verdict in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, Literal

from assay import __version__
from assay.audit.findings import (
    FAMILIES,
    SEVERITIES,
    Budget,
    Call,
    Check,
    CheckResult,
    Family,
    Finding,
    Kind,
    Rate,
    Severity,
    at_least,
)
from assay.audit.snippets import expression, snippet
from assay.audit.target import Target

SCHEMA = "assay.audit/1"
LONGEST_TEXT = 4_000
SAID = 4
"""Findings named in the verdict."""

Outcome = Literal["passed", "found", "accepted", "skipped"]


@dataclass(frozen=True, slots=True)
class Ruling:
    """A finding, and why it is accepted if it is."""

    finding: Finding
    accepted: str | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """One check after it ran."""

    name: str
    family: Family
    summary: str
    outcome: Outcome
    worst: Severity | None
    """Of its findings, accepted ones included."""
    rates: tuple[Rate, ...]
    skipped: str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Audit:
    """One target, audited once."""

    target: Target
    kind: Kind
    budget: Budget
    seed: int
    data: str
    """`built in`, or the name of the user's file."""
    samples: int
    full_marks: float
    frame: str
    """Where the target looks for an answer."""
    probes: int
    checks: tuple[Checked, ...]
    rulings: tuple[Ruling, ...]
    """Worst first; accepted ones after all others."""
    seconds: float

    @property
    def open_findings(self) -> tuple[Finding, ...]:
        """What was found and is not accepted."""
        return tuple(ruling.finding for ruling in self.rulings if ruling.accepted is None)

    @property
    def accepted(self) -> tuple[Finding, ...]:
        """What was found and is meant to be."""
        return tuple(ruling.finding for ruling in self.rulings if ruling.accepted is not None)

    @property
    def worst(self) -> Severity | None:
        """The worst severity among findings that are not accepted."""
        found = [finding.severity for finding in self.open_findings]
        return max(found, key=SEVERITIES.index, default=None)

    def fails(self, bar: Severity) -> bool:
        """Whether a gate at this severity says no."""
        return self.worst is not None and at_least(self.worst, bar)

    @property
    def passes_at(self) -> Severity | None:
        """The strictest gate that it passes; `None` when a critical finding fails every one."""
        return next((bar for bar in SEVERITIES if not self.fails(bar)), None)

    @property
    def families(self) -> tuple[Family, ...]:
        """Families of which at least one check ran."""
        ran = {check.family for check in self.checks if check.outcome != "skipped"}
        return tuple(family for family in FAMILIES if family in ran)

    @property
    def verdict(self) -> str:
        """What was found, in one sentence."""
        serious = [item for item in self.open_findings if at_least(item.severity, "medium")]
        if serious:
            titles = list(dict.fromkeys(finding.title for finding in serious))
            more = f"; and {len(titles) - SAID} more" if len(titles) > SAID else ""
            return f"{self.target.name}: {'; '.join(titles[:SAID])}{more}"
        ran = sum(check.outcome != "skipped" for check in self.checks)
        told = [_count(len(self.open_findings), "minor finding")] if self.open_findings else []
        if self.accepted:
            worst = max((item.severity for item in self.accepted), key=SEVERITIES.index)
            told.append(f"{len(self.accepted)} accepted, the worst {worst}")
        beside = f" ({'; '.join(told)})" if told else ""
        return (
            f"{self.target.name}: nothing of medium severity or worse in {ran} checks and "
            f"{self.probes} probes{beside}"
        )

    @property
    def badge(self) -> str:
        """One line for a README."""
        counts = Counter(finding.severity for finding in self.open_findings)
        bad = [f"{counts[s]} {s}" for s in reversed(SEVERITIES) if counts[s] and s != "info"]
        passed = self.passes_at
        mild = passed in ("info", "low", "medium")
        said = f"passed at {passed}" if mild else ", ".join(bad)
        if self.accepted:
            said += f", {len(self.accepted)} accepted"
        scope = f"{len(self.families)} families, {self.probes} probes"
        return f"assay audit: {said}, {scope} ({self.target.name})"

    def to_record(self, *, timings: bool = False) -> dict[str, Any]:
        """The audit as plain JSON values; the same for the same seed unless `timings` are asked."""
        record: dict[str, Any] = {
            "schema": SCHEMA,
            "assay": __version__,
            "target": _target_record(self.target),
            "kind": self.kind,
            "budget": self.budget,
            "seed": self.seed,
            "data": self.data,
            "samples": self.samples,
            "full_marks": self.full_marks,
            "frame": self.frame,
            "probes": self.probes,
            "verdict": self.verdict,
            "badge": self.badge,
            "worst": self.worst,
            "passes_at": self.passes_at,
            "findings": [self._finding(ruling) for ruling in self.rulings],
            "checks": [_check_record(check) for check in self.checks],
        }
        if timings:
            record["timings"] = {
                "seconds": round(self.seconds, 3),
                "checks": {check.name: round(check.seconds, 3) for check in self.checks},
            }
        return record

    def _finding(self, ruling: Ruling) -> dict[str, Any]:
        finding = ruling.finding
        return {
            "check": finding.check,
            "family": finding.family,
            "severity": finding.severity,
            "title": finding.title,
            "observed": finding.observed,
            "expected": finding.expected,
            "fix": finding.fix,
            "count": finding.count,
            "tried": finding.tried,
            "accepted": ruling.accepted,
            "reproducer": _call_record(finding.reproducer),
            "snippet": snippet(self.target, finding),
        }


def checked(check: Check, result: CheckResult, accepted: dict[str, str], seconds: float) -> Checked:
    """The check with what became of it."""
    worst = max((item.severity for item in result.findings), key=SEVERITIES.index, default=None)
    outcome: Outcome = "passed"
    if result.skipped is not None:
        outcome = "skipped"
    elif result.findings:
        outcome = "accepted" if check.name in accepted else "found"
    return Checked(
        check.name, check.family, check.summary, outcome, worst, result.rates, result.skipped,
        seconds,
    )  # fmt: skip


def ranked(findings: list[Finding], accepted: dict[str, str]) -> tuple[Ruling, ...]:
    """The findings as rulings, worst first, accepted ones last."""
    rulings = [Ruling(finding, accepted.get(finding.check)) for finding in findings]
    return tuple(
        sorted(
            rulings,
            key=lambda ruling: (
                ruling.accepted is not None,
                -SEVERITIES.index(ruling.finding.severity),
                FAMILIES.index(ruling.finding.family),
                ruling.finding.check,
                ruling.finding.title,
            ),
        )
    )


def _check_record(check: Checked) -> dict[str, Any]:
    return {
        "name": check.name,
        "family": check.family,
        "summary": check.summary,
        "outcome": check.outcome,
        "worst": check.worst,
        "rates": [asdict(rate) for rate in check.rates],
        "skipped": check.skipped,
    }


def _call_record(call: Call) -> dict[str, Any]:
    text = call.final_response
    return {
        "final_response": text if len(text) <= LONGEST_TEXT else None,
        "expression": expression(text),
        "columns": _plain(call.columns),
        "messages": _plain(call.messages),
    }


def _plain(value: Any) -> Any:
    """The value as JSON has it, which knows neither tuples nor NaN."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def _target_record(target: Target) -> dict[str, Any]:
    """The facts with lists for tuples, as they will be read back."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(target).items()
    }


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
