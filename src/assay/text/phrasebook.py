"""The tables of phrases, made ready to look for: at the end of a text, at its start, or inside it.

Only the languages that a text is written in are looked at, so a language costs nothing to others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from assay.text.languages import Language, languages
from assay.text.word_tables import NEVER, trie_pattern

_FOLD = str.maketrans(
    {"’": "'", "‘": "'", "ʼ": "'", "ё": "е", "أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ة": "ه"}
    | dict.fromkeys(map(chr, range(0x064B, 0x0653)), None)
    | {"ـ": None, "\u00a0": " ", "\u200f": None, "\u200e": None}
)
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[a-zà-ÿœß']+")
_MOST_FILLERS = 24
_COMMANDS = (r"\(", r"\[", r"\text", r"\mathrm", r"\mathbf", r"\displaystyle", r"\,", r"\ ")
_THAT = ("that", "que", "dass", "daß", "что", "чтобы", "ان", "qu'il", "qu'elle")
"""Words before which a comma does not end what is said of the answer."""


def fold(text: str) -> str:
    """The text in lower case, with one space for any, and letters without optional marks."""
    return _SPACE.sub(" ", text.lower().translate(_FOLD) if not text.isascii() else text.lower())


class Phrasebook:
    """One language's table, ready to look for."""

    def __init__(self, language: Language) -> None:
        self.language = language
        words = language.markers
        self._words = frozenset(words) if len(words) > 1 else frozenset[str]()
        self._script = None if self._words else re.compile(f"[{words[0]}]")

    def is_in(self, folded: str, words: frozenset[str]) -> bool:
        """Whether a folded text, whose Latin words are given, has words of this language."""
        if self._script is not None:
            return not folded.isascii() and self._script.search(folded) is not None
        return not self._words.isdisjoint(words)

    @cache  # noqa: B019 - one book for each language, for as long as the process lives
    def pattern(self, field: str) -> re.Pattern[str]:
        """The pattern of the phrases of a field; of none, one that never matches."""
        phrases = self.endings(field)
        if not phrases:
            return NEVER
        spaced = self.language.spaced
        lead = r"(?<![^\W_])" if spaced else ""
        prefix = "[وفبل]{0,2}" if self.language.code == "ar" else ""
        tail = r"(?![^\W_])" if spaced and not self.language.suffixed else ""
        return re.compile(f"{lead}{prefix}{trie_pattern(phrases)}{tail}")

    @cache  # noqa: B019 - one book for each language, for as long as the process lives
    def endings(self, field: str) -> tuple[str, ...]:
        """The folded phrases of a field."""
        return tuple(fold(phrase) for phrase in self.language.phrases(field))

    def at_end(self, folded: str, field: str) -> str | None:
        """The phrase of a field that the text ends with, whole words only."""
        phrases = self.endings(field)
        if not phrases or not folded.endswith(phrases):
            return None
        for phrase in phrases:
            if folded.endswith(phrase) and self._is_whole(folded, len(folded) - len(phrase)):
                return phrase
        return None

    def text_before(self, folded: str, field: str, *, through_commas: bool = False) -> str | None:
        """What stands before the last phrase of a field, if nothing but fillers is behind that."""
        rest, filler = _trimmed(folded), ""
        for _ in range(_MOST_FILLERS):
            phrase = self.at_end(rest, field)
            if phrase is not None:
                return rest[: len(rest) - len(phrase)]
            if rest.endswith((",", "，", "、", "،")) and (through_commas or filler in _THAT):
                rest = _trimmed(rest[:-1])
                continue
            filler = self.at_end(rest, "fillers") or ""
            if not filler:
                return None
            rest = _trimmed(rest[: len(rest) - len(filler)])
        return None

    def _is_whole(self, text: str, start: int) -> bool:
        if not self.language.spaced or start == 0 or not text[start].isalnum():
            return True
        before = text[start - 1]
        return not before.isalnum() or (self.language.code == "ar" and before in "وفبل")


@cache
def all_books() -> tuple[Phrasebook, ...]:
    """The book of each language; English first."""
    return tuple(map(Phrasebook, languages()))


def books_for(folded: str) -> tuple[Phrasebook, ...]:
    """The books of the languages that occur in a folded text; English is always among them."""
    words = frozenset(_WORD.findall(folded))
    english, *others = all_books()
    return (english, *(book for book in others if book.is_in(folded, words)))


def without(folded: str, books: Iterable[Phrasebook], field: str) -> str:
    """The text with a mark in place of each phrase of a field."""
    for book in books:
        folded = book.pattern(field).sub("·", folded)
    return folded


def _trimmed(folded: str) -> str:
    """The text without spaces, marks of emphasis and opening brackets at its end."""
    while True:
        shorter = folded.rstrip(" $*_\"'“‘«„「『([{:：`~—–·\u3000")
        for command in _COMMANDS:
            shorter = shorter.removesuffix(command)
        shorter = shorter.removesuffix("\\")
        if shorter == folded:
            return folded
        folded = shorter
