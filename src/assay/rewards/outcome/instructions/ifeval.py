"""The 25 instructions of IFEval (Zhou et al., 2311.07911), as lm-eval's programs check them.

Lines, words and marks are searched for in one pass each: an answer of a million brackets takes as
long as one of a million letters. Languages are told apart by their scripts, without statistics, so
that the same text always gets the same answer: a script that one of the benchmarks' languages has
to itself decides; between languages of one script nothing is decided.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import Final

from assay.rewards.outcome.instructions.check import Relation, Texts, Undecided, checks, compares
from assay.text.words import WORD, WORDS, has_word, sentences, tokens

CONSTRAINED: Final = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_FENCES: Final = ("```json", "```Json", "```JSON", "```")
_PATTERN_MARKS: Final = frozenset("\\^$*+?.()[]{}|")
_COMMAS: Final = re.compile("[,，、،]")
_QUOTES: Final = {'"': '"', "“": "”", "„": "“", "«": "»", "”": "”"}
_FIRST_WORD_END: Final = frozenset(".,?!'\"")
_LONG_WORD: Final = 8
"""No abbreviation has so many letters, so a full stop behind one ends a sentence."""
_SENTENCE_END: Final = re.compile(r"[.?!](?=\s|$|[)\";}\]*:@'({\[!?])")
_CAPITAL_WORD: Final = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_SPACED: Final = re.compile(r"\S+")
_STARS: Final = re.compile(r"\s?\*\*\*\s?")
_BULLET: Final = re.compile(r"[ \t]*[*\-+•][ \t]+\S")
_HIGHLIGHT: Final = re.compile(r"\*[^\n*]*\*")
_STRONG: Final = re.compile(r"\*\*[^\n*]*\*\*")
ENOUGH: Final = 0.7
"""The share of the letters that decides the script; names and terms of other scripts may be among
them."""
LOOKED_AT: Final = 20_000
"""Letters that are looked at."""


def _pattern(word: str, *, fixed: bool, bounded: bool = False) -> re.Pattern[str]:
    """The pattern of a word. Raises `Undecided` for published regular expressions."""
    if fixed:
        return re.compile(rf"(?<!\w){re.escape(word.strip())}(?!\w)", re.IGNORECASE)
    if _PATTERN_MARKS.intersection(word):
        raise _as_pattern(word)
    bound = r"\b" if bounded else ""
    return re.compile(f"{bound}{re.escape(word)}{bound}", re.IGNORECASE)


def _as_pattern(word: str) -> Undecided:
    return Undecided(f"{word!r:.60} is searched for as a regular expression by lm-eval")


def _plain_first(words: Texts) -> list[str]:
    """Sort the words so that those that may be undecided come last."""
    return sorted(words, key=lambda word: not _PATTERN_MARKS.isdisjoint(word))


def _keywords(text: str, keywords: Texts, *, fixed: bool) -> bool:
    """In fixed mode, a keyword only matches a whole word, and is not a regular expression."""
    return all(_pattern(word, fixed=fixed).search(text) for word in _plain_first(keywords))


def _keyword_frequency(
    text: str, keyword: str, frequency: int, relation: Relation, *, fixed: bool
) -> bool:
    """In fixed mode, a keyword only matches a whole word, and is not a regular expression."""
    pattern = _pattern(keyword.strip(), fixed=fixed)
    return compares(len(pattern.findall(text)), relation, frequency)


def _forbidden_words(text: str, forbidden_words: Texts, *, fixed: bool) -> bool:
    """In fixed mode, C++ is found as a word, and a forbidden word is not a regular expression."""
    words = _plain_first(forbidden_words)
    return not any(_pattern(word, fixed=fixed, bounded=True).search(text) for word in words)


def _letter_frequency(text: str, letter: str, let_frequency: int, let_relation: Relation) -> bool:
    letter = letter.strip().lower()
    if len(letter) != 1 or not "a" <= letter <= "z":
        raise Undecided(f"{letter!r:.20} is not a letter from a to z; lm-eval draws one at random")
    return compares(text.lower().count(letter), let_relation, let_frequency)


@lru_cache(maxsize=8_192)
def _script(char: str) -> str:
    return unicodedata.name(char, "UNKNOWN").partition(" ")[0]


def scripts_of(text: str) -> Counter[str]:
    """The number of letters of each script, such as Latin or Cyrillic."""
    letters = [char for char in text if char.isalpha()][:LOOKED_AT]
    return Counter(map(_script, letters))


def _language(text: str, language: str, *, fixed: bool) -> bool:
    """In fixed mode, the script decides; languages that share a script stay undecided."""
    # The published program asks langdetect, whose guesses differ from call to call: only a text of
    # another script is decided, which no guess takes for the language.
    script = next((name for name, codes in WORDS.scripts.items() if language in codes), None)
    if script is None:
        raise Undecided(f"{language!r:.20} is not a language code of the benchmarks")
    counts = scripts_of(text)
    total = counts.total()
    if not total:
        if fixed:
            return False
        raise Undecided("the text has no letters")
    # Japanese is written in three scripts, Chinese in one of them.
    letters, japanese = counts[script], counts["HIRAGANA"] + counts["KATAKANA"]
    if script == "JAPANESE":
        letters = japanese + counts["CJK"] if japanese else 0
    elif script == "CJK" and japanese * 10 > letters:
        letters = 0
    if letters / total < 1 - ENOUGH:
        return False
    if not fixed:
        raise _guessed()
    is_shared = len(WORDS.scripts[script]) > 1 and script != "CJK"
    if is_shared and letters / total >= ENOUGH:
        raise Undecided(f"several languages are written in the {script.lower()} script")
    return letters / total >= ENOUGH


def _guessed() -> Undecided:
    return Undecided("lm-eval guesses the language with langdetect")


def _is_latin(text: str, *, fixed: bool) -> bool:
    """Whether most letters are Latin. Raises `Undecided` if the mode is published."""
    if not fixed:
        raise _guessed()
    counts = scripts_of(text)
    return counts["LATIN"] >= ENOUGH * counts.total() > 0


def _capitals(text: str, *, fixed: bool) -> bool:
    """In fixed mode, most letters must be Latin; the language itself is not guessed."""
    return text.isupper() and _is_latin(text, fixed=fixed)


def _small_letters(text: str, *, fixed: bool) -> bool:
    """In fixed mode, most letters must be Latin; the language itself is not guessed."""
    return text.islower() and _is_latin(text, fixed=fixed)


def _capital_words(
    text: str, capital_frequency: int, capital_relation: Relation, *, fixed: bool
) -> bool:
    """In fixed mode, a contraction is one word, and the words I and A do not count."""
    words = _CAPITAL_WORD.findall(text) if fixed else tokens(text)
    count = sum(word.isupper() and not (fixed and word in ("I", "A")) for word in words)
    return compares(count, capital_relation, capital_frequency)


def _number_of_words(text: str, num_words: int, relation: Relation, *, fixed: bool) -> bool:
    """In fixed mode, only spaces separate words, so well-known counts as one word."""
    words: Iterable[object] = WORD.finditer(text)
    if fixed:
        words = (match for match in _SPACED.finditer(text) if has_word(match.group()))
    # No more are counted, since more decide nothing else.
    return compares(sum(1 for _ in islice(words, num_words)), relation, num_words)


def _number_of_sentences(text: str, num_sentences: int, relation: Relation, *, fixed: bool) -> bool:
    """In fixed mode, sentences are split by the benchmarks' shared rule, not by punkt."""
    if fixed:
        return compares(sum(map(has_word, sentences(text))), relation, num_sentences)
    # By the fewest and the most sentences that punkt can see; undecided if they disagree.
    places = [match.start() for match in _SENTENCE_END.finditer(text.rstrip())]
    certain = sum(
        text[at] != "." or (at >= _LONG_WORD and text[at - _LONG_WORD : at].isalpha())
        for at in places[:-1]
    )
    fewest = compares(max(1, certain), relation, num_sentences)
    if fewest is compares(len(places) + 1, relation, num_sentences):
        return fewest
    raise Undecided("lm-eval counts sentences with punkt, whose data Assay does not include")


