"""The perceptual hash: equal for the same picture, near for a near one, an error for no picture."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.browser.observe.picture import difference_hash, grey_rows, shot_hash
from assay.errors import BadRecord


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width: int, height: int, colour: int, raw: bytes) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def test_every_filter_of_a_png_is_undone() -> None:
    rows = [
        bytes([0, 10, 20, 30]),  # none
        bytes([1, 10, 10, 10]),  # left
        bytes([2, 0, 0, 0]),  # above
        bytes([3, 5, 5, 5]),  # mean of both
        bytes([4, 0, 0, 0]),  # Paeth
    ]
    grey = grey_rows(png(3, 5, 0, b"".join(rows)))
    assert grey == [[10, 20, 30], [10, 20, 30], [10, 20, 30], [10, 20, 30], [10, 20, 30]]


def test_colours_become_brightness() -> None:
    assert grey_rows(png(2, 1, 2, bytes([0, 255, 255, 255, 0, 0, 255]))) == [[255, 29]]
    assert grey_rows(png(1, 1, 6, bytes([0, 255, 0, 0, 9]))) == [[76]]


def test_a_bit_is_a_field_brighter_than_its_neighbour() -> None:
    falling = [[255 - 8 * x for x in range(9)]] * 8
    rising = [row[::-1] for row in falling]
    assert difference_hash(falling) == 2**64 - 1
    assert difference_hash(rising) == 0
    half = falling[:4] + rising[:4]
    assert difference_hash(half) == (2**32 - 1) << 32


@settings(max_examples=40)
@given(st.binary(max_size=400))
def test_what_is_no_picture_is_refused(data: bytes) -> None:
    for broken in (data, b"\x89PNG\r\n\x1a\n" + data, png(9, 8, 2, data)[:60]):
        with pytest.raises(BadRecord):
            shot_hash(b64encode(broken).decode())
