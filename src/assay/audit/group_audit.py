"""Numbers and findings about the training signal of a reward in groups of rollouts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, TypeAlias

from assay.audit.findings import at_least
from assay.schema.audit import SEVERITIES, Kind, Severity

GROUP_SCHEMA: Final = "assay.audit-group/1"
LOST: Final = 0.7
"""A success rate that falls below this share of where it began is a collapse."""
DOMINANT: Final = 0.5
NOTICED: Final = 0.01


@dataclass(frozen=True, slots=True)
class GroupFinding:
    """One flaw of the training signal that the reward gives to groups of rollouts."""

    check: str
    severity: Severity
    title: str


@dataclass(frozen=True, slots=True)
class GroupAudit:
    """An audit of the training signal that a reward gives to simulated groups of rollouts."""

    target: str
    kind: Kind
    seed: int
    size: int
    rows: int
    outcome: str
    components: Mapping[str, float]
    """By component: its share of the variance of the reward within groups."""
    gates: Mapping[str, float]
    """By component with a gate: how often the gate is open, right answers included."""
    failed: float
    """The share of groups in which every answer is wrong."""
    spread: float
    """Of those, the share in which the rewards differ."""
    phantom: float
    """The share of all advantage that those groups hand out."""
    inverted: float
    """The share of pairs, one right and one wrong, in which the wrong one earns as much or more."""
    policies: Sequence[Mapping[str, float]]
    """The mixture of behaviours, step by step."""
    success: Sequence[float]
    """How often the policy is right, step by step."""
    gains: Mapping[str, float]
    """By behaviour: its mean advantage in the groups in which every answer is wrong."""
    ungraded: float = 0.0
    """The share of the answers, right and wrong, for which the reward gave no number."""
    findings: tuple[GroupFinding, ...] = ()

    @property
    def collapses(self) -> bool:
        return min(self.success) < LOST * self.success[0]

    def fails(self, bar: Severity) -> bool:
        """Whether any finding has the severity `bar` or a worse severity."""
        return any(at_least(finding.severity, bar) for finding in self.findings)

    @property
    def verdict(self) -> str:
        end = min(self.success) if self.collapses else self.success[-1]
        change = f"{self.success[0]:.2f} to {end:.2f} within {len(self.success) - 1} steps"
        what = "collapse" if self.collapses else "no collapse"
        count = len(self.findings)
        findings = f"; {count} finding{'s' * (count > 1)}" if count else ""
        return f"{self.target}: {what} predicted: right answers go from {change}{findings}"

    def to_record(self) -> dict[str, Any]:
        return {
            "schema": GROUP_SCHEMA, "target": self.target, "kind": self.kind, "seed": self.seed,
            "group_size": self.size, "rows": self.rows, "outcome": self.outcome,
            "variance_shares": _rounded(self.components), "gates_open": _rounded(self.gates),
            "ungraded": round(self.ungraded, 4), "failed_groups": round(self.failed, 4),
            "spread_in_failed_groups": round(self.spread, 4),
            "advantage_out_of_nothing": round(self.phantom, 4),
            "wrong_not_below_right": round(self.inverted, 4),
            "gains_in_failed_groups": _rounded(self.gains),
            "success": [round(value, 4) for value in self.success],
            "policy_at_start": _rounded(self.policies[0]),
            "policy_at_end": _rounded(self.policies[-1]), "collapse": self.collapses,
            "findings": [asdict(finding) for finding in self.findings], "verdict": self.verdict,
        }  # fmt: skip


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in values.items()}


def with_findings(audit: GroupAudit) -> GroupAudit:
    findings = [GroupFinding(*facts) for facts in (*_about_outcome(audit), *_about_parts(audit))]
    findings.sort(key=lambda each: SEVERITIES.index(each.severity), reverse=True)
    return replace(audit, findings=tuple(findings))


_Facts: TypeAlias = tuple[str, Severity, str]


def _about_outcome(audit: GroupAudit) -> Iterable[_Facts]:
    if audit.collapses:
        worst = min(range(len(audit.success)), key=lambda step: audit.success[step])
        policy = audit.policies[worst]
        most = max(policy, key=lambda name: policy[name])
        title = (
            f"right answers are predicted to go from {audit.success[0]:.0%} to "
            f"{audit.success[worst]:.0%}, and the commonest way of answering to be {most!r}"
        )
        yield "collapse", "critical", title
    if audit.phantom >= NOTICED:
        gain = max(audit.gains, key=lambda name: audit.gains[name])
        title = (
            f"{audit.spread:.0%} of the groups in which every answer is wrong still have an "
            f"advantage to hand out, {audit.phantom:.0%} of all advantage; the {gain!r} failure "
            f"gains most ({audit.gains[gain]:+.2f}): put what is not the outcome behind a gate"
        )
        yield "pay_out_of_nothing", "high", title
    if audit.inverted >= NOTICED:
        title = (
            f"in {audit.inverted:.0%} of the pairs a wrong answer earns as much as a right one of "
            "its group, or more: lower the weights beside the outcome"
        )
        yield "wrong_not_below_right", "high", title


def _about_parts(audit: GroupAudit) -> Iterable[_Facts]:
    if audit.ungraded:
        title = (
            f"{audit.ungraded:.0%} of the answers got no number: the reward raised or abstained, "
            "and groups are drawn without them"
        )
        yield "ungraded", "medium", title
    for name, share in audit.components.items():
        if name != audit.outcome and share > DOMINANT:
            title = (
                f"{name!r} makes {share:.0%} of the variance within groups, and {audit.outcome!r} "
                f"{audit.components.get(audit.outcome, 0.0):.0%}: lower its weight"
            )
            yield "dominates", "medium", title
    for name, share in audit.gates.items():
        if share == 0.0:
            opened = "opened for no answer, right ones included: look at its opens_at"
            yield "gate_never_opens", "medium", f"the gate of {name!r} {opened}"
        elif share == 1.0:
            opened = "was open for every answer, wrong ones included"
            yield "gate_never_closes", "low", f"the gate of {name!r} {opened}"
