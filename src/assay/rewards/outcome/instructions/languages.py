"""Which languages a text may be written in, as far as its script says.

No statistics are used, so the same text always gets the same answer. A script that one of the
benchmarks' languages has to itself decides; between languages of one script nothing is decided.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache
from typing import Final

from assay.rewards.outcome.instructions.check import Decision, Undecided

ENOUGH: Final = 0.7
"""The share of the letters that decides the script; names and terms of other scripts may be among
them."""
LOOKED_AT: Final = 20_000
"""Letters that are looked at."""
SCRIPTS: Final = {
    "ar": "ARABIC", "bg": "CYRILLIC", "bn": "BENGALI", "de": "LATIN", "en": "LATIN", "es": "LATIN",
    "fa": "ARABIC", "fi": "LATIN", "fr": "LATIN", "gu": "GUJARATI", "he": "HEBREW",
    "hi": "DEVANAGARI", "it": "LATIN", "ja": "JAPANESE", "kn": "KANNADA", "ko": "HANGUL",
    "ml": "MALAYALAM", "mr": "DEVANAGARI", "ne": "DEVANAGARI", "pa": "GURMUKHI", "pl": "LATIN",
    "pt": "LATIN", "ru": "CYRILLIC", "sw": "LATIN", "ta": "TAMIL", "te": "TELUGU", "th": "THAI",
    "uk": "CYRILLIC", "ur": "ARABIC", "vi": "LATIN", "zh": "CJK", "zh-cn": "CJK", "zh-tw": "CJK",
    "el": "GREEK",
}  # fmt: skip
"""By the code that the benchmarks use: the script that a language is written in."""
_SHARED: Final = frozenset(
    script for script, count in Counter(SCRIPTS.values()).items() if count > 1 and script != "CJK"
)
_JAPANESE: Final = frozenset({"HIRAGANA", "KATAKANA"})


@lru_cache(maxsize=8_192)
def _script(char: str) -> str:
    return unicodedata.name(char, "UNKNOWN").partition(" ")[0]


def scripts_of(text: str) -> Counter[str]:
    """How many letters of each script there are."""
    letters = [char for char in text if char.isalpha()][:LOOKED_AT]
    return Counter(map(_script, letters))


def latin_letters(text: str) -> bool:
    """Whether most letters are of the Latin script."""
    counts = scripts_of(text)
    return counts["LATIN"] >= ENOUGH * counts.total() > 0


def is_written_in(text: str, language: str, *, by_guess: bool) -> Decision:
    """Whether the text is in that language, as far as its script decides.

    With `by_guess` the published program asks langdetect, whose guesses differ from call to call:
    then only a text of another script is decided, which no guess takes for the language.
    """
    expected = SCRIPTS.get(language)
    if expected is None:
        return Undecided(f"{language!r:.20} is no language code of the benchmarks")
    counts = scripts_of(text)
    total = counts.total()
    if not total:
        return Undecided("the text has no letters") if by_guess else False
    share = _share(counts, expected) / total
    if share < 1 - ENOUGH:
        return False
    if by_guess:
        return Undecided("lm-eval guesses the language with langdetect")
    if expected in _SHARED and share >= ENOUGH:
        return Undecided(f"several languages are written in the {expected.lower()} script")
    return share >= ENOUGH


def _share(counts: Counter[str], script: str) -> int:
    """Letters of the script; Japanese is written in three, Chinese in one of them."""
    japanese = sum(counts[each] for each in _JAPANESE)
    if script == "JAPANESE":
        return japanese + counts["CJK"] if japanese else 0
    if script == "CJK":
        return 0 if japanese * 10 > counts["CJK"] else counts["CJK"]
    return counts[script]
