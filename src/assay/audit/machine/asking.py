"""What several machine checks share: ordinary calls, equality of verdicts, and a finding's form."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isnan

from assay.audit.bench import Bench
from assay.audit.checks.frames import say
from assay.audit.findings import Call, CheckResult, Finding, Severity, Verdict

ORDINARY_ROWS = {"fast": 8, "full": 24}


def ordinary(bench: Bench) -> list[Call]:
    """Right and wrong answers, as a model would hand them in."""
    frame = bench.measured.frame
    calls = []
    for sample in bench.samples[: ORDINARY_ROWS[bench.budget]]:
        texts = (*sample.right[:1], *sample.wrong[:1])
        calls += [say(bench.kind, sample, frame.put(text)) for text in texts]
    return calls


def crossed(bench: Bench) -> list[Call]:
    """Every row's right answer given to the row before it."""
    if bench.kind == "environment":
        return []
    frame = bench.measured.frame
    rows = bench.samples[: ORDINARY_ROWS[bench.budget]]
    return [say(bench.kind, row, frame.put(other.right[0])) for row, other in pairwise(rows)]


def same(one: Verdict, other: Verdict) -> bool:
    """Whether a trainer would see no difference; how it is worded does not count."""
    return (
        one.status == other.status
        and _equal(one.value, other.value)
        and one.parts.keys() == other.parts.keys()
        and all(_equal(one.parts[key], other.parts[key]) for key in one.parts)
    )


def in_words(verdict: Verdict) -> str:
    """The verdict in a few words, without anything that differs from run to run."""
    if verdict.status == "scored":
        return f"pays {verdict.value:g}"
    if verdict.status == "abstained":
        return "abstains"
    if verdict.status == "timeout":
        return "does not answer in time"
    return f"{verdict.status} ({verdict.because})"


def differing(
    calls: Sequence[Call], first: Sequence[Verdict], second: Sequence[Verdict]
) -> list[tuple[Call, Verdict, Verdict]]:
    """The calls whose verdicts differ."""
    pairs = zip(calls, first, second, strict=True)
    return [(call, one, other) for call, one, other in pairs if not same(one, other)]


def finding(
    check: str,
    severity: Severity,
    title: str,
    reproducer: Call,
    *,
    observed: str,
    expected: str,
    fix: str,
    count: int,
    tried: int,
) -> Finding:
    """A finding of this family."""
    return Finding(
        check, "machine", severity, title, reproducer, observed, expected, fix, count, tried
    )


def skipped(why: str) -> CheckResult:
    """The result of a check that does not apply."""
    return CheckResult(skipped=why)


def _equal(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return one == other or (isnan(one) and isnan(other))
