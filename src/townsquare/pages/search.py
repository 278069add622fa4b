"""The search engine, which compares only titles and ranks popular pages first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from assay.lazy import package_table
from townsquare.records.schema import TOWN, TWIN_TOWN, Records, category_title, slug

MAX_RESULTS = 40
MAX_WORDS = 40
CATALOGUE: Mapping[str, Any] = package_table(__package__, "catalogue")
_COMMON = frozenset(
    "a an and are at by did do for from how in is it its of on or the their there to was were what "
    "when where which who with brindle quay town s".split()
)


class Document(NamedTuple):
    """A page in the index of the search engine."""

    title: str
    site: str
    path: str
    snippet: str
    popularity: int
    """From 0 to 99; decides between pages with as many words of the query."""


class SearchIndex:
    """A search index of documents by the words of their titles."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._entries = [(words(entry.title), entry) for entry in documents]

    def find(self, query: str) -> list[Document]:
        """Return the documents that share words with the query, best and most popular first."""
        query_words = words(" ".join(query.split()[:MAX_WORDS]))
        scored = [(len(query_words & title), entry) for title, entry in self._entries]
        scored.sort(key=lambda pair: (-pair[0], -pair[1].popularity, pair[1].title))
        return [entry for shared, entry in scored if shared][:MAX_RESULTS]


def words(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, without common words and plural s."""
    tokens = re.findall(r"[a-z0-9]+", text.lower())
    return frozenset(
        word[:-1] if len(word) > 3 and word.endswith("s") else word
        for word in tokens
        if word not in _COMMON
    )


def list_documents(records: Records, sites: Mapping[str, str]) -> Iterator[Document]:
    """Yield every page that the search engine can find; `sites` maps labels to names."""
    for each, site, path, popularity, *texts in CATALOGUE["documents"]:
        for item in records.things(each) if each else ("",):
            names = {"town": TOWN, "twin_town": TWIN_TOWN, "item": item}
            if isinstance(item, str):
                names |= {"slug": slug(item), "category": category_title(item)}
            title, snippet, address = (text.format(**names) for text in (*texts, path))
            rank = getattr(item, "popularity", None) or CATALOGUE["popularity"][popularity]
            yield Document(f"{title} - {sites[site]}", site, address, snippet, rank)
