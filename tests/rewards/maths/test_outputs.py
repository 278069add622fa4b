"""Whole responses in ten languages, of which only those that give the answer are paid.

`tests/data/math/hostile_outputs.jsonl` was written class by class by somebody who had not read the
code; `commitments.jsonl` and `refusals.jsonl` are ours. Each row says whether it is to be paid.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from assay.rewards.outcome.maths.reward import math_equal_reward
from assay.text.languages import languages

DATA = Path(__file__).parents[2] / "data" / "math"
FILES = ("hostile_outputs", "commitments", "refusals")

KNOWN_MISSES: frozenset[str] = frozenset()
"""Responses that are not decided as they should be."""


@cache
def _rows(name: str) -> list[dict[str, str | bool]]:
    text = (DATA / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _is_paid(row: dict[str, str | bool]) -> bool:
    score = math_equal_reward(str(row["response"]), row["reference"])
    return not score.abstained and float(score) == 1.0


def _misses(name: str, *, paid: bool) -> Iterator[str]:
    for row in _rows(name):
        if row["paid"] is paid and _is_paid(row) is not paid:
            yield str(row["response"])


@pytest.mark.parametrize("name", FILES)
def test_no_response_is_paid_that_gives_no_answer(name: str) -> None:
    assert set(_misses(name, paid=False)) <= KNOWN_MISSES


@pytest.mark.parametrize("name", FILES)
def test_a_response_that_gives_the_answer_is_paid(name: str) -> None:
    assert set(_misses(name, paid=True)) <= KNOWN_MISSES


def test_every_language_has_responses_of_both_kinds() -> None:
    kinds = {(row["language"], row["paid"]) for row in _rows("hostile_outputs")}
    assert kinds >= {(language.code, paid) for language in languages() for paid in (True, False)}
