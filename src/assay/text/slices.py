"""Patterns looked for in long texts, slice by slice, and texts of which pieces are left out.

A call into C that goes over a megabyte keeps every other thread of a server waiting. Between two
slices another thread may run; what is found is the same.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple

SLICE_CHARS = 50_000


class Cut(NamedTuple):
    """A piece of a text that is cut out, and its replacement."""

    start: int
    end: int
    new: str = ""


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


class VisibleText:
    """A text without the pieces cut out of it, with the original positions of the rest."""

    __slots__ = ("_passes", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._passes: list[array[int]] = []

    def leave_out(self, cuts: Iterable[Cut]) -> None:
        """Apply the cuts of one pass, which are in order and do not overlap."""
        # Numbers alone: of a million small objects, collecting garbage would take long.
        places = array("q")
        pieces: list[str] = []
        position = 0
        for start, end, new in cuts:
            pieces.append(self.text[position:start])
            if new:
                pieces.append(new)
            places.extend((start, end, len(new)))
            position = end
        if places:
            pieces.append(self.text[position:])
            self.text = "".join(pieces)
            self._passes.append(places)

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Where a piece of the text that is left started and ended in the text as it was."""
        for places in reversed(self._passes):
            start, end = _place_before(start, places), _place_before(end, places, at_end=True)
        return start, max(start, end)


def _place_before(place: int, places: array[int], *, at_end: bool = False) -> int:
    """Where a place of the cut text was before; inside of what is new, the end that it is for."""
    shift = 0
    for start, end, size in zip(places[::3], places[1::3], places[2::3], strict=True):
        new_start = start + shift
        if place < new_start or (at_end and place == new_start):
            break
        if place < new_start + size or (at_end and place == new_start + size > new_start):
            return end if at_end else start
        shift += size - (end - start)
    return place - shift
