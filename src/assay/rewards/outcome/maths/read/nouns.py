"""The table of nouns that answers may count, and the check of words after a number.

A phrase after a number is one of three things:

- *listed*: all its words are in the tables, with a noun at the end or before `of`. It says what is
  counted and changes nothing.
- *unlisted*: its noun is a plural that the tables do not have. It equals the same phrase, and a
  reference with it is met by the bare number. An answer that adds it to a number is refused, since
  the word might be a verb or a part.
- *unread*: anything else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from assay.rewards.outcome.maths.limits import UnreadableAnswer
from assay.text.word_tables import read_table

LISTED: Final = "noun:"
UNLISTED: Final = "word:"
_WORD: Final = re.compile("[-']*[A-Za-z][-'A-Za-z]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class NounTable:
    """The words of `nouns.toml`."""

    of_mathematics: frozenset[str]
    beings: frozenset[str]
    things: frozenset[str]
    """Things, food, places and events."""
    measures: frozenset[str]
    """Measures that are counted rather than converted."""
    irregular: tuple[str, ...]
    """Plurals that no rule makes, each before its singular."""
    unchanged: frozenset[str]
    """Nouns whose plural is the singular."""
    modifiers: frozenset[str]
    """Words that may stand before a noun, as nouns may."""
    parts: frozenset[str]
    """Words that look like plurals of things and change the number, or say something of it."""
    substances: frozenset[str]
    """Words that may stand after `of`, as nouns in the plural may."""
    trailing: tuple[str, ...]
    """Phrases that may stand after the noun, or after a unit."""


@cache
def read_nouns() -> NounTable:
    """The table of nouns."""
    return read_table(NounTable, "assay.rewards.outcome.maths.read", "nouns.toml")


@cache
def _nouns() -> tuple[frozenset[str], dict[str, str]]:
    """All nouns in the singular, and the singular of each irregular plural."""
    table = read_nouns()
    nouns = table.of_mathematics | table.beings | table.things | table.measures
    return nouns, dict(pair.split() for pair in table.irregular)


def counted_noun(phrase: str, *, one: bool = False) -> str:
    """Return the unit for a counted noun phrase; raise UnreadableAnswer for other phrases.

    The noun is in the plural, unless there is `one`: `5 cube` and `5 maximum` say something else.
    """
    words = [word.strip(".,()") for word in phrase.lower().replace("(s)", "").split()]
    head, _, rest = " ".join(words).partition(" of ")
    if not words or len(words) > 6 or not all(map(_WORD.fullmatch, words)):
        raise UnreadableAnswer(f"{phrase!r} after a value is neither a unit nor a noun")
    if words == ["times"]:
        return f"{LISTED}time"
    counted, _, each = head.partition(" per ")
    if each and not rest and _is_counted(counted) and _is_counted(each, one=True):
        return f"{LISTED}{singular(counted)} per {singular(each)}"
    if _is_counted(head, one=one) and (
        not rest or rest in read_nouns().substances or _is_counted(rest)
    ):
        return LISTED + " ".join(singular(word) for word in words)
    if rest or not _is_plural(words[-1]) or not all(map(_may_stand_before, words[:-1])):
        raise UnreadableAnswer(f"{phrase!r} after a value is neither a unit nor a noun")
    return UNLISTED + " ".join(singular(word) for word in words)


def without_trailing(phrase: str) -> str:
    """Remove words such as `left` or `in total` from the end of the phrase."""
    for words in read_nouns().trailing:
        if phrase == words and words != "old":
            return ""
        phrase = phrase.removesuffix(f" {words}")
    for power, word in (("^2", "square"), ("^3", "cubic")):
        if phrase in (f"units {power}", f"units{power}", f"unit{power}"):
            return f"{word} units"
    return phrase


def singular(word: str) -> str:
    """The singular of an English noun."""
    nouns, irregular = _nouns()
    if word in irregular:
        return irregular[word]
    if word in nouns or not word.endswith("s"):
        return word
    for ending, replacement in (("ies", "y"), ("es", ""), ("s", "")):
        stem = word.removesuffix(ending) + replacement
        if word.endswith(ending) and stem in nouns:
            return stem
    return word[:-1]


def is_listed(word: str) -> bool:
    """Whether the word is the plural of a noun in the table."""
    return _is_counted(word.lower()) if word.isalpha() else False


def is_unlisted(unit: tuple[tuple[str, int], ...]) -> bool:
    """Whether the unit is a noun that is not in the table."""
    return any(name.startswith(UNLISTED) for name, _ in unit)


def same_noun(left: tuple[tuple[str, int], ...], right: tuple[tuple[str, int], ...]) -> bool:
    """Whether two noun phrases count the same thing, such as `apples` and `red apples`."""
    words = [
        frozenset(unit[0][0].removeprefix(LISTED).split())
        for unit in (left, right)
        if len(unit) == 1 and unit[0][0].startswith(LISTED)
    ]
    return len(words) == 2 and (words[0] <= words[1] or words[1] <= words[0])


def _is_counted(phrase: str, *, one: bool = False) -> bool:
    *before, noun = phrase.split()
    known = noun not in read_nouns().parts and singular(noun) in _nouns()[0]
    counted = one or noun in read_nouns().unchanged or singular(noun) != noun
    return known and counted and all(map(_may_stand_before, before))


def _is_plural(word: str) -> bool:
    parts = word in read_nouns().parts or word.endswith(("ths", "ss", "us", "is", "'s"))
    return word.endswith("s") and len(word) > 3 and not parts


def _may_stand_before(word: str) -> bool:
    return word in read_nouns().modifiers or singular(word) in _nouns()[0]
