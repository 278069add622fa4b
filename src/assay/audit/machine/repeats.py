"""Whether the same input gets the same result: again, in another order, in parallel, elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeAlias

from assay.audit.context import CheckContext, skip_when
from assay.audit.data import checks_of
from assay.audit.findings import CheckFunction, CheckResult
from assay.audit.isolation import Place, Surroundings
from assay.audit.machine.calls import (
    Difference,
    ambiguous,
    crossed,
    differences,
    in_words,
    on_server,
    ordinary,
)

PAUSE_S: Final = 1.1
"""Long enough for a result that depends on the second to change."""
THREAD_ROUNDS: Final = 4
SEEDS: Final = {"fast": (1, 2), "full": (1, 2, 3, 4, 5)}

Compare: TypeAlias = Callable[[CheckContext], tuple[list[Difference], int]]
"""The calls whose results differ, and how many were compared."""


def _repeated(context: CheckContext) -> list[Difference]:
    """What changes when one process is asked three times, the last time after a pause."""

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
        other = context.ask_fresh(calls, Surroundings(hash_seed=seed))
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
    """A check function: a comparison shows no difference."""

    def run(context: CheckContext) -> CheckResult:
        changes, tried = compare(context)
        if not changes:
            return CheckResult()
        call, one, other = changes[0]
        observed = f"{in_words(one)}; {how}, {in_words(other)}"
        return context.report(call, observed, count=len(changes), tried=tried)

    return run


def _same_elsewhere(place: Place, words: str) -> CheckFunction:
    """A check function: results in another place are those of the main thread."""
    run = _if_stable(_same(_elsewhere(place), f"asked {words}"))
    return skip_when(on_server, "a server chooses its own threads and processes")(run)


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
)
