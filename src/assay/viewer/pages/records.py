"""What the pages share: texts that are cut, numbered pages of a list, records built from rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Protocol, TypeAlias, TypeVar

from pydantic import Field

from assay.ledger.labels import Label


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


R = TypeVar("R", bound=_Dataclass)
T = TypeVar("T")

PageNumber: TypeAlias = Annotated[int, Field(ge=1, le=10**6)]
Index: TypeAlias = Annotated[int, Field(ge=0, le=10**9)]
"""Of a step or a repeat."""


@dataclass(frozen=True, slots=True)
class CutText:
    """A text as far as a page shows it."""

    text: str
    chars: int
    """Of the whole."""

    @property
    def left_out(self) -> int:
        return self.chars - len(self.text)


@dataclass(frozen=True, slots=True)
class LabelView:
    """What a person said."""

    value: str
    note: str
    author: str
    at: str


def label_views(labels: Iterable[Label]) -> tuple[LabelView, ...]:
    """The labels as a page shows them."""
    return tuple(copy_fields(LabelView, label) for label in labels)


def cut_text(text: str, most: int) -> CutText:
    """The first `most` characters, and how many there are."""
    return CutText(text[:most], len(text))


def page_of(rows: Sequence[T], number: int, size: int) -> tuple[Sequence[T], int, int]:
    """The rows of a page, its number, and how many pages there are.

    Pages count from 1; a number beyond the last page is the last one's.
    """
    pages = max(1, -(-len(rows) // size))
    number = min(number, pages)
    return rows[(number - 1) * size : number * size], number, pages


def copy_fields(kind: type[R], source: object, **others: Any) -> R:
    """A record of this kind: `others`, and every other field from the attribute of its name."""
    names = [field.name for field in fields(kind) if field.name not in others]
    return kind(**{name: getattr(source, name) for name in names}, **others)
