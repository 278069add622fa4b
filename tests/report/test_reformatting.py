"""Other forms of an answer are made in one pass, however long its runs of spaces and brackets."""

from __future__ import annotations

import random
import re

import pytest

from assay.report import reformatting

PLAIN_SEPARATORS = (r"\n+", r"\s*;\s*", r"\s*,\s+(?:and\s+)?|\s+and\s+", r"\s*,\s+(?:and\s+)?")
"""The separators as they are meant, without regard to cost."""


@pytest.mark.parametrize(
    "answer",
    [
        "(" * 19_000,
        "x" + " " * 19_000 + "x",
        "```" + " " * 19_000 + "x",
        "x" + ", ( " * 6_000 + "x",
    ],
    ids=["brackets", "spaces", "fence", "commas"],
)
def test_a_long_run_has_forms_like_any_other_answer(answer: str) -> None:
    assert len(reformatting.forms(answer)) <= reformatting.MOST_FORMS


def test_separators_split_where_they_are_meant_to() -> None:
    rng = random.Random(1)
    for _ in range(3_000):
        text = "".join(rng.choices([" ", "  ", ",", ";", "and", "x", "\n"], k=rng.randint(1, 12)))
        for separator, plain in zip(reformatting.SEPARATORS, PLAIN_SEPARATORS, strict=True):
            assert separator.split(text) == re.split(plain, text), text


def test_a_fenced_block_is_a_form_without_its_language() -> None:
    texts = {form.text for form in reformatting.forms("see ```json\n[1, 2]\n``` and ```\n7```")}
    assert {"[1, 2]", "7"} <= texts
    assert "open" not in {form.text for form in reformatting.forms("a ```open")}


def test_what_follows_an_answer_is_dropped_from_the_start_of_its_gap() -> None:
    texts = {form.text for form in reformatting.forms("42 ,(  according to the page")}
    assert "42" in texts
