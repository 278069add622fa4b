"""The audit record that `assay audit --json` writes and the viewer reads.

The order of the fields is the order of the keys in the file. Nothing here imports more than the
standard library.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

AUDIT_SCHEMA: Final = "assay.audit/1"

Severity: TypeAlias = Literal["info", "low", "medium", "high", "critical"]
Family: TypeAlias = Literal[
    "correctness", "degenerate", "spray", "text", "shape", "agent", "execution", "machine"
]
Kind: TypeAlias = Literal[
    "maths", "qa", "choice", "structured", "agent", "environment", "format", "code", "files",
    "sql", "tools",
]  # fmt: skip
Budget: TypeAlias = Literal["fast", "full"]
Outcome: TypeAlias = Literal["passed", "found", "accepted", "skipped"]
Concern: TypeAlias = Literal["fooled", "recall", "robustness"]
"""Paid for what should earn nothing; refuses what is right; or fails, hangs, varies or leaves
something behind."""
Form: TypeAlias = Literal["registered", "module", "file", "url"]
Shape: TypeAlias = Literal[
    "assay", "agentfly", "trl", "trl-text", "verl", "openrlhf", "verifiers", "verifiers-text",
    "inspect", "plain", "url",
]  # fmt: skip

SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
"""From harmless to worst."""
FAMILIES: Final[tuple[Family, ...]] = get_args(Family)
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
SHAPES: Final[tuple[Shape, ...]] = get_args(Shape)


@dataclass(frozen=True, slots=True)
class AuditTarget:
    """Facts about the reward or grader that an audit tests."""

    text: str
    """As the user named it."""
    name: str
    """`name@version` of a registered reward, else the function's name."""
    form: Form
    shape: Shape
    parts: tuple[str, ...] | None
    """Part names that the author declared."""
    parameters: tuple[str, ...]
    is_async: bool
    picklable: bool
    pickle_error: str | None
    source: str | None
    """File and line of the function."""
    summary: str
    python: str


@dataclass(frozen=True, slots=True)
class RateEstimate:
    """A proportion with its 95 % Wilson confidence interval."""

    name: str
    hits: int
    n: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """One check after it ran."""

    name: str
    family: Family
    summary: str
    outcome: Outcome
    worst: Severity | None
    """Of its findings, accepted ones included."""
    rates: tuple[RateEstimate, ...]
    skipped: str | None
    """Why it did not apply."""


@dataclass(frozen=True, slots=True)
class Reproducer:
    """An input that reproduces a finding of the audit."""

    final_response: str | None
    """`None` for a text that is too long to keep."""
    expression: str
    """Python that gives the text."""
    columns: Mapping[str, Any]
    messages: list[Any] | None


@dataclass(frozen=True, slots=True)
class FindingFacts:
    """One error that the audit found in a reward or a grader."""

    check: str
    family: Family
    severity: Severity
    title: str
    observed: str
    expected: str
    """What a careful person would say."""
    fix: str
    count: int
    """Inputs that showed it."""
    tried: int
    accepted: str | None
    """Why it is meant to be so; `None` when the author did not declare that it is."""
    cause: str
    """The name of its root cause; findings of one flaw have one."""


@dataclass(frozen=True, slots=True)
class FindingRecord(FindingFacts):
    """A finding of the audit with the code that reproduces it."""

    reproducer: Reproducer | None
    """`None` where a reader left it out."""
    snippet: str


@dataclass(frozen=True, slots=True)
class CauseRecord:
    """One root cause of audit findings, with the checks that found it."""

    name: str
    title: str
    concern: Concern
    severity: Severity
    """The worst of its findings."""
    fix: str
    accepted: bool
    """Whether its findings are meant to be."""
    checks: tuple[str, ...]
    """Worst first."""


@dataclass(frozen=True, slots=True)
class AuditTimings:
    """The duration of an audit and of each check, in seconds."""

    seconds: float
    checks: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class AuditFacts:
    """The target, the data and the settings of an audit."""

    schema: str
    assay: str
    """The version of Assay."""
    target: AuditTarget
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


@dataclass(frozen=True, slots=True)
class AuditReport(AuditFacts):
    """One target, audited once."""

    verdict: str
    badge: str
    worst: Severity | None
    """Among the findings that are not accepted."""
    passes_at: Severity | None
    """The strictest gate that it passes."""
    fooled: bool | None
    """Whether an open finding of medium severity or worse is pay for what should earn none; `None`
    in a record from before it was said."""
    causes: tuple[CauseRecord, ...]
    """Worst first; accepted ones after all others."""
    findings: tuple[FindingRecord, ...]
    """Worst first; accepted ones after all others."""
    checks: tuple[CheckRecord, ...]
    timings: AuditTimings | None = None
    """Left out of the file where they were not asked for."""


def audit_file_stem(title: str) -> str:
    """The file name, without extension, that stores the last audit of a target."""
    return re.sub(r"[^\w.@-]+", "_", title)
