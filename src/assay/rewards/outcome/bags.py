"""Compare texts by the F1 of their token sets, by the rules of the DROP benchmark.

Tokens are split at spaces and hyphens, lower-cased and stripped of ASCII punctuation unless they
are numbers; numbers are written as floats (`1,000`, `1000.0` and full-width `１０００` are equal),
the articles a, an and the vanish, and duplicates and order do not count for the F1. A reference
with numbers is only matched by a set that shares one of them.

Items are aligned by the best one-to-one assignment, found exactly by the Hungarian method with row
and column potentials: O(n² m) for n rows and m columns, n <= m. The caller bounds the sizes.

The rules restate those of BrowserGym's AssistantBench evaluator and of the DROP evaluator that
it adapts (both Apache-2.0).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import inf
from typing import NamedTuple

from assay.text.tokens import to_float, without_articles, without_punctuation

_NAMED_NUMBERS = {"nan": "nan", "inf": "inf", "infinity": "inf"}
_SPECIAL = frozenset({"", "a", "an", "the", *_NAMED_NUMBERS})
_FEW_PAIRS = 16
"""Up to this many pairs of bags are compared set by set."""
_NUMBER_STARTS = frozenset("0123456789+-.ni")


class TokenBag(NamedTuple):
    """The tokens of one text: as a list, as a set, and the subset that are numbers."""

    words: list[str]
    tokens: set[str]
    numbers: set[str]


def bag_of(text: str) -> TokenBag:
    words: list[str] = []
    numbers: set[str] = set()
    for raw in text.replace("-", " ").split(" "):
        token = raw.lower()
        if token and not token.isalpha():
            number = _as_number(token)
            if number is None:
                token = without_punctuation(token)
                number = None if token.isalpha() else _as_number(token)
            if number is not None:
                words.append(number)
                numbers.add(number)
                continue
            if not token.isalnum():
                several = without_articles(token)
                words += several
                numbers.update(filter(_as_number, several))
                continue
        if token not in _SPECIAL:
            words.append(token)
        elif token in _NAMED_NUMBERS:
            words.append(_NAMED_NUMBERS[token])
            numbers.add(_NAMED_NUMBERS[token])
    return TokenBag(words, set(words), numbers)


def _as_number(token: str) -> str | None:
    """The normal form of a token that is a number; `None` for all other tokens."""
    start = token[:1]
    # Most tokens are words: a failed `float` costs more than looking at the first character.
    if start not in _NUMBER_STARTS and (start.isalpha() or start.isascii()) and start > " ":
        return None
    number = to_float(token)
    return None if number is None else str(number)


def overlap(predicted: TokenBag, reference: TokenBag) -> tuple[float, float, float, int]:
    """The F1, precision and recall of two token sets, and the number of shared tokens.

    All three are 0.0 where the reference has numbers and none of them is predicted. Two empty sets
    are equal, F1 = 1.
    """
    shared = len(reference.tokens & predicted.tokens)
    shares_number = not (reference.numbers and reference.numbers.isdisjoint(predicted.tokens))
    return _overlap(shared, predicted, reference, shares_number=shares_number)


def _overlap(
    shared: int, predicted: TokenBag, reference: TokenBag, *, shares_number: bool
) -> tuple[float, float, float, int]:
    if not shared:
        equal = 0.0 if reference.tokens or predicted.tokens else 1.0
        return equal, equal, equal, 0
    if not shares_number:
        return 0.0, 0.0, 0.0, shared
    precision = shared / len(predicted.tokens)
    recall = shared / len(reference.tokens)
    return 2 * precision * recall / (precision + recall), precision, recall, shared


class BagList(list[TokenBag]):
    """The token bags of one answer, with bit masks for fast comparison."""

    @cached_property
    def places(self) -> dict[str, int]:
        return {token: place for place, token in enumerate(set().union(*(b.tokens for b in self)))}

    @cached_property
    def masks(self) -> list[int]:
        """One bit mask for each bag: a bit is set for each token in the bag."""
        return [self.mask(bag.tokens) for bag in self]

    @cached_property
    def phrases(self) -> frozenset[tuple[str, ...]]:
        """The different token sequences among the bags."""
        return frozenset(tuple(bag.words) for bag in self)

    def mask(self, tokens: Iterable[str]) -> int:
        """A bit mask of these tokens; a token that no bag has sets no bit."""
        digits = bytearray(b"0" * (len(self.places) + 1))
        for token in tokens:
            place = self.places.get(token)
            if place is not None:
                digits[place] = ord("1")
        return int(digits, 2)


def overlap_table(
    predicted: BagList, reference: Sequence[TokenBag]
) -> list[list[tuple[float, float, float, int]]]:
    """The `overlap` of every predicted bag (columns) with every reference bag (rows)."""
    if len(predicted) * len(reference) <= _FEW_PAIRS:
        return [[overlap(bag, target) for bag in predicted] for target in reference]
    table = []
    for target in reference:
        tokens, numbers = predicted.mask(target.tokens), predicted.mask(target.numbers)
        row = []
        for bag, mask in zip(predicted, predicted.masks, strict=True):
            shares_number = not target.numbers or bool(mask & numbers)
            shared = (mask & tokens).bit_count()
            row.append(_overlap(shared, bag, target, shares_number=shares_number))
        table.append(row)
    return table


def bag_f1(predicted: TokenBag, reference: TokenBag) -> float:
    """The F1 of two token sets, as `overlap` computes it."""
    return overlap(predicted, reference)[0]


class BagPair(NamedTuple):
    """A reference item, the predicted item aligned with it, and the score of the pair."""

    reference: int
    predicted: int
    score: float


def align(scores: Sequence[Sequence[float]]) -> list[BagPair]:
    """Align reference items (rows) with predicted items (columns), without pairs that score 0."""
    return [BagPair(row, column, scores[row][column]) for row, column in best_assignment(scores)]


def align_bags(predicted: Sequence[TokenBag], reference: Sequence[TokenBag]) -> list[BagPair]:
    """Align two lists of bags one to one so that the total F1 is greatest."""
    table = overlap_table(BagList(predicted), reference)
    return align([[f1 for f1, *_ in row] for row in table])


def mean_score(pairs: Iterable[BagPair], items: int) -> float:
    """The mean score over `items`, where an item without a partner scores 0.0; NaN for no items."""
    return sum(pair.score for pair in pairs) / items if items else float("nan")


def best_assignment(scores: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Choose the (row, column) pairs with the greatest total score, in row order.

    Scores are 0.0 or more; pairs that score nothing are left out. Among equal totals the choice
    is deterministic and otherwise unspecified.
    """
    if not scores or not scores[0]:
        return []
    if len(scores) > len(scores[0]):
        flipped = best_assignment(list(zip(*scores, strict=True)))
        return sorted((row, column) for column, row in flipped)
    peaks = [(row, line.index(peak)) for row, line in enumerate(scores) if (peak := max(line)) > 0]
    # When no two rows want the same column, each gets its best: no total is greater.
    if len({column for _, column in peaks}) == len(peaks):
        return peaks
    return [(row, column) for row, column in _assign_rows(scores) if scores[row][column] > 0]


