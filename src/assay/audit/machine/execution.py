"""Whether any part of an answer is executed."""

from __future__ import annotations

from assay.audit.bench import Bench
from assay.audit.checks.frames import BARE, say
from assay.audit.findings import Call, CheckResult
from assay.audit.machine.asking import finding, skipped
from assay.audit.machine.payloads import payloads

FIX = (
    "never hand an answer to eval, exec, sympify or parse_expr, a template, a shell, yaml.load or "
    "pickle; parse it with a grammar of your own, or compare in a process without rights"
)


def code_execution(bench: Bench) -> CheckResult:
    """Findings about payloads that left their file behind, or reached the interpreter."""
    if bench.target.form == "url":
        return skipped("a server's files cannot be seen from here")
    calls = _calls(bench)
    with bench.session.apart() as apart:
        apart.answers([call for _, call in calls])
        left = {path.rpartition("/")[2] for path in apart.files()}
        compiled = any(what == "executed" for what, _ in apart.traces.seen)
    worked = [(name, call) for name, call in calls if name in left]
    if worked:
        found = finding(
            "code_execution", "critical", "what the model writes is executed", worked[0][1],
            observed=f"the answer created the file {worked[0][0]!r} in the grader's folder",
            expected="an answer is data. Whoever can write it could read the golds, change the "
            "reward or leave the machine",
            fix=FIX, count=len(worked), tried=len(calls),
        )  # fmt: skip
        return CheckResult((found,))
    reached = _reached(bench, calls) if compiled else None
    if reached is None:
        return CheckResult()
    found = finding(
        "code_execution", "medium", "text of the answer is run as Python", reached,
        observed="words of the answer appear in Python code that the grader executed",
        expected="an answer is data; a filter before eval has been passed before",
        fix=FIX, count=1, tried=len(calls),
    )  # fmt: skip
    return CheckResult((found,))


def _calls(bench: Bench) -> list[tuple[str, Call]]:
    """Every payload, bare and where the target looks for an answer."""
    frames = dict.fromkeys((bench.measured.frame, BARE))
    sample = bench.samples[0]
    return [
        (name, say(bench.kind, sample, frame.put(text)))
        for name, text in payloads()
        for frame in frames
    ]


def _reached(bench: Bench, calls: list[tuple[str, Call]]) -> Call | None:
    """The first call whose text was executed; asked one by one."""
    with bench.session.apart() as apart:
        for _, call in calls:
            apart.answers([call])
            if any(what == "executed" for what, _ in apart.traces.seen):
                return call
    return None
