"""Checks with hostile answers: time, memory, crashes, pay and code execution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, Final, TypeAlias

from assay.audit.context import CheckContext, skip_when
from assay.audit.data import checks_of, read_table
from assay.audit.findings import CheckResult, GraderCall, Violation
from assay.audit.frames import BARE
from assay.audit.isolation import MARKER, TargetProcess
from assay.audit.machine.calls import in_words, is_paid, of_environment, of_form, on_server
from assay.audit.replies import MeasuredResult
from assay.schema.audit import Kind

SLOW_S: Final = 2.0
"""A call that takes longer holds up a batch of thousands."""
HEAVY_MB: Final = 256.0
HUGE_MB: Final = 1024.0
CHUNK: Final = 8
LONG_CHARS: Final = 1_500_000
"""More than a model writes; time spent on such a text is no hang yet."""
SHOWN: Final = 5
ENOUGH_HUNG: Final = 3
"""Calls that never returned, after which no more are tried: the point is made."""
ENOUGH_SLOW: Final = 6
CONFIRMATIONS: Final = 2
"""Slow or heavy calls that are tried a second time; one that is so again is proof enough."""
EXECUTION_FIX: Final = (
    "never hand an answer to eval, exec, sympify or parse_expr, a template, a shell, yaml.load or "
    "pickle; parse it with a grammar of your own, or compare in a process without rights"
)
RUN_AS_PYTHON: Final = Violation(
    "medium",
    "text of the answer is run as Python",
    "an answer is data; a filter before eval has been passed before",
    EXECUTION_FIX,
)


@dataclass(frozen=True, slots=True)
class MeasuredProbe:
    """One hostile call with its measurements of time and memory."""

    name: str
    call: GraderCall
    measured: MeasuredResult

    @property
    def status(self) -> str:
        return self.measured.result.status


def time_bound(context: CheckContext) -> CheckResult:
    probes = _probes(context)
    hung = [probe for probe in probes if probe.status == "timeout"]
    slow = _confirmed(context, probes, _took_long)
    stuck = [probe for probe in hung if len(probe.call.final_response) < LONG_CHARS]
    bound = context.session.limits.call_s if hung else SLOW_S
    observed = f"no verdict within {bound:g} s on: {_names(hung + slow)}"
    slowed = context.reporting(severity="medium", title="a hostile answer slows it down")
    # Those that make it hang first: the first one is shown.
    over = sorted(hung + slow, key=lambda probe: probe not in stuck)
    return _report(context if stuck else slowed, over, observed)


@skip_when(on_server, "the memory of a server cannot be seen from here")
def memory_bound(context: CheckContext) -> CheckResult:
    heavy = _confirmed(context, _probes(context), lambda one: _memory_mb(one) > HEAVY_MB)
    worst_first = sorted(heavy, key=lambda probe: -_memory_mb(probe.measured))
    huge = any(_memory_mb(probe.measured) > HUGE_MB for probe in heavy)
    bound = HUGE_MB if huge else HEAVY_MB
    observed = f"more than {bound:g} MB beyond what it held before, on: {_names(heavy)}"
    mild = context.reporting(severity="medium")
    return _report(context if huge else mild, worst_first, observed)


def hostile_answers(context: CheckContext) -> CheckResult:
    probes = _probes(context)
    crashed = [probe for probe in probes if probe.status == "crashed"]
    failing = crashed + [probe for probe in probes if probe.status == "raised"]
    first = in_words(failing[0].measured.result) if failing else ""
    observed = f"{first}; on: {_names(failing)}"
    raised = context.reporting(severity="medium", title="a hostile answer makes it raise")
    return _report(context if crashed else raised, failing, observed)


@skip_when(of_environment, "the world, not the text, says what is paid")
@skip_when(of_form, "the form is paid, whatever it holds")
def hostile_paid(context: CheckContext) -> CheckResult:
    paid = [one for one in _probes(context) if is_paid(context, one.measured.result)]
    first = in_words(paid[0].measured.result) if paid else ""
    return _report(context, paid, f"{first} for: {_names(paid)}")


@skip_when(on_server, "a server's files cannot be seen from here")
def code_execution(context: CheckContext) -> CheckResult:
    """Report payloads that created their file or ran as Python code."""
    calls = [
        (name, context.to_call(context.samples[0], frame.put(text)))
        for name, text in payloads()
        for frame in dict.fromkeys((context.frame, BARE))
    ]
    with context.session.fresh_process() as process:
        context.session.run_calls([call for _, call in calls], process)
        files = {path.rpartition("/")[2] for path in process.files()}
        compiled = _has_executed(process)
    effective = [
        (call, f"the answer created the file {name!r} in the grader's folder")
        for name, call in calls
        if name in files
    ]
    if effective or not compiled:
        return context.report_calls(effective, len(calls))
    observed = "words of the answer appear in Python code that the grader executed"
    executed = _first_executed(context, [call for _, call in calls])
    hits = [(call, observed) for call in executed]
    return context.reporting(RUN_AS_PYTHON).report_calls(hits, len(calls))


def _first_executed(context: CheckContext, calls: Sequence[GraderCall]) -> list[GraderCall]:
    """Find the first call whose text is executed, trying one call at a time."""
    with context.session.fresh_process() as process:
        for call in calls:
            context.session.run_calls([call], process)
            if _has_executed(process):
                return [call]
    return []


def _has_executed(process: TargetProcess) -> bool:
    return any(what == "executed" for what, _ in process.traces.seen)


def _probes(context: CheckContext) -> list[MeasuredProbe]:
    """Return the results of all hostile answers, with and without the answer format."""

    def try_all() -> list[MeasuredProbe]:
        pending = [
            (name, _call(context, frame.put(make())))
            for name, make in hostile_texts(context.kind)
            for frame in dict.fromkeys((context.frame, BARE))
        ]
        done: list[MeasuredProbe] = []
        with context.session.fresh_process() as process:
            while pending and not _is_enough(done):
                # Once one has taken long, each further one may cost a whole limit.
                size = 1 if any(p.measured.result.seconds > SLOW_S for p in done) else CHUNK
                chunk, pending = pending[:size], pending[size:]
                results = context.session.run_calls(
                    [call for _, call in chunk], process, measure=True
                )
                for (name, call), measured in zip(chunk, results, strict=True):
                    done.append(MeasuredProbe(name, call, measured))
        return done

    return context.session.cached("hostile", try_all)


def _is_enough(done: Sequence[MeasuredProbe]) -> bool:
    hung = sum(probe.status == "timeout" for probe in done)
    return hung >= ENOUGH_HUNG or sum(_took_long(p.measured) for p in done) >= ENOUGH_SLOW


def _call(context: CheckContext, text: str) -> GraderCall:
    """Give the text to a row whose reference does not occur in the text."""
    rows = [sample for sample in context.samples if str(sample.reference) not in text]
    return context.to_call((rows or context.samples)[0], text)


def _confirmed(
    context: CheckContext,
    probes: Sequence[MeasuredProbe],
    exceeds: Callable[[MeasuredResult], bool],
) -> list[MeasuredProbe]:
    """Return probes that exceed a bound, if one of them does so again in a new process."""

    session = context.session

    def measure_again(call: GraderCall) -> MeasuredResult:
        with session.fresh_process() as process:
            return session.run_calls([call], process, measure=True, counted=False)[0]

    over = [probe for probe in probes if exceeds(probe.measured)]
    for call in (probe.call for probe in over[:CONFIRMATIONS]):
        if exceeds(session.cached(f"again {call.key}", partial(measure_again, call))):
            return over
    return []


def _took_long(measured: MeasuredResult) -> bool:
    result = measured.result
    return result.status not in ("timeout", "crashed") and result.seconds > SLOW_S


def _memory_mb(measured: MeasuredResult) -> float:
    """Memory growth of a call in MB; a refused allocation counts as infinite."""
    result = measured.result
    ended = result.status == "crashed" and "MB of memory" in result.because
    refused = result.because.startswith("MemoryError")
    return float("inf") if refused or ended else measured.growth_mb


def _report(context: CheckContext, hits: Sequence[MeasuredProbe], observed: str) -> CheckResult:
    """Report a finding with the first hostile answer as its example."""
    return context.report_calls([(hit.call, observed) for hit in hits], len(_probes(context)))


def _names(probes: Sequence[MeasuredProbe]) -> str:
    names = list(dict.fromkeys(probe.name for probe in probes))
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


HostileText: TypeAlias = tuple[str, Callable[[], str]]
"""What it is, and a function that makes it: some are long."""


def hostile_texts(kind: Kind) -> tuple[HostileText, ...]:
    unclosed = (_unclosed(*pair) for pair in product(read_table("texts")["openings"], _FILLINGS))
    texts = (*_table("texts"), *unclosed)
    return (*texts, *_table("maths")) if kind in ("maths", "agent") else texts


def payloads() -> Iterator[tuple[str, str]]:
    """Yield a file name and an answer; executing any part of the answer creates the file."""
    for number, template in enumerate(read_table("hostile")["payloads"]):
        name = f"{MARKER}_{number:02d}"
        yield name, template.replace("@@", name).replace("@", name)


def _table(name: str) -> Iterator[HostileText]:
    for title, *pieces in read_table("hostile")[name]:
        yield title, _MADE.get(title) or partial(_joined, pieces)


def _joined(pieces: Sequence[str | list[Any]]) -> str:
    """Join the pieces; a (text, count) pair stands for a repeated text."""
    return "".join(one if isinstance(one, str) else one[0] * one[1] for one in pieces)


def _matrix(side: int) -> str:
    row = " & ".join(map(str, range(side)))
    body = r" \\ ".join([row] * side)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"


def _entities() -> str:
    lines = [f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9)]
    return f'<!DOCTYPE x [<!ENTITY a0 "x">{"".join(lines)}]><x>&a9;</x>'


def _aliases() -> str:
    return "\n".join(["a0: &a0 x", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))])


_MADE: Final[dict[str, Callable[[], str]]] = {
    "lone surrogates": lambda: "\ud800" * 10_000,
    "entities within entities": _entities,
    "aliases within aliases": _aliases,
    "many symbols": lambda: "+".join(f"x_{{{n}}}" for n in range(5_000)),
    "large matrix": lambda: _matrix(150),
    "large set": lambda: r"\{" + ",".join(map(str, range(20_000))) + r"\}",
    "many intervals": lambda: r"\cup".join(f"({n},{n + 1})" for n in range(0, 10_000, 2)),
    "greatest common divisor": lambda: rf"\gcd({'7' * 20_000},{'9' * 20_000})",
    "repeated roots": lambda: "+".join(rf"\sqrt{{{n}}}" for n in range(2, 60)),
}
"""Texts that are more than pieces repeated."""

_FILLINGS: Final = (("letters", "a"), ("spaces", " "), ("words", "a b "), ("lines", "a\n"))
_FILLED: Final = 20_000


def _unclosed(opening: str, filling: tuple[str, str]) -> HostileText:
    name, text = filling
    title = f"{opening.strip()} and {name} without an end"
    return title, lambda: opening + text * (_FILLED // len(text))


CHECKS: Final = checks_of(
    time_bound=time_bound, memory_bound=memory_bound, hostile_answers=hostile_answers,
    hostile_paid=hostile_paid, code_execution=code_execution,
)  # fmt: skip
