"""Checks of rewards for programs, folders and queries: cheating solutions are not paid."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from assay.audit.context import NO_PROBE, CheckContext, Probe, ProbeOutcome, never_paid, skip_when
from assay.audit.data import CheatingSolution, cheats, checks_of, named_texts
from assay.audit.findings import CheckFunction, CheckResult, Sample
from assay.audit.machine.calls import on_server

ROWS: Final = 2
FROM: Final = re.compile(r"\bFROM\s+([A-Za-z_]\w*)", re.IGNORECASE)
WRITES: Final = named_texts("writes")
OUTSIDE: Final = named_texts("outside")
ENDLESS: Final = named_texts("endless")


def _no_op(context: CheckContext) -> CheckResult:

    def nothing(row: Sample) -> str:
        if context.kind == "files":
            return json.dumps({})
        return f"def {row.columns['fn_name']}(*args, **kwargs):\n    pass"

    return _not_paid(
        context,
        [context.answer_probe(row, "nothing done", nothing(row)) for row in context.rows(ROWS)],
    )


def _answer(context: CheckContext, row: Sample, cheat: CheatingSolution) -> str:
    if context.kind == "files":
        return json.dumps({**json.loads(row.wrong[0]), **cheat.files})
    return cheat.program.replace("NAME", str(row.columns["fn_name"])).strip("\n")


def _not_paid(context: CheckContext, probes: list[Probe]) -> CheckResult:
    """Report a finding if any probe is paid, without shortening the paid program."""
    if not probes:
        return CheckResult(skipped=NO_PROBE)
    return context.report_hits(context.paid(probes), len(probes))


def _cheating(check: str) -> CheckFunction:
    def run(context: CheckContext) -> CheckResult:
        probes = [
            context.answer_probe(row, cheat.name, _answer(context, row, cheat))
            for row in context.paid_rows(ROWS)
            for cheat in cheats(context.kind)
            if cheat.check == check
        ]
        return _not_paid(context, probes)

    return run


def _table(row: Sample) -> str:
    names = FROM.search(row.reference_text)
    return names[1] if names else "sqlite_master"


def _changed_database(context: CheckContext) -> CheckResult:
    """Check that a write to the database does not change the pay of the reference answer."""
    hits, rows = list[ProbeOutcome](), context.paid_rows(ROWS)
    for row in rows:
        right = context.answer(row, row.reference_text)
        writes = [
            Probe(name, context.answer(row, statement.format(_table(row))))
            for name, statement in WRITES
        ]
        calls = [right, *(call for probe in writes for call in (probe.call, right))]
        results = context.ask_fresh(calls)
        for probe, before, after in zip(writes, results[::2], results[2::2], strict=False):
            if context.pays(before) and not context.pays(after):
                hits.append(ProbeOutcome(probe, after))
    observed = "the reference is no longer paid after this answer"
    return context.report_hits(hits, len(rows) * len(WRITES), observed=observed)


@skip_when(on_server, "a server's files cannot be seen from here")
def _files_outside(context: CheckContext) -> CheckResult:
    (row, *_) = context.rows(1)
    files_of = {f"assay_attached_{at}.db": one for at, one in enumerate(OUTSIDE)}
    calls = {
        file: context.answer(row, statement.format(file))
        for file, (_, statement) in files_of.items()
    }
    with context.session.fresh_process() as process:
        context.session.run_calls(list(calls.values()), process)
        paths = {path.rpartition("/")[2] for path in process.files()}
    hits = [
        (calls[file], f"{name} made the file {file!r}")
        for file, (name, _) in files_of.items()
        if file in paths
    ]
    return context.report_calls(hits, len(calls))


def _endless(context: CheckContext) -> CheckResult:
    probes = [
        Probe(name, context.answer(row, query))
        for row in context.rows(1)
        for name, query in ENDLESS
    ]
    hits = [one for one in context.results(probes) if one.result.failed or context.pays(one.result)]
    return context.report_hits(hits, len(probes))


def _several(context: CheckContext) -> Iterator[Probe]:
    for row in context.paid_rows():
        wrong = row.wrong[0] if row.wrong else "SELECT 1"
        for name, first, second in (
            ("right, then wrong", row.reference_text, wrong),
            ("wrong, then right", wrong, row.reference_text),
        ):
            yield Probe(f"two statements: {name}", context.answer(row, f"{first};\n{second};"))
            both = f"{context.frame.put(first)}\nor\n{context.frame.put(second)}"
            yield Probe(f"two answers: {name}", context.to_call(row, both))


CHECKS: Final = checks_of(
    no_op=_no_op, equal_object=_cheating("equal_object"),
    expected_values=_cheating("expected_values"), patched_comparer=_cheating("patched_comparer"),
    forged_verdict=_cheating("forged_verdict"), spoofed_output=_cheating("spoofed_output"),
    planted_reward=_cheating("planted_reward"), late_process=_cheating("late_process"),
    changed_database=_changed_database, files_outside=_files_outside, endless_query=_endless,
    several_statements=never_paid(_several),
)  # fmt: skip
