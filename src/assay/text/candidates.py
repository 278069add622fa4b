"""A span of a text that may be its answer, with the words around it.

The words are those of bounded windows on both sides, so the cost does not depend on the length of
the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from assay.text.phrasebook import Phrasebook, books_for, fold, without

WINDOW = 400
"""Characters on each side that are looked at."""
ADJACENT = 160
MARKS = "❌✗✘✖✕⨯🚫👎❎⛔"
"""Signs that refuse what stands next to them."""
_SENTENCE_START = re.compile(r"(?<!\W\w)(?<!\.\w)[.!?](?=[\s\"'*)»”])|[。！？؟]|\n\s*\n")
_SENTENCE_END = re.compile(r"(?<!\W\w)[.!?](?=[\s\"'*)$»”」]|\Z)|[。！？؟]|\n")
CLOSERS = re.compile(
    r"(?:[\s$*_}\])\"'`~>”’»」』)]|\\[\])]|\\[,;: ]|\\q?quad|\\(?:text|mathrm)\s*\{)*"
)
_FORMULA_LEAD = re.compile(r"(?:\$|\\\(|\\\[)[^$\n=]{0,60}=\s*\Z")
_NEXT_VALUE = re.compile(r"[\d$\\,，、;；،(（]")
_SAYS = re.compile(rf"[^\W\d_]|[~?？؟≠!→⇒➜{MARKS}]")
_WORD = re.compile(r"(?<!\\)[^\W\d_]{3,}|\|")


@dataclass(frozen=True)
class Candidate:
    """A span that may be the answer, and where it stands in the text."""

    text: str
    start: int
    end: int
    span: str
    announced: int | None = None
    """Where the words that announce it start, if any do."""
    weak: bool = False
    """Whether nothing marks it as an answer."""
    picked: bool = False
    """Whether it is a number without the words next to it."""

    def left(self, size: int = WINDOW) -> str:
        """The text before it, of so many characters at most."""
        return self.text[max(0, self.start - size) : self.start]

    def right(self, size: int = WINDOW) -> str:
        """The text behind it, of so many characters at most."""
        return self.text[self.end : self.end + size]

    @property
    def lead(self) -> int:
        """Where it starts, or the words that announce it."""
        return self.start if self.announced is None else self.announced

    @cached_property
    def adjacent(self) -> str:
        """The folded words just before the candidate, without the left side of its equation."""
        return fold(_FORMULA_LEAD.sub("", self.left(ADJACENT)))

    @cached_property
    def before(self) -> str:
        """The folded beginning of its sentence, as far as no turn of thought ends it."""
        window = self.left()
        breaks = [match.end() for match in _SENTENCE_START.finditer(window)]
        return without(fold(window[breaks[-1] :] if breaks else window), self.books, "affirming")

    @cached_property
    def after(self) -> str:
        """The folded rest of its sentence, without what closes the candidate itself."""
        window = self.right()
        start = CLOSERS.match(window)
        head = start.end() if start is not None else 0
        end = _SENTENCE_END.search(window, head)
        # A question mark belongs to the sentence that it ends.
        rest = window[head : end.end() if end is not None else len(window)]
        return without(fold(rest), self.books, "affirming")

    @cached_property
    def just_after(self) -> str:
        """The part of `after` before the next value, comma or turn of thought."""
        cut = _NEXT_VALUE.search(self.after)
        head = self.after[: cut.start() if cut is not None else 60]
        for book in self.books:
            turn = book.pattern("turning").search(head)
            head = head[: turn.start()] if turn is not None else head
        return head

    @cached_property
    def later(self) -> tuple[str, ...]:
        """What follows the candidate, folded: the first part of it, and the last."""
        parts = [self.right()]
        if self.end + WINDOW < len(self.text):
            parts.append(self.text[max(self.end, len(self.text) - WINDOW) :])
        return tuple(without(fold(part), self.books, "affirming") for part in parts)

    @cached_property
    def books(self) -> tuple[Phrasebook, ...]:
        """The tables of the languages around the candidate."""
        return books_for(fold(f"{self.left()} {self.right()}"))

    @cached_property
    def stands_alone(self) -> bool:
        """Whether no word, and nothing that says something, stands around the candidate."""
        if self.weak and _WORD.search(self.span):
            return False
        return not (_SAYS.search(self.left()) or _SAYS.search(self.right()))

    def is_behind(self, field: str, *, through_commas: bool = False) -> bool:
        """Whether a phrase of a field stands right before the candidate."""
        return any(
            book.text_before(self.adjacent, field, through_commas=through_commas) is not None
            for book in self.books
        )

    def occurs(self, field: str, text: str) -> bool:
        """Whether a phrase of a field occurs in a folded text."""
        return any(book.pattern(field).search(text) is not None for book in self.books)
