"""Dates, numbers and names as questions and pages write them."""

from __future__ import annotations

import re
from calendar import month_name
from datetime import date
from decimal import Decimal

MONTHS = {name: number for number, name in enumerate(month_name) if name}
DAY = r"(\d{1,2} [A-Z][a-z]+ \d{4})"
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_CLOCK = re.compile(r"\b(\d{1,2}):(\d{2})\b")


def day_in(year: str | int, month: int, day: str | int) -> date | None:
    """The day, or `None` where the calendar has none."""
    try:
        return date(int(year), month, int(day))
    except ValueError:
        return None


def iso(text: str) -> str:
    """A day such as `6 July 2023` as forms want it: `2023-07-06`; empty when it is none."""
    number, month, year = text.split()
    day = day_in(year, MONTHS.get(month, 0), number)
    return day.isoformat() if day else ""


def number_in(text: str) -> Decimal | None:
    """The first number of the text, without currency sign and separators."""
    match = _NUMBER.search(text)
    return Decimal(match[0].replace(",", "")) if match else None


def minutes_in(text: str) -> int | None:
    """The first time of day of the text, in minutes since midnight."""
    match = _CLOCK.search(text)
    return int(match[1]) * 60 + int(match[2]) if match else None


def plain(number: Decimal) -> str:
    """The number in digits, without an exponent."""
    return f"{number:f}"
