"""Instructions are checked as published and as they read, always alike, and never for nothing."""

from __future__ import annotations

import json
import random
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import assay
from assay.errors import BadParameter
from assay.rewards.outcome.instructions.check import Mode, Undecided
from assay.rewards.outcome.instructions.reward import CHECKS
from assay.text.words import is_emoji, sentences, tokens
from perf.instruction_rows import ARGUMENTS, make_rows

PAGE = (Path(__file__).parents[3] / "docs" / "rewards.md").read_text()
ALL_ARGUMENTS: dict[str, Any] = {
    "keywords": ["lamp"], "keyword": "lamp", "frequency": 2, "relation": "at least",
    "forbidden_words": ["zebra"], "letter": "a", "let_frequency": 2, "let_relation": "less than",
    "language": "ko", "num_sentences": 3, "num_paragraphs": 2, "num_words": 3, "nth_paragraph": 1,
    "first_word": "a", "num_placeholders": 2, "postscript_marker": "P.S.", "num_bullets": 3,
    "num_highlights": 3, "section_spliter": "Section", "num_sections": 2, "end_phrase": "a",
    "prompt_to_repeat": "a b c", "capital_frequency": 3, "capital_relation": "less than",
    "min_words": 1, "max_words": 5, "N": 3, "percentage": 50, "small_n": 3, "word": "a",
    "reference_text": "abc def", "keyword1": "a", "keyword2": "b", "keyword3": "c",
    "keyword4": "d", "keyword5": "e", "n": 2, "m": 3, "n_start": 1, "n_end": 2,
    "options": "yes/no", "sep": "...",
}  # fmt: skip
Case = tuple[str, dict[str, Any], str, bool | None, bool | None]


def decide(id_: str, arguments: dict[str, Any], response: str, mode: str, **more: Any) -> Any:
    score = assay.score(
        "instructions_reward",
        params={"mode": mode, **more},
        final_response=response,
        instructions=[{"id": id_, "kwargs": arguments}],
    )
    return None if score.abstained else bool(float(score))


CASES: list[Case] = [
    # instruction, arguments, response, as published, as it reads (None: undecided)
    ("keywords:existence", {"keywords": ["art"]}, "a smart start", True, False),
    ("keywords:existence", {"keywords": ["C++"]}, "I like C++.", None, True),
    ("keywords:frequency", {"keyword": "art", "frequency": 1, "relation": "less than"},
     "smart", False, True),
    ("keywords:forbidden_words", {"forbidden_words": ["art"]}, "smart", True, True),
    ("keywords:forbidden_words", {"forbidden_words": ["art"]}, "Art!", False, False),
    ("keywords:letter_frequency", {"letter": "!", "let_frequency": 1, "let_relation": "at least"},
     "a!", None, None),
    ("language:response_language", {"language": "ko"}, "안녕하세요 여러분", None, True),
    ("language:response_language", {"language": "ko"}, "hello everybody", False, False),
    ("language:response_language", {"language": "fr"}, "bonjour", None, None),
    ("language:response_language", {"language": "ja"}, "これは日本語です", None, True),
    ("length_constraints:number_sentences", {"num_sentences": 2, "relation": "at least"},
     "Dr. Berg is in. He waits.", None, True),
    ("length_constraints:number_sentences", {"num_sentences": 9, "relation": "at least"},
     "One. Two.", False, False),
    ("length_constraints:number_words", {"num_words": 3, "relation": "at least"},
     "don't panic", True, False),
    ("length_constraints:nth_paragraph_first_word",
     {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "then"},
     "First.\n\n\n\nThen.", False, True),
    ("length_constraints:nth_paragraph_first_word",
     {"num_paragraphs": 1, "nth_paragraph": 2, "first_word": "then"}, "Then.", None, False),
    ("detectable_content:number_placeholders", {"num_placeholders": 1}, "[text](url)", True, False),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "See p.s. above", True, False),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "Hi.\nP.S. Bye", True, True),
    ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "---", True, False),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "* a\n* b", True, True),
    ("detectable_format:constrained_response", {}, "My answer is yes. My answer is no.",
     True, False),
    ("detectable_format:multiple_sections", {"section_spliter": "Section", "num_sections": 2},
     "As Section 1 says, Section 1 is first.", True, False),
    ("detectable_format:json_format", {}, "4", True, False),
    ("detectable_format:json_format", {}, '```json\n{"a": 1}\n```', True, True),
    ("detectable_format:json_format", {}, "[" * 100_000, False, False),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Say hi."}, "say hi.", True, False),
    ("startend:quotation", {}, '""', True, False),
    ("startend:quotation", {}, "“Hello”", False, True),
    ("change_case:capital_word_frequency", {"capital_frequency": 2, "capital_relation": "at least"},
     "I said DON'T", True, False),
    ("change_case:english_capital", {}, "HELLO THERE", None, True),
    ("change_case:english_capital", {}, "Hello There", False, False),
    ("change_case:english_lowercase", {}, "привет", None, False),
    ("punctuation:no_comma", {}, "一，二", True, False),
    ("ratio:sentence_type", {}, "No mark at all", True, False),
    ("ratio:sentence_type", {}, "One. Two. Three?", True, True),
    ("ratio:sentence_balance", {}, "nothing here", True, False),
    ("count:conjunctions", {"small_n": 2}, "and And", True, False),
    ("count:person_names", {"N": 1}, "Available", True, False),
    ("ratio:overlap", {"reference_text": "one two three four", "percentage": 100},
     "One two three.", False, True),
    ("count:numbers", {"N": 2}, "pages 1-2", False, True),
    ("words:palindrome", {}, "level " * 10, True, False),
    ("ratio:sentence_words", {}, "I am. I am. I am.", True, False),
    ("count:words_japanese", {"N": 9}, "short", True, False),
    ("words:start_verb", {}, "Run!", None, None),
    ("words:odd_even_syllables", {}, "a water", None, None),
    ("sentence:keyword", {"word": "art", "N": 2}, "First. A smart one.", True, False),
    ("count:pronouns", {"N": 1}, "This is odd.", False, True),
    ("words:keywords_specific_position", {"keyword": "three", "n": 1, "m": 3},
     "One, two Three.", False, True),
    ("words:words_position", {"keyword": "key"}, "The key is a key too.", False, True),
    ("repeat:repeat_change", {"prompt_to_repeat": "Write a poem"}, "Write  a poem", True, False),
    ("repeat:repeat_change", {"prompt_to_repeat": "Write a poem"}, "Draw a poem", True, True),
    ("repeat:repeat_span", {"prompt_to_repeat": "a b c d", "n_start": 1, "n_end": 2},
     "b c", False, True),
    ("repeat:repeat_span", {"prompt_to_repeat": "a b c d", "n_start": 0, "n_end": 1},
     "a b", None, True),
    ("format:parentheses", {}, "([{([x])", True, False),
    ("format:line_indent", {}, "a\n\n\n b\n  c", False, True),
    ("format:line_indent", {}, "a\n\n b\n  c", True, True),
    ("format:list", {"sep": "..."}, "well... so...", True, False),
    ("format:sub-bullets", {}, "no bullets", True, False),
    ("format:sub-bullets", {}, "* **one**\n  - sub", False, True),
    ("format:title_case", {}, "The Lord of the Rings", False, True),
    ("format:output_template", {}, "My Answer: My Conclusion: Future Outlook:", True, False),
    ("format:emoji", {}, "Hello 🙂. Bye 🎉.", True, True),
    ("custom:date_format_list", {}, "1796-00-00", True, False),
    ("custom:multiples", {}, "14, 21, 28, 35, 42, 49", True, True),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}: {case[2][:30]!r}")
