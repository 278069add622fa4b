"""Ordinary calls and a comparison of results, for several machine checks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, permutations
from math import isnan
from typing import Final, TypeAlias

from assay.audit.context import QUARTER, CheckContext
from assay.audit.findings import CallResult, GraderCall

ORDINARY_ROWS: Final = {"fast": 8, "full": 24}

Difference: TypeAlias = tuple[GraderCall, CallResult, CallResult]
"""A call and the two results it got."""


def on_server(context: CheckContext) -> bool:
    return context.target.form == "url"


def of_form(context: CheckContext) -> bool:
    """Whether the reward scores only the form of a text, without a reference."""
    return context.kind == "format"


def of_environment(context: CheckContext) -> bool:
    return context.kind == "environment"


def ordinary(context: CheckContext) -> list[GraderCall]:
    """Build calls with right and wrong answers, as a model would give them."""
    return [
        context.answer(sample, text)
        for sample in context.samples[: ORDINARY_ROWS[context.budget]]
        for text in (*sample.right[:1], *sample.wrong[:1])
    ]


def crossed(context: CheckContext) -> list[GraderCall]:
    """Build calls that give each row's right answer to the row before it."""
    if of_environment(context):
        return []
    rows = context.samples[: ORDINARY_ROWS[context.budget]]
    return [context.answer(row, other.right[0]) for row, other in pairwise(rows)]


def ambiguous(context: CheckContext) -> list[GraderCall]:
    """Build calls with a right and a wrong answer together, in both orders."""
    if of_environment(context):
        return []
    put = context.frame.put
    return [
        context.to_call(sample, "\n".join(map(put, pair)))
        for sample in context.samples[: ORDINARY_ROWS[context.budget]]
        if sample.wrong
        for pair in permutations((sample.right[0], sample.wrong[0]))
    ]


def is_paid(context: CheckContext, result: CallResult) -> bool:
    """Whether the result earns at least a quarter of full marks."""
    full = context.baseline.full_marks
    return full > 0 and result.status == "scored" and (result.value or 0.0) >= QUARTER * full


def in_words(result: CallResult) -> str:
    """Describe the result in a few words, without values that vary between runs."""
    if result.status == "scored":
        return f"pays {result.value:g}"
    words = {"abstained": "abstains", "timeout": "does not answer in time"}
    return words.get(result.status, f"{result.status} ({result.because})")


def differences(
    calls: Sequence[GraderCall], first: Sequence[CallResult], second: Sequence[CallResult]
) -> list[Difference]:
    """Return calls whose two results differ in status, number or metrics."""
    pairs = zip(calls, first, second, strict=True)
    return [(call, one, other) for call, one, other in pairs if not _are_same(one, other)]


def _are_same(one: CallResult, other: CallResult) -> bool:
    return (
        one.status == other.status
        and _are_equal(one.value, other.value)
        and one.parts.keys() == other.parts.keys()
        and all(_are_equal(one.parts[key], other.parts[key]) for key in one.parts)
    )


def _are_equal(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return one == other or (isnan(one) and isnan(other))
