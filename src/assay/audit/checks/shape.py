"""Checks of a reward's general properties: length, order, range, keys, types, messages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isfinite
from typing import Any, Final

from assay.audit.checks.forms import ELSE, near_misses, read_record
from assay.audit.context import CheckContext, Probe, ProbeOutcome, never_paid, shortest_of
from assay.audit.conversations import assistant, question, tool_use
from assay.audit.data import checks_of
from assay.audit.findings import (
    CallResult,
    CheckFunction,
    CheckResult,
    GraderCall,
    Sample,
    Violation,
)

PADDING: Final = "We consider the matter once more and look at it from every side. "
MANY: Final = 10
EPSILON: Final = 1e-6
NOTICEABLE: Final = 0.1
"""Share of full marks by which length or repetition must change the pay to be a finding."""
AROUND: Final = Violation(
    "low",
    "text around a framed answer costs it its pay",
    "the answer is where it was asked for",
    "read the answer from its place, wherever that stands in the response",
)
NUMBER_TYPES: Final = frozenset(
    ("", "float", "int", "float64", "Scored", "Abstained", "Score", "dict", "list", "NoneType")
)
"""Types that every trainer takes: numbers, scores, mappings, and the list of a batch."""


def _wrong(context: CheckContext, sample: Sample) -> str:
    misses = near_misses(context.kind, sample, sample.reference_text)
    return misses[0][1] if misses else ELSE


def _with_plain(
    context: CheckContext,
    rows: Sequence[Sample],
    variant: str,
    texts: Callable[[str], Iterable[str]],
) -> Iterator[tuple[str, float, ProbeOutcome]]:
    """Yield each variant of a right and a wrong answer with the pay of the plain answer."""
    for row in rows:
        for name, answer in (("right", row.reference_text), ("wrong", _wrong(context, row))):
            framed = context.frame.put(answer)
            probes = [
                context.probe(row, variant.format(name), text) for text in (framed, *texts(framed))
            ]
            plain, *others = context.results(probes)
            for other in others:
                yield name, plain.result.pay, other


def _length_bias(context: CheckContext) -> CheckResult:
    """Check that padding never raises the pay, and never lowers the pay of a marked answer."""
    padded = list(_with_plain(context, context.rows(5), "{} answer", _padded))
    gains = [(name, (one.result.pay - pay) / context.full_marks, one) for name, pay, one in padded]
    more = [one for _, gain, one in gains if gain > NOTICEABLE]
    less = [one for name, gain, one in gains if gain < -NOTICEABLE and name == "right"]
    if not context.frame.anchored or context.kind == "format":
        less = []  # A form may well be the whole of a response.
    longer = context.report_hits(more, len(padded))
    around = context.reporting(AROUND).report_hits(less, len(padded))
    return CheckResult((*longer.findings, *around.findings))


def _padded(framed: str) -> Iterator[str]:
    for times in (1, MANY):
        yield PADDING * times + framed
        yield f"{framed} {PADDING * times}".rstrip()


def _duplication(context: CheckContext) -> CheckResult:
    def repeat(framed: str) -> list[str]:
        return ["\n".join([framed] * times) for times in (2, MANY)]

    pairs = list(_with_plain(context, context.rows(), "repeated", repeat))
    margin = NOTICEABLE * context.full_marks
    hits = [one for _, once, one in pairs if one.result.pay > once + margin]
    return context.report_hits(hits, len(pairs))


def _alias_order(context: CheckContext) -> CheckResult:
    """Check that the order of several references does not change the result."""
    first, last = list[Probe](), list[Probe]()
    for row in context.rows():
        call = context.answer(row, row.reference_text)
        aliases = [row.reference_text, ELSE, "Quill Tower"]
        first.append(Probe("first of three", with_reference(call, row, aliases)))
        last.append(Probe("last of three", with_reference(call, row, aliases[::-1])))
    pairs = list(zip(context.results(first), context.results(last), strict=True))
    if not any(context.pays(one.result) for pair in pairs for one in pair):
        return CheckResult(skipped="the target takes one reference, not a list")
    ordered = (sorted(pair, key=lambda one: one.result.pay) for pair in pairs)
    hits = [low for low, high in ordered if high.result.pay > low.result.pay + EPSILON]
    return context.report_hits(hits, 2 * len(pairs))


def with_reference(call: GraderCall, sample: Sample, reference: Any) -> GraderCall:
    columns = {
        name: reference
        for name, value in sample.columns.items()
        if value == sample.reference or value == [sample.reference]
    }
    return replace(call, columns={**call.columns, **columns})


def _monotone(context: CheckContext) -> CheckResult:
    hits, tried = list[ProbeOutcome](), 0
    for row in context.rows():
        texts = _with_more_right(row)
        steps = [Probe("more right parts", context.answer(row, text)) for text in texts]
        results = context.results(steps)
        tried += len(results)
        for one, more in pairwise(results):
            before, after = one.result.number, more.result.number
            if before is not None and after is not None and after < before - EPSILON:
                hits.append(more)
    if not tried:
        return CheckResult(skipped="no gold has parts")
    return context.report_hits(hits, tried)


def _with_more_right(sample: Sample) -> list[str]:
    """Return answers with more and more right parts; empty if the reference has no parts."""
    record = read_record(sample.reference_text)
    if record is not None:
        keys = list(record)
        rights = ({**record, **dict.fromkeys(keys[at:], ELSE)} for at in range(len(keys) + 1))
        return [json.dumps(partly) for partly in rights]
    words = sample.reference_text.split()
    if len(words) > 1 and all(word.isalpha() for word in words):
        return [" ".join(words[:count]) for count in range(1, len(words) + 1)]
    return []


def _mixture(context: CheckContext) -> list[ProbeOutcome]:
    """Return the results of typical responses: right, wrong, empty, unframed and repeated."""
    put, probes = context.frame.put, []
    for row in context.rows():
        right = put(row.reference_text)
        texts = {
            "right": right, "wrong": put(_wrong(context, row)), "empty": "",
            "prose": "I think that this is a hard question.", "bare": row.reference_text,
            "repeated": "\n".join([right] * MANY), "negative": put("-1"), "large": put("999999999"),
            "huge": put("9" * 400), "not a number": put("nan"), "infinity": put("-Infinity"),
            "long": PADDING * MANY + right,
        }  # fmt: skip
        probes += [context.probe(row, name, text) for name, text in texts.items()]
    return context.results(probes)


def _never_in_mixture(wrong: Callable[[CheckContext, CallResult], bool]) -> CheckFunction:
    """Build a check that fails if `wrong` is true for the result of any typical response."""

    def run(context: CheckContext) -> CheckResult:
        results = _mixture(context)
        hits = [one for one in results if wrong(context, one.result)]
        return context.report_hits(hits, len(results))

    return run


def _pays_too_much(context: CheckContext, result: CallResult) -> bool:
    return result.pay > context.full_marks * (1 + EPSILON)


def _is_not_finite(_: CheckContext, result: CallResult) -> bool:
    numbers = (result.value, *result.parts.values())
    return any(number is not None and not isfinite(number) for number in numbers)


def _constant_keys(context: CheckContext) -> CheckResult:
    results = _mixture(context)
    scored = [one for one in results if one.result.status == "scored"]
    if not scored:
        return CheckResult(skipped="nothing was scored")
    usual = set(scored[0].result.parts)
    hits = [one for one in scored if set(one.result.parts) != usual]
    names = sorted(shortest_of(hits).result.parts) if hits else []
    observed = f"metrics {names} here, {sorted(usual)} for a right answer"
    return context.report_hits(hits, len(results), observed=observed)


def _types(context: CheckContext) -> CheckResult:
    results = _mixture(context)
    hits = [one for one in results if one.result.raw_type not in NUMBER_TYPES]
    if not hits:
        return CheckResult()
    result = shortest_of(hits).result
    of_type = context.reporting(
        severity="low" if result.status == "scored" else "high",
        title=f"a {result.raw_type} is returned where a number is expected",
    )
    return of_type.report_hits(hits, len(results))


def _earlier_messages(context: CheckContext) -> Iterator[Probe]:
    """Yield conversations whose earlier message is right and whose last message is wrong."""
    for row in context.rows(5):
        wrong = context.frame.put(_wrong(context, row))
        messages = (
            question(row), *(tool_use(row) if context.kind == "agent" else ()),
            assistant(context.frame.put(row.reference_text)),
            {"role": "user", "content": "Are you sure?"}, assistant(wrong),
        )  # fmt: skip
        yield Probe("right first, wrong last", GraderCall(wrong, row.columns, messages))


CHECKS: Final = checks_of(
    length_bias=_length_bias, duplication=_duplication, alias_order=_alias_order,
    monotone=_monotone, range=_never_in_mixture(_pays_too_much),
    finite=_never_in_mixture(_is_not_finite), constant_keys=_constant_keys, types=_types,
    several_messages=never_paid(_earlier_messages),
)  # fmt: skip
