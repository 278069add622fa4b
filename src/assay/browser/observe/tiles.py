"""The picture of a window as 64 tiles: which of them another picture differs in.

A tile has one character, which stands for what it shows. What changes by itself and where the
pointer is are left out, so that two equal rows of tiles mean that nobody would see a difference.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64decode
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

from assay.browser.observe.shot import grey_rows

SCALE: Final = 0.125
"""Eight pixels of the window make one point of the picture."""
SIDE: Final = 8
"""Tiles in a row, and rows of tiles."""
LEAST: Final = 20
"""Steps of brightness, of 255, by which a point must differ to be another one."""
MARGIN: Final = 12.0
"""Pixels around a control that change with it: its ring, its shadow."""
_LETTERS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"

Box = tuple[float, float, float, float]


class WindowPicture(NamedTuple):
    """A small picture of the window, from a PNG in base64."""

    data: str
    place: tuple[int, str]
    """How far the page was scrolled."""

    def rows(self) -> list[list[int]] | None:
        """The brightness of every point; `None` if the picture cannot be read."""
        try:
            return grey_rows(b64decode(self.data))
        except (ValueError, zlib.error, struct.error, IndexError):
            return None


def tiles_of(picture: WindowPicture) -> str | None:
    """One character for each tile."""
    rows = picture.rows()
    if not rows or not rows[0]:
        return None
    return "".join(_letter(rows, n) for n in range(SIDE * SIDE))


def changed_tiles(
    old: str,
    before: WindowPicture,
    after: WindowPicture,
    *,
    moving: WindowPicture | None,
    masks: Iterable[Box],
    regions: Iterable[Box],
) -> str | None:
    """The tiles after a step: the `old` ones, but for those in which something is different.

    Only what is within the `regions` counts, and not within the `masks`. What differs between
    `after` and `moving`, which nobody acted between, does not count either. `None` if the pictures
    cannot be compared.
    """
    a, b = before.rows(), after.rows()
    c = None if moving is None else moving.rows()
    if a is None or b is None or len(a) != len(b) or len(a[0]) != len(b[0]):
        return None
    covers = [_points(mask) for mask in masks]
    places = [_points(region) for region in regions]
    tiles: set[int] = set()
    height, width = len(a), len(a[0])
    for y, (x_row, y_row) in enumerate(zip(a, b, strict=True)):
        if x_row == y_row:
            continue
        for x, (p, q) in enumerate(zip(x_row, y_row, strict=True)):
            if abs(p - q) < LEAST or any(_within(cover, x, y) for cover in covers):
                continue
            if not any(_within(place, x, y) for place in places):
                continue
            if c is not None and _moves(b, c, x, y):
                continue
            tiles.add(y * SIDE // height * SIDE + x * SIDE // width)
    letters = list(old)
    for n in tiles:
        letter = _letter(b, n)
        letters[n] = letter if letter != letters[n] else _LETTERS[_LETTERS.index(letter) - 1]
    return "".join(letters)


def _moves(rows: Sequence[Sequence[int]], later: Sequence[Sequence[int]], x: int, y: int) -> bool:
    """Whether the point or one beside it goes on changing."""
    for row in range(max(0, y - 1), min(len(rows), y + 2)):
        for column in range(max(0, x - 1), min(len(rows[0]), x + 2)):
            if abs(rows[row][column] - later[row][column]) >= LEAST // 2:
                return True
    return False


def _points(box: Box) -> tuple[int, int, int, int]:
    x, y, width, height = box
    return (
        int((x - MARGIN) * SCALE),
        int((y - MARGIN) * SCALE),
        int((x + width + MARGIN) * SCALE) + 1,
        int((y + height + MARGIN) * SCALE) + 1,
    )


def _within(cover: tuple[int, int, int, int], x: int, y: int) -> bool:
    return cover[0] <= x <= cover[2] and cover[1] <= y <= cover[3]


def _letter(rows: Sequence[Sequence[int]], n: int) -> str:
    height, width = len(rows), len(rows[0])
    top, left = n // SIDE * height // SIDE, n % SIDE * width // SIDE
    bottom, right = (n // SIDE + 1) * height // SIDE, (n % SIDE + 1) * width // SIDE
    content = bytes(p & 0xF0 for row in rows[top:bottom] for p in row[left:right])
    return _LETTERS[blake2b(content, digest_size=1).digest()[0] % len(_LETTERS)]
