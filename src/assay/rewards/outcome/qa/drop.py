"""Token F1 and exact match of DROP and of Inspect's `f1` and `exact` scorers.

Both split at spaces and hyphens first and normalise each piece alone: a piece that reads as a
number becomes that number (`1,000`, `1000.0` and full-width `１０００` are equal), any other
loses its ASCII punctuation and its articles.

DROP (AllenNLP's `drop_eval.py`) compares *sets* of tokens, pays nothing when the reference has
numbers and the answer has none of them, aligns the spans of a multi-span answer one to one, and
rounds to hundredths. Inspect (0.3.285) folds case fully, compares multisets, frees a number from
the punctuation around it, ignores references without a token, and rounds to hundredths.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from math import isfinite
from typing import NamedTuple

from assay.rewards.outcome.assignment import best_assignment
from assay.rewards.outcome.qa.squad import ARTICLES, CACHED_CHARS, Match, Spans, label

MAX_SPANS = 64
"""Spans of one answer or reference; aligning them takes cubic time."""

_DELETE = dict.fromkeys(map(ord, string.punctuation))
_AROUND = string.whitespace + string.punctuation
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_DIGIT = re.compile(r"\d")
_NOT_FINITE = frozenset(("nan", "inf", "infinity"))


def drop_words(text: str) -> list[str]:
    """DROP's tokens of a text, in order."""
    return _tokens(text.lower(), _drop_piece)


def inspect_words(text: str) -> list[str]:
    """Inspect's tokens of a text, in order."""
    return _tokens(text.casefold(), _inspect_piece)


def _tokens(text: str, bare: Callable[[str], str]) -> list[str]:
    """The tokens of a text in order; `bare` normalises a piece that is not a plain word."""
    tokens: list[str] = []
    for piece in filter(None, text.replace("-", " ").split(" ")):
        word = piece if piece.isalpha() and piece != "infinity" else bare(piece)
        if not word.isalpha():
            tokens += _ARTICLE.sub(" ", word).split()
        elif word not in ARTICLES:
            tokens.append(word)
    return tokens


def _drop_piece(piece: str) -> str:
    if _DIGIT.search(piece):
        number = _number(piece)
        if number is not None:
            return str(number)
    word = piece.translate(_DELETE)
    if word.isalpha() and word not in _NOT_FINITE:
        return word
    number = _number(word)
    return word if number is None else str(number)


def _inspect_piece(piece: str) -> str:
    if _DIGIT.search(piece):
        for text in (piece, piece.strip(_AROUND), piece.translate(_DELETE)):
            number = _number(text)
            if number is not None and isfinite(number):
                return str(number)
    return piece.translate(_DELETE)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


class Span:
    """One span's tokens: in order, as a set, and the numbers among them."""

    __slots__ = ("bag", "numbers", "tokens")

    def __init__(self, text: str) -> None:
        self.tokens = drop_words(text)
        self.bag = frozenset(self.tokens)
        self.numbers = frozenset(token for token in self.bag if _number(token) is not None)


class DropReference:
    """A reference of one span or several, normalised once."""

    __slots__ = ("blank", "label", "spans")

    def __init__(self, text: str | Spans) -> None:
        spans = (text,) if isinstance(text, str) else text
        self.spans = tuple(map(Span, spans))
        self.blank = not spans or not spans[0].strip()
        self.label = label(text)


class InspectReference:
    """A reference, normalised once."""

    __slots__ = ("blank", "counts", "label", "tokens")

    def __init__(self, text: str) -> None:
        self.tokens = inspect_words(text)
        self.counts = Counter(self.tokens)
        self.blank = not self.tokens
        self.label = label(text)


_cached_drop_reference = lru_cache(maxsize=4096)(DropReference)
_cached_inspect_reference = lru_cache(maxsize=4096)(InspectReference)


def drop_reference(text: str | Spans) -> DropReference:
    """The reference in DROP's normal form; short ones are cached."""
    size = len(text) if isinstance(text, str) else sum(map(len, text))
    return _cached_drop_reference(text) if size <= CACHED_CHARS else DropReference(text)


def inspect_reference(text: str) -> InspectReference:
    """The reference in Inspect's normal form; short ones are cached."""
    return _cached_inspect_reference(text) if len(text) <= CACHED_CHARS else InspectReference(text)


def read_spans(text: str | Spans) -> list[list[str]]:
    """The tokens of each span of an answer."""
    return [drop_words(span) for span in ((text,) if isinstance(text, str) else text)]


def compare_drop(spans: list[list[str]], reference: DropReference) -> Match:
    """DROP's F1 and exact match of an answer's spans against a reference's."""
    expected = [span.tokens for span in reference.spans]
    bags = [frozenset(tokens) for tokens in spans]
    slots = max(len(spans), len(expected))
    if slots > MAX_SPANS:
        return (0.0, 0.0, 0.0, 0.0, f"more than {MAX_SPANS} spans are not compared")
    table = [[_compare_span(bag, span) for bag in bags] for span in reference.spans]
    if slots == 1:
        cells = table[0]
    else:
        pairs = best_assignment([[cell.f1 for cell in row] for row in table])
        cells = [table[row][column] for row, column in pairs]
    exact = len(spans) == len(expected) and set(map(tuple, spans)) == set(map(tuple, expected))
    f1 = sum(cell.f1 for cell in cells) / slots
    same = sum(cell.same for cell in cells)
    because = f"{same} of {sum(map(len, bags))} answer tokens match {reference.label}"
    if not f1 and same:
        because = f"no number of {reference.label} is in the answer"
    precision = sum(cell.precision for cell in cells) / slots
    recall = sum(cell.recall for cell in cells) / slots
    # Scaled and rounded as NumPy does it; the built-in `round` differs on some ties.
    rounded = round(f1 * 100) / 100
    if exact:
        return rounded, 1.0, precision, recall, f"exact match with {reference.label}"
    return rounded, 0.0, precision, recall, because


class _Overlap(NamedTuple):
    f1: float
    precision: float
    recall: float
    same: int


def _compare_span(bag: frozenset[str], span: Span) -> _Overlap:
    if not bag and not span.bag:
        return _Overlap(1.0, 1.0, 1.0, 0)
    same = len(bag & span.bag)
    if not same or (span.numbers and span.numbers.isdisjoint(bag)):
        return _Overlap(0.0, 0.0, 0.0, same)
    precision = same / len(bag)
    recall = same / len(span.bag)
    return _Overlap(2 * precision * recall / (precision + recall), precision, recall, same)


def compare_inspect(tokens: list[str], reference: InspectReference) -> Match:
    """Inspect's `f1` and `exact`; a reference without a token matches nothing."""
    same = (Counter(tokens) & reference.counts).total()
    because = f"{same} of {len(tokens)} answer tokens match {reference.label}"
    if not same:
        return 0.0, 0.0, 0.0, 0.0, because
    if tokens == reference.tokens:
        return 1.0, 1.0, 1.0, 1.0, f"exact match with {reference.label}"
    precision = same / len(tokens)
    recall = same / len(reference.tokens)
    f1 = round(2 * precision * recall / (precision + recall), 2)
    return f1, 0.0, precision, recall, because
