"""From probes to findings: ask, see which answers were judged wrongly, name the smallest of them.

Severity follows one rule for all checks. Each check has the severity of its worst case; it is one
step milder when no variant is wrong on half of the rows it was tried on (an accident of some rows,
not a rule of the target), and one step milder when wrong answers earn only part of full marks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Literal, TypeAlias

from assay.audit.checks.frames import Frame, say
from assay.audit.data import gold_text
from assay.audit.findings import (
    SEVERITIES,
    Budget,
    Call,
    Check,
    CheckResult,
    Family,
    Finding,
    Kind,
    Sample,
    Severity,
    Verdict,
)

if TYPE_CHECKING:
    from assay.audit.bench import Bench

HALF = 0.5
FULL = 0.9
"""Share of full marks from which on an answer counts as fully paid."""
SYSTEMATIC = 0.5
"""Share of its rows on which a variant must be wrong to be a rule of the target."""
FAST_ROWS = 8
FULL_ROWS = 60
"""Rows tried on a full budget, so that a large file of data costs no more."""
SHRINK_QUESTIONS = 60
SHOWN = 300

Bar: TypeAlias = Literal["half", "full"]
"""What counts as paid: more than half of full marks, or (for partly right answers) nearly all."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One answer that is put to the target."""

    variant: str
    """The kind of answer in a few words: "two answers joined by or"."""
    call: Call
    keeps: tuple[str, ...] = ()
    """Texts without which it would be another answer; shrinking leaves them in, in order."""
    bar: Bar = "half"


