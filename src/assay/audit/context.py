"""Context of a check: the audited reward, the rows, and methods that report findings.

Severity follows one rule for all checks. Each check has the severity of its worst case; it is one
step milder when no variant is wrong on half of the rows it was tried on (an accident of some rows,
not a rule of the target), and milder the smaller the part of full marks is that wrong answers earn:
one step for a part, two below a quarter, three below 15 %.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from itertools import islice
from typing import Final, Literal, NamedTuple, TypeAlias

from assay.audit.findings import (
    CallResult,
    Check,
    CheckFunction,
    CheckResult,
    Finding,
    GraderCall,
    Sample,
    Violation,
)
from assay.audit.frames import AnswerTemplate, RightAnswerBaseline, to_call
from assay.audit.isolation import USUAL, AuditSession, MachineConditions
from assay.schema.audit import SEVERITIES, AuditTarget, Budget, Kind, Severity

HALF: Final = 0.5
FULL: Final = 0.9
"""Share of full marks from which on an answer counts as fully paid."""
ROUNDING: Final = 1e-9
SYSTEMATIC: Final = 0.5
"""Share of its rows on which a variant must be wrong to be a rule of the target."""
FAST_ROWS: Final = 8
FULL_ROWS: Final = 60
"""Rows tried on a full budget, so that a large file of data costs no more."""
SHRINK_CALLS: Final[dict[Budget, int]] = {"fast": 60, "full": 200}
SHRINK_WORD_CALLS: Final = 60
SHOWN_CHARS: Final = 300
NO_PAY: Final = "the target pays no right answer; nothing can be compared"
NO_PROBE: Final = "no row of the data gives rise to such an answer"
TOKEN: Final = re.compile(r"\w+|\s+|[^\w\s]")

Bar: TypeAlias = Literal["any", "quarter", "half", "full"]
"""What counts as paid: anything at all for no answer, a quarter of full marks for a text that says
nothing, more than half for a wrong answer, nearly all for one that is partly right."""
ANY: Final = 0.05
QUARTER: Final = 0.25
SMALL: Final = 0.15


@dataclass(frozen=True, slots=True)
class Probe:
    """One answer that a check sends to the audited reward."""

    variant: str
    """The kind of answer in a few words: "two answers joined by or"."""
    call: GraderCall
    keeps: tuple[str, ...] = ()
    """Texts without which it would be another answer; shrinking leaves them in, in order."""
    bar: Bar = "half"


class ProbeOutcome(NamedTuple):
    """A probe and the result that the audited reward returned for it."""

    probe: Probe
    result: CallResult


@dataclass(frozen=True, slots=True)
class CheckContext:
    """Everything that a check can use: session, samples, budget and seed."""

    session: AuditSession
    kind: Kind
    samples: Sequence[Sample]
    budget: Budget = "fast"
    seed: int = 0
    built_in_rows: bool = True
    """Whether the rows are ours, and not the user's own data."""
    check: Check | None = None
    """`None` until `run` is called."""

    def run(self, check: Check) -> CheckResult:
        """Run a check, or skip it if it needs a paid right answer and there is none."""
        if self.baseline.full_marks <= 0 and check.needs_pay:
            return CheckResult(skipped=NO_PAY)
        return check.run(replace(self, check=check))

    @property
    def target(self) -> AuditTarget:
        return self.session.target

    @property
    def baseline(self) -> RightAnswerBaseline:
        """Where the audited reward looks for an answer, and the pay of a right answer there."""
        return self.session.baseline(self.kind, self.samples)

    @property
    def frame(self) -> AnswerTemplate:
        return self.baseline.frame

    @property
    def full_marks(self) -> float:
        """Pay of a right answer; 1.0 if no right answer is paid."""
        return self.baseline.full_marks or 1.0

    def rows(
        self, most: int = FAST_ROWS, where: Callable[[Sample], bool] = lambda _: True
    ) -> list[Sample]:
        """Draw at most `most` rows by seed and check name; a full budget allows more rows."""
        most = max(most, FULL_ROWS) if self.budget == "full" else most
        answerable = [at for at, sample in enumerate(self.samples) if sample.right]
        rng = random.Random(f"{self.seed}/{self.check.name if self.check else ''}")
        shuffled = rng.sample(answerable, len(answerable))
        fitting = (at for at in shuffled if where(self.samples[at]))
        return [self.samples[at] for at in sorted(islice(fitting, most))]

    def paid_rows(
        self, most: int = FAST_ROWS, where: Callable[[Sample], bool] = lambda _: True
    ) -> list[Sample]:
        """Return rows in which the unchanged reference answer is paid."""
        rows = self.rows(most, where)
        results = self.ask([self.answer(row, row.reference_text) for row in rows])
        return [row for row, result in zip(rows, results, strict=True) if self.pays(result)]

    def ask(self, calls: Sequence[GraderCall]) -> list[CallResult]:
        """Return a result for each call, in order; repeated calls use a cache."""
        return self.session.ask(calls)

    def ask_fresh(
        self, calls: Sequence[GraderCall], surroundings: MachineConditions = USUAL
    ) -> list[CallResult]:
        """Make all calls in this order in a new process, without the cache."""
        with self.session.fresh_process(surroundings) as process:
            return [one.result for one in self.session.run_calls(calls, process)]

    def to_call(self, sample: Sample, response: str) -> GraderCall:
        """Build a call with `response` as the whole response to a row."""
        return to_call(self.kind, sample, response)

    def answer(self, sample: Sample, answer: str) -> GraderCall:
        """Build a call with the answer in the place that the audited reward reads."""
        return self.to_call(sample, self.frame.put(answer))

    def probe(
        self, sample: Sample, variant: str, response: str, *keeps: str, bar: Bar = "half"
    ) -> Probe:
        """Build a probe with `response` as the whole response to a row."""
        return Probe(variant, self.to_call(sample, response), keeps, bar)

    def answer_probe(
        self, sample: Sample, variant: str, answer: str, *, bar: Bar = "half"
    ) -> Probe:
        """Build a probe with the answer in its usual place; shrinking keeps the answer whole."""
        return self.probe(sample, variant, self.frame.put(answer), answer, bar=bar)

    def pays(self, result: CallResult, bar: Bar = "half") -> bool:
        """Whether the result reaches the given share of full marks."""
        share = result.amount / self.full_marks
        if bar == "half":
            return share > HALF
        # A number such as 0.1 + 0.15 is a hair below what it is meant to be.
        return share >= {"any": ANY, "quarter": QUARTER, "full": FULL}[bar] - ROUNDING

    def results(self, probes: Sequence[Probe]) -> list[ProbeOutcome]:
        return list(map(ProbeOutcome, probes, self.ask([probe.call for probe in probes])))

    def paid(self, probes: Sequence[Probe]) -> list[ProbeOutcome]:
        return [one for one in self.results(probes) if self.pays(one.result, one.probe.bar)]

    def unpaid(self, probes: Sequence[Probe]) -> list[ProbeOutcome]:
        return [one for one in self.results(probes) if not self.pays(one.result, one.probe.bar)]

    @property
    def violation(self) -> Violation:
        """The violation that this check reports, including changes made by `reporting`."""
        return self._running.violation

    @property
    def _running(self) -> Check:
        if self.check is None:
            raise RuntimeError("no check is running; start a check with CheckContext.run")
        return self.check

    def reporting(
        self, other: Violation | None = None, *, severity: Severity | None = None, title: str = ""
    ) -> CheckContext:
        """Copy this context with another violation, severity or title to report."""
        of = other or self.violation
        changed = replace(of, severity=severity or of.severity, title=title or of.title)
        return replace(self, check=replace(self._running, violation=changed))

    def report(
        self, call: GraderCall, observed: str, *, count: int, tried: int, pay: float | None = None
    ) -> CheckResult:
        """Report a finding with an example call and the pay of that call."""
        check, of = self._running, self.violation
        finding = Finding(
            check.name, check.family, of.severity, of.title, observed, of.expected, of.fix, count,
            tried, None, check.name, call, pay,
        )  # fmt: skip
        return CheckResult((finding,))

    def report_calls(self, hits: Sequence[tuple[GraderCall, str]], tried: int) -> CheckResult:
        """Report a finding with the first call as its example; nothing if there are no calls."""
        if not hits:
            return CheckResult()
        return self.report(*hits[0], count=len(hits), tried=tried)

    def report_hits(
        self,
        hits: Sequence[ProbeOutcome],
        tried: int,
        *,
        shrink: bool = False,
        observed: str | None = None,
    ) -> CheckResult:
        if not hits:
            return CheckResult()
        shortest = shortest_of(hits)
        call, result = shortest.probe.call, shortest.result
        if shrink:
            call, result = self._smallest(shortest)
        named = self.reporting(title=f"{self.violation.title}: {_variants(hits)}")
        text = self._in_words(result) if observed is None else observed
        return named.report(call, text, count=len(hits), tried=tried, pay=result.number)

    def must_not_pay(self, probes: Iterable[Probe]) -> CheckResult:
        """Report a finding if any of these wrong answers is paid."""
        tried = list(probes)
        if not tried:
            return CheckResult(skipped=NO_PROBE)
        hits = self.paid(tried)
        most = max((hit.result.amount / self.full_marks for hit in hits), default=0.0)
        steps = sum(most < bar - ROUNDING for bar in (FULL, QUARTER, SMALL))
        steps += not _is_systematic(tried, hits)
        severity = milder(self.violation.severity, steps)
        return self.reporting(severity=severity).report_hits(hits, len(tried), shrink=True)

    def must_pay(self, probes: Iterable[Probe]) -> CheckResult:
        """Report a finding if a form of right answers is unpaid on half of its rows."""
        tried = list(probes)
        hits = self.unpaid(tried)
        return self.report_hits(hits if _is_systematic(tried, hits) else [], len(tried))

    def shrink(self, call: GraderCall, bad: Callable[[CallResult], bool]) -> GraderCall:
        """Shorten the response of a call while its result stays bad."""

        def still_bad(response: str) -> bool:
            return bad(self.ask([_with_response(call, response)])[0])

        limit = SHRINK_CALLS[self.budget]
        return _with_response(call, shrink(call.final_response, still_bad, limit))

    def _smallest(self, hit: ProbeOutcome) -> tuple[GraderCall, CallResult]:
        """Shorten the response of a paid probe while it stays paid and of the same kind."""
        probe = hit.probe
        if probe.call.messages is not None:
            return probe.call, hit.result
        if probe.keeps:
            call = self._without_words(probe)
        else:
            call = self.shrink(probe.call, lambda result: self.pays(result, probe.bar))
        return call, self.ask([call])[0]

    def _without_words(self, probe: Probe) -> GraderCall:
        """Remove words from a paid response while it stays paid and keeps the required texts."""
        words = probe.call.final_response.split(" ")
        questions, run = SHRINK_WORD_CALLS, max(1, len(words) // 2)
        while run and questions > 0:
            shorter = (words[:at] + words[at + run :] for at in range(0, len(words), run))
            texts = [" ".join(text) for text in shorter if text]
            calls = [
                replace(probe.call, final_response=text)
                for text in texts
                if _in_order(probe.keeps, text)
            ]
            questions -= len(calls)
            results = zip(calls, self.ask(calls), strict=True)
            paid = next((call for call, result in results if self.pays(result, probe.bar)), None)
            if paid is None:
                run //= 2
            else:
                words = paid.final_response.split(" ")
                run = min(run, max(1, len(words) // 2))
        return replace(probe.call, final_response=" ".join(words))

    def _in_words(self, result: CallResult) -> str:
        if result.status != "scored" or result.value is None:
            return f"{result.status}: {result.because}"[:SHOWN_CHARS]
        why = f"; it says: {result.because}" if result.because else ""
        return f"pays {result.value:g}, where full marks are {self.full_marks:g}{why}"[:SHOWN_CHARS]


def skip_when(
    condition: Callable[[CheckContext], bool], why: str
) -> Callable[[CheckFunction], CheckFunction]:
    """Decorate a check function so that it is skipped if the condition holds."""

    def decorate(run: CheckFunction) -> CheckFunction:
        @wraps(run)
        def run_or_skip(context: CheckContext) -> CheckResult:
            return CheckResult(skipped=why) if condition(context) else run(context)

        return run_or_skip

    return decorate


def never_paid(probes: Callable[[CheckContext], Iterable[Probe]]) -> CheckFunction:
    """Build a check that fails if any of these answers is paid."""
    return lambda context: context.must_not_pay(probes(context))


def always_paid(probes: Callable[[CheckContext], Iterable[Probe]]) -> CheckFunction:
    """Build a check that fails if these forms of a right answer are not paid."""
    return lambda context: context.must_pay(probes(context))


def milder(severity: Severity, steps: int = 1) -> Severity:
    return SEVERITIES[max(0, SEVERITIES.index(severity) - steps)]


def _is_systematic(probes: Sequence[Probe], hits: Sequence[ProbeOutcome]) -> bool:
    """Whether any variant is wrong on at least half of the rows tried."""
    tried = Counter(probe.variant for probe in probes)
    wrong = Counter(hit.probe.variant for hit in hits)
    return any(count >= SYSTEMATIC * tried[variant] for variant, count in wrong.items())


def shortest_of(hits: Iterable[ProbeOutcome]) -> ProbeOutcome:
    """Return the outcome with the shortest response."""
    return min(hits, key=lambda hit: (len(hit.probe.call.final_response), hit.probe.variant))


def shrink(text: str, bad: Callable[[str], bool], questions: int) -> str:
    """Shorten a text while `bad` stays true; `text` itself must be bad.

    Removes runs of words, ever shorter ones, as delta debugging does; a word is kept or removed
    whole, so that the rest can still be read. `bad` is called at most `questions` times.
    """
    best: Sequence[str] = TOKEN.findall(text)
    size = max(1, len(best) // 2)
    while questions > 0 and best:
        shorter, questions = _without_runs(best, size, bad, questions)
        if len(shorter) == len(best):
            if size == 1:
                break
            size //= 2
        else:
            best = shorter
            size = max(1, min(size, len(best) // 2))
    return "".join(best)


def _without_runs(
    tokens: Sequence[str], size: int, bad: Callable[[str], bool], questions: int
) -> tuple[Sequence[str], int]:
    """Remove runs of `size` tokens while the text stays bad; also return the calls left."""
    start = 0
    while start < len(tokens) and questions > 0:
        shorter = [*tokens[:start], *tokens[start + size :]]
        questions -= 1
        if bad("".join(shorter)):
            tokens = shorter
        else:
            start += size
    return tokens, questions


def _with_response(call: GraderCall, response: str) -> GraderCall:
    """Copy the call with another response, also in its last message."""
    messages = call.messages
    if messages and messages[-1].get("content") == call.final_response:
        messages = (*messages[:-1], {**messages[-1], "content": response})
    return replace(call, final_response=response, messages=messages)


def _in_order(needles: Sequence[str], text: str) -> bool:
    return re.search(".*".join(map(re.escape, needles)), text, re.DOTALL) is not None


def _variants(hits: Sequence[ProbeOutcome]) -> str:
    """List the variants that were wrong, most frequent first."""
    counts = Counter(hit.probe.variant for hit in hits)
    names = sorted(counts, key=lambda name: (-counts[name], name))
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more
