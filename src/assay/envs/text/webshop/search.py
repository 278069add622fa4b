"""Full-text search that ranks as Lucene does, float for float.

BM25 with k1 = 0.9 and b = 0.4 (the defaults of Anserini and Pyserini), document lengths in
Lucene's one-byte form, 32-bit term scores summed in 64 bits, ties in the order of the ASINs.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.envs.text.webshop.analyzer import terms

K1 = 0.9
B = 0.4
LONGEST_QUERY = 2048
"""Characters of a query that count; what follows them is ignored."""


@dataclass(frozen=True, slots=True, eq=False)
class _Postings:
    """Which document has which term how often.

    Documents are numbers; term `i` has the entries `starts[i]` to `starts[i + 1]`.
    """

    terms: tuple[str, ...]
    starts: NDArray[np.uint32]
    documents: NDArray[np.uint32]
    counts: NDArray[np.uint32]
    lengths: NDArray[np.uint32]
    """Terms of each document, repetitions counted."""


def _collect(texts: Iterable[str]) -> _Postings:
    """Analyse the texts; the first one becomes document 0."""
    by_term: dict[str, tuple[array[int], array[int]]] = {}
    lengths = array("I")
    for number, text in enumerate(texts):
        frequencies = Counter(terms(text))
        lengths.append(frequencies.total())
        for term, count in frequencies.items():
            documents, counts = by_term.setdefault(term, (array("I"), array("I")))
            documents.append(number)
            counts.append(count)
    ordered = sorted(by_term)
    sizes = [0, *(len(by_term[term][0]) for term in ordered)]
    documents, counts = array("I"), array("I")
    for term in ordered:
        documents.extend(by_term[term][0])
        counts.extend(by_term[term][1])
    return _Postings(
        terms=tuple(ordered),
        starts=np.cumsum(sizes, dtype=np.uint32),
        documents=np.array(documents, dtype=np.uint32),
        counts=np.array(counts, dtype=np.uint32),
        lengths=np.array(lengths, dtype=np.uint32),
    )


class ProductIndex:
    """A searchable, immutable set of documents, each known by its id."""

    def __init__(self, documents: Mapping[str, str]) -> None:
        """Index the text of each id; about a quarter of a millisecond for a product."""
        # Equal scores come out in document order, which therefore is the order of the ids.
        self._ids = tuple(sorted(documents))
        postings = _collect(documents[one] for one in self._ids)
        self._documents = postings.documents.astype(np.intp)
        self._starts = postings.starts.tolist()
        self._numbers = {term: number for number, term in enumerate(postings.terms)}
        count = len(self._ids)
        average = np.float32((int(postings.lengths.sum()) or 1) / max(1, count))
        document_frequency = np.diff(postings.starts.astype(np.float64))
        idf = np.log(1 + (count - document_frequency + 0.5) / (document_frequency + 0.5))
        self._idf = idf.astype(np.float32)
        self._saturation = _saturation(postings, average)
        weights = np.repeat(self._idf, document_frequency.astype(np.intp))
        self._scores = weights - weights / self._saturation

    def search(self, query: str, limit: int) -> list[str]:
        """The ids of at most `limit` documents that share a term with the query, best first."""
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


def _saturation(postings: _Postings, average: np.float32) -> NDArray[np.float32]:
    """`1 + tf / norm` of each entry, in the order and the precision of Lucene's arithmetic."""
    lengths = np.array([_quantise(int(one)) for one in postings.lengths], dtype=np.float32)
    one, k1, b = np.float32(1), np.float32(K1), np.float32(B)
    inverse = one / (k1 * ((one - b) + b * lengths / average))
    saturation: NDArray[np.float32] = one + postings.counts.astype(np.float32) * inverse[
        postings.documents
    ].astype(np.float32)
    return saturation


def _quantise(length: int) -> int:
    """The length that Lucene gets back from its one-byte form: exact to 40, then four bits."""
    if length < 40:
        return length
    rest = length - 24
    shift = max(0, rest.bit_length() - 4)
    return 24 + ((rest >> shift) << shift)
