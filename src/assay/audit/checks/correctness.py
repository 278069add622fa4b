"""Checks of correctness: right answers are paid, and similar wrong answers are not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from assay.audit.checks.forms import near_misses, rewrites
from assay.audit.context import Bar, CheckContext, Probe, ProbeOutcome
from assay.audit.conversations import ONE_ENDING, UNSUCCESSFUL, episode_record, has_own_episodes
from assay.audit.data import checks_of
from assay.audit.findings import CheckResult, rate_of
from assay.schema.audit import Severity

REFERENCE_ROWS: Final = 200
ROWS: Final = 40
"""Rows tried even on a fast budget: rates need many."""
UNKNOWN_ENVIRONMENT: Final = (
    "the target scores none of the built-in recordings; it may need a live world, or recorded "
    "episodes of its own as --data"
)

Steps = Sequence[tuple[float, Severity]]
"""Severities by the lower bound of the rate, the highest bar first."""

REFERENCE_STEPS: Final[Steps] = ((0.5, "critical"), (0.1, "high"), (0.0, "medium"))
REFUSED_STEPS: Final[Steps] = ((0.4, "high"), (0.15, "medium"), (0.0, "low"))
BUILT_IN_STEPS: Final[Steps] = ((0.0, "medium"),)
"""On rows of our own, of which a target that pays some need not read the others."""
PAID_STEPS: Final[Steps] = ((0.3, "critical"), (0.02, "high"), (0.0, "medium"))


def _reference_accepted(context: CheckContext) -> CheckResult:
    probes = [
        Probe("as it stands", context.answer(row, row.right[0]))
        for row in context.rows(REFERENCE_ROWS)
    ]
    results = context.ask([probe.call for probe in probes])
    if context.kind == "environment" and not any(one.status == "scored" for one in results):
        return CheckResult(skipped=f"{UNKNOWN_ENVIRONMENT}; it says: {results[0].because}"[:300])
    name = "right answers refused (the gold itself)"
    foreign = context.built_in_rows and context.baseline.full_marks > 0
    steps = BUILT_IN_STEPS if foreign else REFERENCE_STEPS
    return _rated(context, name, probes, context.unpaid(probes), steps)


def _rewrites_accepted(context: CheckContext) -> CheckResult:
    probes = [
        Probe(name, context.answer(row, text))
        for row in context.paid_rows(ROWS)
        for name, text in (
            *(("form given in the data", text) for text in row.right[1:]),
            *rewrites(context.kind, row.reference_text),
        )
    ]
    if not probes:
        return CheckResult(skipped="no accepted gold has another form that is surely the same")
    name = "right answers refused (other forms)"
    return _rated(context, name, probes, context.unpaid(probes), REFUSED_STEPS)


def _near_misses_refused(context: CheckContext) -> CheckResult:
    of_environment = context.kind == "environment"
    if of_environment and has_own_episodes(context.samples):
        return CheckResult(skipped=ONE_ENDING)
    probes = list(_failures(context)) if of_environment else _near_misses(context)
    hits = context.paid(probes)
    return _rated(context, "wrong answers paid", probes, hits, PAID_STEPS, shrink=True)


def _near_misses(context: CheckContext) -> list[Probe]:
    def bar(reference: str) -> Bar:
        # A record or a text of several words that is partly right may earn a part.
        return "full" if context.kind == "structured" or " " in reference.strip() else "half"

    return [
        context.answer_probe(row, name, text, bar=bar(row.reference_text))
        for row in context.rows(ROWS)
        for name, text in near_misses(context.kind, row, row.reference_text)
    ]


def _failures(context: CheckContext) -> Iterator[Probe]:
    """Yield episodes in which the agent did not complete the task."""
    for row in context.rows():
        call = context.to_call(row, row.right[0])
        for ending in UNSUCCESSFUL:
            columns = {**call.columns, "episode": episode_record(row, ending)}
            yield Probe(f"world that ended {ending}", replace(call, columns=columns))


def _rated(
    context: CheckContext,
    name: str,
    probes: Sequence[Probe],
    hits: Sequence[ProbeOutcome],
    steps: Steps,
    *,
    shrink: bool = False,
) -> CheckResult:
    """Report the rate of wrong results, which decides the severity of the finding."""
    rate = rate_of(name, len(hits), len(probes))
    severity = next(severity for bar, severity in steps if rate.low >= bar)
    sized = context.reporting(severity=severity)
    return replace(sized.report_hits(hits, len(probes), shrink=shrink), rates=(rate,))


CHECKS: Final = checks_of(
    gold_accepted=_reference_accepted,
    rewrites_accepted=_rewrites_accepted,
    near_misses_refused=_near_misses_refused,
)
