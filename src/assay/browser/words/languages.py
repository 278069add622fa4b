"""The words of sites on buttons and in notices, from one file for each language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from assay.text.word_tables import phrase_pattern, read_table

ROOM: Final = "assay.browser.words"
CODES: Final = (
    "en", "de", "fr", "es", "pt", "it", "nl", "ru", "zh", "ja", "ko", "ar", "pl", "sv", "tr"
)  # fmt: skip
_KANA_MARKS: Final = "\u3099\u309a"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LanguageWords:
    """The words of one language for buttons, their consequences and notices."""

    name: str
    code: str
    spaced: bool = True
    """Whether phrases are compared as whole words; not without spaces, or with glued endings."""

    buys: tuple[str, ...]
    """Spends money, or binds to it: cannot be taken back."""
    destroys: tuple[str, ...]
    sends: tuple[str, ...]
    """Gives something to others or to the site."""
    publishes: tuple[str, ...]
    """Shows something to everybody, or sends it to many at once."""
    harmless_first: tuple[str, ...]
    """A name that begins so does nothing of what follows: "Don't delete", "How to pay"."""
    things: tuple[str, ...]
    """Objects that are only a view of the page: "Remove filter", "Delete search"."""
    nouns: tuple[str, ...]
    """A name that ends so is a place or a topic, if its risky word can be a noun."""
    confirms: tuple[str, ...]
    """What stands on a button that does what its dialog asks about."""
    commits: tuple[str, ...]
    """What stands on a button that binds, where the text around it says so."""
    binds: tuple[str, ...]
    """What says so: that money moves, or that there is no way back."""

    will: tuple[str, ...]
    """What will happen: stands around a button that only says yes."""
    done: tuple[str, ...]
    """What has happened: something is gone, money has moved, others can read it."""
    sent: tuple[str, ...]
    """A message has reached a person."""
    answers: tuple[str, ...]
    """Names of fields in which a message to a person is written."""
    amounts: tuple[str, ...]
    """What stands before the sum that a transfer or a payment is about."""

    missing: tuple[str, ...]
    """What was asked for is not there. This and the next are how a notice begins."""
    broken: tuple[str, ...]
    """What was asked for cannot be shown, because something is out of order."""
    failed: tuple[str, ...]
    """It did not work; read only where the page marks a message as one."""
    limited: tuple[str, ...]
    """Too much was asked for, or too many are asking."""
    robot: tuple[str, ...]
    """The visitor has to show that they are no program."""
    login: tuple[str, ...]
    denied: tuple[str, ...]
    gate: tuple[str, ...]
    """Something else has to be done before: pay, confirm an address, enter a code."""
    fillers: tuple[str, ...]
    """What a notice begins with and what says nothing by itself."""
    harmless: tuple[str, ...]
    """What only sounds like a failure: "no errors"."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SharedWords:
    """Lists of words of all languages together."""

    noun_too: frozenset[str]
    """Risky words that also stand in names of places and topics: "Purchase history"."""
    compounds: tuple[str, ...]
    """Phrases in which a risky word means something else."""
    logins: tuple[str, ...]
    """Words on what leads to a login, for one who wants to get there."""
    removes: tuple[str, ...]
    """Words that say that something leaves a place, and not that it ceases to be."""
    lists: tuple[str, ...]
    """Lists of things that are not lost when they leave it."""
    going_on: tuple[str, ...]
    """Answers that lead on to the next page, and often mean only that."""
    bins: tuple[str, ...]
    """Names of places for what is to be thrown away."""
    looks: tuple[str, ...]
    """Beginnings of names that only promise something to read."""
    posts: frozenset[str]
    """Whole names of buttons that show what was written to others, once it is sent."""
    drafts: frozenset[str]
    """Words of a message that is not sent yet."""
    consents: tuple[str, ...]
    """A window that speaks of these asks for a consent, whatever rights it explains."""
    neutral: frozenset[str]
    """What a notice may begin with, and any other text as well."""


def plain(text: str) -> str:
    """The text in lower case without accents; kana keep their marks."""
    folded = unicodedata.normalize("NFKD", text.casefold().replace("’", "'"))
    bare = "".join(
        letter for letter in folded if not unicodedata.combining(letter) or letter in _KANA_MARKS
    )
    return unicodedata.normalize("NFC", bare)


def names_any(text: str, phrases: Iterable[str]) -> bool:
    """Whether a plain text contains one of the phrases."""
    return any(f" {each} " in text if each.isascii() else each in text for each in phrases)


@cache
def languages() -> tuple[LanguageWords, ...]:
    """The words of every language in `CODES`."""
    return tuple(read_table(LanguageWords, ROOM, f"{code}.toml", fold=plain) for code in CODES)


@cache
def phrases_in(language: LanguageWords, kind: str) -> re.Pattern[str]:
    """A pattern that finds the phrases of one list anywhere in a plain text."""
    listed: tuple[str, ...] = getattr(language, kind)
    if not language.spaced:
        return re.compile("|".join(map(re.escape, listed)))
    return re.compile("|".join(f"{phrase_pattern(phrase)}(?= )" for phrase in listed))


@cache
def shared() -> SharedWords:
    """The lists of words of all languages together."""
    return read_table(SharedWords, ROOM, "shared.toml", fold=plain)
