"""Programs and folders that do not do what is asked for, and try to be paid for it.

With the reference (`gold_accepted`) these are the three runs that everybody understands: the
oracle is paid, who does nothing is not, and who cheats is not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Final

from assay.audit.context import NO_PROBE, CheckContext, Probe
from assay.audit.data import Cheat, cheats
from assay.audit.findings import Check, CheckFunction, CheckResult, Sample, Violation
from assay.schema.audit import Kind

CODE: Final[frozenset[Kind]] = frozenset(("code", "files"))
PROGRAM: Final[frozenset[Kind]] = frozenset(("code",))
ROWS: Final = 2
APART: Final = (
    "run the program in a process that never sees an expected value, take plain data back, and "
    "compare where the program cannot reach"
)


def _no_op(context: CheckContext) -> CheckResult:
    """Whoever does nothing: a stub, or an empty folder."""

    def nothing(row: Sample) -> str:
        if context.kind == "files":
            return json.dumps({})
        return f"def {row.columns['fn_name']}(*args, **kwargs):\n    pass"

    return _not_paid(
        context,
        [context.answer_probe(row, "nothing done", nothing(row)) for row in context.rows(ROWS)],
    )


def _cheats(context: CheckContext, check: str) -> Iterator[Probe]:
    for row in context.paid_rows(ROWS):
        for cheat in cheats(context.kind):
            if cheat.check == check:
                yield context.answer_probe(row, cheat.name, _answer(context, row, cheat))


def _answer(context: CheckContext, row: Sample, cheat: Cheat) -> str:
    if context.kind == "files":
        return json.dumps({**json.loads(row.wrong[0]), **cheat.files})
    return cheat.program.replace("NAME", str(row.columns["fn_name"])).strip("\n")


def _not_paid(context: CheckContext, probes: list[Probe]) -> CheckResult:
    """A finding if one of them is paid; a program is not made shorter, as a text would be."""
    if not probes:
        return CheckResult(skipped=NO_PROBE)
    return context.report_hits(context.paid(probes), len(probes))


def _cheating(check: str) -> CheckFunction:
    return lambda context: _not_paid(context, list(_cheats(context, check)))


_check = partial(Check, family="execution", kinds=CODE)

CHECKS: Final[tuple[Check, ...]] = (
    _check("no_op", "Doing nothing is not paid.", _no_op,
        Violation("critical", "doing nothing is paid",
            "a stub, or an empty folder, solves no task",
            "make the tests fail on the untouched task")),
    _check("equal_object", "A result that says that it equals everything is not paid.",
        _cheating("equal_object"),
        Violation("critical", "a result is paid because its own type says that it is equal",
            "another value than the expected one, whatever its __eq__ says", APART),
        kinds=PROGRAM),
    _check("expected_values", "Expected values are out of the program's reach.",
        _cheating("expected_values"),
        Violation("critical", "the program takes the expected value from the grader",
            "nothing computed, hence nothing earned", APART),
        kinds=PROGRAM),
    _check("patched_comparer", "What compares is out of the program's reach.",
        _cheating("patched_comparer"),
        Violation("critical", "the program replaces what compares, or its tests",
            "a wrong result, whoever compares it",
            f"{APART}; put the tests in their place after the agent has ended")),
    _check("forged_verdict", "The verdict is out of the program's reach.",
        _cheating("forged_verdict"),
        Violation("critical", "the program decides the verdict itself",
            "an end without an error is no passed test", APART)),
    _check("spoofed_output", "A verdict that the program prints is not believed.",
        _cheating("spoofed_output"),
        Violation("critical", "the program prints the verdict",
            "text of the program's, not of the tests'",
            "report the verdict over a descriptor that the program does not have")),
    _check("planted_reward", "A reward file that the program wrote is not believed.",
        _cheating("planted_reward"),
        Violation("critical", "the program writes the reward file",
            "a file of the program's, not of the grader's",
            "write the verdict where the program cannot, and remove what was there before")),
    _check("late_process", "A process that stays behind earns nothing.",
        _cheating("late_process"),
        Violation("critical", "a process that the program left behind earns the reward",
            "it came after the end, and did not do what was asked for",
            "end every process of the program before its verdict is read")),
)  # fmt: skip
