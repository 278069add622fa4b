"""Full-text search with exactly the scores and ranks of Lucene.

BM25 with k1 = 0.9 and b = 0.4 (the defaults of Anserini and Pyserini), document lengths in
Lucene's one-byte form, 32-bit term scores summed in 64 bits, ties in the order of the ASINs.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from assay.worlds.webshop.analyzer import terms

K1 = 0.9
B = 0.4
LONGEST_QUERY = 2048
"""Characters of a query that count; what follows them is ignored."""


class ProductIndex:
    """A search index of documents by id.

    Documents and terms are numbers; term `i` has the entries `_starts[i]` to `_starts[i + 1]`,
    one for each document that has it.
    """

    def __init__(self, documents: Mapping[str, str]) -> None:
        """Build the index from the text of each id."""
        # Equal scores come out in document order, which therefore is the order of the ids.
        self._ids = tuple(sorted(documents))
        entries, lengths = _collect(documents[one] for one in self._ids)
        ordered = sorted(entries)
        self._numbers = {term: number for number, term in enumerate(ordered)}
        self._documents = np.fromiter(
            chain.from_iterable(entries[term][0] for term in ordered), dtype=np.intp
        )
        counts = np.fromiter(
            chain.from_iterable(entries[term][1] for term in ordered), dtype=np.float32
        )
        self._saturation = _saturation(self._documents, counts, lengths)
        sizes = np.array([len(entries[term][0]) for term in ordered], dtype=np.intp)
        self._starts = [0, *np.cumsum(sizes).tolist()]
        idf = np.log(1 + (len(self._ids) - sizes + 0.5) / (sizes + 0.5))
        self._idf = idf.astype(np.float32)
        weights: NDArray[np.float32] = np.repeat(self._idf, sizes)
        self._scores = weights - weights / self._saturation

    def search(self, query: str, limit: int) -> list[str]:
        """Return the ids of the best documents for the query, at most `limit`."""
        total = np.zeros(len(self._ids), dtype=np.float64)
        for term, times in Counter(terms(query[:LONGEST_QUERY].lower())).items():
            number = self._numbers.get(term)
            if number is not None:
                entries = slice(self._starts[number], self._starts[number + 1])
                total[self._documents[entries]] += self._term_scores(number, entries, times)
        scores = total.astype(np.float32)
        matches = np.flatnonzero(scores)
        if len(matches) > limit:
            match_scores = scores[matches]
            floor = np.partition(match_scores, len(match_scores) - limit)[len(match_scores) - limit]
            matches = matches[match_scores >= floor]
        best = matches[np.argsort(-scores[matches], kind="stable")][:limit]
        return [self._ids[number] for number in best.tolist()]

    def _term_scores(self, number: int, entries: slice, times: int) -> NDArray[np.float32]:
        if times == 1:
            return self._scores[entries]
        weight = np.float32(times) * self._idf[number]
        scores: NDArray[np.float32] = weight - weight / self._saturation[entries]
        return scores


def _collect(texts: Iterable[str]) -> tuple[dict[str, tuple[array[int], array[int]]], list[int]]:
    """Return the documents and counts of each term, and the length of each document.

    The first text is document 0.
    """
    entries: dict[str, tuple[array[int], array[int]]] = {}
    lengths: list[int] = []
    for number, text in enumerate(texts):
        frequencies = Counter(terms(text))
        lengths.append(frequencies.total())
        for term, count in frequencies.items():
            documents, counts = entries.setdefault(term, (array("I"), array("I")))
            documents.append(number)
            counts.append(count)
    return entries, lengths


def _saturation(
    documents: NDArray[np.intp], counts: NDArray[np.float32], lengths: list[int]
) -> NDArray[np.float32]:
    """Return `1 + tf / norm` for each entry, with the precision of Lucene."""
    average = np.float32((sum(lengths) or 1) / max(1, len(lengths)))
    quantised = np.array([_quantise(length) for length in lengths], dtype=np.float32)
    one, k1, b = np.float32(1), np.float32(K1), np.float32(B)
    inverse = one / (k1 * ((one - b) + b * quantised / average))
    saturation: NDArray[np.float32] = one + counts * inverse[documents].astype(np.float32)
    return saturation


def _quantise(length: int) -> int:
    """Return a document length as Lucene rounds it to store it in one byte."""
    if length < 40:
        return length
    rest = length - 24
    shift = max(0, rest.bit_length() - 4)
    return 24 + ((rest >> shift) << shift)
