"""The search engine: it compares titles only, and ranks popular pages before correct ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from townsquare.pages.markup import element, field, form, link, paragraph
from townsquare.pages.request import Request, Response, not_found, page
from townsquare.records.schema import TOWN

NAME = f"{TOWN} Search"
MAX_RESULTS = 40
MAX_WORDS = 40
_COMMON = frozenset(
    "a an and are at by did do for from how in is it its of on or the their there to was were what "
    "when where which who with brindle quay town s".split()
)


@dataclass(frozen=True, slots=True)
class Document:
    """A page as the engine knows it."""

    title: str
    site: str
    path: str
    snippet: str
    popularity: int
    """From 0 to 99; decides between pages with as many words of the query."""


class SearchIndex:
    """Documents by the words of their titles."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._entries = [(words(entry.title), entry) for entry in documents]

    def find(self, query: str) -> list[Document]:
        """The documents that share most words with the query, the popular ones first."""
        query_words = words(" ".join(query.split()[:MAX_WORDS]))
        scored = [
            (len(query_words & title), entry)
            for title, entry in self._entries
            if query_words & title
        ]
        scored.sort(key=lambda pair: (-pair[0], -pair[1].popularity, pair[1].title))
        return [entry for _, entry in scored[:MAX_RESULTS]]


def words(text: str) -> frozenset[str]:
    """The words that count, in lower case and without a plural s."""
    tokens = re.findall(r"[a-z0-9]+", text.lower())
    return frozenset(_singular(word) for word in tokens if word not in _COMMON)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def respond(index: SearchIndex, request: Request) -> Response:
    if request.path != "/":
        return not_found(NAME)
    query = request.query.get("q", "")[:400]
    entry = form("/", field("Search the web", "q", query), button="Search", name="Search")
    home = (link(request.url(""), "Town Square portal"),)
    if not query.strip():
        return page(NAME, "Search", entry, head=home)
    matches = index.find(query)
    title = f"Results for {query}"
    if not matches:
        hint = paragraph("Nothing found. The engine compares your words with titles of pages.")
        return page(NAME, title, entry, hint, head=home)
    return page(NAME, title, entry, _results(matches, request), head=home)


def _results(matches: Sequence[Document], request: Request) -> object:
    return element(
        "ol",
        *(
            element(
                "li",
                element("h2", link(request.url(entry.site, entry.path), entry.title)),
                paragraph(entry.snippet),
            )
            for entry in matches
        ),
    )
