"""Results of an audit: ranked findings, verdict, reports, and comparison of two audits."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from jinja2 import Environment

from assay.audit.causes import cause_records, concern_of, with_causes
from assay.audit.findings import Check, CheckResult, Finding, at_least
from assay.audit.snippets import expression, snippet
from assay.errors import UsageError
from assay.resources.files import atomic_write
from assay.schema.audit import (
    FAMILIES,
    SEVERITIES,
    AuditFacts,
    AuditReport,
    AuditTarget,
    AuditTimings,
    CauseRecord,
    CheckRecord,
    Concern,
    Family,
    FindingFacts,
    FindingRecord,
    Outcome,
    Reproducer,
    Severity,
    audit_file_stem,
)

FOLDER: Final = Path("runs/audits")
LONGEST_TEXT: Final = 4_000
VERDICT_TITLES: Final = 4
"""Causes named in the verdict."""
COMPUTED: Final = ("verdict", "badge", "worst", "passes_at", "fooled", "causes", "checks")
RECALL_WORDS: Final = {
    "gold_accepted": "references",
    "rewrites_accepted": "right answers in another form",
}


@dataclass(frozen=True, slots=True)
class Audit(AuditFacts):
    """The result of one audit: its checks, findings and times."""

    checks: tuple[CheckRecord, ...]
    findings: tuple[Finding, ...]
    """Worst first; accepted ones after all others."""
    seconds: float
    check_seconds: Mapping[str, float]

    @property
    def open_findings(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.accepted is None)

    @property
    def accepted(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.accepted is not None)

    @property
    def worst(self) -> Severity | None:
        """Worst severity of the findings that are not accepted."""
        return worst_of(self.open_findings)

    def fails(self, bar: Severity) -> bool:
        """Whether the audit fails at this severity; an audit without any check always fails."""
        if not self.families:
            return True
        return self.worst is not None and at_least(self.worst, bar)

    @property
    def passes_at(self) -> Severity | None:
        """Strictest severity at which the audit passes; `None` if it fails at every severity."""
        return next((bar for bar in SEVERITIES if not self.fails(bar)), None)

    @property
    def causes(self) -> tuple[CauseRecord, ...]:
        """Causes of the findings, worst first; accepted causes come last."""
        return cause_records(self.findings)

    @property
    def fooled(self) -> bool:
        """Whether the reward pays for a bad answer, apart from accepted findings."""
        return bool(self._serious("fooled"))

    @property
    def families(self) -> tuple[Family, ...]:
        """Families with at least one check that ran."""
        ran = {check.family for check in self.checks if check.outcome != "skipped"}
        return tuple(family for family in FAMILIES if family in ran)

    @property
    def verdict(self) -> str:
        if not self.families:
            reasons = list(dict.fromkeys(check.skipped for check in self.checks if check.skipped))
            why = f": {'; '.join(reasons[:2])}" if reasons else ""
            return f"{self.target.name}: no check ran, so nothing is known{why}"
        return f"{self.target.name}: {self._fooled_words()}; {self._recall_words()}{self._rest()}"

    def _serious(self, concern: Concern) -> list[str]:
        """Titles of open causes of this concern with medium severity or worse."""
        open_causes = [cause for cause in self.causes if not cause.accepted]
        serious = [cause for cause in open_causes if at_least(cause.severity, "medium")]
        return [cause.title for cause in serious if cause.concern == concern]

    def _fooled_words(self) -> str:
        titles = self._serious("fooled")
        if not titles:
            return "fooled: no"
        rest = len(titles) - VERDICT_TITLES
        more = f"; and {rest} more" if rest > 0 else ""
        return f"fooled: {'; '.join(titles[:VERDICT_TITLES])}{more}"

    def _recall_words(self) -> str:
        checks = [check for check in self.checks if concern_of(check.name) == "recall"]
        rates = [(check.name, rate) for check in checks for rate in check.rates]
        if not rates:
            return "recall: not measured"
        refused = [
            f"{rate.hits} of {rate.n} {RECALL_WORDS.get(name, name)}"
            for name, rate in rates
            if rate.hits
        ]
        if not refused:
            return f"recall: refuses none of {sum(rate.n for _, rate in rates)} right answers"
        return f"recall: refuses {' and '.join(refused)}"

    def _rest(self) -> str:
        """Describe the serious robustness flaws, and the numbers of checks and probes."""
        other = self._serious("robustness")
        failing = f"; beside that: {'; '.join(other[:VERDICT_TITLES])}" if other else ""
        ran = sum(check.outcome != "skipped" for check in self.checks)
        minor = sum(not at_least(one.severity, "medium") for one in self.open_findings)
        notes = [f"{minor} minor finding{'' if minor == 1 else 's'}"] if minor else []
        if self.accepted:
            notes.append(f"{len(self.accepted)} accepted, the worst {worst_of(self.accepted)}")
        notes_text = f" ({'; '.join(notes)})" if notes else ""
        return f"{failing}; {ran} checks, {self.probes} probes{notes_text}"

    @property
    def badge(self) -> str:
        """One line for a README."""
        if not self.families:
            return f"assay audit: no check ran ({self.target.name})"
        counts = Counter(finding.severity for finding in self.open_findings)
        bad = [f"{counts[s]} {s}" for s in reversed(SEVERITIES) if counts[s] and s != "info"]
        mild = self.passes_at in ("info", "low", "medium")
        outcome = f"passed at {self.passes_at}" if mild else ", ".join(bad)
        if self.accepted:
            outcome += f", {len(self.accepted)} accepted"
        scope = f"{len(self.families)} families, {self.probes} probes"
        return f"assay audit: {outcome}, {scope} ({self.target.name})"

    def to_report(self, *, timings: bool = False) -> AuditReport:
        """Return the audit as a record; `timings` adds durations, which differ between runs."""
        seconds = {name: round(seconds, 3) for name, seconds in self.check_seconds.items()}
        return AuditReport(
            **_fields(self, AuditFacts),
            **{name: getattr(self, name) for name in COMPUTED},
            findings=tuple(_finding_record(self.target, finding) for finding in self.findings),
            timings=AuditTimings(round(self.seconds, 3), seconds) if timings else None,
        )

    def to_record(self, *, timings: bool = False) -> dict[str, Any]:
        record: dict[str, Any] = _plain(asdict(self.to_report(timings=timings)))
        if not timings:
            del record["timings"]
        return record

    def to_html(self) -> str:
        """Render the audit as one HTML page without scripts; all text is escaped."""
        environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
        source = files("assay.audit").joinpath("templates/report.html").read_text(encoding="utf-8")
        record = self.to_record(timings=True)
        families: dict[str, list[dict[str, Any]]] = {}
        for check in sorted(record["checks"], key=lambda check: FAMILIES.index(check["family"])):
            families.setdefault(check["family"], []).append(check)
        rates = [rate for check in record["checks"] for rate in check["rates"]]
        page = environment.from_string(source).render(
            audit=record, families=families, rates=rates, printable=_printable
        )
        # A lone surrogate has no form in UTF-8, and the page is a file.
        return page.encode("utf-8", "replace").decode("utf-8")

    def save(self, folder: Path = FOLDER) -> Path:
        """Save the record as JSON, replacing the reward's older record."""
        title = self.target.name if self.target.form == "registered" else self.target.text
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{audit_file_stem(title)}.json"
        with atomic_write(file) as draft:
            # As ASCII: a reproducer may hold what has no other form.
            record = json.dumps(self.to_record(timings=True), indent=2, allow_nan=False)
            draft.write_text(record + "\n", encoding="ascii")
        return file