def test_an_instruction_is_checked_as_published_and_as_it_reads(case: Case) -> None:
    id_, arguments, response, published, fixed = case
    assert decide(id_, arguments, response, "published") is published
    assert decide(id_, arguments, response, "fixed") is fixed


@pytest.mark.parametrize("mode", ["published", "fixed"])
@pytest.mark.parametrize("response", ["", " ", "\n\n", "\u200b", "\u00a0", None])
def test_an_empty_answer_follows_no_instruction(response: str | None, mode: str) -> None:
    for id_ in CHECKS:
        score = assay.score(
            "instructions_reward",
            params={"mode": mode, "loose": True},
            final_response=response,
            instructions=[{"id": id_, "kwargs": ALL_ARGUMENTS}],
        )
        assert score["reward"] == 0.0, id_


def test_every_check_answers_any_text_and_the_page_names_each_deviation() -> None:
    hostile = ("[" * 3_000, "\n" * 3_000 + "x", "*\n" * 999, "?" * 3_000, "\ud800", "'" * 999, "x,")
    for id_, check in CHECKS.items():
        arguments = check.read(ALL_ARGUMENTS)
        assert isinstance(arguments, dict), id_
        for text in hostile:
            for mode in get_args(Mode):
                with suppress(Undecided):
                    assert check.decide(text, arguments, mode) in (True, False)
        assert f"| `{id_}` |" in PAGE, f"docs/rewards.md does not name {id_}"
        deviation = (check.rule.__doc__ or "").removeprefix("In fixed mode, ").removesuffix(".")
        assert bool(deviation) is ("fixed" in check.rule.__annotations__), id_
        assert deviation in PAGE, f"docs/rewards.md does not say how {id_} differs"
    assert len(CHECKS) == 83
    assert {*ARGUMENTS} <= {*CHECKS}


def test_the_same_rows_get_the_same_scores_in_threads() -> None:
    rows = list(make_rows(random.Random(3), 250))

    def score(at: int) -> assay.Score:
        row = rows[at % len(rows)]
        columns = [{"id": row["id"], "kwargs": row["kwargs"]}]
        return assay.score(
            "instructions_reward", final_response=row["response"], instructions=columns
        )

    alone = [score(at) for at in range(len(rows))]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(score, range(1_500)))
    assert all(one == alone[at % len(rows)] for at, one in enumerate(together))


