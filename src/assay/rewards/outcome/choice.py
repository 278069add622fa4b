"""`choice_reward`: whether the response chooses the right option.

The answer is found as in mathematics (a box, a tag, a phrase, a bare answer; what is denied,
doubted, taken back or only thought does not count), and then read as an option: its letter, alone
or with the option's text, or that text. Two options are no answer.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from unicodedata import normalize

from assay.registry import reward
from assay.schema.score import Abstained, Scored
from assay.schema.values import (
    Unreadable,
    is_list,
    is_missing,
    plain,
    read_references,
    read_response,
)
from assay.text.answers import ExtractionPolicy, extract

PARTS = ("acc",)
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
_MARKS = string.whitespace + string.punctuation


class Option(NamedTuple):
    """One option: its letter, and its words where they are known."""

    letter: str
    text: str = ""


@reward(name="choice_reward", version=1, parts=PARTS)
def choice_reward(
    final_response: str | None, answer: object, choices: object = None
) -> Scored | Abstained:
    """1.0 when the response chooses the option of the reference and no other, else 0.0.

    `answer` is the letter of the option (`B`, `(b)`), its number in `choices` from 0 on, as data
    sets keep it, or its text; several references are alternatives. `choices`, if the row has them,
    are the options' texts in order, or a mapping from letters to texts: then an answer may give the
    text, and one whose letter and text disagree is wrong.
    """
    options = _options(choices)
    if isinstance(options, Unreadable):
        return Abstained("bad_reference", f"'choices' {options.because}", PARTS)
    references = read_references(answer)
    if isinstance(references, Unreadable):
        return Abstained("bad_reference", f"'answer' {references.because}", PARTS)
    if not references:
        return Abstained("missing_reference", f"the reference is {answer!r:.80}", PARTS)
    letters = [_reference_letter(reference, options) for reference in references]
    if "" in letters:
        because = f"the reference {answer!r:.80} is the letter, number or text of no option"
        return Abstained("unparseable_reference", because, PARTS)
    response = read_response(final_response)
    if isinstance(response, Unreadable):
        return Abstained("bad_response", f"'final_response' {response.because}", PARTS)
    extracted = extract(response or "", POLICY)
    if extracted.span is None:
        return Scored(0.0, extracted.because, {"acc": 0.0})
    chosen = read_choice(extracted.span, options)
    value = float(bool(chosen) and chosen in letters)
    because = f"chooses {chosen or 'no single option'}; the reference is {' or '.join(letters)}"
    return Scored(value, f"{extracted.because}; {because}", {"acc": value})


def read_choice(span: str, options: Sequence[Option] = ()) -> str:
    """The letter of the one option that an answer names; empty if it names none or several."""
    if len(span) > LONGEST:
        return ""
    text = normalize("NFKC", span).translate(_INVISIBLE).strip()
    by_text = [option.letter for option in options if option.text and _same(option.text, text)]
    if len(by_text) == 1:
        # "2" may be the second option, or another one's text.
        is_label = any(option.letter == text for option in options)
        return by_text[0] if not is_label or text in by_text else ""
    match = _LABEL.fullmatch(text)
    if match is None:
        return ""
    letter, close, rest = match["letter"].upper(), match["close"], match["rest"].strip(_MARKS)
    known = {option.letter: option.text for option in options}
    if letter not in (known or string.ascii_uppercase):
        return ""
    if rest and not _DELIMITERS.intersection(close):
        return ""
    if rest and known.get(letter):
        return letter if _same(known[letter], rest) else ""
    return "" if _OTHER_LABEL.search(rest) or _SMALL_LABEL.search(rest) else letter


def _same(one: str, other: str) -> bool:
    return _WORDS.findall(one.casefold()) == _WORDS.findall(other.casefold()) != []


def _options(choices: object) -> tuple[Option, ...] | Unreadable:
    value = plain(choices)
    if is_missing(value):
        return ()
    if isinstance(value, Mapping):
        # ARC and MMLU's relatives keep {"label": […], "text": […]}.
        labels: Any = value.get("label")
        texts: Any = value.get("text")
        pairs = (
            zip(labels, texts, strict=False)
            if is_list(labels) and is_list(texts)
            else value.items()
        )
        options = tuple(Option(str(letter).strip().upper(), str(text)) for letter, text in pairs)
    elif is_list(value):
        texts = list(value)
        options = tuple(map(Option, string.ascii_uppercase, map(str, texts)))
        if len(texts) > MAX_OPTIONS:
            return Unreadable(f"holds {len(texts)} options; {MAX_OPTIONS} have letters")
    else:
        return Unreadable("is neither a list of options nor a mapping from letters to options")
    return options


def _reference_letter(reference: object, options: Sequence[Option]) -> str:
    """The letter that the reference stands for; empty if it stands for none."""
    if isinstance(reference, int) and not isinstance(reference, bool):
        return options[reference].letter if 0 <= reference < len(options) else ""
    text = str(reference)
    by_text = [option.letter for option in options if _same(option.text, text)]
    bare = text.strip(_MARKS).upper()
    letters = [option.letter for option in options] or list(string.ascii_uppercase)
    if bare in letters:
        return bare
    return by_text[0] if len(by_text) == 1 else ""
