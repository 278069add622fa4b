"""Whether a call leaves its arguments alone, and whether anything beside them decides its result.

The same calls are asked in processes that differ in one thing: variables of the environment that
the target asked for, files beside it, or the clock. Two scores that differ are a finding; a process
in which the target fails is none, since a value of ours may make no sense to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from assay.audit.context import CheckContext, skip_when
from assay.audit.data import checks_of
from assay.audit.findings import CheckResult, GraderCall
from assay.audit.isolation import Surroundings
from assay.audit.machine.calls import (
    Difference,
    ambiguous,
    differences,
    in_words,
    of_environment,
    on_server,
    ordinary,
)
from assay.errors import UnknownName

VALUES: Final = ("1", "0", "0.25", "x")
"""For a variable that the target reads: switched on, off, a number, and a word."""
MOST_VARIABLES: Final = 6
SHIFT_S: Final = (200 * 24 + 7) * 3600.0
"""Another month, day of the week and hour."""
OURS: Final = frozenset(
    ("HOME", "TMPDIR", "PYTHONPATH", "PYTHONHASHSEED", "PATH", "LANG", "ASSAY_CHILD_MARKS")
)


@skip_when(on_server, "what a server does with its arguments cannot be seen from here")
def _arguments(context: CheckContext) -> CheckResult:
    """A finding when a call changes what it was given."""
    calls = [*ordinary(context), *_with_lists(context), *_with_tools(context)]
    with context.session.fresh_process() as process:
        results = context.session.run_calls(calls, process, measure=True)
    hits = [(call, one) for call, one in zip(calls, results, strict=True) if one.changed]
    if not hits:
        return CheckResult()
    call, first = hits[0]
    names = ", ".join(f"`{name}`" for name in first.changed)
    observed = f"after the call {names} is not what it was before"
    return context.report(call, observed, count=len(hits), tried=len(calls))


def _with_lists(context: CheckContext) -> Iterator[GraderCall]:
    """Calls with a list of references, as data sets with aliases hold them."""
    if of_environment(context):
        return
    for sample in context.samples[:2]:
        call = context.answer(sample, sample.right[0])
        columns: dict[str, Any] = dict(call.columns)
        for name, value in columns.items():
            if value == sample.reference:
                columns[name] = [value, "another form of it"]
        yield replace(call, columns=columns)


def _with_tools(context: CheckContext) -> Iterator[GraderCall]:
    """Calls with a conversation of several messages."""
    for sample in () if of_environment(context) else context.samples[:2]:
        text = context.frame.put(sample.right[0])
        messages = (
            {"role": "user", "content": sample.prompt},
            {"role": "assistant", "content": "I look at it first."},
            {"role": "user", "content": "Go on."},
            {"role": "assistant", "content": text},
        )
        yield replace(context.answer(sample, sample.right[0]), messages=messages)


@skip_when(on_server, "the surroundings of a server cannot be chosen from here")
def _surroundings(context: CheckContext) -> CheckResult:
    """A finding when a score changes with what is around the process."""
    calls = [*ordinary(context), *ambiguous(context)]
    usual = context.ask(calls)
    if differences(calls, usual, context.ask_fresh(calls)):
        return CheckResult(skipped="the verdicts differ from process to process already")
    hits: list[Difference] = []
    on = []
    for what, surroundings in _changes(context):
        try:
            other = context.ask_fresh(calls, surroundings)
        except UnknownName:
            continue
        changed = [
            (call, one, two)
            for call, one, two in differences(calls, usual, other)
            if one.status == two.status == "scored"
        ]
        if changed and what not in on:
            on.append(what)
            hits += changed
    if not hits:
        return CheckResult()
    call, one, two = hits[0]
    observed = f"{in_words(one)}; with other surroundings, {in_words(two)}"
    named = replace(context.violation, title=f"{context.violation.title}: {', '.join(on)}")
    return context.reporting(named).report(
        call, observed, count=len(hits), tried=len(calls) * len(on)
    )


def _changes(context: CheckContext) -> Iterator[tuple[str, Surroundings]]:
    """Surroundings that differ from the usual ones, each with a word for what differs."""
    names = [name for name in context.session.variables_read() if name not in OURS]
    for name in names[:MOST_VARIABLES]:
        for value in VALUES:
            variables: Mapping[str, str] = {name: value}
            yield f"the variable {name}", Surroundings(variables=variables)
    yield "the clock", Surroundings(shift_s=SHIFT_S)
    if context.target.form in ("file", "module"):
        folder = Path(context.session.spec.folder)
        yield "files of the working folder", Surroundings(files_of=folder)


CHECKS: Final = checks_of(
    arguments=_arguments,
    surroundings=_surroundings,
)
