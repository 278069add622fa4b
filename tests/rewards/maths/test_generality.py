"""Pairs of many kinds, each right answer beside a wrong twin, keep their results.

The pairs are in `own_pairs.jsonl` and `form_pairs.jsonl` of `tests/data/math`: one per line, with
the reason for its label.
Equal pairs that are not recognised are in `MISSES`, with the reason.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from assay.rewards.outcome.maths.reward import math_equal_reward

DATA = Path(__file__).parents[2] / "data" / "math"
FILES = ("own_pairs", "form_pairs")

GROUPS = {
    "names": "letters that stand for different things",
    "algebra": "plain-text algebra",
    "khan": "school algebra as typed on a keyboard",
    "equations": "equations in other arrangements, and named values",
    "inequalities": "inequalities, intervals and conditions",
    "sets": "sets, unions, holes and lists",
    "numbers": "fractions, decimals, percentages, number words, small sums",
    "complex": "complex numbers",
    "shapes": "tuples, vectors, matrices and functions in pieces",
    "units": "quantities, durations, ratios and times",
    "words": "options, words and congruences",
    "latex": "answers of LaTeX benchmarks",
    "college": "answers of college problems",
    "false_friends": "answers that only look alike",
    "responses": "whole responses",
    "angles": "degrees and radians",
    "forms": "the same value or object in another form",
}


@cache
def _pairs() -> list[dict[str, str | bool]]:
    texts = [(DATA / f"{name}.jsonl").read_text(encoding="utf-8") for name in FILES]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def _is_equal(pair: dict[str, str | bool]) -> bool | None:
    boxed = pair["kind"] == "answer"
    response = f"\\boxed{{{pair['pred']}}}" if boxed else str(pair["pred"])
    score = math_equal_reward(response, pair["gold"])
    return None if score.abstained else float(score) == 1.0


@pytest.mark.parametrize("group", GROUPS)
def test_every_pair_of_the_group_gets_its_label(group: str) -> None:
    pairs = [pair for pair in _pairs() if pair["group"] == group]
    wrong = [
        (pair["gold"], pair["pred"], pair["note"])
        for pair in pairs
        if _is_equal(pair) is not pair["label"]
    ]
    assert pairs
    assert not wrong


@pytest.mark.parametrize("group", sorted(GROUPS.keys() - {"responses"}))
def test_a_right_answer_as_the_reference_is_met_by_the_reference(group: str) -> None:
    """Equality is symmetric but for the conventions that favour the reference."""
    one_way = [
        (pair["pred"], pair["gold"])
        for pair in _pairs()
        if pair["group"] == group and pair["label"]
        if _is_equal({**pair, "gold": pair["pred"], "pred": pair["gold"]}) is not True
    ]
    assert set(one_way) <= ONE_WAY.keys()


ONE_WAY = {
    ("1.5", r"150\%"): "a bare reference beyond 1 is met by the same number of percent",
    ("1011", "1011_2"): "a base changes the value of a plain number",
}
"""(reference, answer) that count only the other way round, and why."""

MISSES = {
    ("x^2<4", "-2<x<2"): "a quadratic inequality is not solved, nor paid as its own solution",
    ("x^2-5x+6>0", "x<2 or x>3"): "the same",
    ("0,5", "1/2"): "may be a list of two",
    ("3,14", "3.14"): "the reference may be a list of two",
    (r"\frac13(1,2,2)", r"\left(\frac13,\frac23,\frac23\right)"): "no factor before a tuple",
    (r"1.6 \times 10^{-19} \text{ C}", "1.6e-19"): "a single capital after a number is a name",
    ("12", "12 m^2"): "letters in plain text are units only beside a reference with a unit",
    ("5", "5 (five)"): "a remark in parentheses is not skipped",
}
"""Equal pairs (reference, answer) that are not recognised, and why."""


@pytest.mark.parametrize(("reference", "answer"), MISSES)
def test_what_is_not_recognised_is_never_paid(reference: str, answer: str) -> None:
    assert _is_equal({"gold": reference, "pred": answer, "kind": "answer"}) is not True


def test_every_pair_belongs_to_a_group_and_has_a_reason() -> None:
    assert {pair["group"] for pair in _pairs()} == set(GROUPS)
    assert all(pair["note"] for pair in _pairs())
