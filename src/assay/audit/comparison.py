"""Which of two rewards is harder to fool, check by check."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, Literal

from assay.audit.causes import concern_of
from assay.audit.findings import at_least
from assay.audit.result import Audit
from assay.errors import UsageError
from assay.schema.audit import SEVERITIES, Family, Severity

Side = Literal["first", "second", "alike"]


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One check on both rewards; `None` where it found nothing."""

    check: str
    family: Family
    first: Severity | None
    second: Severity | None
    better: Side


@dataclass(frozen=True, slots=True)
class AuditComparison:
    """Two audits on the same samples."""

    first: Audit
    second: Audit
    rows: tuple[ComparisonRow, ...]

    @property
    def harder(self) -> Side:
        """The one with fewer findings of the worst severity in which they differ.

        Only pay for what should earn nothing counts: refusing right answers fools nobody. Accepted
        findings count: a declared property can be exploited all the same.
        """
        counts = [
            Counter(found for check, found in _worst(one).items() if concern_of(check) == "fooled")
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
            "checks": [asdict(row) for row in self.rows],
            "audits": [self.first.to_record(), self.second.to_record()],
        }


def compare(first: Audit, second: Audit) -> AuditComparison:
    """Both audits side by side; refuses audits that did not ask the same."""
    for what in ("kind", "data", "budget", "seed"):
        one, other = getattr(first, what), getattr(second, what)
        if one != other:
            raise UsageError(
                f"the audits differ in {what} ({one!r} and {other!r}); run both the same way"
            )
    worst = [_worst(one) for one in (first, second)]
    families = {check.name: check.family for check in (*first.checks, *second.checks)}
    rows = []
    for name, family in families.items():
        one, other = (severities.get(name) for severities in worst)
        rows.append(ComparisonRow(name, family, one, other, _better(one, other)))
    return AuditComparison(first, second, tuple(rows))


def _worst(audit: Audit) -> dict[str, Severity]:
    return {check.name: check.worst for check in audit.checks if check.worst is not None}


def _better(first: Severity | None, second: Severity | None) -> Side:
    if first == second:
        return "alike"
    if first is None or second is None:
        return "first" if first is None else "second"
    return "second" if at_least(first, second) else "first"
