"""Whether the same input gets the same result: again, in another order, in a crowd, elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

from assay.audit.context import CheckContext, Violation, skip_when
from assay.audit.findings import Check, CheckFunction, CheckResult
from assay.audit.isolation import Place
from assay.audit.machine.calls import (
    Difference,
    crossed,
    differences,
    in_words,
    on_server,
    ordinary,
)
from assay.schema.audit import KINDS, Severity

PAUSE_S: Final = 1.1
"""Long enough for a result that depends on the second to change."""
CROWD_ROUNDS: Final = 4
SEEDS: Final = {"fast": (1, 2), "full": (1, 2, 3, 4, 5)}
EXPECTED: Final = (
    "the same answer to the same question is worth the same, whenever and wherever it is asked"
)

Compare: TypeAlias = Callable[[CheckContext], tuple[list[Difference], int]]
"""The calls whose results differ, and how many were compared."""


def _repeated(context: CheckContext) -> list[Difference]:
    """What changes when one process is asked three times, the last time after a pause."""

    def ask() -> list[Difference]:
        calls = ordinary(context)
        with context.session.fresh_process() as process:
            first, again = process.ask(calls), process.ask(calls)
            time.sleep(PAUSE_S)
            later = process.ask(calls)
        return differences(calls, first, again) + differences(calls, first, later)

    return context.session.cached("repeated", ask)


def _again(context: CheckContext) -> tuple[list[Difference], int]:
    return _repeated(context), len(ordinary(context))


def _reversed(context: CheckContext) -> tuple[list[Difference], int]:
    # The same answer to two questions shows a cache that is keyed by the answer alone.
    calls = [*ordinary(context), *crossed(context)]
    forwards = context.ask(calls, fresh=True)
    backwards = context.ask(calls[::-1], fresh=True)[::-1]
    return differences(calls, forwards, backwards), len(calls)


def _in_crowd(context: CheckContext) -> tuple[list[Difference], int]:
    calls = ordinary(context)
    alone = context.ask(calls) * CROWD_ROUNDS
    calls *= CROWD_ROUNDS
    crowd = [one.result for one in context.session.run_calls(calls, place="crowd")]
    return differences(calls, alone, crowd), len(calls)


def _with_hash_seeds(context: CheckContext) -> tuple[list[Difference], int]:
    calls = ordinary(context)
    usual = context.ask(calls)
    seeds = SEEDS[context.budget]
    changes: list[Difference] = []
    for seed in seeds:
        with context.session.fresh_process(hash_seed=seed) as process:
            changes += differences(calls, usual, process.ask(calls))
    return changes, len(calls) * len(seeds)


def _elsewhere(place: Place) -> Compare:
    def compare(context: CheckContext) -> tuple[list[Difference], int]:
        calls = ordinary(context)
        there = [one.result for one in context.session.run_calls(calls, place=place)]
        return differences(calls, context.ask(calls), there), len(calls)

    return compare


def _same(severity: Severity, title: str, compare: Compare, how: str, fix: str) -> CheckFunction:
    """The check that a comparison shows no difference."""

    def run(context: CheckContext) -> CheckResult:
        changes, tried = compare(context)
        if not changes:
            return CheckResult()
        call, one, other = changes[0]
        observed = f"{in_words(one)}; {how}, {in_words(other)}"
        violation = Violation(severity, title, EXPECTED, fix)
        return context.report(violation, call, observed, count=len(changes), tried=tried)

    return run


def _same_elsewhere(severity: Severity, place: Place, words: str, fix: str) -> CheckFunction:
    """The check that results in another place are those of the main thread."""
    title, how = f"the verdict differs {words}", f"asked {words}"
    check = _if_stable(_same(severity, title, _elsewhere(place), how, fix))
    return skip_when(on_server, "a server chooses its own threads and processes")(check)


_UNSTABLE: Final = "the verdicts change from call to call already"
_if_stable = skip_when(lambda context: bool(_repeated(context)), _UNSTABLE)
_if_stable_here = skip_when(
    lambda context: not on_server(context) and bool(_repeated(context)), _UNSTABLE
)
_check = partial(Check, family="machine", kinds=frozenset(KINDS), needs_pay=False)

CHECKS: Final[tuple[Check, ...]] = (
    _check(
        "repeats", summary="The same input gets the same verdict when it is asked again.",
        run=_same(
            "high", "the verdict changes when asked again", _again,
            "asked again in the same process",
            "use no clock and no dice; let no call change what a later one sees (module variables, "
            "caches keyed by too little, mutable defaults)",
        ),
    ),
    _check(
        "order", summary="A verdict does not depend on what was asked before.",
        run=_if_stable(_same(
            "high", "the verdict depends on earlier calls", _reversed,
            "asked in the reverse order",
            "keep no state between calls: no module variables, no attributes that outlive a call",
        )),
    ),
    _check(
        "concurrency", summary="Eight threads at once get the verdicts that one gets.",
        run=_if_stable_here(_same(
            "high", "the verdict changes when threads ask at the same time", _in_crowd,
            "asked by eight threads at once",
            "share nothing that a call writes to; no signal, no current directory, no module "
            "variable",
        )),
    ),
    _check(
        "hash_seeds", summary="The verdict does not depend on PYTHONHASHSEED.",
        run=skip_when(on_server, "a server's hash seed cannot be chosen from here")(
            _if_stable(_same(
                "high", "the verdict depends on PYTHONHASHSEED", _with_hash_seeds,
                "asked in a process with another hash seed",
                "do not rely on the order of a set or on hash() of a text; sort, or use hashlib",
            ))
        ),
    ),
    _check(
        "worker_thread", summary="A worker thread gets the verdicts of the main thread.",
        run=_same_elsewhere(
            "high", "thread", "in a worker thread",
            "trainers score in threads (verl, OpenRLHF, TRL's asynchronous trainer). signal.alarm "
            "is for the main thread alone; bound the work itself, or use a worker process",
        ),
    ),
    _check(
        "event_loop", summary="A running event loop gets the same verdicts.",
        run=_same_elsewhere(
            "medium", "loop", "on an event loop",
            "AgentFly and the older verifiers call rewards on the running loop: use no asyncio.run "
            "inside; make the function asynchronous, or keep it plain",
        ),
    ),
    _check(
        "spawned_process", summary="A spawned process gets the same verdicts.",
        run=_same_elsewhere(
            "medium", "spawn", "in a spawned process",
            "let nothing that the verdict needs be set up outside the module's own definitions",
        ),
    ),
    _check(
        "forked_process", summary="A forked process gets the same verdicts.",
        run=_same_elsewhere(
            "medium", "fork", "in a forked process",
            "open no threads, locks or pools before a fork that a call then relies on",
        ),
    ),
)  # fmt: skip
