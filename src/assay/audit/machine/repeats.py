"""Whether the same input gets the same verdict: again, in another order, in a crowd, elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from assay.audit.bench import Bench
from assay.audit.findings import Call, CheckResult, Severity, Verdict
from assay.audit.isolation import Place
from assay.audit.machine.asking import crossed, differing, finding, in_words, ordinary, skipped
from assay.audit.session import Apart

PAUSE_S: Final = 1.1
"""Long enough for a verdict that depends on the second to change."""
CROWD_ROUNDS: Final = 4
SEEDS: Final = {"fast": (1, 2), "full": (1, 2, 3, 4, 5)}
EXPECTED: Final = (
    "the same answer to the same question is worth the same, whenever and wherever it is asked"
)

Difference = tuple[Call, Verdict, Verdict]


def repeats(bench: Bench) -> CheckResult:
    """Findings about verdicts that change when the same process is asked again."""
    calls = ordinary(bench)
    found = _repeated(bench)
    return _result(
        "repeats", "high", "the verdict changes when asked again", found, len(calls),
        "asked again in the same process",
        "use no clock and no dice; let no call change what a later one sees (module variables, "
        "caches keyed by too little, mutable defaults)",
    )  # fmt: skip


def order(bench: Bench) -> CheckResult:
    """Findings about verdicts that depend on what was asked before."""
    if _repeated(bench):
        return skipped("the verdicts change from call to call already")
    # The same answer to two questions shows a memory that is keyed by the answer alone.
    calls = [*ordinary(bench), *crossed(bench)]
    backwards = calls[::-1]
    with bench.session.apart() as apart:
        first = _verdicts(apart, calls)
    with bench.session.apart() as apart:
        second = _verdicts(apart, backwards)[::-1]
    return _result(
        "order", "high", "the verdict depends on earlier calls",
        differing(calls, first, second), len(calls), "asked in the reverse order",
        "keep no state between calls: no module variables, no attributes that outlive a call",
    )  # fmt: skip


def concurrency(bench: Bench) -> CheckResult:
    """Findings about verdicts that change when threads ask at the same time."""
    if bench.target.form != "url" and _repeated(bench):
        return skipped("the verdicts change from call to call already")
    calls = ordinary(bench)
    alone = bench.ask(calls)
    rounds = bench.session.answers(calls * CROWD_ROUNDS, place="crowd")
    crowded = [answer.verdict for answer in rounds]
    found = differing(calls * CROWD_ROUNDS, alone * CROWD_ROUNDS, crowded)
    return _result(
        "concurrency", "high", "the verdict changes when threads ask at the same time",
        found, len(rounds), "asked by eight threads at once",
        "share nothing that a call writes to; no signal, no current directory, no module variable",
    )  # fmt: skip


def hash_seeds(bench: Bench) -> CheckResult:
    """Findings about verdicts that depend on Python's hash seed."""
    if bench.target.form == "url":
        return skipped("a server's hash seed cannot be chosen from here")
    if _repeated(bench):
        return skipped("the verdicts change from call to call already")
    calls = ordinary(bench)
    base = bench.ask(calls)
    found: list[Difference] = []
    for seed in SEEDS[bench.budget]:
        with bench.session.apart(hash_seed=seed) as apart:
            found += differing(calls, base, _verdicts(apart, calls))
    return _result(
        "hash_seeds", "high", "the verdict depends on PYTHONHASHSEED", found,
        len(calls) * len(SEEDS[bench.budget]), "asked in a process with another hash seed",
        "do not rely on the order of a set or on hash() of a text; sort, or use hashlib",
    )  # fmt: skip


def worker_thread(bench: Bench) -> CheckResult:
    """Findings about verdicts that differ in a thread other than the main one."""
    return _elsewhere(
        bench, "thread", "worker_thread", "high", "in a worker thread",
        "trainers score in threads (verl, OpenRLHF, TRL's asynchronous trainer). signal.alarm is "
        "for the main thread alone; bound the work itself, or use a worker process",
    )  # fmt: skip


def event_loop(bench: Bench) -> CheckResult:
    """Findings about verdicts that differ on a running event loop."""
    return _elsewhere(
        bench, "loop", "event_loop", "medium", "on an event loop",
        "AgentFly and the older verifiers call rewards on the running loop: use no asyncio.run "
        "inside; make the function asynchronous, or keep it plain",
    )  # fmt: skip


def spawned_process(bench: Bench) -> CheckResult:
    """Findings about verdicts that differ in a spawned process."""
    return _elsewhere(
        bench, "spawn", "spawned_process", "medium", "in a spawned process",
        "let nothing that the verdict needs be set up outside the module's own definitions",
    )  # fmt: skip


def forked_process(bench: Bench) -> CheckResult:
    """Findings about verdicts that differ in a forked process."""
    return _elsewhere(
        bench, "fork", "forked_process", "medium", "in a forked process",
        "open no threads, locks or pools before a fork that a call then relies on",
    )  # fmt: skip


def _elsewhere(
    bench: Bench, place: Place, check: str, severity: Severity, words: str, fix: str
) -> CheckResult:
    if bench.target.form == "url":
        return skipped("a server chooses its own threads and processes")
    if _repeated(bench):
        return skipped("the verdicts change from call to call already")
    calls = ordinary(bench)
    there = [answer.verdict for answer in bench.session.answers(calls, place=place)]
    found = differing(calls, bench.ask(calls), there)
    return _result(
        check, severity, f"the verdict differs {words}", found, len(calls), f"asked {words}", fix
    )


def _repeated(bench: Bench) -> list[Difference]:
    """What changes when one process is asked three times, the last time after a pause."""

    def ask() -> list[Difference]:
        calls = ordinary(bench)
        with bench.session.apart() as apart:
            first = _verdicts(apart, calls)
            again = _verdicts(apart, calls)
            time.sleep(PAUSE_S)
            later = _verdicts(apart, calls)
        return differing(calls, first, again) + differing(calls, first, later)

    return bench.session.once("repeated", ask)


def _verdicts(apart: Apart, calls: Sequence[Call]) -> list[Verdict]:
    return [answer.verdict for answer in apart.answers(calls)]


def _result(
    check: str,
    severity: Severity,
    title: str,
    found: Sequence[Difference],
    tried: int,
    how: str,
    fix: str,
) -> CheckResult:
    if not found:
        return CheckResult()
    call, one, other = found[0]
    observed = f"{in_words(one)}; {how}, {in_words(other)}"
    return CheckResult(
        (
            finding(
                check, severity, title, call, observed=observed, expected=EXPECTED, fix=fix,
                count=len(found), tried=tried,
            ),
        )
    )  # fmt: skip
