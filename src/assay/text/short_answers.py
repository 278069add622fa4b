"""Read a short answer once: its normalised text, its words, and its number or date."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from assay.text.dates import CONVENTIONS, CalendarDate, date_of
from assay.text.quantities import AnswerQuantity, quantity_of
from assay.text.typography import tidy_text

MAX_ITEMS = 50
"""Most items of a list that are compared one by one."""

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
    """One short answer, with each normal form that a comparison needs."""

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
        """The words of the answer, joined without spaces."""
        return "".join(self.words)

    @cached_property
    def joined_unaccented(self) -> str:
        return "".join(self.unaccented)

    @cached_property
    def json_list(self) -> list[AnswerReading] | None:
        """The items of a JSON list of texts and numbers, or `None` for all other texts."""
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
        """The lines of the answer, without bullets and blank lines."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        return [read(_BULLET.sub("", line)) for line in lines[: MAX_ITEMS + 1]]

    @cached_property
    def separated(self) -> list[AnswerReading]:
        """The items of a list that is written in one line."""
        items = filter(None, _SEPARATOR.split(" ".join(self.pieces)))
        return [read(item) for item in islice(items, MAX_ITEMS + 1)]


def read(text: str) -> AnswerReading:
    tidy = tidy_text(text)
    folded = tidy.casefold()
    quantity = quantity_of(tidy)
    dates = () if quantity else tuple(date_of(folded, convention) for convention in CONVENTIONS)
    return AnswerReading(text, tidy, _words(folded), quantity, dates)


def without_lead_in(reading: AnswerReading) -> AnswerReading | None:
    """The answer after "The answer is"; `None` without these words."""
    match = _LEAD_IN.match(reading.tidy)
    if match is None or match.end() == len(reading.tidy):
        return None
    return read(reading.tidy[match.end() :])


def _words(folded: str) -> tuple[str, ...]:
    # An apostrophe inside a word joins it: McDonald's and McDonalds are one word.
    tokens = _WORD.findall(folded.replace("'", ""))
    words = [word.replace(",", "") if word[-1].isdigit() else word for word in tokens]
    return tuple(word for word in words if word not in _ARTICLES) or tuple(words)
