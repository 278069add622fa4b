"""Text to index terms, as Lucene's English analyser makes them.

Words by the rules of Unicode Standard Annex #29, the possessive `'s` dropped, lower case, 33 stop
words out, Porter stems. Differences: the classes of rare scripts come from Python's `unicodedata`
and not from the Unicode version that Lucene was built with, and Hebrew quotation marks inside a
word split it.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right

from assay.worlds.webshop.porter import stem

LONGEST_TOKEN = 255
"""A longer run of letters is cut into pieces of this length."""

STOP_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with".split()
)

_OTHER = "."

# One letter for each class of characters that the grammar below tells apart. Ranges are
# hexadecimal and do not overlap.
_RANGES = (
    # Han: each ideograph is a word.
    ("H", "2E80-2E99 2E9B-2EF3 2F00-2FD5 3005 3007 3021-3029 3038-303B 3400-4DBF 4E00-9FFF"),
    ("H", "F900-FAD9 20000-2FA1F 30000-3134A"),
    ("G", "3041-3096 309D-309F 1B001-1B11E 1B150-1B152 1F200"),
    ("K", "3031-3035 309B-309C 30A0-30FA 30FC-30FF 31F0-31FF 32D0-32FE 3300-3357 FF66-FF9D 1B000"),
    # Thai, Lao, Myanmar, Khmer and their neighbours: a run of letters is a word.
    ("S", "E01-E3A E40-E4E E80-ECF EDC-EDF 1000-103F 1050-108F 109A-109F 1780-17D3 17D7"),
    ("S", "17DC-17DD 1950-1974 1980-19CF 19DA-19DF 1A20-1A7F 1A90-1AAD A9E0-A9EF A9FA-A9FE"),
    ("S", "AA60-AADF"),
    ("R", "1F1E6-1F1FF"),
    ("F", "1F3FB-1F3FF"),
    # Symbols that are letters all the same.
    ("A", "2C2-2C5 2D2-2D7 2DE-2DF 2E5-2EB 2ED 2EF-2FF 55A-55C 55E 58A 5F3 24B6-24E9"),
    ("A", "A708-A716 A720-A721 A789-A78A AB5B 1F130-1F149 1F150-1F169 1F170-1F189 2139"),
    # Extended pictographic: emoji, and what may become one.
    ("P", "A9 AE 203C 2049 2122 2194-2199 21A9-21AA 231A-231B 2328 2388 23CF 23E9-23F3"),
    ("P", "23F8-23FA 25AA-25AB 25B6 25C0 25FB-25FE 2600-2605 2607-2612 2614-2685 2690-2705"),
    ("P", "2708-2712 2714 2716 271D 2721 2728 2733-2734 2744 2747 274C 274E 2753-2755 2757"),
    ("P", "2763-2767 2795-2797 27A1 27B0 27BF 2934-2935 2B05-2B07 2B1B-2B1C 2B50 2B55 3030"),
    ("P", "303D 3297 3299 1F000-1F0FF 1F10D-1F10F 1F12F 1F16C-1F16F 1F18E 1F191-1F19A"),
    ("P", "1F1AD-1F1E5 1F201-1F20F 1F21A 1F22F 1F232-1F23A 1F23C-1F23F 1F249-1F3FA"),
    ("P", "1F400-1F53D 1F546-1F64F 1F680-1F6FF 1F774-1F77F 1F7D5-1F7FF 1F80C-1F80F"),
    ("P", "1F848-1F84F 1F85A-1F85F 1F888-1F88F 1F8AE-1F8FF 1F90C-1F93A 1F93C-1F945"),
    ("P", "1F947-1FAFF 1FC00-1FFFD"),
)
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
    for kind, text in _RANGES:
        for part in text.split():
            low, _, high = part.partition("-")
            spans.append((int(low, 16), int(high or low, 16), kind))
    spans.sort()
    return tuple(span[0] for span in spans), tuple((span[1], span[2]) for span in spans)


_STARTS, _ENDS = _intervals()


class _Kinds(dict[int, str]):
    """A table for `str.translate` that fills itself: each character becomes its class letter.

    Working out a class takes longer than the rest of the analysis, so it is cached.
    """

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
    """Matches one token in a string of class letters.

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
    """The words, ideographs and emoji of a text, in order, as they are written."""
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
    """The index terms of a text, repetitions kept."""
    words: list[str] = []
    for token in tokens(text):
        if len(token) > 2 and token[-2] in "'’＇" and token[-1] in "sS":
            token = token[:-2]
        token = token.lower()
        if token not in STOP_WORDS:
            words.append(stem(token))
    return words