def _number_of_paragraphs(text: str, num_paragraphs: int) -> bool:
    filled = [bool(paragraph.strip()) for paragraph in _STARS.split(text)]
    return all(filled[1:-1]) and sum(filled) == num_paragraphs and filled != [False]


def _first_word(
    text: str, num_paragraphs: int, nth_paragraph: int, first_word: str, *, fixed: bool
) -> bool:
    """In fixed mode, empty paragraphs do not count when the nth paragraph is looked up."""
    if not fixed and not 1 <= nth_paragraph <= num_paragraphs:
        raise Undecided("lm-eval replaces a paragraph number that is too high at random")
    paragraphs = [each for each in text.split("\n\n") if each.strip() or not fixed]
    count = sum(bool(paragraph.strip()) for paragraph in paragraphs)
    if not 1 <= nth_paragraph <= count or not paragraphs[nth_paragraph - 1].strip():
        return False
    word = paragraphs[nth_paragraph - 1].split()[0].lstrip("'").lstrip('"')
    end = next((at for at, char in enumerate(word) if char in _FIRST_WORD_END), len(word))
    return word[:end].lower() == first_word.lower() and count == num_paragraphs


def _number_of_placeholders(text: str, num_placeholders: int, *, fixed: bool) -> bool:
    """In fixed mode, empty brackets and the text of a link are not placeholders."""
    count = 0
    for line in text.split("\n"):
        end = 0
        while (start := line.find("[", end)) >= 0 and (end := line.find("]", start) + 1):
            is_link = line.startswith("(", end)
            count += not fixed or (bool(line[start + 1 : end - 1].strip()) and not is_link)
    return count >= num_placeholders


