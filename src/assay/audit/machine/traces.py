"""What the target left behind or reached for in the whole of the audit."""

from __future__ import annotations

from collections.abc import Iterable

from assay.audit.bench import Bench
from assay.audit.findings import CheckResult, Severity
from assay.audit.isolation import MARKER, Traces
from assay.audit.machine.asking import finding, ordinary, skipped

SHOWN = 3


def left_processes(bench: Bench) -> CheckResult:
    """A finding when a process outlived the target's own, or that one did not end."""
    left = _result(
        bench, "left_processes", "high", "a process is left running", _traces(bench).survivors,
        "a grader's process ends with its verdict; a daemon could change the next reward",
        "wait for what was started, and kill it when the time is over",
    )  # fmt: skip
    if left.findings or left.skipped:
        return left
    stuck = ["the process had to be killed"] if _traces(bench).lingered else []
    return _result(
        bench, "left_processes", "low", "it keeps its process from ending", stuck,
        "a process that has nothing more to do ends",
        "make threads daemons, shut pools down, and bound the work that they are given",
    )  # fmt: skip


def written_files(bench: Bench) -> CheckResult:
    """A finding when files were written outside the folder for temporary ones."""
    return _result(
        bench, "written_files", "medium", "files are written", _seen(bench, "file"),
        "a verdict changes nothing: a file is state that a later verdict may read",
        "return what is worth keeping, and let the trainer log it",
    )  # fmt: skip


def network(bench: Bench) -> CheckResult:
    """A finding when a connection was opened."""
    return _result(
        bench, "network", "info", "it connects to other machines", _seen(bench, "network"),
        "the verdict depends on what answers there: pin its version, and bound the wait",
        "nothing, if the reward is a model's judgement; else judge locally",
    )  # fmt: skip


def _traces(bench: Bench) -> Traces:
    """What was seen so far, after ordinary calls at least."""

    def look() -> Traces:
        bench.session.answers(ordinary(bench))
        return bench.session.seen()

    return bench.session.once("traces", look)


def _seen(bench: Bench, kind: str) -> list[str]:
    """Details of one kind of event; what the audit's own payloads did is another check's."""
    return [detail for what, detail in _traces(bench).seen if what == kind and MARKER not in detail]


def _result(
    bench: Bench,
    check: str,
    severity: Severity,
    title: str,
    what: Iterable[str],
    expected: str,
    fix: str,
) -> CheckResult:
    if bench.target.form == "url":
        return skipped("what a server does cannot be seen from here")
    names = sorted(set(what))
    if not names:
        return CheckResult()
    found = finding(
        check, severity, title, ordinary(bench)[0], observed=", ".join(names[:SHOWN]),
        expected=expected, fix=fix, count=len(names), tried=len(names),
    )  # fmt: skip
    return CheckResult((found,))