def _assign_rows(scores: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    rows, columns = len(scores), len(scores[0])
    row_price = [0.0] * rows
    column_price = [0.0] * columns
    owner = [-1] * columns
    for row in range(rows):
        path, end = _cheapest_path(scores, row, row_price, column_price, owner)
        while end >= 0:
            before = path[end]
            owner[end] = row if before < 0 else owner[before]
            end = before
    return sorted((row, column) for column, row in enumerate(owner) if row >= 0)


def _cheapest_path(
    scores: Sequence[Sequence[float]],
    start: int,
    row_price: list[float],
    column_price: list[float],
    owner: Sequence[int],
) -> tuple[list[int], int]:
    """Find the cheapest path from row `start` to a free column; return its steps and its end."""
    columns = len(column_price)
    slack = [inf] * columns
    path = [-1] * columns
    visited: list[int] = []
    free = set(range(columns))
    row, column = start, -1
    while True:
        line, price = scores[row], row_price[row]
        best, nearest = inf, -1
        for other in free:
            reduced = -line[other] - price - column_price[other]
            if reduced < slack[other]:
                slack[other] = reduced
                path[other] = column
            if slack[other] < best:
                best, nearest = slack[other], other
        row_price[start] += best
        for other in visited:
            row_price[owner[other]] += best
            column_price[other] -= best
        for other in free:
            slack[other] -= best
        column = nearest
        if owner[column] < 0:
            return path, column
        free.discard(column)
        visited.append(column)
        row = owner[column]
