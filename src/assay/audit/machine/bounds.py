"""Time, memory and manners on hostile answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from assay.audit.bench import Bench
from assay.audit.checks.frames import BARE, say
from assay.audit.findings import Call, CheckResult, Finding, Severity
from assay.audit.isolation import MeasuredResult, call_key
from assay.audit.machine.asking import finding, in_words, skipped
from assay.audit.machine.hostile import hostile_for

SLOW_S: Final = 2.0
"""A call that takes longer holds up a batch of thousands."""
HEAVY_MB: Final = 256.0
HUGE_MB: Final = 1024.0
CHUNK: Final = 8
LONG: Final = 1_500_000
"""Characters beyond what a model writes; time taken for them is no hang yet."""
SHOWN: Final = 5
ENOUGH: Final = 3
"""Calls that never returned, after which no more are tried: the point is made."""
ENOUGH_SLOW: Final = 6
CONFIRMED: Final = 2
"""Slow or heavy calls that are tried a second time; one that holds is proof enough."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One hostile answer and what became of it."""

    name: str
    call: Call
    answer: MeasuredResult


def trials(bench: Bench) -> tuple[Trial, ...]:
    """The target's behaviour on every hostile answer, bare and in its frame, found out once."""
    return bench.session.once("hostile", lambda: tuple(_try_all(bench)))


def time_bound(bench: Bench) -> CheckResult:
    """Findings about hostile answers that take the target too long."""
    tried = trials(bench)
    hung = [trial for trial in tried if trial.answer.verdict.status == "timeout"]
    slow = _slow(bench, tried)
    if not hung and not slow:
        return CheckResult()
    limit = bench.session.limits.call_s
    stuck = [trial for trial in hung if len(trial.call.final_response) < LONG]
    worst = (stuck or hung or slow)[0]
    severity: Severity = "high" if stuck else "medium"
    bound = f"{limit:g} s" if hung else f"{SLOW_S:g} s"
    names = _names(hung + slow)
    return _one(
        finding(
            "time_bound", severity,
            "a hostile answer makes it hang" if stuck else "a hostile answer slows it down",
            worst.call,
            observed=f"no verdict within {bound} on: {names}",
            expected="any text gets a verdict, or is refused, within a fraction of a second: one "
            "answer must not hold up a training step",
            fix="bound sizes before parsing (length, digits, exponents, depth), or score in a "
            "process that can be killed; a limit by signal works in the main thread only",
            count=len(hung) + len(slow), tried=len(tried),
        )
    )  # fmt: skip


def memory_bound(bench: Bench) -> CheckResult:
    """Findings about hostile answers that take the target too much memory."""
    if bench.target.form == "url":
        return skipped("the memory of a server cannot be seen from here")
    tried = trials(bench)
    heavy = _heavy(bench, tried)
    if not heavy:
        return CheckResult()
    worst = max(heavy, key=lambda trial: _memory(trial.answer))
    severity: Severity = "high" if _memory(worst.answer) > HUGE_MB else "medium"
    bound = HUGE_MB if severity == "high" else HEAVY_MB
    names = _names(heavy)
    return _one(
        finding(
            "memory_bound", severity, "a hostile answer takes much memory", worst.call,
            observed=f"more than {bound:g} MB beyond what it held before, on: {names}",
            expected="memory stays near the size of the text, whatever it says",
            fix="bound sizes before expanding anything (powers, matrices, repetitions, sums)",
            count=len(heavy), tried=len(tried),
        )
    )  # fmt: skip


def manners(bench: Bench) -> CheckResult:
    """Findings about hostile answers on which the target raises or dies."""
    tried = trials(bench)
    died = [trial for trial in tried if trial.answer.verdict.status == "crashed"]
    raised = [trial for trial in tried if trial.answer.verdict.status == "raised"]
    if not died and not raised:
        return CheckResult()
    worst = (died or raised)[0]
    return _one(
        finding(
            "hostile_answers",
            "high" if died else "medium",
            "a hostile answer kills it" if died else "a hostile answer makes it raise",
            worst.call,
            observed=f"{in_words(worst.answer.verdict)}; on: "
            + _names(died + raised),
            expected="a model may write anything: a text that cannot be read is a wrong answer, no "
            "exception. TRL ends the training run on one, older verifiers pay 0.0",
            fix="return the number for a wrong answer, or the trainer's mark for no reward; catch "
            "RecursionError, ValueError (huge integers) and UnicodeError where text is parsed",
            count=len(died) + len(raised), tried=len(tried),
        )
    )  # fmt: skip


