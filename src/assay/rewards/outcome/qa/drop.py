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
from math import isfinite

from assay.rewards.outcome.bags import BagList, bag_of, best_assignment, overlap_table
from assay.rewards.outcome.qa.squad import Match, Spans, cached_when_short, label, shared_count
from assay.text.tokens import ARTICLES, to_float, without_articles, without_punctuation

MAX_SPANS = 64
"""Spans of one answer or reference; aligning them takes cubic time."""

_AROUND = string.whitespace + string.punctuation
_DIGIT = re.compile(r"\d")


def inspect_words(text: str) -> list[str]:
    """Inspect's tokens of a text, in order."""
    tokens: list[str] = []
    for piece in filter(None, text.casefold().replace("-", " ").split(" ")):
        word = piece if piece.isalpha() else _inspect_piece(piece)
        if not word.isalpha():
            tokens += without_articles(word)
        elif word not in ARTICLES:
            tokens.append(word)
    return tokens


def _inspect_piece(piece: str) -> str:
    if _DIGIT.search(piece):
        for text in (piece, piece.strip(_AROUND), without_punctuation(piece)):
            number = to_float(text)
            if number is not None and isfinite(number):
                return str(number)
    return without_punctuation(piece)


class DropReference:
    """A reference of one span or several, normalised once."""

    __slots__ = ("blank", "label", "spans")

    def __init__(self, text: str | Spans) -> None:
        spans = (text,) if isinstance(text, str) else text
        self.spans = read_spans(text)
        self.blank = not spans or not spans[0].strip()
        self.label = label(text)


class InspectAnswer:
    """An answer's tokens, counted once, for comparison with any number of references."""

    __slots__ = ("counts", "tokens")

    def __init__(self, text: str) -> None:
        self.tokens = inspect_words(text)
        self.counts = Counter(self.tokens)


class InspectReference(InspectAnswer):
    """A reference, normalised once."""

    __slots__ = ("blank", "label")

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.blank = not self.tokens
        self.label = label(text)


def _size(text: str | Spans) -> int:
    return len(text) if isinstance(text, str) else sum(map(len, text))


drop_reference = cached_when_short(DropReference, _size)
inspect_reference = cached_when_short(InspectReference)


def read_spans(text: str | Spans) -> BagList:
    """The tokens of each span of an answer or a reference."""
    return BagList(bag_of(span) for span in ((text,) if isinstance(text, str) else text))


def compare_drop(spans: BagList, reference: DropReference) -> Match:
    """DROP's F1 and exact match of an answer's spans against a reference's."""
    expected = reference.spans
    slots = max(len(spans), len(expected))
    if slots > MAX_SPANS:
        return (0.0, 0.0, 0.0, 0.0, f"more than {MAX_SPANS} spans are not compared")
    table = overlap_table(spans, expected)
    if slots == 1:
        cells = table[0]
    else:
        pairs = best_assignment([[f1 for f1, *_ in row] for row in table])
        cells = [table[row][column] for row, column in pairs]
    exact = len(spans) == len(expected) and spans.phrases == expected.phrases
    f1, precision, recall = (sum(cell[i] for cell in cells) / slots for i in range(3))
    same = sum(shared for *_, shared in cells)
    size = sum(len(span.tokens) for span in spans)
    because = f"{same} of {size} answer tokens match {reference.label}"
    if not f1 and same:
        because = f"no number of {reference.label} is in the answer"
    # Scaled and rounded as NumPy does it; the built-in `round` differs on some ties.
    rounded = round(f1 * 100) / 100
    because = f"exact match with {reference.label}" if exact else because
    return rounded, float(exact), precision, recall, because


def compare_inspect(answer: InspectAnswer, reference: InspectReference) -> Match:
    """Inspect's `f1` and `exact`; a reference without a token matches nothing."""
    tokens = answer.tokens
    same = shared_count(answer.counts, reference.counts)
    because = f"{same} of {len(tokens)} answer tokens match {reference.label}"
    if not same:
        return 0.0, 0.0, 0.0, 0.0, because
    if tokens == reference.tokens:
        return 1.0, 1.0, 1.0, 1.0, f"exact match with {reference.label}"
    precision = same / len(tokens)
    recall = same / len(reference.tokens)
    f1 = round(2 * precision * recall / (precision + recall), 2)
    return f1, 0.0, precision, recall, because