TWO: list[dict[str, Any]] = [
    {"id": "punctuation:no_comma"},
    {"id": "length_constraints:number_words", "kwargs": {"num_words": 2, "relation": "at least"}},
]


@pytest.mark.parametrize(
    "instructions",
    [
        TWO,
        json.dumps(TWO),
        {"instruction_id_list": [each["id"] for each in TWO],
         "kwargs": [each.get("kwargs", {}) for each in TWO]},
        {"instruction_id_list": np.array([each["id"] for each in TWO]),
         "kwargs": [None, {"num_words": 2.0, "relation": "at least", "N": None}]},
        ["punctuation:no_comma", TWO[1]],
        [{"instruction_id": [each["id"] for each in TWO], "kwargs": [None, TWO[1]["kwargs"]]}],
    ],
)  # fmt: skip
def test_instructions_are_read_in_the_shapes_of_the_data_sets(instructions: Any) -> None:
    def score(response: str, pay: str) -> Any:
        return assay.score(
            "instructions_reward",
            params={"pay": pay},
            final_response=response,
            instructions=instructions,
        )

    assert score("two words", "all")["reward"] == 1.0
    assert score("two, words", "all")["reward"] == 0.0
    assert score("two, words", "share")["reward"] == 0.5
    assert dict(score("two, words", "all").parts) == {"all": 0.0, "share": 0.5, "checks": 2.0}


@pytest.mark.parametrize(
    ("instructions", "reason", "message"),
    [
        (None, "missing_reference", "no instructions"),
        ([], "bad_reference", "0 instructions"),
        ("no json", "bad_reference", "not valid JSON"),
        (7, "bad_reference", "not a list"),
        ([{"kwargs": {}}], "bad_reference", "has no 'id'"),
        (["punctuation:no_coma"], "bad_reference", "did you mean 'punctuation:no_comma'"),
        (["keywords:existence"], "bad_reference", "has keywords=None"),
        ([{"id": "count:numbers", "kwargs": {"N": -1}}], "bad_reference", "not a number"),
        ([{"id": "punctuation:no_comma", "kwargs": [1, 2]}], "bad_reference", "1 ids but 2"),
        ([{"id": "punctuation:no_comma", "kwargs": 3}], "bad_reference", "not a mapping"),
    ],
)
def test_instructions_that_cannot_be_read_abstain(
    instructions: Any, reason: str, message: str
) -> None:
    score = assay.score("instructions_reward", final_response="x", instructions=instructions)
    assert isinstance(score, assay.Abstained)
    assert score.reason == reason
    assert message in score.because


def test_what_only_a_model_decides_abstains_unless_the_rest_decides() -> None:
    both = ["words:start_verb", "punctuation:no_comma"]

    def score(response: str, pay: str) -> assay.Score:
        return assay.score(
            "instructions_reward",
            params={"pay": pay},
            final_response=response,
            instructions=both,
        )

    open_score = score("Run home", "all")
    assert isinstance(open_score, assay.Abstained)
    assert open_score.reason == "needs_language_data"
    assert score("Run, home", "all")["reward"] == 0.0
    assert score("Run, home", "all")["share"] is None
    assert score("Run, home", "share").abstained


def test_a_loose_response_may_lose_a_line_or_its_stars() -> None:
    response = "Sure, here it is:\n**no comma here**"
    assert decide("punctuation:no_comma", {}, response, "fixed") is False
    assert decide("punctuation:no_comma", {}, response, "fixed", loose=True) is True


def test_options_that_are_none_are_refused() -> None:
    for params in ({"mode": "strict"}, {"pay": "half"}):
        with pytest.raises(BadParameter):
            decide("punctuation:no_comma", {}, "x", **{"mode": "fixed", **params})


def test_sentences_end_where_the_benchmarks_end_them() -> None:
    text = 'Dr. Berg paid 3.50 to Acme Inc. She left... "Why?" he asked. See a.b.c. now! U.S. We go'
    assert sentences(text) == [
        "Dr. Berg paid 3.50 to Acme Inc", "She left...", '"Why"?', "he asked.", "See a.b.c. now!",
        "U.S.", "We go",
    ]  # fmt: skip
    assert sentences("") == []


def test_words_are_parted_as_in_the_penn_treebank() -> None:
    text = "I can't (really) say: it's 1,000, \"isn't\" it... U.S. gonna go."
    assert re.sub(r"\s+", " ", " ".join(tokens(text))) == (
        "I ca n't ( really ) say : it 's 1,000 , \" is n't \" it ... U.S. gon na go ."
    )


def test_emoji_are_characters_of_their_own() -> None:
    assert [char for char in "a1#©🙂️🇫é™" if is_emoji(char)] == ["©", "🙂", "™"]
