"""Answers and references as text, whatever type a data set or a harness gave them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import isnan
from numbers import Real

from assay.rewards.outcome.qa.match import MAX_SPANS, Spans

EXACT_FLOAT = 2**53
"""Beyond it a float no longer tells neighbouring whole numbers apart."""


def as_text(value: object) -> str | None:
    """The text of a string or number; `None` for anything else.

    A whole float is written without its `.0`: a column of integers with a gap in it arrives as
    floats, and `1000.0` would lose its point and read as 10000.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT_FLOAT:
        return str(int(value))
    if isinstance(value, (Real, Decimal)):
        try:
            return str(value)
        except ValueError:  # an int of more digits than Python writes out
            return None
    return None


def plain(value: object) -> object:
    """NumPy arrays and scalars as the lists and numbers that they hold; the rest unchanged."""
    to_list = getattr(value, "tolist", None)
    return to_list() if callable(to_list) else value


def is_missing(value: object) -> bool:
    """Whether the value stands for "no value": `None`, or the NaN that tables write for it."""
    return value is None or (isinstance(value, float) and isnan(value))


def references(answer: object, *, takes_spans: bool) -> list[str | Spans] | None:
    """The references that an `answer` column means; `None` if it holds something else.

    A string or number is one reference; a list, tuple or array is several, missing ones left out.
    Where `takes_spans`, a list inside that list is one reference of several spans.
    """
    answer = plain(answer)
    if is_missing(answer):
        return []
    if not isinstance(answer, (list, tuple)):
        text = as_text(answer)
        return None if text is None else [text]
    found: list[str | Spans] = []
    for item in map(plain, answer):
        if is_missing(item):
            continue
        one = spans(item) if takes_spans and isinstance(item, (list, tuple)) else as_text(item)
        if one is None or (isinstance(one, tuple) and len(one) > MAX_SPANS):
            return None
        found.append(one)
    return found


def spans(items: Sequence[object]) -> Spans | None:
    """The spans of one answer; `None` unless there are some and all are strings or numbers."""
    texts = tuple(text for text in map(as_text, map(plain, items)) if text is not None)
    return texts if texts and len(texts) == len(items) else None
