"""Read numbers with units from a whole text, or from the final answer of a response.

Numbers are written as people write them: `$1,010,000`, `850k`, `14.2 %`, `1.010,50 €`. A quantity
is a whole text, not one somewhere inside it; its value is an exact fraction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from assay.text.answers import find_value
from assay.text.word_tables import read_table

MAX_NUMBER_CHARS = 80
"""Longest text that is read as a number."""

_NUMBER = re.compile(
    r"""
    (?P<sign>[+-]?)\s*(?P<symbol>(?:us|ca|au)?[$]|[€£¥])?\s*(?P<inner>[+-]?)
    (?P<digits>\d[\d.,'_ ]*|\.\d+)
    (?P<exponent>e[+-]?\d{1,3})?
    (?:\s*(?P<scale>k|thousand|mn|million|bn|billion|tn|trillion)\b|(?P<letter>[MBTmb])\b)?
    \s*(?P<unit>[^\W\d_][^\d]{0,24}|[%$€£¥°].{0,24})?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_GROUPED = re.compile(r"\d{1,3}(?P<group>[,.'_ ])\d{3}(?:(?P=group)\d{3})*(?:(?P<point>[.,])\d+)?")
_PLAIN = re.compile(r"\d*[.,]?\d+|\d+[.,]")


@dataclass(frozen=True, slots=True)
class _NumberWords:
    """The words for powers of ten and for units."""

    zeros: dict[str, tuple[str, ...]]
    units: dict[str, tuple[str, ...]]


_WORDS = read_table(_NumberWords, "assay.text", "units.toml")
_SCALES = {word: int(zeros) for zeros, words in _WORDS.zeros.items() for word in words}
UNITS = {word: unit for unit, words in _WORDS.units.items() for word in words}
_MONEY = frozenset(("USD", "CAD", "AUD", "EUR", "GBP", "JPY"))


class AnswerQuantity(NamedTuple):
    """A number and its unit; the unit is empty if the text has none."""

    value: Fraction
    unit: str


def quantity_of(text: str) -> AnswerQuantity | None:
    """The quantity that the whole text gives, or `None`.

    A comma or dot before exactly three digits groups thousands, except a lone dot, which is the
    decimal point (`1,148` is 1148, `1.148` is not); before any other count it is the decimal
    point. Words after the number are a unit only when they are a known one.
    """
    if len(text) > MAX_NUMBER_CHARS:
        return None
    match = _NUMBER.fullmatch(text)
    if match is None or (match["sign"] and match["inner"]):
        return None
    digits = _plain_digits(match["digits"].rstrip())
    unit = _unit(match["symbol"], match["unit"])
    if digits is None or unit is None:
        return None
    scale, letter = (match["scale"] or "").lower(), match["letter"] or ""
    # A small m is metres, unless money is counted.
    if letter in ("m", "b") and unit not in _MONEY:
        if letter == "b" or unit:
            return None
        unit, letter = "m", ""
    power = _SCALES.get(scale or letter.lower(), 0)
    value = Fraction(digits + (match["exponent"] or "")) * 10**power
    return AnswerQuantity(-value if "-" in (match["sign"], match["inner"]) else value, unit)


def _plain_digits(text: str) -> str | None:
    """The digits of a number with a decimal point and without grouping; `None` if not a number."""
    grouped = _GROUPED.fullmatch(text)
    if grouped is not None:
        group, point = grouped["group"], grouped["point"]
        lone_dot = group == "." and text.count(".") == 1 and point is None
        if not lone_dot and group != point:
            return text.replace(group, "").replace(",", ".")
    if _PLAIN.fullmatch(text) is None:
        return None
    return text.replace(",", ".").rstrip(".")


def _unit(symbol: str | None, word: str | None) -> str | None:
    """The unit that symbol and word name; empty without both, `None` if unknown."""
    units = {UNITS.get(name.strip().lower()) for name in (symbol, word) if name}
    if len(units) > 1 or None in units:
        return None
    return next(iter(units), "") or ""


def same_unit(one: str, other: str) -> bool:
    """Whether two units agree; a missing unit agrees with every unit."""
    return one == other or not one or not other


@dataclass(frozen=True, slots=True)
class QuantityReading:
    """The quantity that a response gives, as an exact fraction, and its position."""

    value: Fraction | None
    unit: str
    """Empty where none is written."""
    start: int
    end: int
    because: str


def read_quantity(response: str) -> QuantityReading:
    """Read the number with its unit that is the whole response, or its final answer."""
    quantity, *place = find_value(response, "a quantity", quantity_of)
    return QuantityReading(*(quantity or (None, "")), *place)
