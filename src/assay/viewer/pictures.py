"""What kind of picture some bytes are, and how large; anything else is no picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

PictureKind: TypeAlias = Literal["image/png", "image/jpeg", "image/webp"]

_PNG = b"\x89PNG\r\n\x1a\n"
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""The JPEG segments that hold a size."""
MOST_SEGMENTS = 1_000
LARGEST = 20_000
"""Pixels on a side; a header that claims more is not believed."""


@dataclass(frozen=True, slots=True)
class Size:
    """Pixels."""

    width: int
    height: int


def picture_kind(data: bytes) -> PictureKind | None:
    """The type by the first bytes, never by what anybody says of them."""
    if data.startswith(_PNG):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def picture_size(data: bytes) -> Size | None:
    """How large the picture is, where its header says so; WebP is not asked."""
    kind = picture_kind(data)
    if kind == "image/png" and len(data) >= 24:
        return _checked(int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big"))
    return _jpeg_size(data) if kind == "image/jpeg" else None


def _jpeg_size(data: bytes) -> Size | None:
    at = 2
    for _ in range(MOST_SEGMENTS):
        if at + 9 > len(data) or data[at] != 0xFF:
            return None
        if data[at + 1] in _FRAMES:
            height = int.from_bytes(data[at + 5 : at + 7], "big")
            return _checked(int.from_bytes(data[at + 7 : at + 9], "big"), height)
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


def _checked(width: int, height: int) -> Size | None:
    return Size(width, height) if 0 < width <= LARGEST and 0 < height <= LARGEST else None
