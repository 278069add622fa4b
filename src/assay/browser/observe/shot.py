"""A 64-bit perceptual hash of a small picture: near pictures differ in few bits.

The difference hash: the picture shrunk to 9 by 8 grey values, one bit for each neighbour to the
right that is darker. It reads the PNGs that Chromium makes, with the standard library alone.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64decode
from itertools import accumulate, pairwise
from typing import Final

from assay.errors import BadRecord

WIDTH: Final = 72
HEIGHT: Final = 64
"""Of the picture to ask for: 8 by 8 points for each grey value."""
_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_CHANNELS: Final = {0: 1, 2: 3, 4: 2, 6: 4}
_MOST_BYTES: Final = 4_000_000


def shot_hash(png: str) -> int:
    """The hash of a PNG in base64; a picture that cannot be read is a `BadRecord`."""
    try:
        return difference_hash(grey_rows(b64decode(png)))
    except (ValueError, zlib.error, struct.error, IndexError) as error:
        raise BadRecord(f"not a picture that can be read: {error!s:.200}") from error


def difference_hash(rows: list[list[int]]) -> int:
    """64 bits, row by row: whether a field is brighter than the one to its right."""
    fields = [[_mean(rows, x, y) for x in range(9)] for y in range(8)]
    bits = 0
    for line in fields:
        for left, right in pairwise(line):
            bits = bits << 1 | (left > right)
    return bits


def _mean(rows: list[list[int]], x: int, y: int) -> int:
    height, width = len(rows), len(rows[0])
    top, bottom = y * height // 8, max((y + 1) * height // 8, y * height // 8 + 1)
    start, end = x * width // 9, max((x + 1) * width // 9, x * width // 9 + 1)
    area = [value for row in rows[top:bottom] for value in row[start:end]]
    # Whole numbers, so that every machine has the same bits; a faint field is still a difference.
    return sum(area) * 16 // len(area)


def grey_rows(png: bytes) -> list[list[int]]:
    """The brightness of every point, from 0 to 255."""
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
                raise ValueError("a kind of PNG that Chromium does not make")
            channels = _CHANNELS[colour]
        elif name == b"IDAT":
            packed += data
        at += 12 + length
    raw = zlib.decompressobj().decompress(packed, _MOST_BYTES)
    stride = width * channels
    if not width or len(raw) < height * (stride + 1):
        raise ValueError("the picture is not complete")
    return _brightness(raw, height, stride, channels)


def _brightness(raw: bytes, height: int, stride: int, channels: int) -> list[list[int]]:
    rows = []
    above = bytearray(stride)
    for y in range(height):
        start = y * (stride + 1)
        above = _unfilter(raw[start], raw[start + 1 : start + 1 + stride], above, channels)
        if channels >= 3:
            rows.append(
                [
                    (299 * red + 587 * green + 114 * blue) // 1000
                    for red, green, blue in zip(
                        *(above[colour::channels] for colour in range(3)), strict=True
                    )
                ]
            )
        else:
            rows.append(list(above[::channels]))
    return rows


def _unfilter(kind: int, line: bytes, above: bytearray, channels: int) -> bytearray:
    """The line with PNG's prediction (none, left, above, mean, Paeth) undone."""
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
