"""Token F1 and exact match of DROP and of Inspect's `f1` and `exact` scorers.

Both split at spaces and hyphens first and normalise each piece alone: a piece that reads as a
number becomes that number, any other loses its ASCII punctuation and its articles.

DROP (AllenNLP's `drop_eval.py`) compares *sets* of tokens (see `assay.rewards.outcome.bags`),
aligns the spans of a multi-span answer one to one, and rounds to hundredths. Inspect (0.3.285)
folds case fully, compares multisets, frees a number from the punctuation around it, ignores
references without a token, and rounds to hundredths.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from contextlib import suppress
from math import isfinite

from assay.rewards.outcome.assignment import best_assignment
from assay.rewards.outcome.bags import TokenBag, bag_of, overlap
from assay.rewards.outcome.qa.squad import ARTICLES, Match, Spans, cached_when_short, label

MAX_SPANS = 64
"""Spans of one answer or reference; aligning them takes cubic time."""

_DELETE = dict.fromkeys(map(ord, string.punctuation))
_AROUND = string.whitespace + string.punctuation
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_DIGIT = re.compile(r"\d")


def inspect_words(text: str) -> list[str]:
    """Inspect's tokens of a text, in order."""
    tokens: list[str] = []
    for piece in filter(None, text.casefold().replace("-", " ").split(" ")):
        word = piece if piece.isalpha() else _inspect_piece(piece)
        if not word.isalpha():
            tokens += _ARTICLE.sub(" ", word).split()
        elif word not in ARTICLES:
            tokens.append(word)
    return tokens


def _inspect_piece(piece: str) -> str:
    if _DIGIT.search(piece):
        for text in (piece, piece.strip(_AROUND), piece.translate(_DELETE)):
            with suppress(ValueError):
                number = float(text)
                if isfinite(number):
                    return str(number)
    return piece.translate(_DELETE)


class DropReference:
    """A reference of one span or several, normalised once."""

    __slots__ = ("blank", "label", "spans")

    def __init__(self, text: str | Spans) -> None:
        spans = (text,) if isinstance(text, str) else text
        self.spans = read_spans(text)
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


def _size(text: str | Spans) -> int:
    return len(text) if isinstance(text, str) else sum(map(len, text))


drop_reference = cached_when_short(DropReference, _size)
inspect_reference = cached_when_short(InspectReference)


def read_spans(text: str | Spans) -> list[TokenBag]:
    """The tokens of each span of an answer or a reference."""
    return [bag_of(span) for span in ((text,) if isinstance(text, str) else text)]


def compare_drop(spans: list[TokenBag], reference: DropReference) -> Match:
    """DROP's F1 and exact match of an answer's spans against a reference's."""
    expected = reference.spans
    slots = max(len(spans), len(expected))
    if slots > MAX_SPANS:
        return (0.0, 0.0, 0.0, 0.0, f"more than {MAX_SPANS} spans are not compared")
    table = [[overlap(span, target) for span in spans] for target in expected]
    if slots == 1:
        cells = table[0]
    else:
        pairs = best_assignment([[f1 for f1, *_ in row] for row in table])
        cells = [table[row][column] for row, column in pairs]
    one, other = ({tuple(span.words) for span in side} for side in (spans, expected))
    exact = len(spans) == len(expected) and one == other
    f1, precision, recall = (sum(cell[i] for cell in cells) / slots for i in range(3))
    same = sum(shared for *_, shared in cells)
    size = sum(len(span.tokens) for span in spans)
    because = f"{same} of {size} answer tokens match {reference.label}"
    if not f1 and same:
        because = f"no number of {reference.label} is in the answer"
    # Scaled and rounded as NumPy does it; the built-in `round` differs on some ties.
    rounded = round(f1 * 100) / 100
    if exact:
        return rounded, 1.0, precision, recall, f"exact match with {reference.label}"
    return rounded, 0.0, precision, recall, because


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
