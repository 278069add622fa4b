"""Reads dates, numbers and times in questions and pages."""

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
    """Return the date, or `None` if the calendar has no such day."""
    try:
        return date(int(year), month, int(day))
    except ValueError:
        return None


def iso(text: str) -> str:
    """Return a day such as `6 July 2023` as `2023-07-06`; empty if it is not a date."""
    number, month, year = text.split()
    day = day_in(year, MONTHS.get(month, 0), number)
    return day.isoformat() if day else ""


def number_in(text: str) -> Decimal | None:
    """Return the first number in the text, without currency sign and separators."""
    match = _NUMBER.search(text)
    return Decimal(match[0].replace(",", "")) if match else None


def minutes_in(text: str) -> int | None:
    """Return the first time of day in the text, in minutes since midnight."""
    match = _CLOCK.search(text)
    return int(match[1]) * 60 + int(match[2]) if match else None


def plain(number: Decimal) -> str:
    """Return the number as digits without an exponent."""
    return f"{number:f}"
