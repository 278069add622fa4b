"""The answer of a response as a value: a number with its unit, or a date."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from assay.text.answers import find_answer
from assay.text.short_answers import (
    CONVENTIONS,
    MAX_DATE_CHARS,
    MAX_NUMBER_CHARS,
    AnswerReading,
    CalendarDate,
    Convention,
    read,
)

Value = TypeVar("Value")

LONGEST_VALUE = 2 * max(MAX_DATE_CHARS, MAX_NUMBER_CHARS)
"""Characters of a text that may be a value; what is longer has one in its answer at most."""


@dataclass(frozen=True, slots=True)
class QuantityReading:
    """A number as an exact fraction, its unit, and where they stand in the response."""

    value: Fraction | None
    unit: str
    """Empty where none is written."""
    start: int
    end: int
    because: str


@dataclass(frozen=True, slots=True)
class DateReading:
    """A day or a month, and where it stands in the response."""

    value: CalendarDate | None
    start: int
    end: int
    because: str


def read_quantity(response: str) -> QuantityReading:
    """The number, with its unit, that the response is, or that its final answer is."""
    quantity, *place = _read(response, "a quantity", lambda short: short.quantity)
    return QuantityReading(*(quantity or (None, "")), *place)


def read_date(response: str, convention: Convention | None = None) -> DateReading:
    """The date that the response is, or that its final answer is.

    Without a convention, `04/07/2024` is no date: it is two.
    """

    def date_in(short: AnswerReading) -> CalendarDate | None:
        dates = dict(zip(CONVENTIONS, short.dates, strict=False))
        if convention is not None:
            return dates.get(convention)
        return short.dates[0] if len(set(short.dates)) == 1 else None

    return DateReading(*_read(response, "one date", date_in))


def _read(
    response: str, kind: str, value_in: Callable[[AnswerReading], Value | None]
) -> tuple[Value | None, int, int, str]:
    """The value that the whole response has, or else its final answer; where, and why."""
    whole = response.strip()
    value = value_in(read(whole)) if len(whole) <= LONGEST_VALUE else None
    if value is not None:
        start = response.find(whole)
        return value, start, start + len(whole), f"the whole response is {kind}"
    answer = find_answer(response)
    if answer.text is None:
        return None, 0, 0, answer.because
    text = answer.text[:LONGEST_VALUE]
    # A number or date may be written as a formula.
    bare = text.removeprefix("$").removesuffix("$") if text.count("$") == 2 else text
    value = value_in(read(bare.replace("\\%", "%").replace("\\$", "$").replace("{,}", ",")))
    because = f"{answer.because}, which is {'not ' if value is None else ''}{kind}"
    return value, answer.start, answer.end, because
