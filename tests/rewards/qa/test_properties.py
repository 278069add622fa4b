"""What holds for every answer and reference, and what a crafted answer can and cannot earn."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.rewards.outcome.qa.reward import MODES, PARTS, qa_f1_reward

WORDS = st.sampled_from(
    ["paris", "rome", "oslo", "yes", "no", "the", "a", "7", "7.0", "x-ray", "é"]
)
TEXTS = st.lists(WORDS, max_size=6).map(" ".join) | st.text(max_size=20)
ALIASES = st.lists(TEXTS, min_size=1, max_size=4)
EVERY_MODE = pytest.mark.parametrize("mode", MODES)
quick = settings(max_examples=100, deadline=None)


def parts(response: str, answer: object, mode: Any) -> dict[str, float]:
    numbers = qa_f1_reward(final_response=response, answer=answer, mode=mode)
    return {name: numbers[name] for name in PARTS}


@EVERY_MODE
@quick
@given(TEXTS, ALIASES)
def test_every_number_lies_between_zero_and_one(
    mode: str, response: str, references: list[str]
) -> None:
    assert all(0.0 <= value <= 1.0 for value in parts(response, references, mode).values())


@pytest.mark.parametrize("mode", ["squad1", "squad2", "hotpot", "musique"])
@quick
@given(TEXTS, TEXTS)
def test_swapping_answer_and_reference_keeps_f1_and_swaps_precision_with_recall(
    mode: str, one: str, other: str
) -> None:
    there, back = parts(one, other, mode), parts(other, one, mode)
    assert there["f1"] == pytest.approx(back["f1"])
    assert (there["em"], there["precision"], there["recall"]) == (
        back["em"],
        back["recall"],
        back["precision"],
    )


@EVERY_MODE
@quick
@given(TEXTS, TEXTS)
def test_an_exact_match_has_full_f1_unless_nothing_is_left_to_match(
    mode: str, response: str, reference: str
) -> None:
    numbers = parts(response, reference, mode)
    if numbers["em"]:
        assert numbers["f1"] in (0.0, 1.0)
        assert numbers["f1"] == 1.0 or parts("", reference, mode)["em"]


@EVERY_MODE
@quick
@given(
    st.lists(st.sampled_from(["paris", "rome", "oslo", "berlin"]), min_size=1, max_size=5), TEXTS
)
def test_case_articles_and_final_marks_of_an_answer_change_nothing(
    mode: str, words: list[str], reference: str
) -> None:
    plain = parts(" ".join(words), reference, mode)
    dressed = "The " + " an ".join(word.upper() for word in words) + "!"
    assert parts(dressed, reference, mode) == plain


@pytest.mark.parametrize("mode", ["squad1", "hotpot", "musique", "inspect"])
@quick
@given(TEXTS, ALIASES, TEXTS)
def test_another_alias_never_lowers_the_score(
    mode: str, response: str, references: list[str], extra: str
) -> None:
    before, after = parts(response, references, mode), parts(response, [*references, extra], mode)
    assert after["f1"] >= before["f1"]
    assert after["em"] >= before["em"]


@pytest.mark.parametrize("mode", ["squad2", "drop"])
@quick
@given(TEXTS, ALIASES, st.sampled_from(["paris", "7", "x-ray"]))
def test_an_alias_beside_a_full_one_never_lowers_the_score(
    mode: str, response: str, references: list[str], extra: str
) -> None:
    references = [*references, "oslo"]
    assert (
        parts(response, [*references, extra], mode)["f1"] >= parts(response, references, mode)["f1"]
    )


@EVERY_MODE
@quick
@given(TEXTS, ALIASES, st.randoms(use_true_random=False))
def test_the_order_of_aliases_changes_neither_f1_nor_em(
    mode: str, response: str, references: list[str], rng: Any
) -> None:
    reordered = list(references)
    rng.shuffle(reordered)
    first, second = parts(response, references, mode), parts(response, reordered, mode)
    assert (first["f1"], first["em"]) == (second["f1"], second["em"])


# Each row: the crafted response; then F1 against "Paris", and why it earns that.
CRAFTED = [
    ("Paris or London or Rome or Berlin", 0.25, "a spray pays 2 / (n + 1): less the more it names"),
    ("The answer is not Paris", 0.4, "tokens do not know negation; exact match does"),
    ("Paris " * 50, 2 / 51, "repeating it costs precision"),
    ("the a an the a Paris", 1.0, "articles are free, as published"),
    ("Pa.r-i's!", 1.0, "so are ASCII marks, as published"),
    ("Pаris", 0.0, "a Cyrillic а is another letter"),
    ("Par\u200bis", 0.0, "a zero-width space inside a word splits nothing"),
]


@pytest.mark.parametrize(("response", "f1", "why"), CRAFTED)
def test_a_crafted_answer_earns_what_the_published_rule_pays(
    response: str, f1: float, why: str
) -> None:
    numbers = parts(response, "Paris", "squad2")
    assert numbers["f1"] == pytest.approx(f1), why
    assert numbers["em"] == float(f1 == 1.0), why
