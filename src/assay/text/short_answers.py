"""One short answer, read once: tidied text, words, and the number or date that it spells.

Numbers are written as people write them: `$1,010,000`, `850k`, `14.2 %`, `1.010,50 €`. A quantity
or a date is a whole text, not one somewhere inside it; values are exact fractions. `09/01/2023` is
read under a convention that the caller names, so that two texts are only compared under the same
one. Dotted dates are always day first, dates that begin with the year never ambiguous. Two-digit
years are not read.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Literal, NamedTuple, TypeAlias

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
    """The spellings of powers of ten, and of units."""

    zeros: dict[str, tuple[str, ...]]
    units: dict[str, tuple[str, ...]]


_WORDS = read_table(_NumberWords, "assay.text", "units.toml")
_SCALES = {word: int(zeros) for zeros, words in _WORDS.zeros.items() for word in words}
UNITS = {word: unit for unit, words in _WORDS.units.items() for word in words}
_MONEY = frozenset(("USD", "CAD", "AUD", "EUR", "GBP", "JPY"))


class AnswerQuantity(NamedTuple):
    """A number with its unit; the unit is empty when none is written."""

    value: Fraction
    unit: str


def quantity_of(text: str) -> AnswerQuantity | None:
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
    if letter in ("m", "b") and unit not in _MONEY:
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
    units = {UNITS.get(name.strip().lower()) for name in (symbol, word) if name}
    if len(units) > 1 or None in units:
        return None
    return next(iter(units), "") or ""


def same_unit(one: str, other: str) -> bool:
    """Whether the units agree; one that is not written agrees with any."""
    return one == other or not one or not other


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
    """A day, or a month when the day is `None`."""

    year: int
    month: int
    day: int | None


def date_of(text: str, convention: Convention) -> CalendarDate | None:
    """The date that the whole text spells, in lower case, or `None`."""
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


MAX_ITEMS = 50
"""Most items of a list that are compared one by one."""

_MARKS = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´ʼ", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
    }
)
_WRAPPING = ("**", "__", '"', "'", "*", "_")
_LEAD_IN = re.compile(
    r"(?:(?:so|thus|therefore|hence),?\s+)?(?:(?:the|my)\s+)?(?:(?:final|correct)\s+)?"
    r"answer(?:\s+is\s*:?|\s*[:=])\s*",
    re.IGNORECASE,
)
# Signs that change the meaning are words, or part of one: C++ is not C, A- not A, < 5 not > 5.
_WORD = re.compile(r"(?:(?<!\w)-)?\d+(?:[.,]\d+)*|[^\W\d_]+(?:[+#]+|-(?!\w))?|[<>=≤≥≠±+#%&@]")
_ARTICLES = frozenset({"a", "an", "the"})
_BULLET = re.compile(r"^(?:[-*•]|\d{1,2}[.)])\s+")
_SEPARATOR = re.compile(r" ?[;,] ?(?:and )?| and ")


@dataclass(frozen=True)
class AnswerReading:
    """One answer, in every form that the comparison looks at, each made once."""

    text: str
    """As given."""
    tidy: str
    """Plain quotes, dashes and spaces, nothing invisible, no wrapping, no final full stop."""
    words: tuple[str, ...]
    """Lower-case words and numerals, without articles."""
    quantity: AnswerQuantity | None
    dates: tuple[CalendarDate | None, ...]
    """The date under each convention."""

    @cached_property
    def numerals(self) -> frozenset[str]:
        return frozenset(word for word in self.words if word[-1].isdigit())

    @cached_property
    def pieces(self) -> list[str]:
        return self.text.split()

    @cached_property
    def folded(self) -> str:
        return self.tidy.casefold()

    @cached_property
    def unaccented(self) -> tuple[str, ...]:
        split = (unicodedata.normalize("NFD", word) for word in self.words)
        return tuple(
            "".join(char for char in word if not unicodedata.combining(char)) for word in split
        )

    @cached_property
    def word_set(self) -> frozenset[str]:
        return frozenset(self.words)

    @cached_property
    def joined(self) -> str:
        """The words without anything between them."""
        return "".join(self.words)

    @cached_property
    def joined_unaccented(self) -> str:
        return "".join(self.unaccented)

    @cached_property
    def json_list(self) -> list[AnswerReading] | None:
        """The items of a JSON list of texts and numbers, at most one more than are compared.

        `None` for other texts.
        """
        stripped = self.text.strip()
        if not (stripped.startswith("[") and stripped.endswith("]")):
            return None
        try:
            values = json.loads(stripped)
        except (ValueError, RecursionError):
            return None
        if not all(isinstance(value, (str, int, float)) for value in values):
            return None
        items = values[: MAX_ITEMS + 1]
        return [read(item if isinstance(item, str) else json.dumps(item)) for item in items]

    @cached_property
    def lines(self) -> list[AnswerReading]:
        """The lines that are not blank, without bullets, at most one more than are compared."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        return [read(_BULLET.sub("", line)) for line in lines[: MAX_ITEMS + 1]]

    @cached_property
    def separated(self) -> list[AnswerReading]:
        """The items of a list written in one line, at most one more than are compared."""
        items = filter(None, _SEPARATOR.split(" ".join(self.pieces)))
        return [read(item) for item in islice(items, MAX_ITEMS + 1)]


def read(text: str) -> AnswerReading:
    tidy = _tidy(text)
    folded = tidy.casefold()
    quantity = quantity_of(tidy)
    dates = () if quantity else tuple(date_of(folded, convention) for convention in CONVENTIONS)
    return AnswerReading(text, tidy, _words(folded), quantity, dates)


def without_lead_in(reading: AnswerReading) -> AnswerReading | None:
    """The answer after "The answer is", or `None` when it does not begin so."""
    match = _LEAD_IN.match(reading.tidy)
    if match is None or match.end() == len(reading.tidy):
        return None
    return read(reading.tidy[match.end() :])


def _tidy(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFC", "".join(map(_plain, text)))
    text = " ".join(text.translate(_MARKS).split())
    bare = text
    while True:
        text = bare.removesuffix(".").strip() if not bare.endswith("..") else bare
        for mark in _WRAPPING:
            if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
                text = text[len(mark) : -len(mark)].strip()
                break
        if text == bare or not text:
            return bare
        bare = text


def _plain(char: str) -> str:
    """The compatible plain character; nothing for an invisible one.

    Superscripts and fractions stay: 10² is not 102.
    """
    category = unicodedata.category(char)
    if category == "Cf":
        return ""
    return char if category == "No" else unicodedata.normalize("NFKC", char)


def _words(folded: str) -> tuple[str, ...]:
    # An apostrophe inside a word joins it: McDonald's and McDonalds are one word.
    tokens = _WORD.findall(folded.replace("'", ""))
    words = [word.replace(",", "") if word[-1].isdigit() else word for word in tokens]
    return tuple(word for word in words if word not in _ARTICLES) or tuple(words)
