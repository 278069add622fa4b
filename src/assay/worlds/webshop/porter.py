"""Porter's stemmer, with the author's two later changes, as in Lucene.

The changes are `bli -> ble` (for `abli -> able`) and the additional `logi -> log`; words of one
or two letters stay as they are. (M. F. Porter, "An algorithm for suffix stripping", 1980.)
"""

from __future__ import annotations

from functools import lru_cache


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Split `"ational:ate tional:tion"` into pairs of a suffix and its replacement."""
    return tuple((suffix, end) for suffix, _, end in (word.partition(":") for word in text.split()))


_STEP_2 = _pairs(
    "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e "
    "ousli:ous ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous "
    "aliti:al iviti:ive biliti:ble logi:log"
)
_STEP_3 = _pairs("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:")
_STEP_4 = ("al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize").split()


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the stem of a lower-case word."""
    if len(word) <= 2:
        return word
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(word, _STEP_2)
    word = _replace(word, _STEP_3)
    return _final_e(_residue(word))


def _shape(stem_: str) -> str:
    """Return `v` (vowel) or `c` (consonant) for each letter; `y` after a consonant is a vowel."""
    shape = ""
    for letter in stem_:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(stem_: str) -> int:
    """Count how often vowels are followed by consonants."""
    return _shape(stem_).count("vc")


def _has_vowel(stem_: str) -> bool:
    return "v" in _shape(stem_)


def _double_consonant(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _short(word: str) -> bool:
    """Whether the word ends in consonant, vowel and a consonant other than w, x or y."""
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"


def _plural(word: str) -> str:
    if not word.endswith("s"):
        return word
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word if word.endswith("ss") else word[:-1]


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return _repair(base) if _has_vowel(base) else word
    return word


def _repair(base: str) -> str:
    """Return a word whose `-ed` or `-ing` was removed, with its ending repaired."""
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if _double_consonant(base):
        return base if base[-1] in "lsz" else base[:-1]
    if _measure(base) == 1 and _short(base):
        return base + "e"
    return base


def _replace(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    for suffix, replacement in rules:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base + replacement if _measure(base) > 0 else word
    return word


def _residue(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            if suffix == "ion" and not base.endswith(("s", "t")):
                return word
            return base if _measure(base) > 1 else word
    return word


def _final_e(word: str) -> str:
    if word.endswith("e"):
        base = word[:-1]
        measure = _measure(base)
        if measure > 1 or (measure == 1 and not _short(base)):
            word = base
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word
