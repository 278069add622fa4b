"""Checks of unreadable references, pickling, event loops and side effects of a reward."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from assay.audit.context import CheckContext, Probe, ProbeOutcome, skip_when
from assay.audit.data import checks_of
from assay.audit.findings import CallResult, CheckFunction, CheckResult, Violation
from assay.audit.isolation import MARKER, SideEffects
from assay.audit.machine.calls import (
    in_words,
    is_paid,
    of_environment,
    of_form,
    on_server,
    ordinary,
)

LAG_S: Final = 0.1
LAG_CALLS: Final = 4
TRIES: Final = 3
BAD_REFERENCES: Final[tuple[tuple[str, Any], ...]] = (
    ("None", None), ("an empty text", ""), ("spaces", "   "), ("a broken fraction", r"\frac{1}{"),
    ("an unknown command", r"\notacommand{{{"), ("an open bracket", "["),
    ("a null character", "\0"), ("NaN", float("nan")), ("an empty list", []),
)  # fmt: skip
ANSWERS: Final = ("I do not know.", "17", "a wholly different thing")
SHOWN: Final = 3
STUCK: Final = Violation(
    "low",
    "it keeps its process from ending",
    "a process that has nothing more to do ends",
    "make threads daemons, shut pools down, and bound the work that they are given",
)

_on_this_machine = skip_when(on_server, "what a server does cannot be seen from here")


def _with_bad_references(wrong: Callable[[CheckContext, CallResult], bool]) -> CheckFunction:
    """Build a check that fails on wrong results for rows with unreadable references."""

    @skip_when(of_environment, "the world is the reference")
    @skip_when(of_form, "the target has no reference")
    def run(context: CheckContext) -> CheckResult:
        results = context.session.cached("bad references", lambda: _ask(context))
        hits = [
            (probe.call, f"{in_words(result)}; the reference was {probe.variant}")
            for probe, result in results
            if wrong(context, result)
        ]
        return context.report_calls(hits, len(results))

    return run


def _ask(context: CheckContext) -> list[ProbeOutcome]:
    """Give plain answers to rows whose reference cannot be read."""
    probes = []
    for name, reference in BAD_REFERENCES:
        if context.kind == "tools" and reference == []:
            continue  # It says that no call is right.
        for text in ANSWERS:
            call = context.answer(context.samples[0], text)
            columns = {**call.columns, context.session.spec.reference_column: reference}
            if "golden_answers" in columns:
                columns["golden_answers"] = [reference]
            probes.append(Probe(name, replace(call, columns=columns)))
    results = context.session.run_calls([probe.call for probe in probes])
    return [ProbeOutcome(probe, one.result) for probe, one in zip(probes, results, strict=True)]


@skip_when(on_server, "a server is not pickled")
def _pickling(context: CheckContext) -> CheckResult:
    error = context.target.pickle_error
    return context.report_calls([] if error is None else [(ordinary(context)[0], error)], 1)


@skip_when(on_server, "a server has its own loop")
def _loop_lag(context: CheckContext) -> CheckResult:
    calls = ordinary(context)[:LAG_CALLS]
    lags = [
        [measured.lag_s for measured in context.session.run_calls(calls, place="loop")]
        for _ in range(TRIES)
    ]
    observed = f"the loop stood still for more than {LAG_S * 1e3:g} ms in an ordinary call"
    # The least of several tries tells a blocking function from a busy machine.
    tries = zip(calls, *lags, strict=True)
    late = [(call, observed) for call, *seconds in tries if min(seconds) > LAG_S]
    sized = context if context.target.is_async else context.reporting(severity="low")
    return sized.report_calls(late, len(calls))


@_on_this_machine
def _left_processes(context: CheckContext) -> CheckResult:
    traces = _traces(context)
    if traces.survivors or not traces.lingered:
        return _report(context, traces.survivors)
    return _report(context.reporting(STUCK), ["the process had to be killed"])


def _no_event(kind: str) -> CheckFunction:
    """Build a check that fails on any event of this kind, except the audit's own payloads."""

    @_on_this_machine
    def run(context: CheckContext) -> CheckResult:
        events = _traces(context).seen
        details = (detail for what, detail in events if what == kind and MARKER not in detail)
        return _report(context, details)

    return run


def _traces(context: CheckContext) -> SideEffects:
    """Return the side effects so far, after ordinary calls."""

    def collect() -> SideEffects:
        context.session.run_calls(ordinary(context))
        return context.session.collect_traces()

    return context.session.cached("traces", collect)


def _report(context: CheckContext, details: Iterable[str]) -> CheckResult:
    names = sorted(set(details))
    observed = ", ".join(names[:SHOWN])
    return context.report_calls([(ordinary(context)[0], observed)] * len(names), len(names))


CHECKS: Final = checks_of(
    loop_lag=_loop_lag, pickling=_pickling, failure_policy=_with_bad_references(is_paid),
    reference_raises=_with_bad_references(lambda _, result: result.failed),
    left_processes=_left_processes, written_files=_no_event("file"), network=_no_event("network"),
)  # fmt: skip