def worst_of(findings: tuple[Finding, ...]) -> Severity | None:
    severities = [finding.severity for finding in findings]
    return max(severities, key=SEVERITIES.index, default=None)


def check_record(check: Check, result: CheckResult, accepted: Mapping[str, str]) -> CheckRecord:
    outcome: Outcome = "passed" if result.skipped is None else "skipped"
    if result.findings:
        outcome = "accepted" if check.name in accepted else "found"
    worst = worst_of(result.findings)
    return CheckRecord(
        check.name, check.family, check.summary, outcome, worst, result.rates, result.skipped
    )


def rank(findings: list[Finding], accepted: Mapping[str, str]) -> tuple[Finding, ...]:
    """Sort the findings, worst first and accepted last, with causes and reasons."""

    def order(finding: Finding) -> tuple[bool, int, int, str, str]:
        severity, family = SEVERITIES.index(finding.severity), FAMILIES.index(finding.family)
        return finding.accepted is not None, -severity, family, finding.check, finding.title

    reasoned = (replace(one, accepted=accepted.get(one.check)) for one in with_causes(findings))
    return tuple(sorted(reasoned, key=order))


def _fields(
    record: AuditFacts | FindingFacts, of: type[AuditFacts | FindingFacts]
) -> dict[str, Any]:
    """Return the fields that a record inherits from the class `of`."""
    return {field.name: getattr(record, field.name) for field in fields(of)}


