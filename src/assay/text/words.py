"""Sentences, words and characters, as the benchmarks' programs take a text apart."""

from __future__ import annotations

import re
import string
from bisect import bisect_right
from typing import Final

DOT: Final = "\ue000"
"""Stands for a full stop that ends no sentence."""
STOP: Final = "\ue001"
"""Stands for the end of a sentence."""
_MARKS: Final = str.maketrans("", "", DOT + STOP)
PUNCTUATION: Final = string.punctuation + " "
_DELETE: Final = str.maketrans("", "", string.punctuation)

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
    """The sentences by the rule that both benchmarks share; each mark of `?!` ends one."""
    line = f" {text.translate(_MARKS)}  ".replace("\n", " ")
    for pattern, new in _RULES:
        line = pattern.sub(new, line)
    for mark in ".?!":
        line = line.replace(mark, mark + STOP)
    pieces = [piece.strip() for piece in line.replace(DOT, ".").split(STOP)]
    return pieces[:-1] if not pieces[-1] else pieces


def without_punctuation(text: str) -> str:
    """The text without ASCII punctuation."""
    return text.translate(_DELETE)


WORD: Final = re.compile(r"\w+")

STOP_WORDS: Final = frozenset(
    """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she
    her hers herself it its itself they them their theirs themselves what which who whom this that
    these those am is are was were be been being have has had having do does did doing a an the and
    but if or because as until while of at by for with about against between into through during
    before after above below to from up down in out on off over under again further then once here
    there when where why how all any both each few more most other some such no nor not only own
    same so than too very s t can will just don should now d ll m o re ve y ain aren couldn didn
    doesn hadn hasn haven isn ma mightn mustn needn shan shouldn wasn weren won wouldn
    """.split()
)
"""English function words, and the pieces that a contraction leaves between its marks."""

_EMOJI_RANGES: Final = """
a9 ae 203c 2049 2122 2139 2194-2199 21a9-21aa 231a-231b 2328 23cf 23e9-23f3 23f8-23fa 24c2 25aa-25ab
25b6 25c0 25fb-25fe 2600-2604 260e 2611 2614-2615 2618 261d 2620 2622-2623 2626 262a 262e-262f
2638-263a 2640 2642 2648-2653 265f-2660 2663 2665-2666 2668 267b 267e-267f 2692-2697 2699 269b-269c
26a0-26a1 26a7 26aa-26ab 26b0-26b1 26bd-26be 26c4-26c5 26c8 26ce-26cf 26d1 26d3-26d4 26e9-26ea
26f0-26f5 26f7-26fa 26fd 2702 2705 2708-270d 270f 2712 2714 2716 271d 2721 2728 2733-2734 2744 2747
274c 274e 2753-2755 2757 2763-2764 2795-2797 27a1 27b0 27bf 2934-2935 2b05-2b07 2b1b-2b1c 2b50 2b55
3030 303d 3297 3299 1f004 1f0cf 1f170-1f171 1f17e-1f17f 1f18e 1f191-1f19a 1f201-1f202 1f21a 1f22f
1f232-1f23a 1f250-1f251 1f300-1f321 1f324-1f393 1f396-1f397 1f399-1f39b 1f39e-1f3f0 1f3f3-1f3f5
1f3f7-1f4fd 1f4ff-1f53d 1f549-1f54e 1f550-1f567 1f56f-1f570 1f573-1f57a 1f587 1f58a-1f58d 1f590
1f595-1f596 1f5a4-1f5a5 1f5a8 1f5b1-1f5b2 1f5bc 1f5c2-1f5c4 1f5d1-1f5d3 1f5dc-1f5de 1f5e1 1f5e3
1f5e8 1f5ef 1f5f3 1f5fa-1f64f 1f680-1f6c5 1f6cb-1f6d2 1f6d5-1f6d9 1f6dc-1f6e5 1f6e9 1f6eb-1f6ec
1f6f0 1f6f3-1f6fc 1f7e0-1f7eb 1f7f0 1f90c-1f93a 1f93c-1f945 1f947-1f9ff 1fa70-1fa7c 1fa80-1fac6
1fac8 1facc-1fadd 1fadf-1faeb 1faef-1fafa
"""
"""Code points that Unicode 17 lists as an emoji of their own, in hexadecimal."""
_STARTS, _ENDS = zip(
    *(
        (int(first, 16), int(last or first, 16))
        for first, _, last in (item.partition("-") for item in _EMOJI_RANGES.split())
    ),
    strict=True,
)


def is_emoji(char: str) -> bool:
    """Whether the character is an emoji by itself; digits and joiners are not."""
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
    """The words and marks of a text by the Penn Treebank's conventions.

    Marks stand alone, contractions fall in two, and a full stop is parted from the last word only.
    """
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
