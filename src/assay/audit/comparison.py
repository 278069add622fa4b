"""Which of two rewards is harder to fool, check by check."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

from assay.audit.findings import SEVERITIES, Family, Severity, at_least
from assay.audit.result import Audit
from assay.errors import UsageError

Side = Literal["first", "second", "alike"]


@dataclass(frozen=True, slots=True)
class Row:
    """One check on both rewards; `None` where it found nothing."""

    check: str
    family: Family
    first: Severity | None
    second: Severity | None
    better: Side


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two audits on the same samples."""

    first: Audit
    second: Audit
    rows: tuple[Row, ...]

    @property
    def harder(self) -> Side:
        """The one with fewer findings of the worst severity in which they differ.

        Accepted findings count: a declared property can be exploited all the same.
        """
        counts = [Counter(_worst(audit).values()) for audit in (self.first, self.second)]
        for severity in reversed(SEVERITIES):
            one, other = (count[severity] for count in counts)
            if one != other:
                return "first" if one < other else "second"
        return "alike"

    @property
    def sentence(self) -> str:
        """The comparison in one sentence."""
        better = Counter(row.better for row in self.rows)
        names = {"first": self.first.target.name, "second": self.second.target.name}
        tally = (
            f"{names['first']} does better in {better['first']} checks, {names['second']} in "
            f"{better['second']}, {better['alike']} come out alike"
        )
        if self.harder == "alike":
            return f"neither is harder to fool: {tally}"
        return f"{names[self.harder]} is harder to fool: {tally}"

    def to_record(self) -> dict[str, Any]:
        """The comparison as plain JSON values."""
        return {
            "schema": "assay.audit.comparison/1",
            "first": self.first.target.name,
            "second": self.second.target.name,
            "harder": self.harder,
            "sentence": self.sentence,
            "checks": [
                {
                    "check": row.check,
                    "family": row.family,
                    "first": row.first,
                    "second": row.second,
                    "better": row.better,
                }
                for row in self.rows
            ],
            "audits": [self.first.to_record(), self.second.to_record()],
        }


def compare(first: Audit, second: Audit) -> Comparison:
    """Both audits side by side; refuses audits that did not ask the same."""
    for what in ("kind", "data", "budget", "seed"):
        one, other = getattr(first, what), getattr(second, what)
        if one != other:
            raise UsageError(
                f"the audits differ in {what} ({one!r} and {other!r}); run both the same way"
            )
    worst_first, worst_second = _worst(first), _worst(second)
    families = {check.name: check.family for check in (*first.checks, *second.checks)}
    rows = tuple(
        Row(
            name,
            family,
            worst_first.get(name),
            worst_second.get(name),
            _better(worst_first.get(name), worst_second.get(name)),
        )
        for name, family in families.items()
    )
    return Comparison(first, second, rows)


def _worst(audit: Audit) -> dict[str, Severity]:
    return {check.name: check.worst for check in audit.checks if check.worst is not None}


def _better(first: Severity | None, second: Severity | None) -> Side:
    if first == second:
        return "alike"
    if first is None:
        return "first"
    if second is None:
        return "second"
    return "second" if at_least(first, second) else "first"
