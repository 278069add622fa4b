"""What sites write beside a button that says too little, and what they say when it is done."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from assay.browser.words.languages import LanguageWords, languages, names_any, plain, shared
from assay.text.word_tables import phrase_pattern

_MONEY: Final = re.compile(
    r"(?:[€$£¥₹₽₩₺]|(?<!\w)(?:eur|usd|gbp|chf|jpy|cny|inr|pln|sek|nok|dkk|czk|try|rub|krw|zł|kr|"
    r"euro|euros|dollars?|pounds?|francs?))\s?\d|\d[\d.,'\s]{0,14}(?:[€$£¥₹₽₩₺円元원]|(?:eur|usd|gbp|chf|jpy"
    r"|cny|inr|pln|sek|nok|dkk|czk|try|rub|krw|zł|kr|tl|руб|euro|euros|dollars?|pounds?|francs?)"
    r"(?!\w))"
)
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def will_bind(text: str) -> bool:
    """Whether a text says that something is lost or paid, or that there is no way back."""
    return _any("will", _folded(text))


def was_done(text: str) -> bool:
    """Whether a text says that something is gone, that money has moved or that all can read it."""
    return _any("done", _folded(text))


def was_sent(text: str) -> bool:
    """Whether a text says that a message has been sent."""
    return _any("sent", _folded(text))


def is_for_answer(name: str) -> bool:
    """Whether a field of this name takes a message to somebody."""
    return _any("answers", _folded(name))


def moves_money(text: str) -> bool:
    """Whether a text has the sum of a payment or a transfer in it."""
    return _MONEY.search(plain(text)) is not None and _any("amounts", _folded(text))


def asks_for_consent(text: str) -> bool:
    """Whether a text asks for a consent to cookies and the like."""
    return names_any(_folded(text), shared().consents)


def _folded(text: str) -> str:
    return f" {' '.join(_WORD.findall(plain(text)))} "


def _any(kind: str, text: str) -> bool:
    return any(_pattern(language, kind).search(text) for language in languages())


@cache
def _pattern(language: LanguageWords, kind: str) -> re.Pattern[str]:
    listed: tuple[str, ...] = getattr(language, kind)
    if not language.spaced:
        return re.compile("|".join(map(re.escape, listed)))
    return re.compile("|".join(f"{phrase_pattern(phrase)}(?= )" for phrase in listed))
