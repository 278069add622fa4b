"""Split a text into sentences and words, as the programs of IFEval and IFBench do."""

from __future__ import annotations

import re
import string
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

from assay.text.word_tables import read_table

DOT: Final = "\ue000"
"""Stands for a full stop that ends no sentence."""
STOP: Final = "\ue001"
"""Stands for the end of a sentence."""
_MARKS: Final = str.maketrans("", "", DOT + STOP)
PUNCTUATION: Final = string.punctuation + " "

_TITLES = "Mr|St|Mrs|Ms|Dr"
_COMPANIES = "Inc|Ltd|Jr|Sr|Co"
_BEGINNINGS = (
    r"Mr|Mrs|Ms|Dr|Prof|Capt|Cpt|Lt|He\s|She\s|It\s|They\s|Their\s|Our\s|We\s|But\s|However\s"
    r"|That\s|This\s|Wherever"
)
_RULES: Final = tuple(
    (re.compile(pattern), new)
    for pattern, new in (
        (rf"({_TITLES})\.", rf"\1{DOT}"),
        (r"\.(com|net|org|io|gov|edu|me)", rf"{DOT}\1"),
        (r"([0-9])\.([0-9])", rf"\1{DOT}\2"),
        (r"(\.{2,})", lambda dots: DOT * len(dots[0]) + STOP),
        (r"Ph\.D\.", f"Ph{DOT}D{DOT}"),
        (r"\s([A-Za-z])\. ", rf" \1{DOT} "),
        (rf"([A-Z]\.[A-Z]\.(?:[A-Z]\.)?) ({_BEGINNINGS})", rf"\1{STOP} \2"),
        (r"([A-Za-z])\.([A-Za-z])\.([A-Za-z])\.", rf"\1{DOT}\2{DOT}\3{DOT}"),
        (r"([A-Za-z])\.([A-Za-z])\.", rf"\1{DOT}\2{DOT}"),
        (rf" ({_COMPANIES})\. ({_BEGINNINGS})", rf" \1{STOP} \2"),
        (rf" ({_COMPANIES})\.", rf" \1{DOT}"),
        (r" ([A-Za-z])\.", rf" \1{DOT}"),
        (r"\.([”\"])", r"\1."),
        (r'([!?])"', r'"\1'),
    )
)
"""Where a sentence ends, in order: full stops that end none (titles, addresses, numbers, initials,
companies), those that do because of what begins behind them, and marks moved out of quotes."""


def sentences(text: str) -> list[str]:
    """Split a text into sentences by both benchmarks' rule; each `?` or `!` ends one."""
    line = f" {text.translate(_MARKS)}  ".replace("\n", " ")
    for pattern, new in _RULES:
        line = pattern.sub(new, line)
    for mark in ".?!":
        line = line.replace(mark, mark + STOP)
    pieces = [piece.strip() for piece in line.replace(DOT, ".").split(STOP)]
    return pieces[:-1] if not pieces[-1] else pieces


WORD: Final = re.compile(r"\w+")


def has_word(text: str) -> bool:
    """Whether the text has a letter or a digit."""
    return any(map(str.isalnum, text))


@dataclass(frozen=True, slots=True)
class WordLists:
    """The lists of words and signs in `words.toml`, for checks of instructions."""

    names: tuple[str, ...]
    capitals: tuple[str, ...]
    personal: frozenset[str]
    """Pronouns of persons."""
    other_pronouns: frozenset[str]
    stop_words: frozenset[str]
    emoji: tuple[str, ...]
    """Code points, and ranges of them, in hexadecimal."""
    scripts: dict[str, tuple[str, ...]]
    """By the name of a script: the codes of the languages that are written in it."""


WORDS: Final = read_table(WordLists, "assay.text", "words.toml")
_STARTS, _ENDS = zip(
    *(
        (int(first, 16), int(last or first, 16))
        for first, _, last in (item.partition("-") for item in WORDS.emoji)
    ),
    strict=True,
)


def is_emoji(char: str) -> bool:
    """Whether the character alone is an emoji; digits and joiners are not."""
    at = bisect_right(_STARTS, ord(char)) - 1
    return at >= 0 and ord(char) <= _ENDS[at]


_ALONE: Final = r";@#$%&*?!\[\](){}<>«»“”‘’„\"`\u2012-\u2015"
_PIECE: Final = re.compile(
    rf"\.{{2,}}|`+|''|--|[{_ALONE}]|[:,](?!\d)|"
    rf"(?:[^\s{_ALONE}.,:'\-]|\.(?!\.)|[:,](?=\d)|'(?!')|-(?!-))+|."
)
_OPENING_QUOTE: Final = re.compile(r"'(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)", re.IGNORECASE)
_ENDING: Final = re.compile(r"(.*[^'])('[sSmMdD]|')", re.DOTALL)
_LONG_ENDING: Final = re.compile(r"(.*[^'])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T)", re.DOTALL)
_FUSED: Final = re.compile(
    r"(can)(not)|(d)('ye)|(gim|lem)(me)|(gon|wan)(na)|(got)(ta)|(more)('n)", re.I
)
_CLOSERS: Final = frozenset("])}>\"'»”’")


def tokens(text: str) -> list[str]:
    """Split a text into words, marks and parts of contractions, as the Penn Treebank does."""
    pieces = [piece for word in text.split() for piece in _PIECE.findall(word)]
    last = len(pieces) - 1
    while last > 0 and pieces[last] in _CLOSERS:
        last -= 1
    word = pieces[last] if pieces else ""
    if len(word) > 1 and word.endswith(".") and not word.endswith(".."):
        pieces[last : last + 1] = [word[:-1], "."]
    return [part for piece in pieces for part in _parts(piece)]


def _parts(piece: str) -> list[str]:
    if "'" not in piece and not _FUSED.search(piece):
        return [piece]
    parts: list[str] = []
    if _OPENING_QUOTE.match(piece):
        parts, piece = ["'"], piece[1:]
    ending: list[str] = []
    for pattern in (_ENDING, _LONG_ENDING):
        match = pattern.fullmatch(piece)
        if match is not None:
            piece, ending = match[1], [match[2], *ending]
    match = _FUSED.fullmatch(piece)
    words = [piece] if match is None else [part for part in match.groups() if part]
    return [*parts, *words, *ending]
