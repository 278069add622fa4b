"""Rewrites mean the same and near misses do not, whatever the answer is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.audit.checks.forms import (
    is_single,
    near_misses,
    number_of,
    rewrites,
    split_members,
)
from assay.audit.findings import Sample
from assay.schema.audit import KINDS
from tests.audit.rewards.broken import equal
from tests.audit.rewards.sound import exact_match, same_record

WHOLE = st.integers(-99_999, 99_999)
ITEMS = st.lists(st.integers(-50, 50), min_size=2, max_size=5, unique=True)


def _decimal(number: int) -> str:
    return f"{number / 1000:.3f}".rstrip("0").rstrip(".") if number % 1000 else str(number // 1000)


ANSWERS = st.one_of(
    WHOLE.map(str),
    WHOLE.map(_decimal),
    st.tuples(st.integers(1, 99), st.integers(2, 99)).map(
        lambda pair: f"\\frac{{{pair[0]}}}{{{pair[1]}}}"
    ),
    ITEMS.map(lambda items: f"({', '.join(map(str, items))})"),
    ITEMS.map(lambda items: "\\{" + ", ".join(map(str, items)) + "\\}"),
    st.tuples(st.integers(-50, 0), st.integers(1, 50)).map(lambda ends: f"[{ends[0]}, {ends[1]})"),
    st.tuples(st.integers(2, 9), st.integers(1, 9)).map(lambda ab: f"y = {ab[0]}x + {ab[1]}"),
    st.integers(2, 99).map(lambda n: f"\\sqrt{{{n}}} + 1"),
)


def sample(gold: Any) -> Sample:
    return Sample("?", gold, (str(gold),), (), {"answer": gold})


@settings(max_examples=150, deadline=None)
@given(ANSWERS)
def test_rewritten_mathematics_is_equal(answer: str) -> None:
    different = [form for form in rewrites("maths", answer) if not equal(form[1], answer)]
    assert not different


@settings(max_examples=150, deadline=None)
@given(ANSWERS)
def test_near_misses_of_mathematics_are_not_equal(answer: str) -> None:
    misses = near_misses("maths", sample(answer), answer)
    assert misses
    assert [form for form in misses if equal(form[1], answer)] == []


RECORDS = st.dictionaries(
    st.sampled_from(["a", "b", "c", "d"]),
    st.one_of(st.integers(-999, 999), st.sampled_from(["x", "y z", "Ann"])),
    min_size=2,
).filter(lambda record: list(record.values()) != list(record.values())[::-1])


@settings(max_examples=100, deadline=None)
@given(RECORDS)
def test_records_keep_and_lose_their_meaning(record: dict[str, Any]) -> None:
    gold = json.dumps(record)
    assert all(same_record(text, gold) for _, text in rewrites("structured", gold))
    misses = near_misses("structured", sample(gold), gold)
    assert len(misses) >= 3
    assert not [text for _, text in misses if same_record(text, gold)]


NAMES = st.lists(
    st.text("abcdefgh", min_size=2, max_size=6), min_size=1, max_size=3
).map(lambda words: " ".join(words).title())  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(NAMES)
def test_names_keep_and_lose_their_meaning(name: str) -> None:
    forms = rewrites("qa", name)
    assert {"lower case", "full stop"} <= {form for form, _ in forms}
    assert all(exact_match(text, name) for _, text in forms)
    assert not [text for _, text in near_misses("qa", sample(name), name)
                if exact_match(text, name)]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_no_text_breaks_the_generators(text: str) -> None:
    for kind in KINDS:
        rewrites(kind, text)
        near_misses(kind, sample(text), text)
    is_single(text)
    number_of(text)
    split_members(text)


@pytest.mark.parametrize(
    ("answer", "single", "why"),
    [
        ("42", True, "a number"),
        ("Marta Olsen", True, "a name"),
        ("1, 2", False, "a list"),
        ("(1, 2)", False, "a tuple"),
        ("x = 5", False, "an equation"),
        ("Ann and Bob", False, "two people"),
        ("yes or no", False, "alternatives"),
        (" ", False, "nothing"),
    ],
)
def test_single_answers_are_told_from_lists(answer: str, single: bool, why: str) -> None:
    assert is_single(answer) is single, why
