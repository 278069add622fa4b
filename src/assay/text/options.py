"""Find the option of a multiple-choice question that a response chooses.

The answer is found as in mathematics (a box, a tag, a phrase, a bare answer; what is denied,
doubted, taken back or only thought does not count), and then read as an option. Two options are no
answer.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from unicodedata import normalize

from assay.errors import BadParameter
from assay.schema.values import Unreadable, is_list, is_missing, plain
from assay.text.answers import ExtractionPolicy, find_answer

POLICY = ExtractionPolicy(
    rules=("boxed", "answer_tag", "hash", "phrase", "whole_text", "last_statement")
)
MAX_OPTIONS = 26
LONGEST = 2_000
"""Characters of an answer that is read; no option is longer."""
_LABEL = re.compile(
    r"\s*(?:(?:(?:the\s+)?(?:correct\s+|right\s+|best\s+)?(?:option|choice|answer)\s*(?:is|:)?"
    r"|i\s+(?:choose|chose|pick|select|go\s+with))\s*)?"
    r"[(\[*_$]*(?:\\(?:text|textbf|mathrm|mathbf)\s*\{)?\(?(?P<letter>[A-Za-z]|\d{1,2})"
    r"(?P<close>[\s)\]}*_$.:\-–—]*)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_DELIMITERS = frozenset(")].:-–—")
_WORDS = re.compile(r"\w+")
_OTHER_LABEL = re.compile(r"\b[B-HJ-Z]\b|\b[AI]\b(?:\W|$)(?!\w)|\b(?:or|and|oder|und|ou|et|o|y)\b")
"""A second option behind the first: its letter, unless that is a word, or the word between two."""
_SMALL_LABEL = re.compile(
    r"(?<![\w(\[])[(\[]?[a-h][)\]]|(?:^|\s)[b-h][.:](?=\s|$)|^[a-h](?:\W+[a-h])*$"
)
"""A second option in a small letter: in a bracket, with a mark, or where nothing else follows."""
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"))
LAYOUT = string.whitespace + string.punctuation


class LetteredOption(NamedTuple):
    """One option of a multiple choice: its letter, and its text if known."""

    letter: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class OptionReading:
    """The option that a response chooses, and its position in the response."""

    letter: str
    """Empty where the response chooses none, or several."""
    text: str | None
    """The answer that was read as an option."""
    start: int
    end: int
    because: str


def read_option(response: str, choices: object = None) -> OptionReading:
    """Read the one option that the response chooses.

    `choices` are the options' texts in order, or a mapping from letters to texts; without them only
    a letter can be read. Raises `BadParameter` for choices that are neither.
    """
    options = to_options(choices)
    if isinstance(options, Unreadable):
        raise BadParameter(f"'choices' {options.because}")
    answer = find_answer(response, POLICY)
    if answer.text is None:
        return OptionReading("", None, answer.start, answer.end, answer.because)
    letter = chosen_letter(answer.text, options)
    because = f"{answer.because}; chooses {letter or 'no single option'}"
    return OptionReading(letter, answer.text, answer.start, answer.end, because)


def chosen_letter(span: str, options: Sequence[LetteredOption] = ()) -> str:
    """The letter of the option that an answer names; empty for none or several."""
    if len(span) > LONGEST:
        return ""
    text = normalize("NFKC", span).translate(_INVISIBLE).strip()
    by_text = [option.letter for option in options if option.text and same_words(option.text, text)]
    if len(by_text) == 1:
        # "2" may be the second option, or another one's text.
        is_label = any(option.letter == text for option in options)
        return by_text[0] if not is_label or text in by_text else ""
    match = _LABEL.fullmatch(text)
    if match is None:
        return ""
    letter, close, rest = match["letter"].upper(), match["close"], match["rest"].strip(LAYOUT)
    known = {option.letter: option.text for option in options}
    if letter not in (known or string.ascii_uppercase):
        return ""
    if rest and not _DELIMITERS.intersection(close):
        return ""
    if rest and known.get(letter):
        return letter if same_words(known[letter], rest) else ""
    return "" if _OTHER_LABEL.search(rest) or _SMALL_LABEL.search(rest) else letter


def same_words(one: str, other: str) -> bool:
    """Whether two texts have the same words, and at least one word."""
    return _WORDS.findall(one.casefold()) == _WORDS.findall(other.casefold()) != []


def to_options(choices: object) -> tuple[LetteredOption, ...] | Unreadable:
    """Read the options of a row; empty if the row has none."""
    value = plain(choices)
    if is_missing(value):
        return ()
    if isinstance(value, tuple) and all(isinstance(item, LetteredOption) for item in value):
        return value
    if isinstance(value, Mapping):
        # ARC and MMLU's relatives keep {"label": […], "text": […]}.
        labels: Any = value.get("label")
        texts: Any = value.get("text")
        are_listed = is_list(labels) and is_list(texts)
        pairs = zip(labels, texts, strict=False) if are_listed else value.items()
        options = tuple(
            LetteredOption(str(letter).strip().upper(), str(text)) for letter, text in pairs
        )
    elif is_list(value):
        texts = list(value)
        options = tuple(map(LetteredOption, string.ascii_uppercase, map(str, texts)))
        if len(texts) > MAX_OPTIONS:
            return Unreadable(f"holds {len(texts)} options; {MAX_OPTIONS} have letters")
    else:
        return Unreadable("is neither a list of options nor a mapping from letters to options")
    return options