def _postscript(text: str, postscript_marker: str, *, fixed: bool) -> bool:
    """In fixed mode, the postscript starts a line, and text follows its marker."""
    marker = postscript_marker.strip()
    if fixed:
        beginning = re.escape(marker.rstrip(".").lower())
        pattern = re.compile(rf"[\W_]{{0,20}}{beginning}[.:]?(?P<rest>.*)", re.DOTALL)
        lines = text.lower().split("\n")
        for number, line in enumerate(lines):
            match = pattern.match(line[:200])
            if match is not None:
                return has_word(match["rest"] + line[200:] + "".join(lines[number + 1 :]))
        return False
    patterns = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}
    if marker not in patterns and _PATTERN_MARKS.intersection(marker.replace(".", "")):
        raise _as_pattern(marker)
    published = patterns.get(marker) or marker.lower().replace(".", "[^\n]")
    return re.search(published, text.lower()) is not None


def _number_of_bullets(text: str, num_bullets: int, *, fixed: bool) -> bool:
    """In fixed mode, a bullet is a mark, a space and text; --- and bold text do not count."""
    lines = text.split("\n")
    if fixed:
        return sum(_BULLET.match(line) is not None for line in lines) == num_bullets
    # As the published expressions count lines that begin with a star or a hyphen.
    count = sum(line.lstrip().startswith("-") for line in lines)
    rest = iter(lines)
    for line in map(str.lstrip, rest):
        if line.startswith("*") and line[1:2] != "*":
            # Where a line ends behind the star, the mark behind it is the line's end, so the next
            # line belongs to it.
            count += len(line) > 1 or next(rest, None) is not None
    return count == num_bullets


def _constrained(text: str, *, fixed: bool) -> bool:
    """In fixed mode, exactly one of the three allowed answers must appear."""
    count = sum(option in text for option in CONSTRAINED)
    return count == 1 if fixed else count > 0


def _number_of_highlights(text: str, num_highlights: int) -> bool:
    spans = [*_HIGHLIGHT.findall(text), *_STRONG.findall(text)]
    return sum(bool(span.strip("*").strip()) for span in spans) >= num_highlights