def _finding_record(target: AuditTarget, finding: Finding) -> FindingRecord:
    call = finding.reproducer
    reproducer = Reproducer(
        final_response=call.final_response if len(call.final_response) <= LONGEST_TEXT else None,
        expression=expression(call.final_response),
        columns=call.columns,
        messages=None if call.messages is None else list(call.messages),
    )
    facts = _fields(finding, FindingFacts)
    return FindingRecord(**facts, reproducer=reproducer, snippet=snippet(target, finding))


def _plain(value: Any) -> Any:
    """Convert a value to JSON types: tuples become lists, and NaN becomes text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def _printable(value: Any) -> str:
    """Escape unprintable characters, which could change the layout of the page."""
    text = str(value)
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\u{ord(c):04x}" for c in text)


Side = Literal["first", "second", "alike"]


class ComparisonRow(NamedTuple):
    """Severity of one check on two rewards; `None` if the check found nothing."""

    check: str
    family: Family
    first: Severity | None
    second: Severity | None

    @property
    def better(self) -> Side:
        one, other = (
            -1 if severity is None else SEVERITIES.index(severity) for severity in self[2:]
        )
        return "alike" if one == other else "first" if one < other else "second"


@dataclass(frozen=True, slots=True)
class AuditComparison:
    """Two audits on the same samples."""

    first: Audit
    second: Audit
    rows: tuple[ComparisonRow, ...]

    @property
    def harder(self) -> Side:
        """The reward with fewer findings at the worst severity where the two differ.

        Only pay for what should earn nothing counts: a refused right answer is no exploit. Accepted
        findings count: a declared property can be exploited all the same.
        """
        counts = [
            Counter(
                severity for check, severity in _worst(one).items() if concern_of(check) == "fooled"
            )
            for one in (self.first, self.second)
        ]
        for severity in reversed(SEVERITIES):
            one, other = (count[severity] for count in counts)
            if one != other:
                return "first" if one < other else "second"
        return "alike"

    @property
    def sentence(self) -> str:
        better = Counter(row.better for row in self.rows)
        names = {"first": self.first.target.name, "second": self.second.target.name}
        counts = (
            f"{names['first']} does better in {better['first']} checks, {names['second']} in "
            f"{better['second']}, {better['alike']} come out alike"
        )
        if self.harder == "alike":
            return f"neither is harder to fool: {counts}"
        return f"{names[self.harder]} is harder to fool: {counts}"

    def to_record(self) -> dict[str, Any]:
        return {
            "schema": "assay.audit.comparison/1",
            "first": self.first.target.name,
            "second": self.second.target.name,
            "harder": self.harder,
            "sentence": self.sentence,
            "checks": [{**row._asdict(), "better": row.better} for row in self.rows],
            "audits": [self.first.to_record(), self.second.to_record()],
        }


def compare(first: Audit, second: Audit) -> AuditComparison:
    """Compare two audits; raise `UsageError` if their settings differ."""
    for what in ("kind", "data", "budget", "seed"):
        one, other = getattr(first, what), getattr(second, what)
        if one != other:
            raise UsageError(
                f"the audits differ in {what} ({one!r} and {other!r}); use one value for both"
            )
    one, other = _worst(first), _worst(second)
    families = {check.name: check.family for check in (*first.checks, *second.checks)}
    return AuditComparison(
        first,
        second,
        tuple(
            ComparisonRow(name, of, one.get(name), other.get(name)) for name, of in families.items()
        ),
    )


def _worst(audit: Audit) -> dict[str, Severity]:
    return {check.name: check.worst for check in audit.checks if check.worst is not None}