@dataclass(frozen=True, slots=True)
class Charge:
    """What a check accuses a target of."""

    severity: Severity
    title: str
    expected: str
    """What a careful person would say."""
    fix: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A probe that was judged wrongly, and how."""

    probe: Probe
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Trial:
    """One target before one check: the bench, where answers go, and what a right one earns."""

    bench: Bench
    check: str
    family: Family
    frame: Frame
    full: float
    shuffled: tuple[int, ...]
    """The rows with a right answer, in an order that the seed decides."""

    @property
    def kind(self) -> Kind:
        return self.bench.kind

    def rows(
        self, most: int = FAST_ROWS, where: Callable[[Sample], bool] = lambda _: True
    ) -> list[Sample]:
        """So many rows of a sort, the same ones each time; more of them on a full budget."""
        most = max(most, FULL_ROWS) if self.bench.budget == "full" else most
        samples = self.bench.samples
        fitting = (at for at in self.shuffled if where(samples[at]))
        return [samples[at] for at in sorted(islice(fitting, most))]

    def ask(self, calls: Sequence[Call]) -> list[Verdict]:
        return self.bench.ask(calls)

    def say(self, sample: Sample, text: str) -> Call:
        """The call that gives this whole response."""
        return say(self.kind, sample, text)

    def answer(self, sample: Sample, answer: str) -> Call:
        """The call that gives this answer where the target looks for one."""
        return self.say(sample, self.frame.put(answer))

    def pays(self, verdict: Verdict, bar: Bar = "half") -> bool:
        """Whether a verdict pays, by the bar."""
        value = worth(verdict)
        share = 0.0 if value is None else value / self.full
        return share > HALF if bar == "half" else share >= FULL

    def probe(
        self, sample: Sample, variant: str, text: str, *keeps: str, bar: Bar = "half"
    ) -> Probe:
        """A probe with this whole response to this row."""
        return Probe(variant, self.say(sample, text), keeps, bar)

    def told(self, verdict: Verdict) -> str:
        """What came back, in words."""
        if verdict.status != "scored" or verdict.value is None:
            return f"{verdict.status}: {verdict.because}"[:SHOWN]
        why = f"; it says: {verdict.because}" if verdict.because else ""
        return f"pays {verdict.value:g}, where full marks are {self.full:g}{why}"[:SHOWN]


def gold_of(sample: Sample) -> str:
    """The gold of a row as a model would write it."""
    return gold_text(sample.gold)


def worth(verdict: Verdict) -> float | None:
    """The finite number of a scored call."""
    value = verdict.value
    return value if verdict.status == "scored" and value is not None and isfinite(value) else None


def milder(severity: Severity, steps: int = 1) -> Severity:
    """The severity so many steps down."""
    return SEVERITIES[max(0, SEVERITIES.index(severity) - steps)]


def must_not_pay(trial: Trial, charge: Charge, probes: Iterable[Probe]) -> CheckResult:
    """A finding if any of these answers is paid, for none of them should be."""
    asked = list(probes)
    if not asked:
        return CheckResult(skipped="no row of the data gives rise to such an answer")
    hits = hits_among(trial, asked, lambda hit: trial.pays(hit.verdict, hit.probe.bar))
    if not hits:
        return CheckResult()
    severity = charge.severity
    if not systematic(asked, hits):
        severity = milder(severity)
    if not any(trial.pays(hit.verdict, "full") for hit in hits):
        severity = milder(severity)
    sized = replace(charge, severity=severity)
    return CheckResult((charged(trial, sized, hits, len(asked), shrink=True),))


def hits_among(trial: Trial, asked: Sequence[Probe], wrong: Callable[[Hit], bool]) -> list[Hit]:
    """The probes that are judged wrongly."""
    verdicts = trial.ask([item.call for item in asked])
    return [hit for hit in map(Hit, asked, verdicts) if wrong(hit)]


def outcome(trial: Trial, charge: Charge, hits: Sequence[Hit], tried: int) -> CheckResult:
    """The charge, if there are hits."""
    return CheckResult((charged(trial, charge, hits, tried),) if hits else ())


def charged(
    trial: Trial, charge: Charge, hits: Sequence[Hit], tried: int, *, shrink: bool = False
) -> Finding:
    """The charge with the smallest of its proofs."""
    worst = shortest(hits)
    call, verdict = smallest(trial, worst) if shrink else (worst.probe.call, worst.verdict)
    return Finding(
        check=trial.check,
        family=trial.family,
        severity=charge.severity,
        title=f"{charge.title}: {_variants(hits)}",
        reproducer=call,
        observed=trial.told(verdict),
        expected=charge.expected,
        fix=charge.fix,
        count=len(hits),
        tried=tried,
    )


def smallest(trial: Trial, hit: Hit) -> tuple[Call, Verdict]:
    """The shortest response found that is still paid and still the same kind of answer."""
    item = hit.probe

    def bad(verdict: Verdict) -> bool:
        return trial.pays(verdict, item.bar)

    if item.call.messages is not None:
        return item.call, hit.verdict
    call = _without_words(trial, item, bad) if item.keeps else trial.bench.shrink(item.call, bad)
    return call, trial.ask([call])[0]


def _without_words(trial: Trial, item: Probe, bad: Callable[[Verdict], bool]) -> Call:
    """The call less every run of words that it can lose and stay the same kind of answer."""
    words = item.call.final_response.split(" ")
    questions, run = SHRINK_QUESTIONS, max(1, len(words) // 2)
    while run and questions > 0:
        shorter = [words[:at] + words[at + run :] for at in range(0, len(words), run)]
        same_kind = [kept for kept in shorter if kept and _in_order(item.keeps, " ".join(kept))]
        calls = [replace(item.call, final_response=" ".join(kept)) for kept in same_kind]
        questions -= len(calls)
        verdicts = trial.ask(calls)
        paid = [kept for kept, told in zip(same_kind, verdicts, strict=True) if bad(told)]
        if paid:
            words = paid[0]
            run = min(run, max(1, len(words) // 2))
        else:
            run //= 2
    return replace(item.call, final_response=" ".join(words))


def _in_order(needles: Sequence[str], text: str) -> bool:
    at = 0
    for needle in needles:
        found = text.find(needle, at)
        if found < 0:
            return False
        at = found + len(needle)
    return True


def systematic(asked: Sequence[Probe], hits: Sequence[Hit]) -> bool:
    """Whether some variant is judged wrongly on half of the rows that it was tried on."""
    tried = Counter(item.variant for item in asked)
    wrong = Counter(hit.probe.variant for hit in hits)
    return any(count >= SYSTEMATIC * tried[variant] for variant, count in wrong.items())


def _variants(hits: Sequence[Hit]) -> str:
    """The variants that were judged wrongly, the most frequent first."""
    counts = Counter(hit.probe.variant for hit in hits)
    names = sorted(counts, key=lambda name: (-counts[name], name))
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def shortest(hits: Iterable[Hit]) -> Hit:
    """The hit that makes the best proof."""
    return min(hits, key=lambda hit: (len(hit.probe.call.final_response), hit.probe.variant))


def make_check(
    name: str,
    family: Family,
    kinds: Iterable[Kind],
    summary: str,
    run: Callable[[Trial], CheckResult],
    budget: Budget = "fast",
    *,
    needs_pay: bool = True,
) -> Check:
    """A check; one that needs pay is skipped for a target that pays no right answer.

    Such a target has no full marks against which anything could be judged; `gold_accepted` says
    so, once.
    """

    def run_on(bench: Bench) -> CheckResult:
        measured = bench.session.measured(bench.kind, bench.samples)
        if measured.full_marks <= 0 and needs_pay:
            return CheckResult(skipped="the target pays no right answer; nothing can be compared")
        known = [at for at, sample in enumerate(bench.samples) if sample.right]
        shuffled = tuple(bench.rng.sample(known, len(known)))
        full = measured.full_marks or 1.0
        return run(Trial(bench, name, family, measured.frame, full, shuffled))

    return Check(name, family, frozenset(kinds), summary, run_on, budget)
