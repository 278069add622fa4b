"""What the target left behind or reached for in the whole of the audit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from assay.audit.context import CheckContext, Violation, skip_when
from assay.audit.findings import Check, CheckResult
from assay.audit.isolation import MARKER, Traces
from assay.audit.machine.calls import on_server, ordinary
from assay.schema.audit import KINDS

SHOWN: Final = 3
SURVIVORS: Final = Violation(
    "high",
    "a process is left running",
    "a grader's process ends with its verdict; a daemon could change the next reward",
    "wait for what was started, and kill it when the time is over",
)
STUCK: Final = Violation(
    "low",
    "it keeps its process from ending",
    "a process that has nothing more to do ends",
    "make threads daemons, shut pools down, and bound the work that they are given",
)
FILES: Final = Violation(
    "medium",
    "files are written",
    "a verdict changes nothing: a file is state that a later verdict may read",
    "return what is worth keeping, and let the trainer log it",
)
NETWORK: Final = Violation(
    "info",
    "it connects to other machines",
    "the verdict depends on what answers there: pin its version, and bound the wait",
    "nothing, if the reward is a model's judgement; else judge locally",
)


def _left_processes(context: CheckContext) -> CheckResult:
    """A finding when a process outlived the target's own, or that one did not end."""
    traces = _traces(context)
    if traces.survivors or not traces.lingered:
        return _report(context, SURVIVORS, traces.survivors)
    return _report(context, STUCK, ["the process had to be killed"])


def _written_files(context: CheckContext) -> CheckResult:
    """A finding when files were written outside the folder for temporary ones."""
    return _report(context, FILES, _events(context, "file"))


def _network(context: CheckContext) -> CheckResult:
    """A finding when a connection was opened."""
    return _report(context, NETWORK, _events(context, "network"))


def _traces(context: CheckContext) -> Traces:
    """What the target did so far, after ordinary calls at least."""

    def collect() -> Traces:
        context.session.run_calls(ordinary(context))
        return context.session.collect_traces()

    return context.session.cached("traces", collect)


def _events(context: CheckContext, kind: str) -> list[str]:
    """Details of one kind of event; what the audit's own payloads did is another check's."""
    events = _traces(context).seen
    return [detail for what, detail in events if what == kind and MARKER not in detail]


def _report(context: CheckContext, violation: Violation, details: Iterable[str]) -> CheckResult:
    names = sorted(set(details))
    if not names:
        return CheckResult()
    call, observed = ordinary(context)[0], ", ".join(names[:SHOWN])
    return context.report(violation, call, observed, count=len(names), tried=len(names))


CHECKS: Final[tuple[Check, ...]] = tuple(
    Check(
        name, "machine", frozenset(KINDS), summary,
        skip_when(on_server, "what a server does cannot be seen from here")(run), needs_pay=False,
    )
    for name, summary, run in (
        ("left_processes", "No process outlives the verdict.", _left_processes),
        ("written_files", "No file is written.", _written_files),
        ("network", "Whether the verdict depends on another machine.", _network),
    )
)  # fmt: skip