def hostile_paid(bench: Bench) -> CheckResult:
    """Findings about hostile answers that are paid, time-outs among them."""
    if bench.kind == "environment":
        return skipped("the world, not the text, says what is paid")
    tried = trials(bench)
    paid = [trial for trial in tried if bench.pays(trial.answer.verdict)]
    if not paid:
        return CheckResult()
    names = _names(paid)
    return _one(
        finding(
            "hostile_paid", "high", "an answer that cannot be judged is paid", paid[0].call,
            observed=f"{in_words(paid[0].answer.verdict)} for: {names}",
            expected="what cannot be judged within the limits is not paid: a policy learns such an "
            "input in no time",
            fix="let a time-out, a parse error or a caught exception mean 'wrong' or 'no reward'",
            count=len(paid), tried=len(tried),
        )
    )  # fmt: skip


def _try_all(bench: Bench) -> list[Trial]:
    frames = dict.fromkeys((bench.measured.frame, BARE))
    pending = [
        (item.name, _call(bench, frame.put(item.make())))
        for item in hostile_for(bench.kind, bench.budget)
        for frame in frames
    ]
    done: list[Trial] = []
    with bench.session.apart() as apart:
        while pending and not _enough(done):
            # Once one has taken long, each further one may cost a whole limit.
            size = 1 if any(trial.answer.verdict.seconds > SLOW_S for trial in done) else CHUNK
            chunk, pending = pending[:size], pending[size:]
            answers = apart.answers([call for _, call in chunk], measure=True)
            for (name, call), answer in zip(chunk, answers, strict=True):
                done.append(Trial(name, call, answer))
    return done


def _enough(done: Sequence[Trial]) -> bool:
    hung = sum(trial.answer.verdict.status == "timeout" for trial in done)
    return hung >= ENOUGH or sum(_took_long(trial.answer) for trial in done) >= ENOUGH_SLOW


def _call(bench: Bench, text: str) -> Call:
    """The text as the answer to a row whose gold it does not hold by chance."""
    rows = [sample for sample in bench.samples if str(sample.gold) not in text]
    return say(bench.kind, (rows or bench.samples)[0], text)


def _slow(bench: Bench, tried: Sequence[Trial]) -> list[Trial]:
    """Slow calls, if one of them is slow again in a process that does nothing else."""
    slow = [trial for trial in tried if _took_long(trial.answer)]
    again = (_again(bench, trial) for trial in slow[:CONFIRMED])
    return slow if any(_took_long(answer) for answer in again) else []


def _took_long(answer: MeasuredResult) -> bool:
    ended = answer.verdict.status not in ("timeout", "crashed")
    return ended and answer.verdict.seconds > SLOW_S


def _heavy(bench: Bench, tried: Sequence[Trial]) -> list[Trial]:
    heavy = [trial for trial in tried if _memory(trial.answer) > HEAVY_MB]
    again = (_again(bench, trial) for trial in heavy[:CONFIRMED])
    return heavy if any(_memory(answer) > HEAVY_MB for answer in again) else []


def _memory(answer: MeasuredResult) -> float:
    """The growth; a refused allocation counts as the limit itself."""
    if answer.verdict.because.startswith("MemoryError"):
        return float("inf")
    return answer.growth_mb


def _again(bench: Bench, trial: Trial) -> MeasuredResult:
    def ask() -> MeasuredResult:
        with bench.session.apart() as apart:
            return apart.confirmed(trial.call)

    return bench.session.once(f"again {call_key(trial.call)}", ask)


def _names(found: Sequence[Trial]) -> str:
    names = list(dict.fromkeys(trial.name for trial in found))
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _one(found: Finding) -> CheckResult:
    return CheckResult((found,))
