"""A probe shows which forms of a right answer lose points, for any reward."""

from __future__ import annotations

import json

import pytest

from assay.errors import UsageError
from assay.registry import REWARDS, find_reward
from assay.report import probe
from assay.report.form_sensitivity import number_words, variants

ANSWER_REWARDS = [
    name
    for name in REWARDS.names()
    if find_reward(name).function.__module__.startswith("assay.rewards")
    and {"final_response", "answer"} <= {*find_reward(name).required}
    and {*find_reward(name).required} <= {"final_response", "answer", "trajectory"}
    and name != "choice_reward"  # whose references are letters
]


@pytest.mark.parametrize(
    ("gold", "form", "reward"),
    [
        ("14.2", "percent sign", 1.0),
        ("14.2", "percent", 0.0),
        ("850000", "thousands commas", 0.0),
        ("850000", "dollar sign", 1.0),
        ("850000", "k", 0.0),
        ("850000", "one more decimal", 1.0),
        ("Shanghai villa", "upper case", 1.0),
        ("Shanghai villa", "spaces around", 1.0),
        ("September 1, 2023", "day month year", 1.0),
        ("September 1, 2023", "ISO date", 0.6667),
        ("September 1, 2023", "US slashes", 0.0),
        ("CrossFit East River\nAvea Pilates", "the gold itself", 0.375),
        ("CrossFit East River\nAvea Pilates", "JSON list, reversed", 1.0),
    ],
)
def test_the_known_scores_of_assistantbench_are_in_the_table(
    gold: str, form: str, reward: float
) -> None:
    rows = {row.name: row.reward for row in probe("assistantbench_reward", gold).rows}
    assert rows[form] == pytest.approx(reward, abs=1e-3)


@pytest.mark.parametrize("name", ANSWER_REWARDS)
def test_every_answer_reward_can_be_probed(name: str) -> None:
    for gold in ["850000", "Shanghai villa", "2023-09-01", "a b\nc d"]:
        found = probe(name, gold)
        assert found.full == 1.0, gold
        assert {row.right for row in found.rows} == {True, False}, gold
        json.dumps(found.to_record())


def test_losing_and_gaining_forms_are_named() -> None:
    found = probe("assistantbench_reward", "14.2")
    assert "sentence" in {row.name for row in found.losing}
    assert "5 % more" in {row.name for row in found.gaining}
    assert "right forms lose points" in found.sentence
    listed = found.sentence.partition("(")[2].partition(")")[0]
    assert sum(int(part.rpartition(" ")[2]) for part in listed.split(", ")) == len(found.losing)


def test_parameters_reach_the_reward() -> None:
    strict, loose = (
        {row.name: row.reward for row in probe("fuzzy_answer_reward", "100", params=p).rows}
        for p in ({}, {"tolerance": 0.1})
    )
    assert strict["5 % more"] == 0.0
    assert loose["5 % more"] is not None
    assert loose["5 % more"] > 0.0


@pytest.mark.parametrize(
    ("reward", "words"),
    [
        ("code_reward", "compares a response with no reference answer"),
        ("sql_reward", "also needs 'database'"),
    ],
)
def test_a_reward_without_an_answer_to_vary_is_refused_in_words(reward: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        probe(reward, "x")


def test_a_reward_of_a_world_is_refused_in_words() -> None:
    with pytest.raises(UsageError, match="scores what happened in an environment"):
        probe("webshop_reward", "x")


@pytest.mark.parametrize("gold", ["", "  ", "x" * 20_000])
def test_a_gold_that_cannot_be_varied_is_refused(gold: str) -> None:
    with pytest.raises(UsageError, match="must have 1 to"):
        probe("qa_f1_reward", gold)


@pytest.mark.parametrize("gold", ["NaN", "Infinity", "\ud800", "0", "-3", "1e400", "{}", "[]", "."])
def test_odd_golds_are_probed_without_a_crash(gold: str) -> None:
    assert probe("assistantbench_reward", gold).rows


def test_a_date_has_eight_forms() -> None:
    assert sum(v.family == "date" for v in variants("1 September 2023")) >= 7
    assert len({v.text for v in variants("1 September 2023")}) == len(variants("1 September 2023"))


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "zero"),
        (14, "fourteen"),
        (42, "forty-two"),
        (850_000, "eight hundred fifty thousand"),
        (1_000_001, "one million one"),
        (0.5, ""),
    ],
)
def test_numbers_in_words(number: float, words: str) -> None:
    assert number_words(float(number)) == words


def test_a_choice_is_probed_in_the_forms_of_its_letter() -> None:
    found = probe("choice_reward", "B")
    rows = {row.name: row.reward for row in found.rows if row.family == "letter" or not row.right}
    for form in ("in brackets", "with a bracket", "named", "in a sentence", "in a box"):
        assert rows[form] == 1.0, form
    for form in ("another letter", "two letters", "two in brackets", "every letter"):
        assert rows[form] == 0.0, form
    assert not any(row.family == "letter" for row in probe("qa_f1_reward", "B").rows)
