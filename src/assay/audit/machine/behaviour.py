"""How a target behaves beside judging answers.

What it does with a reference that cannot be read, whether it can be pickled and shares an event
loop, and what it left behind or reached for in the whole of the audit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from assay.audit.context import CheckContext, Probe, ProbeOutcome, skip_when
from assay.audit.data import checks_of
from assay.audit.findings import (
    CallResult,
    CheckFunction,
    CheckResult,
    GraderCall,
    Violation,
)
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
    ("None", None),
    ("an empty text", ""),
    ("spaces", "   "),
    ("a broken fraction", r"\frac{1}{"),
    ("an unknown command", r"\notacommand{{{"),
    ("an open bracket", "["),
    ("a null character", "\0"),
    ("NaN", float("nan")),
    ("an empty list", []),
)
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
    """A check function: no answer to a row with an unreadable reference has a wrong result."""

    @skip_when(of_environment, "the world is the reference")
    @skip_when(of_form, "the target has no reference")
    def run(context: CheckContext) -> CheckResult:
        results = context.session.cached("bad references", lambda: _ask(context))
        hits = [one for one in results if wrong(context, one.result)]
        if not hits:
            return CheckResult()
        first = hits[0]
        observed = f"{in_words(first.result)}; the reference was {first.probe.variant}"
        return context.report(first.probe.call, observed, count=len(hits), tried=len(results))

    return run


def _ask(context: CheckContext) -> list[ProbeOutcome]:
    """Plain answers to rows whose reference says nothing."""
    probes = [
        Probe(name, _with_reference(context, context.answer(context.samples[0], text), reference))
        for name, reference in BAD_REFERENCES
        # Of calls, an empty list says that none is right.
        if not (context.kind == "tools" and reference == [])
        for text in ANSWERS
    ]
    results = context.session.run_calls([probe.call for probe in probes])
    return [ProbeOutcome(probe, one.result) for probe, one in zip(probes, results, strict=True)]


def _with_reference(context: CheckContext, call: GraderCall, reference: Any) -> GraderCall:
    columns = {**call.columns, context.session.spec.reference_column: reference}
    if "golden_answers" in columns:
        columns["golden_answers"] = [reference]
    return replace(call, columns=columns)


@skip_when(on_server, "a server is not pickled")
def _pickling(context: CheckContext) -> CheckResult:
    """A finding when the target cannot be sent to another process."""
    if context.target.picklable:
        return CheckResult()
    error = str(context.target.pickle_error)
    return context.report(ordinary(context)[0], error, count=1, tried=1)


@skip_when(on_server, "a server has its own loop")
def _loop_lag(context: CheckContext) -> CheckResult:
    """A finding when an ordinary call makes an event loop stand still."""
    calls = ordinary(context)[:LAG_CALLS]
    lags = [
        [measured.lag_s for measured in context.session.run_calls(calls, place="loop")]
        for _ in range(TRIES)
    ]
    # The least of several tries tells a blocking function from a busy machine.
    least = [min(tries) for tries in zip(*lags, strict=True)]
    late = [call for call, lag in zip(calls, least, strict=True) if lag > LAG_S]
    if not late:
        return CheckResult()
    observed = f"the loop stood still for more than {LAG_S * 1e3:g} ms in an ordinary call"
    if not context.target.is_async:
        context = context.reporting(severity="low")
    return context.report(late[0], observed, count=len(late), tried=len(calls))


@_on_this_machine
def _left_processes(context: CheckContext) -> CheckResult:
    """A finding when a process outlived the target's own, or that one did not end."""
    traces = _traces(context)
    if traces.survivors or not traces.lingered:
        return _report(context, traces.survivors)
    return _report(context.reporting(STUCK), ["the process had to be killed"])


def _no_event(kind: str) -> CheckFunction:
    """A check function: no event of this kind; what the audit's own payloads did is another's."""

    @_on_this_machine
    def run(context: CheckContext) -> CheckResult:
        events = _traces(context).seen
        details = (detail for what, detail in events if what == kind and MARKER not in detail)
        return _report(context, details)

    return run


def _traces(context: CheckContext) -> SideEffects:
    """What the target did so far, after ordinary calls at least."""

    def collect() -> SideEffects:
        context.session.run_calls(ordinary(context))
        return context.session.collect_traces()

    return context.session.cached("traces", collect)


def _report(context: CheckContext, details: Iterable[str]) -> CheckResult:
    names = sorted(set(details))
    if not names:
        return CheckResult()
    call, observed = ordinary(context)[0], ", ".join(names[:SHOWN])
    return context.report(call, observed, count=len(names), tried=len(names))


CHECKS: Final = checks_of(
    loop_lag=_loop_lag,
    pickling=_pickling,
    failure_policy=_with_bad_references(is_paid),
    reference_raises=_with_bad_references(lambda _, result: result.failed),
    left_processes=_left_processes,
    written_files=_no_event("file"),
    network=_no_event("network"),
)
