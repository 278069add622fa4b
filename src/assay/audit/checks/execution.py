"""Programs and folders that do not do what is asked for, and try to be paid for it.

With the reference (`gold_accepted`) these are the three runs that everybody understands: the
oracle is paid, who does nothing is not, and who cheats is not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from assay.audit.context import NO_PROBE, CheckContext, Probe
from assay.audit.data import Cheat, cheats, checks_of
from assay.audit.findings import CheckFunction, CheckResult, Sample

ROWS: Final = 2


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


CHECKS: Final = checks_of(
    no_op=_no_op,
    equal_object=_cheating("equal_object"),
    expected_values=_cheating("expected_values"),
    patched_comparer=_cheating("patched_comparer"),
    forged_verdict=_cheating("forged_verdict"),
    spoofed_output=_cheating("spoofed_output"),
    planted_reward=_cheating("planted_reward"),
    late_process=_cheating("late_process"),
)
