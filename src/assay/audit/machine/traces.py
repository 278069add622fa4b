"""What the target left behind or reached for in the whole of the audit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from assay.audit.context import CheckContext, skip_when
from assay.audit.findings import Check, CheckFunction, CheckResult, Violation
from assay.audit.isolation import MARKER, Traces
from assay.audit.machine.calls import machine_check, on_server, ordinary

SHOWN: Final = 3
STUCK: Final = Violation(
    "low",
    "it keeps its process from ending",
    "a process that has nothing more to do ends",
    "make threads daemons, shut pools down, and bound the work that they are given",
)

_here = skip_when(on_server, "what a server does cannot be seen from here")


@_here
def _left_processes(context: CheckContext) -> CheckResult:
    """A finding when a process outlived the target's own, or that one did not end."""
    traces = _traces(context)
    if traces.survivors or not traces.lingered:
        return _report(context, traces.survivors)
    return _report(context, ["the process had to be killed"], STUCK)


def _no_event(kind: str) -> CheckFunction:
    """A check function: no event of this kind; what the audit's own payloads did is another's."""

    @_here
    def run(context: CheckContext) -> CheckResult:
        events = _traces(context).seen
        details = (detail for what, detail in events if what == kind and MARKER not in detail)
        return _report(context, details)

    return run


def _traces(context: CheckContext) -> Traces:
    """What the target did so far, after ordinary calls at least."""

    def collect() -> Traces:
        context.session.run_calls(ordinary(context))
        return context.session.collect_traces()

    return context.session.cached("traces", collect)


def _report(
    context: CheckContext, details: Iterable[str], violation: Violation | None = None
) -> CheckResult:
    names = sorted(set(details))
    if not names:
        return CheckResult()
    call, observed = ordinary(context)[0], ", ".join(names[:SHOWN])
    return context.report(call, observed, count=len(names), tried=len(names), violation=violation)


CHECKS: Final[tuple[Check, ...]] = (
    machine_check("left_processes", "No process outlives the verdict.", _left_processes,
        Violation("high", "a process is left running",
            "a grader's process ends with its verdict; a daemon could change the next reward",
            "wait for what was started, and kill it when the time is over")),
    machine_check("written_files", "No file is written.", _no_event("file"),
        Violation("medium", "files are written",
            "a verdict changes nothing: a file is state that a later verdict may read",
            "return what is worth keeping, and let the trainer log it")),
    machine_check("network", "Whether the verdict depends on another machine.",
        _no_event("network"),
        Violation("info", "it connects to other machines",
            "the verdict depends on what answers there: pin its version, and bound the wait",
            "nothing, if the reward is a model's judgement; else judge locally")),
)  # fmt: skip
