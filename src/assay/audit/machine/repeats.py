"""Checks that the same input gets the same result in other orders, threads or processes.

Conditions differ in one thing: variables of the environment that the target asked for, files in
its folder, or the clock. Two scores that differ are a finding; a process in which the target fails
is none, since a value of ours may make no sense to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeAlias

from assay.audit.context import CheckContext, skip_when
from assay.audit.data import checks_of
from assay.audit.findings import CheckFunction, CheckResult, GraderCall
from assay.audit.isolation import MachineConditions, Place
from assay.audit.machine.calls import (
    Difference,
    ambiguous,
    crossed,
    differences,
    in_words,
    of_environment,
    on_server,
    ordinary,
)
from assay.errors import UnknownName

PAUSE_S: Final = 1.1
"""Long enough for a result that depends on the second to change."""
THREAD_ROUNDS: Final = 4
SEEDS: Final = {"fast": (1, 2), "full": (1, 2, 3, 4, 5)}

VALUES: Final = ("1", "0", "0.25", "x")
"""For a variable that the target reads: switched on, off, a number, and a word."""
MOST_VARIABLES: Final = 6
SHIFT_S: Final = (200 * 24 + 7) * 3600.0
"""Another month, day of the week and hour."""
OURS: Final = frozenset(
    ("HOME", "TMPDIR", "PYTHONPATH", "PYTHONHASHSEED", "PATH", "LANG", "ASSAY_CHILD_MARKS")
)

Compare: TypeAlias = Callable[[CheckContext], tuple[list[Difference], int]]
"""The calls whose results differ, and how many were compared."""


def _repeated(context: CheckContext) -> list[Difference]:
    """Ask one process three times, the last time after a pause, and return differences."""

    def ask() -> list[Difference]:
        calls = ordinary(context)
        results = []
        with context.session.fresh_process() as process:
            for pause_s in (0.0, 0.0, PAUSE_S):
                time.sleep(pause_s)
                measured = context.session.run_calls(calls, process)
                results.append([one.result for one in measured])
        first, *others = results
        return [change for other in others for change in differences(calls, first, other)]

    return context.session.cached("repeated", ask)


def _again(context: CheckContext) -> tuple[list[Difference], int]:
    return _repeated(context), len(ordinary(context))


def _reversed(context: CheckContext) -> tuple[list[Difference], int]:
    # The same answer to two questions shows a cache that is keyed by the answer alone.
    calls = [*ordinary(context), *crossed(context)]
    forwards = context.ask_fresh(calls)
    backwards = context.ask_fresh(calls[::-1])[::-1]
    return differences(calls, forwards, backwards), len(calls)


def _with_hash_seeds(context: CheckContext) -> tuple[list[Difference], int]:
    # Which of two answers counts must not depend on the order of a set.
    calls = [*ordinary(context), *ambiguous(context)]
    usual = context.ask(calls)
    seeds = SEEDS[context.budget]
    changes: list[Difference] = []
    for seed in seeds:
        other = context.ask_fresh(calls, MachineConditions(hash_seed=seed))
        changes += differences(calls, usual, other)
    return changes, len(calls) * len(seeds)


def _elsewhere(place: Place, rounds: int = 1) -> Compare:
    def compare(context: CheckContext) -> tuple[list[Difference], int]:
        calls = ordinary(context)
        here = context.ask(calls) * rounds
        calls *= rounds
        there = [one.result for one in context.session.run_calls(calls, place=place)]
        return differences(calls, here, there), len(calls)

    return compare


def _same(compare: Compare, how: str) -> CheckFunction:
    """Build a check that fails if a comparison shows any difference."""

    def run(context: CheckContext) -> CheckResult:
        changes, tried = compare(context)
        hits = [(call, f"{in_words(one)}; {how}, {in_words(two)}") for call, one, two in changes]
        return context.report_calls(hits, tried)

    return run


def _same_elsewhere(place: Place, words: str) -> CheckFunction:
    """Build a check that another thread or process gets the results of the main thread."""
    run = _if_stable(_same(_elsewhere(place), f"asked {words}"))
    return skip_when(on_server, "a server chooses its own threads and processes")(run)


@skip_when(on_server, "what a server does with its arguments cannot be seen from here")
def _arguments(context: CheckContext) -> CheckResult:
    calls = [*ordinary(context), *_with_lists(context), *_with_tools(context)]
    with context.session.fresh_process() as process:
        results = context.session.run_calls(calls, process, measure=True)
    hits = []
    for call, changed in ((call, one.changed) for call, one in zip(calls, results, strict=True)):
        if changed:
            names = ", ".join(f"`{name}`" for name in changed)
            hits.append((call, f"after the call {names} is not what it was before"))
    return context.report_calls(hits, len(calls))


def _with_lists(context: CheckContext) -> Iterator[GraderCall]:
    """Yield calls whose reference is a list, as in data sets with aliases."""
    for sample in () if of_environment(context) else context.samples[:2]:
        call = context.answer(sample, sample.right[0])
        columns: dict[str, Any] = {
            name: [value, "another form of it"] if value == sample.reference else value
            for name, value in call.columns.items()
        }
        yield replace(call, columns=columns)


def _with_tools(context: CheckContext) -> Iterator[GraderCall]:
    """Yield calls with a conversation of several messages."""
    for sample in () if of_environment(context) else context.samples[:2]:
        call = context.answer(sample, sample.right[0])
        text = context.frame.put(sample.right[0])
        turns = (sample.prompt, "I look at it first.", "Go on.", text)
        roles = ("user", "assistant") * 2
        messages = [
            {"role": role, "content": turn} for role, turn in zip(roles, turns, strict=True)
        ]
        yield replace(call, messages=tuple(messages))


@skip_when(on_server, "the surroundings of a server cannot be chosen from here")
def _surroundings(context: CheckContext) -> CheckResult:
    calls = [*ordinary(context), *ambiguous(context)]
    usual = context.ask(calls)
    if differences(calls, usual, context.ask_fresh(calls)):
        return CheckResult(skipped="the verdicts differ from process to process already")
    hits: dict[str, list[tuple[GraderCall, str]]] = {}
    for what, surroundings in _changes(context):
        try:
            other = context.ask_fresh(calls, surroundings)
        except UnknownName:
            continue
        changed = [
            (call, f"{in_words(one)}; with other surroundings, {in_words(two)}")
            for call, one, two in differences(calls, usual, other)
            if one.status == two.status == "scored"
        ]
        if changed:
            hits.setdefault(what, changed)
    named = context.reporting(title=f"{context.violation.title}: {', '.join(hits)}")
    return named.report_calls(list(chain(*hits.values())), len(calls) * len(hits))


def _changes(context: CheckContext) -> Iterator[tuple[str, MachineConditions]]:
    """Yield changed machine conditions, each with a name for the change."""
    names = [name for name in context.session.variables_read() if name not in OURS]
    for name in names[:MOST_VARIABLES]:
        for value in VALUES:
            yield f"the variable {name}", MachineConditions(variables={name: value})
    yield "the clock", MachineConditions(shift_s=SHIFT_S)
    if context.target.form in ("file", "module"):
        folder = Path(context.session.spec.folder)
        yield "files of the working folder", MachineConditions(files_of=folder)


_UNSTABLE: Final = "the verdicts change from call to call already"
_if_stable = skip_when(lambda context: bool(_repeated(context)), _UNSTABLE)
_if_stable_here = skip_when(
    lambda context: not on_server(context) and bool(_repeated(context)), _UNSTABLE
)
_not_on_server = skip_when(on_server, "a server's hash seed cannot be chosen from here")

CHECKS: Final = checks_of(
    repeats=_same(_again, "asked again in the same process"),
    order=_if_stable(_same(_reversed, "asked in the reverse order")),
    concurrency=_if_stable_here(
        _same(_elsewhere("threads", THREAD_ROUNDS), "asked by eight threads at once")
    ),
    hash_seeds=_not_on_server(
        _if_stable(_same(_with_hash_seeds, "asked in a process with another hash seed"))
    ),
    worker_thread=_same_elsewhere("thread", "in a worker thread"),
    event_loop=_same_elsewhere("loop", "on an event loop"),
    spawned_process=_same_elsewhere("spawn", "in a spawned process"),
    forked_process=_same_elsewhere("fork", "in a forked process"),
    arguments=_arguments,
    surroundings=_surroundings,
)
