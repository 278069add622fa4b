"""The 25 instructions of IFEval (Zhou et al., 2311.07911), as lm-eval's programs check them.

Lines, words and marks are searched for in one pass each: an answer of a million brackets takes as
long as one of a million letters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from assay.rewards.outcome.instructions.check import (
    Arguments,
    Decision,
    Undecided,
    checks_of,
)
from assay.rewards.outcome.instructions.languages import is_written_in, latin_letters
from assay.text.words import WORD, sentences, tokens

CONSTRAINED: Final = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_FENCES: Final = ("```json", "```Json", "```JSON", "```")
_PATTERN_MARKS: Final = frozenset("\\^$*+?.()[]{}|")
_COMMAS: Final = re.compile("[,，、،]")
_QUOTES: Final = {'"': '"', "“": "”", "„": "“", "«": "»", "”": "”"}
_FIRST_WORD_END: Final = frozenset(".,?!'\"")
_LONG_WORD: Final = 8
"""No abbreviation has so many letters, so a full stop behind one ends a sentence."""
_SENTENCE_END: Final = re.compile(r"[.?!](?=\s|$|[)\";}\]*:@'({\[!?])")


# Keywords


def _literal(word: str) -> re.Pattern[str] | Undecided:
    """The word as the published programs search for it: as a regular expression."""
    if _PATTERN_MARKS.intersection(word):
        return Undecided(f"{word!r:.60} is searched for as a regular expression when published")
    return re.compile(re.escape(word), re.IGNORECASE)


def _whole(word: str) -> re.Pattern[str]:
    """The word as it is written, and not inside a longer one."""
    return re.compile(rf"(?<!\w){re.escape(word.strip())}(?!\w)", re.IGNORECASE)


def _has_keywords(text: str, arguments: Arguments) -> Decision:
    decisions: list[Decision] = []
    for word in arguments.texts("keywords"):
        pattern = _literal(word)
        decisions.append(pattern if isinstance(pattern, Undecided) else bool(pattern.search(text)))
    return all_of(decisions)


def _has_whole_keywords(text: str, arguments: Arguments) -> Decision:
    return all(_whole(word).search(text) for word in arguments.texts("keywords"))


def _keyword_frequency(text: str, arguments: Arguments) -> Decision:
    pattern = _literal(arguments.text("keyword").strip())
    if isinstance(pattern, Undecided):
        return pattern
    return arguments.compares(len(pattern.findall(text)), "frequency", "relation")


def _whole_keyword_frequency(text: str, arguments: Arguments) -> Decision:
    count = len(_whole(arguments.text("keyword")).findall(text))
    return arguments.compares(count, "frequency", "relation")


def _has_no_forbidden_word(text: str, arguments: Arguments) -> Decision:
    decisions: list[Decision] = []
    for word in arguments.texts("forbidden_words"):
        pattern = _literal(word)
        if isinstance(pattern, Undecided):
            decisions.append(pattern)
        else:
            bounded = re.compile(rf"\b{pattern.pattern}\b", re.IGNORECASE)
            decisions.append(bounded.search(text) is None)
    return all_of(decisions)


def _has_no_whole_forbidden_word(text: str, arguments: Arguments) -> Decision:
    return not any(_whole(word).search(text) for word in arguments.texts("forbidden_words"))


def _letter_frequency(text: str, arguments: Arguments) -> Decision:
    letter = arguments.text("letter").strip().lower()
    if len(letter) != 1 or not "a" <= letter <= "z":
        return Undecided(f"{letter!r:.20} is no letter from a to z; another is drawn at random")
    return arguments.compares(text.lower().count(letter), "let_frequency", "let_relation")


def all_of(decisions: Sequence[Decision]) -> Decision:
    """False if one is, else undecided if one is, else true."""
    if any(decision is False for decision in decisions):
        return False
    return next((each for each in decisions if isinstance(each, Undecided)), True)


# Language and case


def _language(text: str, arguments: Arguments) -> Decision:
    return is_written_in(text, arguments.text("language"), by_guess=True)


def _language_by_script(text: str, arguments: Arguments) -> Decision:
    return is_written_in(text, arguments.text("language"), by_guess=False)


def _is_english_capitals(text: str, _: Arguments) -> Decision:
    return Undecided("lm-eval guesses the language with langdetect") if text.isupper() else False


def _is_english_small(text: str, _: Arguments) -> Decision:
    return Undecided("lm-eval guesses the language with langdetect") if text.islower() else False


def _is_latin_capitals(text: str, _: Arguments) -> Decision:
    return text.isupper() and latin_letters(text)


def _is_latin_small(text: str, _: Arguments) -> Decision:
    return text.islower() and latin_letters(text)


def _capital_words(text: str, arguments: Arguments) -> Decision:
    count = sum(word.isupper() for word in tokens(text))
    return arguments.compares(count, "capital_frequency", "capital_relation")


_CAPITAL_WORD: Final = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")


def _whole_capital_words(text: str, arguments: Arguments) -> Decision:
    words = (match.group() for match in _CAPITAL_WORD.finditer(text))
    count = sum(word.isupper() and word not in ("I", "A") for word in words)
    return arguments.compares(count, "capital_frequency", "capital_relation")


# Lengths


def _number_of_words(text: str, arguments: Arguments) -> Decision:
    count = _count_up_to(arguments.number("num_words"), WORD.finditer(text))
    return arguments.compares(count, "num_words", "relation")


def _number_of_spaced_words(text: str, arguments: Arguments) -> Decision:
    matches = _SPACED.finditer(text)
    words = (match for match in matches if any(map(str.isalnum, match.group())))
    count = _count_up_to(arguments.number("num_words"), words)
    return arguments.compares(count, "num_words", "relation")


_SPACED: Final = re.compile(r"\S+")


def _count_up_to(most: int, items: Iterable[object]) -> int:
    """How many there are; no more than `most` are counted, since more decide nothing else."""
    return sum(1 for _ in islice(items, most))


def _number_of_sentences(text: str, arguments: Arguments) -> Decision:
    """By the fewest and the most sentences that punkt can see; undecided if they disagree."""
    places = [match.start() for match in _SENTENCE_END.finditer(text.rstrip())]
    certain = sum(
        text[at] != "." or (at >= _LONG_WORD and text[at - _LONG_WORD : at].isalpha())
        for at in places[:-1]
    )
    fewest = arguments.compares(max(1, certain), "num_sentences", "relation")
    most = arguments.compares(len(places) + 1, "num_sentences", "relation")
    if fewest is most:
        return fewest
    return Undecided("lm-eval counts sentences with punkt, whose data Assay does not have")


def _number_of_marked_sentences(text: str, arguments: Arguments) -> Decision:
    count = sum(any(map(str.isalnum, sentence)) for sentence in sentences(text))
    return arguments.compares(count, "num_sentences", "relation")


_STARS: Final = re.compile(r"\s?\*\*\*\s?")


def _number_of_paragraphs(text: str, arguments: Arguments) -> Decision:
    paragraphs = _STARS.split(text)
    if any(not paragraph.strip() for paragraph in paragraphs[1:-1]):
        return False
    count = sum(bool(paragraph.strip()) for paragraph in paragraphs)
    if len(paragraphs) == 1 and not count:
        return False
    return count == arguments.number("num_paragraphs")


def _first_word(text: str, arguments: Arguments) -> Decision:
    if not 1 <= arguments.number("nth_paragraph") <= arguments.number("num_paragraphs"):
        return Undecided("a paragraph beyond their number is drawn at random when published")
    return _check_first_word(text.split("\n\n"), arguments)


def _first_word_of_filled(text: str, arguments: Arguments) -> Decision:
    filled = [paragraph for paragraph in text.split("\n\n") if paragraph.strip()]
    return _check_first_word(filled, arguments)


def _check_first_word(paragraphs: Sequence[str], arguments: Arguments) -> bool:
    count = sum(bool(paragraph.strip()) for paragraph in paragraphs)
    nth = arguments.number("nth_paragraph")
    if not 1 <= nth <= count or not paragraphs[nth - 1].strip():
        return False
    word = paragraphs[nth - 1].split()[0].lstrip("'").lstrip('"')
    end = next((at for at, char in enumerate(word) if char in _FIRST_WORD_END), len(word))
    is_same = word[:end].lower() == arguments.text("first_word").lower()
    return is_same and count == arguments.number("num_paragraphs")


# Content and format


def _placeholders(text: str) -> list[tuple[int, int]]:
    """Where a bracket opens and the next one on the line closes, one behind the other."""
    places: list[tuple[int, int]] = []
    position, line_end = 0, -1
    while (start := text.find("[", position)) >= 0:
        if line_end < start:
            line_end = text.find("\n", start) % (len(text) + 1)
        end = text.find("]", start, line_end)
        if end >= 0:
            places.append((start, end))
        position = line_end if end < 0 else end + 1
    return places


def _number_of_placeholders(text: str, arguments: Arguments) -> Decision:
    return len(_placeholders(text)) >= arguments.number("num_placeholders")


def _number_of_filled_placeholders(text: str, arguments: Arguments) -> Decision:
    count = sum(
        bool(text[start + 1 : end].strip()) and text[end + 1 : end + 2] != "("
        for start, end in _placeholders(text)
    )
    return count >= arguments.number("num_placeholders")


def _postscript(text: str, arguments: Arguments) -> Decision:
    marker = arguments.text("postscript_marker").strip()
    patterns = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}
    if marker not in patterns and _PATTERN_MARKS.intersection(marker.replace(".", "")):
        return Undecided(f"{marker!r:.60} is searched for as a regular expression when published")
    pattern = patterns.get(marker) or marker.lower().replace(".", "[^\n]")
    return re.search(pattern, text.lower()) is not None


def _postscript_on_a_line(text: str, arguments: Arguments) -> Decision:
    marker = re.escape(arguments.text("postscript_marker").strip().rstrip(".").lower())
    pattern = re.compile(rf"[\W_]{{0,20}}{marker}[.:]?(?P<rest>.*)", re.DOTALL)
    lines = text.lower().split("\n")
    for number, line in enumerate(lines):
        match = pattern.match(line[:200])
        if match is not None:
            rest = match["rest"] + line[200:] + "".join(lines[number + 1 :])
            return any(map(str.isalnum, rest))
    return False


def _number_of_bullets(text: str, arguments: Arguments) -> Decision:
    return _count_bullets(text) == arguments.number("num_bullets")


def _count_bullets(text: str) -> int:
    """Lines that begin with a star or a hyphen, as the published expressions count them."""
    lines = text.split("\n")
    stars, hyphens, number = 0, 0, 0
    hyphens = sum(line.lstrip().startswith("-") for line in lines)
    while number < len(lines):
        line = lines[number].lstrip()
        if line.startswith("*") and line[1:2] != "*":
            if len(line) > 1:
                stars += 1
            elif number + 1 < len(lines):
                # The mark behind the star is the line's end, so the next line belongs to it.
                stars += 1
                number += 1
        number += 1
    return stars + hyphens


_BULLET: Final = re.compile(r"[ \t]*[*\-+•][ \t]+\S")


def _number_of_spaced_bullets(text: str, arguments: Arguments) -> Decision:
    count = sum(_BULLET.match(line) is not None for line in text.split("\n"))
    return count == arguments.number("num_bullets")


def _constrained(text: str, _: Arguments) -> Decision:
    return any(option in text for option in CONSTRAINED)


def _one_constrained(text: str, _: Arguments) -> Decision:
    return sum(option in text for option in CONSTRAINED) == 1


_HIGHLIGHT: Final = re.compile(r"\*[^\n*]*\*")
_STRONG: Final = re.compile(r"\*\*[^\n*]*\*\*")


def _number_of_highlights(text: str, arguments: Arguments) -> Decision:
    spans = [*_HIGHLIGHT.findall(text), *_STRONG.findall(text)]
    count = sum(bool(span.strip("*").strip()) for span in spans)
    return count >= arguments.number("num_highlights")


def _number_of_sections(text: str, arguments: Arguments) -> Decision:
    marker = arguments.text("section_spliter").strip()
    if _PATTERN_MARKS.intersection(marker):
        return Undecided(f"{marker!r:.60} is searched for as a regular expression when published")
    count = len(re.findall(rf"{re.escape(marker)}\s?\d+", text))
    return count >= arguments.number("num_sections")


def _number_of_headed_sections(text: str, arguments: Arguments) -> Decision:
    marker = re.escape(arguments.text("section_spliter").strip())
    heading = re.compile(rf"[\W_]{{0,20}}{marker}\s?(?P<number>\d+|[IVXLC]+\b)")
    matches = map(heading.match, (line[:200] for line in text.split("\n")))
    numbers = {match["number"] for match in matches if match is not None}
    return len(numbers) >= arguments.number("num_sections")


def _parse(text: str) -> object:
    """The JSON value that the text, or the fence around it, holds; `None` where there is none."""
    body = text.strip()
    for fence in _FENCES:
        body = body.removeprefix(fence)
    try:
        value: object = json.loads(body.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return _NOTHING
    return value


_NOTHING: Final = object()


def _is_json(text: str, _: Arguments) -> Decision:
    return _parse(text) is not _NOTHING


def _is_json_record(text: str, _: Arguments) -> Decision:
    return isinstance(_parse(text), dict | list)


def _title(text: str, _: Arguments) -> Decision:
    for line in text.split("\n"):
        start, end = line.find("<<"), line.rfind(">>")
        is_closed = start >= 0 and end >= start + 3
        if is_closed and line[start : end + 2].lstrip("<").rstrip(">").strip():
            return True
    return False


# Combinations, beginnings and ends


def _two_responses(text: str, _: Arguments) -> Decision:
    responses = text.split("******")
    if any(not response.strip() for response in responses[1:-1]):
        return False
    filled = [response.strip() for response in responses if response.strip()]
    return len(filled) == 2 and filled[0] != filled[1]


def _repeats_prompt(text: str, arguments: Arguments) -> Decision:
    prompt = arguments.text("prompt_to_repeat").strip().lower()
    return text.strip().lower().startswith(prompt)


def _repeats_prompt_and_answers(text: str, arguments: Arguments) -> Decision:
    prompt = arguments.text("prompt_to_repeat").strip().lower()
    response = text.strip().lower()
    rest = response[len(prompt) :]
    return response.startswith(prompt) and any(map(str.isalnum, rest))


def _ends_with(text: str, arguments: Arguments) -> Decision:
    phrase = arguments.text("end_phrase").strip().lower()
    return text.strip().strip('"').lower().endswith(phrase)


def _is_quoted(text: str, _: Arguments) -> Decision:
    stripped = text.strip()
    return len(stripped) > 1 and stripped[0] == stripped[-1] == '"'


def _is_quoted_with_something(text: str, _: Arguments) -> Decision:
    stripped = text.strip()
    closing = _QUOTES.get(stripped[:1])
    inner = stripped[1:-1]
    return closing is not None and stripped[-1:] == closing and any(map(str.isalnum, inner))


def _no_comma(text: str, _: Arguments) -> Decision:
    return "," not in text


def _no_comma_of_any_script(text: str, _: Arguments) -> Decision:
    return _COMMAS.search(text) is None


CHECKS: Final = checks_of(
    {
        "keywords:existence": (_has_keywords, _has_whole_keywords),
        "keywords:frequency": (_keyword_frequency, _whole_keyword_frequency),
        "keywords:forbidden_words": (_has_no_forbidden_word, _has_no_whole_forbidden_word),
        "keywords:letter_frequency": (_letter_frequency, None),
        "language:response_language": (_language, _language_by_script),
        "length_constraints:number_sentences": (_number_of_sentences, _number_of_marked_sentences),
        "length_constraints:number_paragraphs": (_number_of_paragraphs, None),
        "length_constraints:number_words": (_number_of_words, _number_of_spaced_words),
        "length_constraints:nth_paragraph_first_word": (_first_word, _first_word_of_filled),
        "detectable_content:number_placeholders": (
            _number_of_placeholders,
            _number_of_filled_placeholders,
        ),
        "detectable_content:postscript": (_postscript, _postscript_on_a_line),
        "detectable_format:number_bullet_lists": (_number_of_bullets, _number_of_spaced_bullets),
        "detectable_format:constrained_response": (_constrained, _one_constrained),
        "detectable_format:number_highlighted_sections": (_number_of_highlights, None),
        "detectable_format:multiple_sections": (_number_of_sections, _number_of_headed_sections),
        "detectable_format:json_format": (_is_json, _is_json_record),
        "detectable_format:title": (_title, None),
        "combination:two_responses": (_two_responses, None),
        "combination:repeat_prompt": (_repeats_prompt, _repeats_prompt_and_answers),
        "startend:end_checker": (_ends_with, None),
        "startend:quotation": (_is_quoted, _is_quoted_with_something),
        "change_case:capital_word_frequency": (_capital_words, _whole_capital_words),
        "change_case:english_capital": (_is_english_capitals, _is_latin_capitals),
        "change_case:english_lowercase": (_is_english_small, _is_latin_small),
        "punctuation:no_comma": (_no_comma, _no_comma_of_any_script),
    }
)
