"""Answers that are words or choice letters, compared by what they say rather than how."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from assay.rewards.outcome.maths.lexicon import FUNCTIONS, GREEK, TEXT_COMMANDS

_TEXT_COMMAND: Final = re.compile(rf"\\(?:{TEXT_COMMANDS})\s*(?=\{{)")
_LAYOUT: Final = re.compile(r"\\[,;:! ]|\\(?:quad|qquad|left|right)(?![A-Za-z])|[~${}*\"]")
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_PLAIN: Final = re.compile(r"[\w\s,.'\-()%:;/?!&]+")
_FUNCTION_RUN: Final = re.compile(
    r"\d(?:sin|cos|tan|log|ln|sqrt)|(?<![a-z])(?:sin|cos|tan|log|ln|sqrt)\w*/|/\w(?!\w)"
)
"""Formulas in plain text that would pass for words, such as `2sinxcosx` and `sinx/x`."""
_ARTICLE: Final = re.compile(r"^(?:the|an|a)\s+")
_EDGES: Final = " \t\r\n.,;:!?'()"
_CHOICE: Final = re.compile(r"\(? ?([A-J]) ?\)?[.):]?")
_OPTION: Final = re.compile(
    r"(?:(?:option|choice|answer)\s*:?\s*)?\(?([A-J])(?:\)?[.:]|\))(?:\s+(.+))?"
    r"|(?:option|choice|answer)\s*:?\s+\(?([A-J])\)?",
    re.IGNORECASE,
)
_ANOTHER_OPTION: Final = re.compile(r"\b(?:[A-J]|not|wrong|incorrect|or|isn't)\b")
_CHOICES: Final = re.compile(r"(?:\(?[A-J]\)?(?:[,; ]| and )*){2,10}")
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
    if _PLAIN.fullmatch(text) is None or _FUNCTION_RUN.search(text):
        return False
    return any(word not in _KNOWN for word in _WORD.findall(text))


def is_prose(text: str) -> bool:
    """Whether the text is too long for a different wording to be called wrong."""
    return len(text.split()) > 8


class Option(NamedTuple):
    letter: str
    content: str
    """What the option says, if it is written out."""


def option(text: str, *, any_case: bool = False) -> Option | None:
    """An option letter, alone or with what it stands for: `B`, `(B)`, `B. 12`, `Option B`.

    Not if the rest names another letter or takes this one back.
    """
    bare = _without_markup(text)
    letter = _CHOICE.fullmatch(bare.upper() if any_case else bare)
    if letter is not None:
        return Option(letter[1], "")
    match = _OPTION.fullmatch(bare)
    if match is None or not (match[1] or match[3]).isupper():
        return None
    content = match[2] or ""
    if _ANOTHER_OPTION.search(content):
        return None
    return Option(match[1] or match[3], content)


def choices(text: str) -> frozenset[str] | None:
    """The option letters of a list of at least two, with or without separators."""
    bare = _without_markup(text)
    if _CHOICES.fullmatch(bare) is None:
        return None
    return frozenset(letter for letter in bare if "A" <= letter <= "J")


def _without_markup(text: str) -> str:
    return " ".join(_LAYOUT.sub(" ", _TEXT_COMMAND.sub(" ", text)).split())


def skeleton(text: str) -> str:
    """The text without layout: sizes, delimiters, and spaces that separate no words."""
    text = _SIZES.sub(" ", text).replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac")
    return _GAP.sub("", text)
