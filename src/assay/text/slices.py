"""Search long texts slice by slice, and cut parts out of texts.

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
    """A part of a text to cut out, and its replacement."""

    start: int
    end: int
    new: str = ""


def matches(
    pattern: re.Pattern[str], text: str, start: int = 0, *, longest: int
) -> Iterator[re.Match[str]]:
    """Yield the matches of `finditer` slice by slice; no match may be longer than `longest`."""
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
    """Yield the matches of `finditer`, in order; no match may cross the end of a line."""
    start = 0
    while start < len(text):
        line = text.find("\n", start + SLICE_CHARS)
        end = line + 1 if line >= 0 else len(text)
        yield from pattern.finditer(text, start, end)
        start = end


class VisibleText:
    """A text with parts cut out, which knows the original positions of what is left."""

    __slots__ = ("_passes", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._passes: list[array[int]] = []

    def leave_out(self, cuts: Iterable[Cut]) -> None:
        """Apply cuts, which must be in order and must not overlap."""
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
        """Map a range of the cut text to its range in the original text."""
        for places in reversed(self._passes):
            start, end = _place_before(start, places), _place_before(end, places, at_end=True)
        return start, max(start, end)


def _place_before(place: int, places: array[int], *, at_end: bool = False) -> int:
    """Map a position in the cut text to a position before the cut."""
    shift = 0
    for start, end, size in zip(places[::3], places[1::3], places[2::3], strict=True):
        new_start = start + shift
        if place < new_start or (at_end and place == new_start):
            break
        if place < new_start + size or (at_end and place == new_start + size > new_start):
            return end if at_end else start
        shift += size - (end - start)
    return place - shift
