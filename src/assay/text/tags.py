"""Find the text between an opening and a closing tag, such as `<answer>`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

ANSWER_TAGS: Final = ("<answer>", "</answer>")
_BLANK: Final = frozenset("\u200b\u200c\u200d\u2060\ufeff")
"""Characters that show nothing and that Python does not call white space."""


def insides(text: str, opening: str, closing: str) -> Iterator[tuple[int, int]]:
    """Yield the position of each text between an opening tag and the next closing tag."""
    end = 0
    while (at := text.find(opening, end)) >= 0:
        start = at + len(opening)
        end = text.find(closing, start)
        if end < 0:
            break
        yield start, end


def last_tagged_answer(text: str) -> str | None:
    """The text in the last complete `<answer>` tag."""
    opening, closing = ANSWER_TAGS
    end = text.rfind(closing)
    start = text.rfind(opening, 0, end) if end >= 0 else -1
    # The closing tag that was found may be a stray one after a pair.
    return None if start < 0 else text[start + len(opening) : text.find(closing, start)].strip()


def first_tagged_answer(text: str) -> str | None:
    """The text between the first `<answer>` and the next `</answer>`, as AgentFly reads it."""
    opening, closing = ANSWER_TAGS
    start = text.find(opening)
    end = text.find(closing, start) if start >= 0 else -1
    return None if end < 0 else text[start + len(opening) : end].strip()


def is_blank(text: str) -> bool:
    """Whether the text has only white space and characters without width."""
    return not text.strip() or all(char.isspace() or char in _BLANK for char in text)
