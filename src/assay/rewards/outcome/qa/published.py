"""Token F1 and exact match by the published scripts of SQuAD, HotpotQA, DROP and Inspect.

SQuAD 1.1 and 2.0, HotpotQA and MuSiQue lower the text, delete ASCII punctuation, drop the words a,
an and the, split at white space, and compare multisets of tokens. They differ in what an empty side
means, and HotpotQA pays nothing for a closed answer (yes, no, noanswer) that is not matched whole.
Their normal form is reached here by a shorter way. ASCII text, nearly all of it, goes through one
byte translation, and since its words are then bounded by spaces only, articles can be counted as
tokens; in other text, the tokens that hold signs take the scripts' regular expression.

DROP and Inspect split at spaces and hyphens first and normalise each piece alone: a piece that
reads as a number becomes that number, any other loses its ASCII punctuation and its articles. DROP
(AllenNLP's `drop_eval.py`) compares *sets* of tokens (see `assay.rewards.outcome.bags`), aligns the
spans of a multi-span answer one to one, and rounds to hundredths. Inspect (0.3.285) folds case
fully, compares multisets, frees a number from the punctuation around it, ignores references without
a token, and rounds to hundredths.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import chain
from math import isfinite
from typing import TypeAlias, TypeVar

from assay.rewards.outcome.bags import BagList, bag_of, best_assignment, overlap_table
from assay.text.tokens import ARTICLES, to_float, without_articles, without_punctuation

Match: TypeAlias = tuple[float, float, float, float, str]
"""How well one answer meets one reference, in every mode: F1, exact match, precision, recall, and
one clause that says why. A bare tuple, unpacked where it is used: one is built for every score."""

Spans: TypeAlias = tuple[str, ...]
"""The parts of an answer that names several things, such as DROP's multi-span answers."""

T = TypeVar("T", str, str | Spans)
R = TypeVar("R")

LABEL_CHARS = 60
"""Characters of a reference that a reason quotes."""

CACHED_CHARS = 2_000
"""Longer references are prepared anew each time, so the cache stays small."""

CLOSED = frozenset(("yes", "no", "noanswer"))
"""HotpotQA's closed answers: matched whole or worth nothing."""

_ODD = b"\x01"
"""Stands for every ASCII control character that is neither a space nor part of a word."""

_PUNCTUATION = string.punctuation.encode()
_SPACES = b"\t\n\r\x0b\x0c\x1c\x1d\x1e\x1f "
_FOLD = bytes(
    ord(" ") if code in _SPACES else _ODD[0] if code < 32 or code == 127 else ord(chr(code).lower())
    for code in range(128)
) + bytes(range(128, 256))
MAX_SPANS = 64
"""Spans of one answer or reference; aligning them takes cubic time."""

_AROUND = string.whitespace + string.punctuation
_DIGIT = re.compile(r"\d")


def label(reference: str | Spans) -> str:
    """The reference in quotes, shortened for the reason of a score."""
    text = reference if isinstance(reference, str) else " + ".join(reference[:4])
    return repr(text if len(text) <= LABEL_CHARS else text[:LABEL_CHARS] + "…")


def words(text: str) -> list[str]:
    """The tokens of a text after normalisation; articles may be among them."""
    if text.isascii():
        folded = text.encode().translate(_FOLD, _PUNCTUATION)
        if _ODD not in folded:
            return folded.decode().split()
    # No byte of a longer UTF-8 character is an ASCII mark, so bytes can be deleted here too.
    lowered = text.lower().encode("utf-8", "surrogatepass").translate(None, _PUNCTUATION)
    tokens = lowered.decode("utf-8", "surrogatepass").split()
    if "".join(tokens).isalnum():
        return tokens
    # Only a token with a sign inside, such as a curly quote, can hide an article.
    split = [[token] if token.isalnum() else without_articles(token) for token in tokens]
    return list(chain.from_iterable(split))


class SquadReference:
    """A reference, normalised as by SQuAD's script and prepared for many comparisons.

    `blank_f1` is the F1 of an empty answer where the reference is empty too: 1 in SQuAD 2.0 and
    MuSiQue, where they agree; 0 in SQuAD 1.1 and HotpotQA, where they share no token.
    """

    __slots__ = ("bag", "closed", "counts", "label", "size", "tail", "tokens", "whole")

    def __init__(self, text: str, blank_f1: float) -> None:
        self.tokens = [word for word in words(text) if word not in ARTICLES]
        self.size = len(self.tokens)
        self.bag = frozenset(self.tokens)
        self.counts = Counter(self.tokens) if len(self.bag) < self.size else None
        """How often each token occurs, unless every one occurs once."""
        self.closed = self.size == 1 and self.tokens[0] in CLOSED
        self.label = label(text)
        self.tail = f" answer tokens match {self.label}"
        full = 1.0 if self.tokens else blank_f1
        self.whole: Match = (full, 1.0, full, full, f"exact match with {self.label}")

    @property
    def blank(self) -> bool:
        return not self.tokens


def cached_when_short(
    prepare: Callable[[T], R], size: Callable[[T], int] = len
) -> Callable[[T], R]:
    """Add a cache to a function that prepares references, for texts of up to 2,000 characters."""
    cached = lru_cache(maxsize=4096)(prepare)

    def reference(text: T) -> R:
        return cached(text) if size(text) <= CACHED_CHARS else prepare(text)

    return reference


