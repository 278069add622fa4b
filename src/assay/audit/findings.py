"""Records of an audit: sample rows, calls, results, checks and findings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from assay.schema.audit import KINDS, SEVERITIES, Family, FindingFacts, Kind, RateEstimate, Severity

if TYPE_CHECKING:
    from assay.audit.context import CheckContext

Status = Literal["scored", "abstained", "raised", "timeout", "crashed"]

EVERY_KIND: Final[frozenset[Kind]] = frozenset(KINDS)
TEXT_KINDS: Final[frozenset[Kind]] = EVERY_KIND - {"environment", "files", "tools"}
"""Kinds that score a text; the result of an environment is in its episode or its folder, and that
of a caller of tools in its calls."""
ANSWER_KINDS: Final[frozenset[Kind]] = TEXT_KINDS - {"format", "code", "sql"}
"""Kinds that compare a text with a reference; the form alone has none, and a program or a query is
run, whatever is said around it."""


def at_least(severity: Severity, bar: Severity) -> bool:
    """Whether `severity` is `bar` or worse."""
    return SEVERITIES.index(severity) >= SEVERITIES.index(bar)


@dataclass(frozen=True, slots=True)
class Sample:
    """One data row on which an audit tests the reward."""

    prompt: str
    reference: Any
    """As the reward takes it."""
    right: tuple[str, ...]
    """Answers that a careful person accepts."""
    wrong: tuple[str, ...]
    """Answers that a careful person refuses."""
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Every column handed to the reward, the reference's own included; plain JSON values."""
    solution: str = ""
    """What satisfies the reference, where that is not the answer itself: tests have a program."""

    @property
    def reference_text(self) -> str:
        """The reference answer as a model would write it."""
        return self.solution or reference_text(self.reference)


@dataclass(frozen=True, slots=True)
class GraderCall:
    """One call of the audited reward: response, task columns and conversation."""

    final_response: str
    columns: Mapping[str, Any] = field(default_factory=dict)
    """The columns of the task (`prompt`, `answer`, …); plain JSON values."""
    messages: tuple[Mapping[str, Any], ...] | None = None
    """The whole conversation; `None` stands for a plain prompt and answer."""

    @property
    def key(self) -> str:
        return json.dumps(self.to_wire(), sort_keys=True)

    def to_wire(self) -> dict[str, Any]:
        """The call as plain values."""
        messages = None if self.messages is None else [dict(message) for message in self.messages]
        return {
            "final_response": self.final_response,
            "columns": dict(self.columns),
            "messages": messages,
        }


@dataclass(frozen=True, slots=True)
class CallResult:
    """Result of one call of the audited reward: a return value or a failure."""

    status: Status
    value: float | None
    """The number of a scored call, as returned: it may be NaN."""
    because: str = ""
    parts: Mapping[str, float | None] = field(default_factory=dict)
    """Metric keys as returned."""
    seconds: float = 0.0
    raw_type: str = ""
    """The name of the type that was returned."""

    @property
    def number(self) -> float | None:
        """Number that the reward returned; `None` if there is no finite number."""
        finite = self.status == "scored" and self.value is not None and isfinite(self.value)
        return self.value if finite else None

    @property
    def failed(self) -> bool:
        """Whether the call failed: the reward raised, crashed or took too long."""
        return self.status in ("raised", "crashed", "timeout")

    @property
    def amount(self) -> float:
        """Number that the reward returned; 0.0 if there is no finite number."""
        return self.number or 0.0

    @property
    def pay(self) -> float:
        """Number that the reward returned; a negative number counts as 0.0."""
        return max(0.0, self.amount)


@dataclass(frozen=True, slots=True)
class Violation:
    """What a check reports if the audited reward fails the check."""

    severity: Severity
    title: str
    expected: str
    """What a careful person would say."""
    fix: str


@dataclass(frozen=True, slots=True)
class Finding(FindingFacts):
    """One flaw of the audited reward, with an input that shows the flaw."""

    reproducer: GraderCall
    pay: float | None = None
    """What that input earned, where that is what is wrong."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Findings of one check, or the reason why the check was skipped."""

    findings: tuple[Finding, ...] = ()
    rates: tuple[RateEstimate, ...] = ()
    skipped: str | None = None
    """Why it did not apply."""


CheckFunction: TypeAlias = "Callable[[CheckContext], CheckResult]"


@dataclass(frozen=True, slots=True)
class Check:
    """One check of an audit, with the kinds of rewards that it applies to."""

    name: str
    summary: str
    run: CheckFunction
    violation: Violation
    """What it reports, at its worst."""
    family: Family
    kinds: frozenset[Kind] = ANSWER_KINDS
    needs_pay: bool = True
    """Whether it compares with what a right answer earns, and so needs a target that pays one."""


def reference_text(reference: Any) -> str:
    """The reference answer as a model would write it.

    Of several aliases it is the first, of a record its JSON, of a worked solution the answer that
    it boxes or that follows its last `####`.
    """
    if isinstance(reference, str):
        return _final_answer(reference)
    if isinstance(reference, (list, tuple)) and reference:
        return reference_text(reference[0])
    if isinstance(reference, (Mapping, bool)):
        return json.dumps(reference, ensure_ascii=False)
    return str(reference)


def _final_answer(text: str) -> str:
    if "####" in text:
        return text.rpartition("####")[2].strip()
    rest = text.rpartition("\\boxed{")[2] if "\\boxed{" in text else ""
    depth = 1
    for at, char in enumerate(rest):
        depth += (char == "{") - (char == "}")
        if not depth:
            return rest[:at]
    return text


def rate_of(name: str, hits: int, n: int) -> RateEstimate:
    """Return the rate of `hits` in `n` trials with its 95 % Wilson interval."""
    if n == 0:
        return RateEstimate(name, hits, n, 0.0, 1.0)
    share, z = hits / n, 1.959963984540054
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    margin = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # At the ends the interval touches them; rounding would leave a gap.
    low = 0.0 if hits == 0 else max(0.0, middle - margin)
    high = 1.0 if hits == n else min(1.0, middle + margin)
    return RateEstimate(name, hits, n, low, high)
