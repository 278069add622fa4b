"""The words and TeX commands of `lexicon.toml`; `compute.notations` has the functions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from assay.lazy import package_table
from assay.text.word_tables import phrases, read_table

_TABLE: Final[dict[str, Any]] = package_table(__package__, "lexicon")


def _words(name: str) -> frozenset[str]:
    return frozenset(_TABLE[name].split())


def _by_spelling(name: str) -> dict[str, str]:
    """Map each spelling in a table to the name of its row."""
    rows = map(str.split, phrases(_TABLE[name]))
    return {spelling: key for key, *spellings in rows for spelling in spellings}


def read_patterns(file: str) -> dict[str, re.Pattern[str]]:
    """Compile the patterns of a file; `@name@` inserts an earlier pattern."""
    texts: dict[str, str] = {}
    for name, lines in package_table(__package__, file).items():
        texts[name] = re.sub(r"@(\w+)@", lambda part: texts[part[1]], "".join(lines))
    return {name: re.compile(text) for name, text in texts.items()}


GREEK: Final = _words("greek")
GREEK_WORDS: Final = _words("greek_words")
RELATIONS: Final = _by_spelling("relations")
PARTS_OF_LINE: Final = _by_spelling("parts_of_line")
SPACES: Final = _words("spaces")
DECORATIONS: Final = _words("decorations")
FONTS: Final = _words("fonts")
OPERATOR_NAMES: Final = _words("operator_names")
FIGURES: Final = _by_spelling("figures")
UNREAD: Final = _words("unread")
EATEN: Final = tuple(_TABLE["eaten"].split())
FRACTIONS: Final = _words("fractions")
TIMES: Final = _words("times")
MATRICES: Final = _words("matrices")
SYSTEMS: Final = _words("systems")
TEXT_COMMANDS: Final = "|".join(_TABLE["text_commands"].split())
COMMANDS: Final[dict[str, Any]] = _TABLE["commands"]
LONE_SIGNS: Final[dict[str, Any]] = _TABLE["lone_signs"]
SEPARATOR_WORDS: Final = frozenset(_TABLE["separator_words"])
MULTIPLIERS: Final[dict[str, int]] = _TABLE["multipliers"]
SMALL_NUMBERS: Final = {word: n for n, word in enumerate(_TABLE["small_numbers"].split())}
TENS: Final = {word: 10 * n for n, word in enumerate(_TABLE["tens"].split(), 2)}
BASES: Final[dict[str, int]] = {
    **{word: value for word, value in {**SMALL_NUMBERS, **TENS}.items() if 2 <= value <= 20},
    **_TABLE["bases"],
}


def is_ordinal(digits: str, suffix: str) -> bool:
    """Whether the suffix fits the number, as in 1st, 2nd, 3rd, 11th and 22nd."""
    endings = {} if digits[-2:-1] == "1" else {"1": "st", "2": "nd", "3": "rd"}
    return digits.isdigit() and suffix == endings.get(digits[-1:], "th")


@dataclass(frozen=True, slots=True, kw_only=True)
class SynonymTable:
    """The phrases of `synonyms.toml`."""

    synonyms: dict[str, tuple[str, ...]]
    """By a phrase, those that say the same, in lower case and without an article."""


@cache
def synonyms() -> dict[str, str]:
    """Map each phrase to the first phrase of its row of synonyms."""
    table = read_table(SynonymTable, "assay.rewards.outcome.maths.read", "synonyms.toml")
    return {phrase: meaning for meaning, row in table.synonyms.items() for phrase in row}
