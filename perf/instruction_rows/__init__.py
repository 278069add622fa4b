"""Rows for IFEval's checks: arguments as the benchmark has them, and awkward responses to them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, Final

RELATIONS: Final = ("less than", "at least")
WORDS: Final = (
    "the river and a mill don't IT'S well-known NASA Cannot 1,000 3.14 Dr. Smith e.g. U.S. etc. "
    "... quick KEYWORD keyword Keywords Lamp lamp's (lamp) \"lamp\" 'tis gonna I A P.S. P.P.S "
    "Section 1 Section 2 SECTION 3 *bold* **strong** *** ****** [name] [address] [] [two words] "
    '<< Title >> <<>> * - -- `code` été 北京 “quoted” ‘single’ — : ; ? ! , . {"a": 1} ```json '
    "``` - item * item"
).split(" ")
ENDS: Final = (". ", "? ", "! ", "\n", "\n\n", "\n* ", "\n- ", " ", " *** ", " ", ", ", ".\n\n")
WHOLE: Final = (
    '{"a": [1, 2]}', "```json\n{}\n```", "[1]", "4", "NaN", '"hello"', "My answer is yes.",
    "I think My answer is no. My answer is yes.", "ALL CAPITALS HERE", "all small here", "один",
    "a ****** b", "****** a ****** b ******", "a ****** ****** b", "a ****** a", " ", "", "\n",
    "x *** y *** z", "*** x *** y", "x ***  *** y", "*", "*\n* a", "* a\n** b\n*", "-",
    "<<a>> <<>>", "[\n]", "[[a]", "one\n\n\n\ntwo", "\"Hi\" he said.\n\n'second paragraph\n\nthird",
)  # fmt: skip


def text(rng: random.Random) -> str:
    """A response of awkward words, lines and marks, or one of the whole ones."""
    if rng.random() < 0.15:
        return rng.choice(WHOLE)
    pieces = [
        rng.choice(WORDS) + rng.choice((" ", " ", " ", " ", rng.choice(ENDS)))
        for _ in range(rng.choice((1, 3, 8, 20, 60)))
    ]
    response = "".join(pieces)
    return rng.choice((str, str, str, str.upper, str.lower))(response)


def _count(rng: random.Random, most: int = 6) -> int:
    return rng.randint(1, most)


ARGUMENTS: Final[dict[str, Callable[[random.Random], dict[str, Any]]]] = {
    "keywords:existence": lambda rng: {
        "keywords": rng.choices(("lamp", "river", "key word", "mill"), k=2)
    },
    "keywords:frequency": lambda rng: {
        "keyword": rng.choice(("lamp", "keyword", " the ")),
        "frequency": _count(rng, 3),
        "relation": rng.choice(RELATIONS),
    },
    "keywords:forbidden_words": lambda rng: {
        "forbidden_words": rng.choices(("lamp", "river", "quick", "zebra"), k=2)
    },
    "keywords:letter_frequency": lambda rng: {
        "letter": rng.choice("aelzQ"),
        "let_frequency": _count(rng, 20),
        "let_relation": rng.choice(RELATIONS),
    },
    "language:response_language": lambda rng: {"language": rng.choice(("ko", "ru", "en", "th"))},
    "length_constraints:number_sentences": lambda rng: {
        "num_sentences": _count(rng, 10),
        "relation": rng.choice(RELATIONS),
    },
    "length_constraints:number_paragraphs": lambda rng: {"num_paragraphs": _count(rng, 3)},
    "length_constraints:number_words": lambda rng: {
        "num_words": _count(rng, 40),
        "relation": rng.choice(RELATIONS),
    },
    "length_constraints:nth_paragraph_first_word": lambda rng: {
        "num_paragraphs": _count(rng, 3),
        "nth_paragraph": _count(rng, 3),
        "first_word": rng.choice(("the", "lamp", "two", "second", "Hi")),
    },
    "detectable_content:number_placeholders": lambda rng: {"num_placeholders": _count(rng, 3)},
    "detectable_content:postscript": lambda rng: {
        "postscript_marker": rng.choice(("P.S.", "P.P.S", "NB"))
    },
    "detectable_format:number_bullet_lists": lambda rng: {"num_bullets": _count(rng, 4)},
    "detectable_format:constrained_response": lambda _: {},
    "detectable_format:number_highlighted_sections": lambda rng: {"num_highlights": _count(rng, 3)},
    "detectable_format:multiple_sections": lambda rng: {
        "section_spliter": rng.choice(("Section", "SECTION")),
        "num_sections": _count(rng, 3),
    },
    "detectable_format:json_format": lambda _: {},
    "detectable_format:title": lambda _: {},
    "combination:two_responses": lambda _: {},
    "combination:repeat_prompt": lambda rng: {"prompt_to_repeat": rng.choice(("the river", "all"))},
    "startend:end_checker": lambda rng: {"end_phrase": rng.choice(("lamp", "item", "."))},
    "startend:quotation": lambda _: {},
    "change_case:capital_word_frequency": lambda rng: {
        "capital_frequency": _count(rng, 8),
        "capital_relation": rng.choice(RELATIONS),
    },
    "change_case:english_capital": lambda _: {},
    "change_case:english_lowercase": lambda _: {},
    "punctuation:no_comma": lambda _: {},
}
"""By instruction: arguments of the kinds that the benchmark has."""


def make_rows(rng: random.Random, count: int) -> Iterator[dict[str, Any]]:
    """Rows of an id, its arguments and a response; every instruction in turn."""
    ids = list(ARGUMENTS)
    for number in range(count):
        id_ = ids[number % len(ids)]
        yield {"id": id_, "kwargs": ARGUMENTS[id_](rng), "response": text(rng)}
