"""Turns text into index terms as Lucene's English analyser does.

Words by the rules of Unicode Standard Annex #29, the possessive `'s` dropped, lower case, 33 stop
words out, Porter stems. Differences: the classes of rare scripts come from Python's `unicodedata`
and not from the Unicode version that Lucene was built with, and Hebrew quotation marks inside a
word split it.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right

from assay.lazy import package_table
from assay.worlds.webshop.porter import stem

LONGEST_TOKEN = 255
"""A longer run of letters is cut into pieces of this length."""

_TABLE = package_table(__package__, "words")
STOP_WORDS = frozenset(_TABLE["stop_words"].split())

_OTHER = "."

# One letter for the class of each of these characters.
_SINGLES = {
    **dict.fromkeys("'.‘’․﹒＇．", "Q"),  # joins letters, and digits
    **dict.fromkeys(":··՟״‧︓﹕：", "M"),  # joins letters
    **dict.fromkeys(",;\u037e։،؍٬߸⁄︐︔﹐﹔，；", "D"),  # joins digits
    **dict.fromkeys("#*", "C"),
    "\u20e3": "Y",  # the key cap, which makes an emoji of the two above
    "\u202f": "E",
    "\u066b": "N",
    "\u200d": "Z",
    "\u200b": _OTHER,
    "\ufe0e": "T",
    "\ufe0f": "V",
    "\uff9e": "X",
    "\uff9f": "X",
}
_CATEGORIES = {
    **dict.fromkeys(("Lu", "Ll", "Lt", "Lm", "Lo", "Nl"), "A"),
    **dict.fromkeys(("Mn", "Mc", "Me", "Cf"), "X"),
    "Pc": "E",
}


def _intervals() -> tuple[tuple[int, ...], tuple[tuple[int, str], ...]]:
    spans: list[tuple[int, int, str]] = []
    for kind, text in _TABLE["ranges"].items():
        for part in text.split():
            low, _, high = part.partition("-")
            spans.append((int(low, 16), int(high or low, 16), kind))
    spans.sort()
    return tuple(span[0] for span in spans), tuple((span[1], span[2]) for span in spans)


_STARTS, _ENDS = _intervals()


class _Kinds(dict[int, str]):
    """A cached table for `str.translate` that maps each character to its class letter."""

    def __missing__(self, code: int) -> str:
        category, at = unicodedata.category(chr(code)), bisect_right(_STARTS, code) - 1
        if chr(code) in _SINGLES:
            kind = _SINGLES[chr(code)]
        elif category == "Nd":
            kind = "N"
        elif at >= 0 and code <= _ENDS[at][0]:
            kind = _ENDS[at][1]
        else:
            kind = _CATEGORIES.get(category, _OTHER)
        self[code] = kind
        return kind


_KINDS = _Kinds()


def _grammar() -> re.Pattern[str]:
    """Return the pattern of one token in a string of class letters.

    Every repetition is possessive or runs over disjoint classes, so matching is linear.
    """
    marks = "[XZVTFY]*+"
    letter, digit, katakana = f"A{marks}", f"N{marks}", f"K{marks}"
    join_letters, join_digits, underscore = f"[MQ]{marks}", f"[DQ]{marks}", f"E{marks}"
    word = (
        f"(?:(?:{katakana})++"
        f"|(?:{digit}(?:(?:{join_digits})?{digit})*+|{letter}(?:(?:{join_letters})?{letter})*+)++)"
    )
    underscores = f"(?:{underscore})"
    # A run of underscores without a word is no token; the look-behind keeps each of its
    # characters from being tried as a start.
    words = f"(?<!E){underscores}*+{word}(?:{underscores}++{word})*+{underscores}*+"
    emoji = "Z*+[PF][XZFVY]*+(?:(?<=Z)[PF][XZFVY]*+)*+"
    return re.compile(
        f"{words}|{emoji}|[CN]X*+V?Y[XZFY]*+|(?:R{marks}){{2}}|[HG]{marks}|(?:S{marks})++"
    )


_TOKEN = _grammar()


def tokens(text: str) -> list[str]:
    """Return the words, ideographs and emoji of a text in order."""
    words: list[str] = []
    for match in _TOKEN.finditer(text.translate(_KINDS)):
        token = text[match.start() : match.end()]
        if len(token) <= LONGEST_TOKEN:
            words.append(token)
        else:
            words.extend(
                token[at : at + LONGEST_TOKEN] for at in range(0, len(token), LONGEST_TOKEN)
            )
    return words


def terms(text: str) -> list[str]:
    """Return the index terms of a text, with repetitions."""
    words: list[str] = []
    for token in tokens(text):
        if len(token) > 2 and token[-2] in "'’＇" and token[-1] in "sS":
            token = token[:-2]
        token = token.lower()
        if token not in STOP_WORDS:
            words.append(stem(token))
    return words
