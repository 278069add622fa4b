"""Answers that are words or choice letters, compared by what they say rather than how."""

from __future__ import annotations

import re
from typing import Final

from assay.rewards.outcome.maths.lexicon import FUNCTIONS, GREEK, TEXT_COMMANDS

_TEXT_COMMAND: Final = re.compile(rf"\\(?:{TEXT_COMMANDS})\s*(?=\{{)")
_LAYOUT: Final = re.compile(r"\\[,;:! ]|\\(?:quad|qquad|left|right)(?![A-Za-z])|[~${}*\"]")
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_PLAIN: Final = re.compile(r"[\w\s,.'\-()%:;/?!&]+")
_ARTICLE: Final = re.compile(r"^(?:the|an|a)\s+")
_EDGES: Final = " \t\r\n.,;:!?'()"
_CHOICE: Final = re.compile(r"\(?([A-J])\)?[.):]?")
_SIZES: Final = re.compile(r"\\(?:left|right|displaystyle|limits)(?![A-Za-z])|\\[,;:! ]|[${}]")
_GAP: Final = re.compile(r"(?<!\w)\s+|\s+(?!\w)")
_KNOWN: Final = frozenset(name.lower() for name in (*FUNCTIONS, *GREEK))


def plain(text: str) -> str:
    """The words in one spelling: no markup, one case, single spaces, no article before."""
    text = _LAYOUT.sub(" ", _TEXT_COMMAND.sub(" ", text))
    text = " ".join(text.casefold().split()).strip(_EDGES)
    return _ARTICLE.sub("", text)


def is_words(text: str) -> bool:
    """Whether a plain text is language, not formulas: a real word and no mathematical sign."""
    if _PLAIN.fullmatch(text) is None:
        return False
    return any(word not in _KNOWN for word in _WORD.findall(text))


def is_prose(text: str) -> bool:
    """Whether the text is too long for a different wording to be called wrong."""
    return len(text.split()) > 8


def choice(text: str) -> str | None:
    """The option letter that is all of the text, in upper case."""
    match = _CHOICE.fullmatch(plain(text).upper().strip())
    return None if match is None else match[1]


def is_choice(text: str) -> bool:
    """Whether a reference is an option letter: a capital from A to J, perhaps in parentheses."""
    bare = _LAYOUT.sub(" ", _TEXT_COMMAND.sub(" ", text)).strip()
    return _CHOICE.fullmatch(bare) is not None


def skeleton(text: str) -> str:
    """The text without layout: sizes, delimiters, and spaces that separate no words."""
    text = _SIZES.sub(" ", text).replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac")
    return _GAP.sub("", text)
