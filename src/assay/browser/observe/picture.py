"""Compare pictures of a window by 64 tiles, or by one hash of the whole picture.

Equal tiles look equal; with `shot_hash`, similar pictures differ in few of its 64 bits.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64decode
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import accumulate, pairwise
from typing import Final, NamedTuple, TypeAlias

from assay.errors import BadRecord

SCALE: Final = 0.125
"""Eight pixels of the window make one point of the picture."""
SIDE: Final = 8
LEAST: Final = 20
"""Steps of brightness, of 255, by which a point must differ to be another one."""
MARGIN: Final = 12.0
"""Pixels around a control that change with it: its ring, its shadow."""
_LETTERS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_CHANNELS: Final = {0: 1, 2: 3, 4: 2, 6: 4}
_MOST_BYTES: Final = 4_000_000

Box: TypeAlias = tuple[float, float, float, float]
Rows: TypeAlias = Sequence[Sequence[int]]
"""The brightness of every point, from 0 to 255."""


class WindowPicture(NamedTuple):
    """A small picture of the window, as a PNG in base64."""

    data: str
    place: tuple[int, str] = (0, "")
    """How far the page was scrolled."""

    def rows(self) -> Rows | None:
        """The brightness of every point; `None` if the picture cannot be read."""
        try:
            return grey_rows(b64decode(self.data))
        except (ValueError, zlib.error, struct.error, IndexError):
            return None


def shot_hash(png: str) -> int:
    """The hash of a PNG in base64; raises `BadRecord` for an unreadable picture."""
    rows = WindowPicture(png).rows()
    if not rows or not rows[0]:
        raise BadRecord("the data is not a readable PNG picture")
    return difference_hash(rows)


def difference_hash(rows: Rows) -> int:
    """A hash of 64 bits, which say whether each field is brighter than its right neighbour."""
    bits = 0
    for y in range(8):
        for left, right in pairwise(_mean(rows, x, y) for x in range(9)):
            bits = bits << 1 | (left > right)
    return bits


def _mean(rows: Rows, x: int, y: int) -> int:
    height, width = len(rows), len(rows[0])
    top, bottom = y * height // 8, max((y + 1) * height // 8, y * height // 8 + 1)
    start, end = x * width // 9, max((x + 1) * width // 9, x * width // 9 + 1)
    area = [value for row in rows[top:bottom] for value in row[start:end]]
    # Whole numbers, so that every machine has the same bits; a faint field is still a difference.
    return sum(area) * 16 // len(area)


def tiles_of(picture: WindowPicture | None) -> str | None:
    """One character for each tile of a picture; `None` for an unreadable picture."""
    rows = None if picture is None else picture.rows()
    tiles = range(SIDE * SIDE)
    return "".join(_letter(rows, n) for n in tiles) if rows and rows[0] else None


def changed_tiles(
    old: str,
    before: WindowPicture,
    after: WindowPicture,
    *,
    moving: WindowPicture | None,
    masks: Iterable[Box],
    regions: Iterable[Box],
) -> str | None:
    """The tiles after a step; `None` if the pictures cannot be compared.

    A change counts inside the `regions`, outside the `masks`, and where `moving` equals `after`.
    """
    a, b = before.rows(), after.rows()
    c = None if moving is None else moving.rows()
    if a is None or b is None or len(a) != len(b) or len(a[0]) != len(b[0]):
        return None
    covers, places = [_points(mask) for mask in masks], [_points(region) for region in regions]
    tiles: set[int] = set()
    height, width = len(a), len(a[0])
    for y, (old_row, new_row) in enumerate(zip(a, b, strict=True)):
        if old_row == new_row:
            continue
        for x, (p, q) in enumerate(zip(old_row, new_row, strict=True)):
            if abs(p - q) < LEAST or _within(covers, x, y) or not _within(places, x, y):
                continue
            if c is None or not _moves(b, c, x, y):
                tiles.add(y * SIDE // height * SIDE + x * SIDE // width)
    letters = list(old)
    for n in tiles:
        letter = _letter(b, n)
        letters[n] = letter if letter != letters[n] else _LETTERS[_LETTERS.index(letter) - 1]
    return "".join(letters)


def _moves(rows: Rows, later: Rows, x: int, y: int) -> bool:
    """Whether the point or a neighbour continues to change."""
    return any(
        abs(rows[row][column] - later[row][column]) >= LEAST // 2
        for row in range(max(0, y - 1), min(len(rows), y + 2))
        for column in range(max(0, x - 1), min(len(rows[0]), x + 2))
    )


def _points(box: Box) -> tuple[int, int, int, int]:
    x, y, width, height = box
    right, bottom = x + width + MARGIN, y + height + MARGIN
    low_x, low_y = int((x - MARGIN) * SCALE), int((y - MARGIN) * SCALE)
    return low_x, low_y, int(right * SCALE) + 1, int(bottom * SCALE) + 1


def _within(covers: Sequence[tuple[int, int, int, int]], x: int, y: int) -> bool:
    return any(a <= x <= c and b <= y <= d for a, b, c, d in covers)


def _letter(rows: Rows, n: int) -> str:
    height, width = len(rows), len(rows[0])
    top, left = n // SIDE * height // SIDE, n % SIDE * width // SIDE
    bottom, right = (n // SIDE + 1) * height // SIDE, (n % SIDE + 1) * width // SIDE
    content = bytes(p & 0xF0 for row in rows[top:bottom] for p in row[left:right])
    return _LETTERS[blake2b(content, digest_size=1).digest()[0] % len(_LETTERS)]


def grey_rows(png: bytes) -> Rows:
    """The brightness of every point of a PNG."""
    if not png.startswith(_SIGNATURE):
        raise ValueError("no PNG")
    width = height = channels = 0
    packed = b""
    at = len(_SIGNATURE)
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at : at + 8])
        data = png[at + 8 : at + 8 + length]
        if name == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", data)
            if depth != 8 or colour not in _CHANNELS or interlaced:
                raise ValueError("Chromium does not write this kind of PNG")
            channels = _CHANNELS[colour]
        elif name == b"IDAT":
            packed += data
        at += 12 + length
    raw = zlib.decompressobj().decompress(packed, _MOST_BYTES)
    stride = width * channels
    if not width or len(raw) < height * (stride + 1):
        raise ValueError("the picture is not complete")
    return _brightness(raw, height, stride, channels)


def _brightness(raw: bytes, height: int, stride: int, channels: int) -> Rows:
    rows = []
    above = bytearray(stride)
    for y in range(height):
        start = y * (stride + 1)
        above = _unfilter(raw[start], raw[start + 1 : start + 1 + stride], above, channels)
        if channels < 3:
            rows.append(list(above[::channels]))
            continue
        points = zip(*(above[colour::channels] for colour in range(3)), strict=True)
        rows.append([(299 * red + 587 * green + 114 * blue) // 1000 for red, green, blue in points])
    return rows


def _unfilter(kind: int, line: bytes, above: bytearray, channels: int) -> bytearray:
    """Undo PNG's prediction (none, left, above, mean, Paeth) in a line."""
    out = bytearray(line)
    if kind == 1:
        for channel in range(channels):
            sums = accumulate(line[channel::channels])
            out[channel::channels] = bytes(value & 0xFF for value in sums)
    elif kind == 2:
        return bytearray((a + b) & 0xFF for a, b in zip(line, above, strict=True))
    elif kind in (3, 4):
        for i in range(len(out)):
            left = out[i - channels] if i >= channels else 0
            corner = above[i - channels] if i >= channels else 0
            guess = (left + above[i]) // 2 if kind == 3 else _paeth(left, above[i], corner)
            out[i] = (out[i] + guess) & 0xFF
    return out


def _paeth(left: int, above: int, corner: int) -> int:
    near = left + above - corner
    distances = (abs(near - left), abs(near - above), abs(near - corner))
    return (left, above, corner)[distances.index(min(distances))]
