"""Search texts for phrases of each language, and find where an answer is announced.

Only the languages that a text is written in are looked at, so a language costs nothing to others.
Announcements ("the answer is", "Antwort:", "答案是") are built from the nouns and links of the
tables; English has its own pattern, since most texts are in it and may say much between the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from assay.text.languages import LanguagePhrases, languages
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
_ANSWER_LINK = re.compile(
    r"""(?:s|S)?\b["'”*_]{0,4}\s{0,3}
        (?:(?:to|of|for)\b[^.\n:=]{0,60}?)?
        (?P<link>\s{0,3}\b(?:is|are|was|must\ be|should\ be|would\ be|will\ be|equals|becomes
             |isn't|is\ not|could\ be|might\ be|may\ be|can\ be|can't\ be|cannot\ be)\b
          | \s{0,3}[:=：])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_UNCOMMITTED = re.compile(r"(?:could|might|may|can) be\b|not\b|n't\b|cannot", re.IGNORECASE)
_HEADING = re.compile(r"[*_:：]{0,4}\s+(?=[$\\\d(\[{+−-]|\*\*)")
_PHRASES_TRIED = 32
_TAIL = 2000
_VARIANTS = {"'": "['’ʼ]", "ا": "[اأإآ]", "ي": "[يى]", "ه": "[هة]", "е": "[её]", " ": r"\s+"}
_VALUE_FOLLOWS = r"(?=[\s$*_「]*[-+−\d\\(\[$A-H])"


def fold(text: str) -> str:
    """Normalise a text: lower case, single spaces, letters without optional marks."""
    return _SPACE.sub(" ", text.lower().translate(_FOLD) if not text.isascii() else text.lower())


class Phrasebook:
    """The phrases of one language, compiled for search in a text."""

    def __init__(self, language: LanguagePhrases) -> None:
        self.language = language
        words = language.markers
        self._words = frozenset(words) if len(words) > 1 else frozenset[str]()
        self._script = None if self._words else re.compile(f"[{words[0]}]")

    def is_in(self, folded: str, words: frozenset[str]) -> bool:
        """Whether a normalised text, with these Latin words, has words of this language."""
        if self._script is not None:
            return not folded.isascii() and self._script.search(folded) is not None
        return not self._words.isdisjoint(words)

    @cache  # noqa: B019 - one book for each language, for as long as the process lives
    def pattern(self, field: str) -> re.Pattern[str]:
        """The pattern of a table's phrases; it never matches if the table is empty."""
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
        """The normalised phrases of one table."""
        return tuple(fold(phrase) for phrase in self.language.phrases(field))

    def at_end(self, folded: str, field: str) -> str | None:
        """The phrase of one table that ends the text, as a whole word; or `None`."""
        phrases = self.endings(field)
        if not phrases or not folded.endswith(phrases):
            return None
        for phrase in phrases:
            if folded.endswith(phrase) and self._is_whole(folded, len(folded) - len(phrase)):
                return phrase
        return None

    def text_before(self, folded: str, field: str, *, through_commas: bool = False) -> str | None:
        """The text before the phrase that ends a text; fillers may follow the phrase."""
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
    """The phrasebook of each language, English first."""
    return tuple(map(Phrasebook, languages()))


def books_for(folded: str) -> tuple[Phrasebook, ...]:
    """The phrasebooks of the languages in a normalised text; English is always included."""
    words = frozenset(_WORD.findall(folded))
    english, *others = all_books()
    return (english, *(book for book in others if book.is_in(folded, words)))


def without(folded: str, books: Iterable[Phrasebook], field: str) -> str:
    """Replace each phrase of a table in the text with "·"."""
    for book in books:
        folded = book.pattern(field).sub("·", folded)
    return folded


def _trimmed(folded: str) -> str:
    """Remove spaces, emphasis marks and opening brackets from the end of a text."""
    while True:
        shorter = folded.rstrip(" $*_\"'“‘«„「『([{:：`~—–·\u3000")
        for command in _COMMANDS:
            shorter = shorter.removesuffix(command)
        shorter = shorter.removesuffix("\\")
        if shorter == folded:
            return folded
        folded = shorter


class AnswerAnnouncement(NamedTuple):
    """An announcement such as "the answer is": its position and its last word."""

    start: int
    link: str
    end: int
    denied: bool = False
    """Whether the words say what the answer is not."""

    @property
    def commits(self) -> bool:
        """Whether the announcement commits to an answer ("is", and not "may be")."""
        return _UNCOMMITTED.search(self.link) is None


def last_announcement(text: str) -> AnswerAnnouncement | None:
    """The last announcement of an answer in a text, in any language."""
    latest = _last_in_english(text)
    shift = max(0, len(text) - _TAIL)
    tail = text[shift:]
    for book in books_for(fold(tail))[1:]:
        for match in _announcing(book).finditer(tail):
            start = shift + match.start()
            if latest is None or start > latest.start:
                denied = book.pattern("denying").search(fold(match[0])) is not None
                latest = AnswerAnnouncement(start, ":", shift + match.end(), denied=denied)
    return latest


def link_spans(clause: str) -> set[tuple[int, int]]:
    """The position of each word for "is" in a clause that is not English."""
    books = books_for(fold(clause))[1:]
    return {match.span() for book in books for match in _linking(book).finditer(clause)}


def is_sentence(text: str) -> bool:
    """Whether a text has words that make a sentence, in a language other than English."""
    text = text[:_TAIL]
    folded = fold(text)
    return any(
        book.pattern("turning").search(folded) is not None
        or _linking(book).search(text) is not None
        for book in books_for(folded)[1:]
    )


def without_copula(clause: str) -> str:
    """Remove the verb after the answer at the end of a clause, as in `42です`."""
    for book in books_for(fold(clause))[1:]:
        match = _copula(book).search(clause)
        if match is not None and match.start() > 0:
            return clause[: match.start()]
    return clause


def _last_in_english(text: str) -> AnswerAnnouncement | None:
    end = len(text)
    for _ in range(_PHRASES_TRIED):
        at = max(text.rfind("nswer", 0, end), text.rfind("NSWER", 0, end))
        if at < 0:
            break
        match = _ANSWER_LINK.match(text, at + 5)
        if match is not None:
            return AnswerAnnouncement(max(0, at - 1), match["link"], match.end())
        heading = _HEADING.match(text, at + 5)
        line = text[max(text.rfind("\n", 0, at) + 1, at - 40) : at - 1]
        words = line.strip(" *_#").lower()
        if heading is not None and words in ("", "final", "the", "the final", "correct"):
            return AnswerAnnouncement(max(0, at - 1), ":", heading.end())
        end = at
    return None


@cache
def _announcing(book: Phrasebook) -> re.Pattern[str]:
    language = book.language
    nouns = _any(language.phrases("nouns"))
    links = _any((*language.phrases("links"), *language.phrases("denying")))
    mark = r"\s*[*_]{0,3}\s*[:：=]"
    if language.spaced and not language.suffixed:
        words = r"(?:\s+[^\W\d][\w'’]{0,20}){0,4}?\s+(?:n['’])?"
        direct = r"\s+(?=[$\d\\])"
        text = rf"(?<!\w){nouns}[*_]{{0,3}}(?:{words}{links}(?!\w)|{mark}|{direct})"
    elif language.code == "ar":
        words = r"(?:\s+\w{1,20}){0,3}?\s+"
        text = rf"(?<!\w)[وفبل]?{nouns}(?:{words}{links}(?!\w)|{mark})"
    else:
        text = rf"{nouns}[*_】]{{0,3}}\s*(?:{links}|[:：=＝]|(?<=】))\s*[:：]?"
    choosing = _any(language.phrases("choosing"))
    if choosing and not language.spaced:
        text = rf"{text}|{choosing}\s*[:：]?(?=[\s(（]*[A-H](?![A-Za-z]))"
    return re.compile(text, re.IGNORECASE)


@cache
def _linking(book: Phrasebook) -> re.Pattern[str]:
    language = book.language
    links = _any(language.phrases("links"))
    if language.spaced and not language.suffixed:
        return re.compile(rf"(?<!\w){links}(?!\w)\s*", re.IGNORECASE)
    if language.code == "ar":
        return re.compile(rf"(?<!\w)[وفبل]?{links}(?!\w)\s*")
    return re.compile(rf"{links}{_VALUE_FOLLOWS}\s*")


@cache
def _copula(book: Phrasebook) -> re.Pattern[str]:
    copulas = _any(book.language.phrases("copulas"))
    space = r"\s+" if book.language.spaced and not book.language.suffixed else r"\s*"
    return re.compile(rf"{space}{copulas}[\s.。]*\Z") if copulas else re.compile(r"(?!)")


def _any(phrases: Iterable[str]) -> str:
    """A pattern of phrases for text that is not normalised."""
    options = [
        "".join(_VARIANTS.get(char, re.escape(char)) for char in fold(phrase)) for phrase in phrases
    ]
    return f"(?:{'|'.join(options)})" if options else ""
