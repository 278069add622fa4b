"""Where a text announces its answer: "the answer is", "Antwort:", "答案是", "故选".

Built from the nouns and links of the tables; English has its own pattern, since most texts are in
it and may say a good deal between the two words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from assay.text.phrasebook import Phrasebook, books_for, fold

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


@dataclass(frozen=True, slots=True)
class Announcement:
    """Where the words start, the last of them, and where what they announce starts."""

    start: int
    link: str
    end: int
    denied: bool = False
    """Whether the words say what the answer is not."""

    @property
    def commits(self) -> bool:
        """Whether the words say that it is the answer, not that it may be."""
        return _UNCOMMITTED.search(self.link) is None


def last_announcement(text: str) -> Announcement | None:
    """The last place where an answer is announced, in any language."""
    latest = _last_in_english(text)
    shift = max(0, len(text) - _TAIL)
    tail = text[shift:]
    for book in books_for(fold(tail))[1:]:
        for match in _announcing(book).finditer(tail):
            start = shift + match.start()
            if latest is None or start > latest.start:
                denied = book.pattern("denying").search(fold(match[0])) is not None
                latest = Announcement(start, ":", shift + match.end(), denied=denied)
    return latest


def link_spans(clause: str) -> set[tuple[int, int]]:
    """(start, end) of each "is" in a clause of another language than English."""
    books = books_for(fold(clause))[1:]
    return {match.span() for book in books for match in _linking(book).finditer(clause)}


def is_sentence(text: str) -> bool:
    """Whether a text has the words of a sentence in another language than English."""
    text = text[:_TAIL]
    folded = fold(text)
    return any(
        book.pattern("turning").search(folded) is not None
        or _linking(book).search(text) is not None
        for book in books_for(folded)[1:]
    )


def without_copula(clause: str) -> str:
    """The clause without the verb that ends it after the answer, as in `42です`."""
    for book in books_for(fold(clause))[1:]:
        match = _copula(book).search(clause)
        if match is not None and match.start() > 0:
            return clause[: match.start()]
    return clause


def _last_in_english(text: str) -> Announcement | None:
    end = len(text)
    for _ in range(_PHRASES_TRIED):
        at = max(text.rfind("nswer", 0, end), text.rfind("NSWER", 0, end))
        if at < 0:
            break
        match = _ANSWER_LINK.match(text, at + 5)
        if match is not None:
            return Announcement(max(0, at - 1), match["link"], match.end())
        heading = _HEADING.match(text, at + 5)
        line = text[max(text.rfind("\n", 0, at) + 1, at - 40) : at - 1]
        words = line.strip(" *_#").lower()
        if heading is not None and words in ("", "final", "the", "the final", "correct"):
            return Announcement(max(0, at - 1), ":", heading.end())
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
    """A pattern of phrases that is read on the text as it was written."""
    options = [
        "".join(_VARIANTS.get(char, re.escape(char)) for char in fold(phrase)) for phrase in phrases
    ]
    return f"(?:{'|'.join(options)})" if options else ""
