"""The nouns of an audit: what is asked of a reward, what it says, and what is wrong with that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from assay.audit.bench import Bench

Severity = Literal["info", "low", "medium", "high", "critical"]
Family = Literal["correctness", "degenerate", "spray", "text", "shape", "agent", "machine"]
Kind = Literal["maths", "qa", "structured", "agent", "environment"]
Budget = Literal["fast", "full"]
Status = Literal["scored", "abstained", "raised", "timeout", "crashed"]

SEVERITIES: tuple[Severity, ...] = ("info", "low", "medium", "high", "critical")
"""From harmless to worst."""

FAMILIES: tuple[Family, ...] = (
    "correctness", "degenerate", "spray", "text", "shape", "agent", "machine",
)  # fmt: skip

KINDS: tuple[Kind, ...] = ("maths", "qa", "structured", "agent", "environment")


def at_least(severity: Severity, bar: Severity) -> bool:
    """Whether `severity` is `bar` or worse."""
    return SEVERITIES.index(severity) >= SEVERITIES.index(bar)


@dataclass(frozen=True, slots=True)
class Sample:
    """One data row that the audit starts from."""

    prompt: str
    gold: Any
    """As the reward takes it."""
    right: tuple[str, ...]
    """Answers that a careful person accepts."""
    wrong: tuple[str, ...]
    """Answers that a careful person refuses."""
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Every column handed to the reward, the gold's own included; plain JSON values."""


@dataclass(frozen=True, slots=True)
class Call:
    """One question to the target."""

    final_response: str
    columns: Mapping[str, Any] = field(default_factory=dict)
    """The columns of the task (`prompt`, `answer`, …); plain JSON values."""
    messages: tuple[Mapping[str, Any], ...] | None = None
    """The whole conversation; `None` stands for a plain prompt and answer."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came back."""

    status: Status
    value: float | None
    """The number of a scored call, as returned: it may be NaN."""
    because: str = ""
    parts: Mapping[str, float | None] = field(default_factory=dict)
    """Metric keys as returned."""
    seconds: float = 0.0
    raw_type: str = ""
    """The name of the type that was returned."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which the target is wrong, with an input that shows it."""

    check: str
    family: Family
    severity: Severity
    title: str
    reproducer: Call
    observed: str
    expected: str
    """What a careful person would say."""
    fix: str
    count: int
    """Inputs that showed it."""
    tried: int


@dataclass(frozen=True, slots=True)
class Rate:
    """A proportion with its Wilson interval (95 %)."""

    name: str
    hits: int
    n: int
    low: float
    high: float

    @classmethod
    def of(cls, name: str, hits: int, n: int) -> Rate:
        """The rate of `hits` among `n`; nothing seen leaves everything possible."""
        low, high = wilson(hits, n)
        return cls(name, hits, n, low, high)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found."""

    findings: tuple[Finding, ...] = ()
    rates: tuple[Rate, ...] = ()
    skipped: str | None = None
    """Why it did not apply."""


@dataclass(frozen=True, slots=True)
class Check:
    """One question that the audit asks of every reward of some kinds."""

    name: str
    family: Family
    kinds: frozenset[Kind]
    summary: str
    """What it means, in one sentence."""
    run: Callable[[Bench], CheckResult]
    budget: Budget = "fast"


def wilson(hits: int, n: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """The Wilson score interval of a proportion."""
    if n == 0:
        return 0.0, 1.0
    share = hits / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    margin = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # At the ends the interval touches them; rounding would leave it just beside.
    low = 0.0 if hits == 0 else max(0.0, middle - margin)
    high = 1.0 if hits == n else min(1.0, middle + margin)
    return low, high
