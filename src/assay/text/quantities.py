"""Numbers as people write them: `$1,010,000`, `850k`, `14.2 %`, `1.010,50 €`, `1148 sq ft`.

A quantity is a whole text, not a number somewhere inside one; values are exact fractions.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

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
_SCALES = {
    **dict.fromkeys(("k", "thousand"), 3),
    **dict.fromkeys(("m", "mn", "million"), 6),
    **dict.fromkeys(("b", "bn", "billion"), 9),
    **dict.fromkeys(("t", "tn", "trillion"), 12),
}
_UNITS = {
    spelling: unit
    for unit, spellings in {
        "%": "% percent per cent pct",
        "USD": "$ us$ usd dollar dollars us dollars u.s. dollars",
        "CAD": "ca$ cad canadian dollars",
        "AUD": "au$ aud australian dollars",
        "EUR": "€ eur euro euros",
        "GBP": "£ gbp pounds sterling",
        "JPY": "¥ jpy yen",
        "sqft": "sqft sq ft sq. ft. square feet square foot ft² ft2",
        "km²": "km² km2 sq km square kilometers square kilometres",
        "m²": "m² m2 sqm square meters square metres",
        "km": "km kilometer kilometers kilometre kilometres",
        "m": "m meter meters metre metres",
        "cm": "cm centimeter centimeters centimetre centimetres",
        "mi": "mi mile miles",
        "ft": "ft foot feet",
        "kg": "kg kilogram kilograms",
        "lb": "lb lbs pound pounds",
        "s": "s sec second seconds",
        "min": "min mins minute minutes",
        "h": "h hr hrs hour hours",
        "d": "day days",
        "y": "year years yr yrs",
        "°C": "°c degrees celsius",
        "°F": "°f degrees fahrenheit",
    }.items()
    for spelling in re.findall(
        r"per cent|us dollars|u\.s\. dollars|(?:canadian|australian) dollars|pounds sterling"
        r"|sq\.? ?(?:ft\.?|km)|square \S+|degrees \S+|\S+",
        spellings,
    )
}


class AnswerQuantity(NamedTuple):
    """A number with its unit; the unit is empty when none is written."""

    value: Fraction
    unit: str


def read_quantity(text: str) -> AnswerQuantity | None:
    """The quantity that the whole text spells, or `None`.

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
    if letter in ("m", "b") and unit not in ("USD", "CAD", "AUD", "EUR", "GBP", "JPY"):
        if letter == "b" or unit:
            return None
        unit, letter = "m", ""
    power = _SCALES.get(scale or letter.lower(), 0)
    value = Fraction(digits + (match["exponent"] or "")) * 10**power
    return AnswerQuantity(-value if "-" in (match["sign"], match["inner"]) else value, unit)


def _plain_digits(text: str) -> str | None:
    """The digits with a decimal point and no grouping; `None` when they are no one number."""
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
    """The one unit that symbol and word name, empty when neither is there; `None` when unknown."""
    units = {_UNITS.get(name.strip().lower()) for name in (symbol, word) if name}
    if len(units) > 1 or None in units:
        return None
    return next(iter(units), "") or ""


def same_unit(one: str, other: str) -> bool:
    """Whether the units agree; one that is not written agrees with any."""
    return one == other or not one or not other
