"""Long tokens are taken apart in slices, with the result of the published rule in one piece."""

from __future__ import annotations

import random
import re
import string

import pytest

from assay.text.tokens import to_float, without_articles, without_punctuation

PIECES = ("a", "an", "the", "A", "x", "_", "’", "\u0301", "—", "é", "\ud800", "9", "🏳", ".", "'")


def _token(rng: random.Random, length: int) -> str:
    pieces = rng.choices(PIECES, weights=rng.choices((0, 1, 5), k=len(PIECES)), k=length)
    return "".join(pieces) or "a’"


@pytest.mark.parametrize("seed", range(12))
def test_articles_are_taken_out_of_slices_as_of_the_whole(seed: int) -> None:
    token = _token(random.Random(seed), 70_000)
    assert without_articles(token) == re.sub(r"\b(a|an|the)\b", " ", token).split()


@pytest.mark.parametrize(
    "token", ["a" * 50_000, "a’" * 30_000, "’a" * 30_000, "é’" + "the" * 9_000]
)
def test_articles_at_every_place_of_a_cut(token: str) -> None:
    for shift in range(4):
        text = "x" * shift + token
        assert without_articles(text) == re.sub(r"\b(a|an|the)\b", " ", text).split()


def test_punctuation_is_taken_out_of_long_tokens_as_of_short_ones() -> None:
    delete = str.maketrans("", "", string.punctuation)
    for seed in range(20):
        token = _token(random.Random(seed), 3_000) + string.punctuation + "\x7f\x80"
        assert without_punctuation(token) == token.translate(delete)


@pytest.mark.parametrize(
    "text",
    ["0" * 2_000 + "7", "٣" * 1_500, " " * 2_000 + "-1_0e1" + "\u2003" * 9, "\u0301" * 2_000,
     "1" * 2_000 + "x", "9" * 2_000, " " * 2_000 + "-Infinity", "1_" * 2_000, "e" * 2_000,
     "\x00" * 2_000],
)  # fmt: skip
def test_long_numbers_are_those_that_python_reads(text: str) -> None:
    try:
        expected = float(text)
    except ValueError:
        assert to_float(text) is None
    else:
        assert to_float(text) == expected