squad2_reference = cached_when_short(partial(SquadReference, blank_f1=1.0))
"""The reference for SQuAD 2.0 and MuSiQue."""
squad1_reference = cached_when_short(partial(SquadReference, blank_f1=0.0))
"""The reference for SQuAD 1.1 and HotpotQA."""


def compare(tokens: list[str], reference: SquadReference) -> Match:
    """Compare by F1 over multisets of tokens, exactly as the published scripts do."""
    if tokens == reference.tokens:
        return reference.whole
    count = tokens.count
    size = len(tokens) - count("a") - count("an") - count("the")
    if reference.counts is None:
        same = len(reference.bag.intersection(tokens))
    else:
        same = (Counter(tokens) & reference.counts).total()
    if (
        same == size == reference.size
        and [word for word in tokens if word not in ARTICLES] == reference.tokens
    ):
        return reference.whole
    return _partial_match(same, size, reference)


def _partial_match(same: int, size: int, reference: SquadReference) -> Match:
    """The match of an answer of `size` tokens, of which `same` are in the reference."""
    because = f"{same} of {size}{reference.tail}"
    if not same:
        return 0.0, 0.0, 0.0, 0.0, because
    precision = same / size
    recall = same / reference.size
    return 2 * precision * recall / (precision + recall), 0.0, precision, recall, because


class CountedWords:
    """An answer's tokens and their counts, for comparison with many references."""

    __slots__ = ("counts", "tokens", "without_articles")

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.without_articles = [word for word in tokens if word not in ARTICLES]
        self.counts = Counter(self.without_articles)


def compare_counted(answer: CountedWords, reference: SquadReference) -> Match:
    """The same result as `compare`, in time that only depends on the reference."""
    size = len(answer.without_articles)
    same = shared_count(answer.counts, reference.counts or reference.bag)
    if answer.tokens == reference.tokens or (
        same == size == reference.size and answer.without_articles == reference.tokens
    ):
        return reference.whole
    return _partial_match(same, size, reference)


def shared_count(counts: Counter[str], reference: Counter[str] | frozenset[str]) -> int:
    """The number of tokens that an answer and a reference share; repeated tokens count."""
    if isinstance(reference, frozenset):
        return sum(token in counts for token in reference)
    return sum(min(count, counts[token]) for token, count in reference.items() if token in counts)


def compare_counted_closed(answer: CountedWords, reference: SquadReference) -> Match:
    """The same result as `compare_closed`, in time that only depends on the reference."""
    return _pay_closed(compare_counted(answer, reference), answer.without_articles, reference)


def compare_closed(tokens: list[str], reference: SquadReference) -> Match:
    """HotpotQA's rule: a "yes", "no" or "noanswer" must match the whole other side."""
    return _pay_closed(compare(tokens, reference), tokens, reference)


def _pay_closed(match: Match, tokens: list[str], reference: SquadReference) -> Match:
    f1, em, precision, _, _ = match
    if em or not f1:
        return match
    if reference.closed:
        return 0.0, 0.0, 0.0, 0.0, f"{reference.label} is matched whole or not at all"
    words = [token for token in tokens if token not in ARTICLES] if precision == 1.0 else []
    if len(words) == 1 and words[0] in CLOSED:
        return 0.0, 0.0, 0.0, 0.0, f"a bare yes, no or noanswer is no part of {reference.label}"
    return match


def inspect_words(text: str) -> list[str]:
    """The tokens of a text as Inspect's scorers split it, in order."""
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


class DropDatasetReference:
    """A reference of one or several spans, normalised as by DROP's script."""

    __slots__ = ("blank", "label", "spans")

    def __init__(self, text: str | Spans) -> None:
        spans = (text,) if isinstance(text, str) else text
        self.spans = read_spans(text)
        self.blank = not spans or not spans[0].strip()
        self.label = label(text)


class InspectAiAnswer:
    """An answer's tokens and their counts, normalised as by Inspect's scorers."""

    __slots__ = ("counts", "tokens")

    def __init__(self, text: str) -> None:
        self.tokens = inspect_words(text)
        self.counts = Counter(self.tokens)


class InspectAiReference(InspectAiAnswer):
    """A reference, normalised as by Inspect's scorers."""

    __slots__ = ("blank", "label")

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.blank = not self.tokens
        self.label = label(text)


def _size(text: str | Spans) -> int:
    return len(text) if isinstance(text, str) else sum(map(len, text))


drop_reference = cached_when_short(DropDatasetReference, _size)
inspect_reference = cached_when_short(InspectAiReference)


def read_spans(text: str | Spans) -> BagList:
    """The token bag of each span of an answer or a reference."""
    return BagList(bag_of(span) for span in ((text,) if isinstance(text, str) else text))


def compare_drop(spans: BagList, reference: DropDatasetReference) -> Match:
    """DROP's F1 and exact match between the spans of an answer and of a reference."""
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


def compare_inspect(answer: InspectAiAnswer, reference: InspectAiReference) -> Match:
    """Inspect's `f1` and `exact`; an empty reference matches no answer."""
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