def _number_of_sections(text: str, section_spliter: str, num_sections: int, *, fixed: bool) -> bool:
    """In fixed mode, each section title starts a line and has a different number."""
    marker = section_spliter.strip()
    if fixed:
        heading = re.compile(rf"[\W_]{{0,20}}{re.escape(marker)}\s?(?P<number>\d+|[IVXLC]+\b)")
        matches = map(heading.match, (line[:200] for line in text.split("\n")))
        return len({match["number"] for match in matches if match is not None}) >= num_sections
    if _PATTERN_MARKS.intersection(marker):
        raise _as_pattern(marker)
    return len(re.findall(rf"{re.escape(marker)}\s?\d+", text)) >= num_sections


def _is_json(text: str, *, fixed: bool) -> bool:
    """In fixed mode, the JSON must be an object or a list, not a bare number or word."""
    body = text.strip()
    for fence in _FENCES:
        body = body.removeprefix(fence)
    try:
        value = json.loads(body.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict | list) or not fixed


def _title(text: str) -> bool:
    for line in text.split("\n"):
        start, end = line.find("<<"), line.rfind(">>")
        is_closed = start >= 0 and end >= start + 3
        if is_closed and line[start : end + 2].lstrip("<").rstrip(">").strip():
            return True
    return False


def _two_responses(text: str) -> bool:
    responses = text.split("******")
    if any(not response.strip() for response in responses[1:-1]):
        return False
    filled = [response.strip() for response in responses if response.strip()]
    return len(filled) == 2 and filled[0] != filled[1]


def _repeats_prompt(text: str, prompt_to_repeat: str, *, fixed: bool) -> bool:
    """In fixed mode, text must follow the repeated prompt."""
    prompt, response = prompt_to_repeat.strip().lower(), text.strip().lower()
    return response.startswith(prompt) and (not fixed or has_word(response[len(prompt) :]))


def _ends_with(text: str, end_phrase: str) -> bool:
    return text.strip().strip('"').lower().endswith(end_phrase.strip().lower())


def _is_quoted(text: str, *, fixed: bool) -> bool:
    """In fixed mode, curly quotation marks and guillemets count; the quotation needs words."""
    stripped = text.strip()
    if not fixed:
        return len(stripped) > 1 and stripped[0] == stripped[-1] == '"'
    closing = _QUOTES.get(stripped[:1])
    return closing is not None and stripped[-1:] == closing and has_word(stripped[1:-1])


def _no_comma(text: str, *, fixed: bool) -> bool:
    """In fixed mode, Chinese, Japanese and Arabic commas also count as commas."""
    return _COMMAS.search(text) is None if fixed else "," not in text


CHECKS: Final = {
    **checks("keywords", existence=_keywords, frequency=_keyword_frequency),
    **checks("keywords", forbidden_words=_forbidden_words, letter_frequency=_letter_frequency),
    **checks("language", response_language=_language),
    **checks("length_constraints", number_sentences=_number_of_sentences),
    **checks("length_constraints", number_paragraphs=_number_of_paragraphs),
    **checks("length_constraints", number_words=_number_of_words),
    **checks("length_constraints", nth_paragraph_first_word=_first_word),
    **checks("detectable_content", number_placeholders=_number_of_placeholders),
    **checks("detectable_content", postscript=_postscript),
    **checks("detectable_format", number_bullet_lists=_number_of_bullets),
    **checks("detectable_format", constrained_response=_constrained),
    **checks("detectable_format", number_highlighted_sections=_number_of_highlights),
    **checks("detectable_format", multiple_sections=_number_of_sections, json_format=_is_json),
    **checks("detectable_format", title=_title),
    **checks("combination", two_responses=_two_responses, repeat_prompt=_repeats_prompt),
    **checks("startend", end_checker=_ends_with, quotation=_is_quoted),
    **checks("change_case", capital_word_frequency=_capital_words, english_capital=_capitals),
    **checks("change_case", english_lowercase=_small_letters),
    **checks("punctuation", no_comma=_no_comma),
}
