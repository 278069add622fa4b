"""Functions that the pages share: records, shortened texts and numbered pages of a list.

A page is a record: its template and its JSON twin show the same names. Pieces on which Python
computes are dataclasses; the twin has their fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import Field

from assay.ledger.labels import Label

T = TypeVar("T")

PageRecord: TypeAlias = dict[str, Any]
"""A page, or a part of one, by the names that its template and its JSON twin have."""
PageNumber: TypeAlias = Annotated[int, Field(ge=1, le=10**6)]
Index: TypeAlias = Annotated[int, Field(ge=0, le=10**9)]
"""Of a step or a repeat."""


@dataclass(frozen=True, slots=True)
class ShortenedText:
    """A text that may be shortened, and the length of the whole text."""

    text: str
    chars: int
    """Of the whole."""

    @property
    def left_out(self) -> int:
        return self.chars - len(self.text)


def pick(source: object, names: str, **others: Any) -> PageRecord:
    """A record of the named attributes of an object, and of `others`."""
    return {**{name: getattr(source, name) for name in names.split()}, **others}


def label_views(labels: Iterable[Label]) -> list[PageRecord]:
    return [pick(label, "value note author at") for label in labels]


def cut_text(text: str, most: int) -> ShortenedText:
    """Shorten the text to `most` characters, and keep its whole length."""
    return ShortenedText(text[:most], len(text))


def page_of(rows: Sequence[T], number: int, size: int) -> tuple[Sequence[T], int, int]:
    """The rows of one page, the number of the page, and the number of pages.

    Pages count from 1; a number beyond the last page is the last one's.
    """
    pages = max(1, -(-len(rows) // size))
    number = min(number, pages)
    return rows[(number - 1) * size : number * size], number, pages
