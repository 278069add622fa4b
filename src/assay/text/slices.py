"""Patterns looked for in long texts, slice by slice.

A call into C that goes over a megabyte keeps every other thread of a server waiting. Between two
slices another thread may run; what is found is the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

SLICE_CHARS = 50_000


def matches(
    pattern: re.Pattern[str], text: str, start: int = 0, *, longest: int
) -> Iterator[re.Match[str]]:
    """The matches that `finditer` gives, in order.

    No match, with what the pattern looks at behind it, is longer than `longest` characters.
    """
    while (end := start + SLICE_CHARS) + longest < len(text):
        for match in pattern.finditer(text, start, end + longest):
            if match.start() >= end:
                break
            yield match
            # Where it goes over the cut, the next slice starts behind it.
            end = max(end, match.end())
        start = end
    yield from pattern.finditer(text, start)


def matches_in_lines(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The matches that `finditer` gives, in order; the pattern never goes over a line's end."""
    start = 0
    while start < len(text):
        line = text.find("\n", start + SLICE_CHARS)
        end = line + 1 if line >= 0 else len(text)
        yield from pattern.finditer(text, start, end)
        start = end


def replace(
    places: Iterable[re.Match[str]], text: str, new: str | Callable[[re.Match[str]], str]
) -> str:
    """The text with something new in place of each match."""
    pieces: list[str] = []
    position = 0
    for match in places:
        pieces.append(text[position : match.start()])
        pieces.append(new if isinstance(new, str) else new(match))
        position = match.end()
    pieces.append(text[position:])
    return "".join(pieces)
