"""Read calendar dates from a whole text, or from the final answer of a response.

A date is a whole text, not one somewhere inside it. `09/01/2023` is read under a convention that
the caller names, so that two texts are only compared under the same one. Dotted dates are always
day first, dates that begin with the year never ambiguous. Two-digit years are not read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Literal, NamedTuple, TypeAlias

from assay.text.answers import find_value
from assay.text.quantities import quantity_of

Convention: TypeAlias = Literal["month first", "day first"]
CONVENTIONS: tuple[Convention, ...] = ("month first", "day first")
MAX_DATE_CHARS = 50

_MONTH_NAMES = (
    "january february march april may june july august september october november december"
).split()
_MONTHS = {form: n for n, name in enumerate(_MONTH_NAMES, 1) for form in (name, name[:3])}
_MONTHS["sept"] = 9
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_WEEKDAY = re.compile(r"^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+")
_NAMED = (
    re.compile(rf"(?:the\s+)?{_DAY}[\s-]+(?:of\s+)?{_MONTH},?[\s-]+{_YEAR}"),
    re.compile(rf"{_MONTH}[\s-]+(?:the\s+)?{_DAY},?[\s-]+{_YEAR}"),
    re.compile(rf"{_YEAR},?[\s-]+{_MONTH}[\s-]+{_DAY}"),
    re.compile(rf"{_MONTH},?[\s-]+{_YEAR}"),
)
_YEAR_FIRST = re.compile(r"(?P<year>\d{4})([-/.])(?P<month>\d{1,2})(?:\2(?P<day>\d{1,2}))?")
_YEAR_LAST = re.compile(r"(?P<one>\d{1,2})(?P<mark>[-/.])(?P<two>\d{1,2})(?P=mark)(?P<year>\d{4})")


class CalendarDate(NamedTuple):
    """A calendar day; `day` is `None` for a whole month."""

    year: int
    month: int
    day: int | None


def date_of(text: str, convention: Convention) -> CalendarDate | None:
    """The date that the whole text gives, in lower case; or `None`."""
    if len(text) > MAX_DATE_CHARS or not text.isascii():
        return None
    bare = _WEEKDAY.sub("", text)
    for pattern in _NAMED:
        match = pattern.fullmatch(bare)
        if match is not None:
            fields = match.groupdict()
            return _calendar_date(fields["year"], str(_MONTHS[fields["month"]]), fields.get("day"))
    match = _YEAR_FIRST.fullmatch(bare)
    if match is not None:
        return _calendar_date(match["year"], match["month"], match["day"])
    match = _YEAR_LAST.fullmatch(bare)
    if match is None:
        return None
    one, two = match["one"], match["two"]
    day_first = convention == "day first" or match["mark"] == "."
    # Where only one reading is a date there is nothing to choose.
    if int(one) > 12 or (int(two) > 12 and day_first and match["mark"] != "."):
        day_first = int(one) > 12
    return _calendar_date(match["year"], two if day_first else one, one if day_first else two)


def _calendar_date(year: str, month: str, day: str | None) -> CalendarDate | None:
    try:
        date(int(year), int(month), int(day or 1))
    except ValueError:
        return None
    return CalendarDate(int(year), int(month), None if day is None else int(day))


@dataclass(frozen=True, slots=True)
class DateReading:
    """The date that a response gives, and its position in the response."""

    value: CalendarDate | None
    start: int
    end: int
    because: str


def read_date(response: str, convention: Convention | None = None) -> DateReading:
    """Read the date of a response; an ambiguous date such as `04/07/2024` needs a convention."""

    def date_in(text: str) -> CalendarDate | None:
        if quantity_of(text):
            return None
        dates = {each: date_of(text.casefold(), each) for each in CONVENTIONS}
        if convention is not None:
            return dates.get(convention)
        return dates["day first"] if len(set(dates.values())) == 1 else None

    return DateReading(*find_value(response, "one date", date_in))
