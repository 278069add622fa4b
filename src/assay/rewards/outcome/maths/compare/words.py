"""Comparison of answers in words, of choice letters, and of numbers in words."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from assay.lazy import package_table
from assay.rewards.outcome.maths.compare.comparison import AnswerComparer
from assay.rewards.outcome.maths.compute.notations import SPELLINGS
from assay.rewards.outcome.maths.limits import UnreadableAnswer
from assay.rewards.outcome.maths.nodes import Node, Text
from assay.rewards.outcome.maths.read.lexicon import (
    GREEK,
    MULTIPLIERS,
    SMALL_NUMBERS,
    TENS,
    TEXT_COMMANDS,
    is_ordinal,
    synonyms,
)
from assay.rewards.outcome.maths.read.nouns import LISTED, counted_noun

_TEXT_COMMAND: Final = re.compile(rf"\\(?:{TEXT_COMMANDS})\s*(?=\{{)")
_LAYOUT: Final = re.compile(r"\\[,;:! ]|\\(?:quad|qquad|left|right)(?![A-Za-z])|[~${}*\"]")
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_PLAIN: Final = re.compile(r"[\w\s,.'\-()%:;/?!&]+")
_FUNCTION_RUN: Final = re.compile(
    r"\d(?:sin|cos|tan|log|ln|sqrt)|(?<![a-z])(?:sin|cos|tan|log|ln|sqrt)\w*/|/\w(?!\w)"
)
"""Formulas in plain text that would pass for words, such as `2sinxcosx` and `sinx/x`."""
_ARTICLE: Final = re.compile(r"^(?:(?:the )?answer is |it is |it's )?(?:(?:the|an|a)\s+)?")
_EDGES: Final = " \t\r\n.,;:!?'()"
_CHOICE: Final = re.compile(r"\(? ?([A-J]) ?\)?[.):]?")
_OPTION: Final = re.compile(
    r"(?:(?:option|choice|answer)\s*:?\s*)?\(?([A-J])(?:\)?[.:]|\))(?:\s+(.+))?"
    r"|(?:option|choice|answer)\s*:?\s+\(?([A-J])\)?",
    re.IGNORECASE,
)
_ANOTHER_OPTION: Final = re.compile(r"\b(?:[A-J]|not|wrong|incorrect|or|isn't)\b")
_CHOICES: Final = re.compile(r"(?:\(?[A-J]\)?(?:[,; ]| and )*){2,10}")
_SELECTION: Final = re.compile("[A-J]{2,6}")
_LISTED_LETTERS: Final = re.compile(r"\(?[A-J]\)?(?:\s*(?:[,;]|and|, and)\s*\(?[A-J]\)?){1,5}")
_SIZES: Final = re.compile(r"\\(?:left|right|displaystyle|limits)(?![A-Za-z])|\\[,;:! ]|[${}]")
_GAP: Final = re.compile(r"(?<!\w)\s+|\s+(?!\w)")
_KNOWN: Final = frozenset(name.lower() for name in (*SPELLINGS, *GREEK))

_TABLE: Final[dict[str, Any]] = package_table(__package__, "words")
_ORDINALS: Final = {
    **{word: n for n, word in enumerate(_TABLE["ordinals"].split(), 1)},
    **{word[:-1] + "ieth": value for word, value in TENS.items()},
    "hundredth": 100,
}
_ORDINAL_FIGURES: Final = re.compile(r"(\d{1,3}(?:,\d{3})+|\d{1,12})(st|nd|rd|th)(?: (\w+))?")
_PLACES: Final = (None, "day", "place", "position")
_SCALES: Final = {word: MULTIPLIERS[word] for word in ("thousand", "million", "billion")}
_PARTS: Final[dict[str, int]] = {
    **_TABLE["parts"],
    **{f"{word}{end}": n for word, n in _ORDINALS.items() if n >= 3 for end in ("", "s")},
}
_SETS: Final[dict[str, str]] = _TABLE["sets"]
_CLOCK: Final = re.compile(r"(\d{1,2})(?::(\d{2}))?\s*([ap])\.?\s?m\.?", re.IGNORECASE)
_BARE_CLOCK: Final = re.compile(r"(\d{1,2}):(\d{2})")
_LONGEST: Final = 80


def plain(text: str) -> str:
    """Normalize a phrase: lower case, no markup, no article, one of several synonyms."""
    words = _ARTICLE.sub("", _without_markup(text).casefold().strip(_EDGES))
    return synonyms().get(words, words)


def same_words(prediction: Node, reference: Node, _comparison: AnswerComparer) -> str | None:
    """Return the rule by which two phrases are equal, or None."""
    if isinstance(prediction, Text) and isinstance(reference, Text):
        return "text" if plain(prediction.words) == plain(reference.words) else None
    return None


def is_words(text: str) -> bool:
    """Whether a text is words of a language and not a formula."""
    if _PLAIN.fullmatch(text) is None or _FUNCTION_RUN.search(text):
        return False
    return text == "no" or any(word not in _KNOWN for word in _WORD.findall(text))


def is_prose(text: str) -> bool:
    """Whether the text is so long that another wording may be right."""
    return len(text.split()) > 8


class ChoiceOption(NamedTuple):
    """A multiple-choice option: its letter and its text."""

    letter: str
    content: str
    """The text of the option, if it is written out."""


def option(text: str, *, any_case: bool = False) -> ChoiceOption | None:
    """Read a multiple-choice option such as `B`, `(B)`, `B. 12` or `Option B`.

    Not if the rest names another letter or takes this one back.
    """
    bare = _without_markup(text)
    letter = _CHOICE.fullmatch(bare.upper() if any_case else bare)
    if letter is not None:
        return ChoiceOption(letter[1], "")
    match = _OPTION.fullmatch(bare)
    if match is None or not (match[1] or match[3]).isupper():
        return None
    content = match[2] or ""
    if _ANOTHER_OPTION.search(content):
        return None
    return ChoiceOption(match[1] or match[3], content)


def choices(text: str) -> frozenset[str] | None:
    """The letters of a list of at least two options, such as `A, C` or `AC`."""
    bare = _without_markup(text)
    if _CHOICES.fullmatch(bare) is None:
        return None
    return frozenset(letter for letter in bare if "A" <= letter <= "J")


def is_selection(reference: str, prediction: str) -> bool:
    """Whether the reference is options such as `ACD` and the prediction lists letters."""
    letters = _without_markup(reference)
    if not _SELECTION.fullmatch(letters) or sorted(set(letters)) != list(letters):
        return False
    return _LISTED_LETTERS.fullmatch(_without_markup(prediction)) is not None


def _without_markup(text: str) -> str:
    return " ".join(_LAYOUT.sub(" ", _TEXT_COMMAND.sub(" ", text)).split())


def skeleton(text: str) -> str:
    """The text without TeX sizes, delimiters and unnecessary spaces."""
    text = _SIZES.sub(" ", text).replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac")
    return _GAP.sub("", text)


def in_figures(text: str) -> str | None:
    """Write a number or set in words, such as `forty-two`, as a formula, or return None."""
    if len(text) > _LONGEST or not any(char.isalpha() for char in text):
        return None
    words = plain(text)
    if words in _SETS:
        return _SETS[words]
    ordinal = _ordinal(words) if _PART_OF_ONE.match(_without_markup(text)) is None else None
    if ordinal is not None:
        return str(ordinal)
    parts = words.replace("-", " ").replace(" and ", " ").split()
    sign = "-" if parts and parts[0] in ("minus", "negative") else ""
    parts = parts[1:] if sign else parts
    if parts[:1] == ["half"] and parts[1:] in (["dozen"], ["a", "dozen"]):
        return "6"
    if parts[-2:] == ["a", "half"] and _whole(parts[:-2]) is not None:
        return f"{sign}{2 * (_whole(parts[:-2]) or 0) + 1}/2"
    if parts and parts[-1] in _PARTS:
        top = _whole(parts[:-1]) if parts[:-1] not in ([], ["a"]) else 1
        return None if top is None else f"{sign}{top}/{_PARTS[parts[-1]]}"
    if sign and len(parts) == 1 and parts[0].replace(".", "").isdecimal():
        return f"-{parts[0]}"
    for end in range(len(parts), 0, -1):
        value = _whole(parts[:end])
        if value is not None and _is_counted(parts[end:]):
            return f"{sign}{value}"
    return None


_PART_OF_ONE: Final = re.compile(r"\s*(?:a|an|one)\s", re.IGNORECASE)
"""The words that turn an ordinal into a part: a third is 1/3, and the third is a place."""


def _ordinal(words: str) -> int | None:
    """The number of an ordinal such as `fifth`, `12th` or `4th day`, or None."""
    figures = _ORDINAL_FIGURES.fullmatch(words)
    if figures is not None:
        digits = figures[1].replace(",", "")
        fits = is_ordinal(digits, figures[2]) and figures[3] in _PLACES
        return int(digits) if fits else None
    parts = words.replace("-", " ").split()
    if not parts or parts[-1] not in _ORDINALS or len(parts) > 4:
        return None
    last = _ORDINALS[parts[-1]]
    if len(parts) == 1:
        return last
    tens = _whole(parts[:-1])
    return tens + last if tens is not None and tens % 10 == 0 and last < 10 and tens else None


def _is_counted(words: list[str]) -> bool:
    """Whether the words after a number are empty or a counted noun."""
    try:
        return not words or counted_noun(" ".join(words)).startswith(LISTED)
    except UnreadableAnswer:
        return False


def _whole(words: list[str]) -> int | None:
    """The integer that the words spell, or None."""
    if not words:
        return None
    words = words[1:] if words[0] == "a" else words
    if words[:1] in (["hundred"], ["thousand"], ["million"], ["billion"], ["dozen"]):
        words = ["one", *words]
    if words[1:] == ["dozen"] and words[0] in SMALL_NUMBERS:
        return 12 * SMALL_NUMBERS[words[0]]
    total, current, last = 0, 0, 10**12
    for word in words:
        if (
            word in SMALL_NUMBERS
            and current % 10 == 0
            and (current % 100 == 0 or SMALL_NUMBERS[word] < 10)
        ):
            current += SMALL_NUMBERS[word]
        elif word in TENS and current % 100 == 0:
            current += TENS[word]
        elif word == "hundred" and 0 < current < 20 and current != 10:
            current *= 100
        elif word in _SCALES and current and _SCALES[word] < last:
            last = _SCALES[word]
            total, current = total + current * last, 0
        else:
            return None
    return total + current


def same_time(left: str, right: str) -> bool | None:
    """Whether two times of day are equal, or None if neither has a.m. or p.m."""
    phrases = plain(left), plain(right)
    times, expected = map(_times, phrases)
    if not times or not expected or not any(map(_CLOCK.fullmatch, phrases)):
        return None
    return bool(times & expected)


def _times(text: str) -> frozenset[int]:
    """The possible times of day of the text, in minutes after midnight."""
    clock = _CLOCK.fullmatch(text)
    time = clock or _BARE_CLOCK.fullmatch(text)
    if time is None:
        return frozenset()
    hour, minute = int(time[1]), int(time[2] or "0")
    if clock is None:
        hours = {hour % 12, hour % 12 + 12} if hour <= 12 else {hour}
    else:
        hours = {hour % 12 + 12 * (clock[3].lower() == "p")} if hour <= 12 else set()
    return frozenset(h * 60 + minute for h in hours if minute < 60)
