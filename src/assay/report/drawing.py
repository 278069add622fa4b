"""A small drawing of rectangles, lines and texts, as SVG or as PNG.

The PNG is drawn by hand, without a graphics library: its letters are capitals of five rows of
pixels. It is for places that show no SVG.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from typing import Literal
from xml.sax.saxutils import escape

import numpy as np
import numpy.typing as npt

Anchor = Literal["start", "middle", "end"]
INK, FAINT, PAPER = "#1f2933", "#9aa5b1", "#ffffff"
SCALE = 2
"""Pixels of the PNG for each unit of the drawing."""
MOST_PIXELS = 40_000_000
FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"


@dataclass(frozen=True, slots=True)
class Rect:
    x: float
    y: float
    width: float
    height: float
    colour: str
    tip: str = ""
    """What a viewer shows when the mouse rests on it."""


@dataclass(frozen=True, slots=True)
class Line:
    x1: float
    y1: float
    x2: float
    y2: float
    colour: str = INK


@dataclass(frozen=True, slots=True)
class Label:
    x: float
    y: float
    text: str
    anchor: Anchor = "start"
    colour: str = INK
    size: int = 11
    turned: bool = False
    """Reads upwards."""


@dataclass(slots=True)
class Drawing:
    """Shapes on a sheet of this size, in the order in which they are painted."""

    width: int
    height: int
    title: str
    shapes: list[Rect | Line | Label] = field(default_factory=list)

    def svg(self) -> str:
        """The drawing as an SVG document."""
        body = "\n".join(_svg(shape) for shape in self.shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" role="img" font-family="{FONT}">\n'
            f"<title>{_safe(self.title)}</title>\n"
            f'<rect width="{self.width}" height="{self.height}" fill="{PAPER}"/>\n{body}\n</svg>\n'
        )

    def png(self) -> bytes:
        """The drawing as a PNG file; a very large one is drawn smaller."""
        scale = SCALE if self.width * self.height * SCALE**2 <= MOST_PIXELS else 1
        sheet = np.full((self.height * scale, self.width * scale, 3), 255, dtype=np.uint8)
        for shape in self.shapes:
            _paint(sheet, shape, scale)
        return _png(sheet)


def _safe(text: str) -> str:
    """The text for XML, which has no form for control characters and lone surrogates."""
    kept = "".join(char if char.isprintable() else "\ufffd" for char in text)
    return escape(kept, {'"': "&quot;"})


def _svg(shape: Rect | Line | Label) -> str:
    if isinstance(shape, Rect):
        tip = f"<title>{_safe(shape.tip)}</title>" if shape.tip else ""
        return (
            f'<rect x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" '
            f'height="{shape.height:.1f}" fill="{shape.colour}">{tip}</rect>'
        )
    if isinstance(shape, Line):
        return (
            f'<line x1="{shape.x1:.1f}" y1="{shape.y1:.1f}" x2="{shape.x2:.1f}" '
            f'y2="{shape.y2:.1f}" stroke="{shape.colour}"/>'
        )
    turn = f' transform="rotate(-90 {shape.x:.1f} {shape.y:.1f})"' if shape.turned else ""
    return (
        f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" font-size="{shape.size}" '
        f'fill="{shape.colour}" text-anchor="{shape.anchor}"{turn}>{_safe(shape.text)}</text>'
    )


Sheet = npt.NDArray[np.uint8]


def _paint(sheet: Sheet, shape: Rect | Line | Label, scale: int) -> None:
    if isinstance(shape, Rect):
        _fill(sheet, shape.x, shape.y, shape.width, shape.height, shape.colour, scale)
    elif isinstance(shape, Line):
        x, y = min(shape.x1, shape.x2), min(shape.y1, shape.y2)
        width = max(abs(shape.x2 - shape.x1), 1 / scale)
        height = max(abs(shape.y2 - shape.y1), 1 / scale)
        _fill(sheet, x, y, width, height, shape.colour, scale)
    else:
        _write(sheet, shape, scale)


def _fill(
    sheet: Sheet, x: float, y: float, width: float, height: float, colour: str, scale: int
) -> None:
    left, top = max(round(x * scale), 0), max(round(y * scale), 0)
    right, bottom = max(round((x + width) * scale), left), max(round((y + height) * scale), top)
    sheet[top:bottom, left:right] = _rgb(colour)


def _write(sheet: Sheet, label: Label, scale: int) -> None:
    """Letters of 3 by 5 dots, each dot a square."""
    dot = scale * (1.5 if label.size > 11 else 1.2) / 1
    text = label.text.upper()[:200]
    length = len(text) * 4 * dot
    shift = {"start": 0.0, "middle": length / 2, "end": length}[label.anchor]
    colour = _rgb(label.colour)
    for place, char in enumerate(text):
        rows = GLYPHS.get(char, GLYPHS["?"] if char != " " else (0, 0, 0, 0, 0))
        for row, bits in enumerate(rows):
            for column in range(3):
                if bits >> (2 - column) & 1:
                    along, across = (place * 4 + column) * dot - shift, (row - 5) * dot
                    x, y = (across, -along - dot) if label.turned else (along, across)
                    _dot(sheet, label.x * scale + x, label.y * scale + y, dot, colour)


def _dot(sheet: Sheet, x: float, y: float, size: float, colour: tuple[int, int, int]) -> None:
    left, top = round(x), round(y)
    if left < 0 or top < 0:
        return
    sheet[top : max(round(y + size), top + 1), left : max(round(x + size), left + 1)] = colour


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _png(sheet: Sheet) -> bytes:
    height, width, _ = sheet.shape
    rows = np.zeros((height, 1 + width * 3), dtype=np.uint8)
    rows[:, 1:] = sheet.reshape(height, width * 3)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (("IHDR", head), ("IDAT", zlib.compress(rows.tobytes(), 6)), ("IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name.encode(), data) for name, data in parts)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


_ROWS = {
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717",
    "6": "74757", "7": "71122", "8": "75757", "9": "75717", "A": "25755", "B": "65656",
    "C": "34443", "D": "65556", "E": "74647", "F": "74644", "G": "34553", "H": "55755",
    "I": "72227", "J": "11152", "K": "55655", "L": "44447", "M": "57755", "N": "65555",
    "O": "25552", "P": "65644", "Q": "25563", "R": "65655", "S": "34216", "T": "72222",
    "U": "55557", "V": "55552", "W": "55775", "X": "55255", "Y": "55222", "Z": "71247",
    ".": "00002", ",": "00024", "-": "00700", "_": "00007", "/": "11244", ":": "02020",
    "+": "02720", "%": "51245", "(": "12221", ")": "42224", "'": "22000", "=": "07070",
    "…": "00005", "?": "71202", "#": "57575", "@": "75547", "*": "05250", "±": "27207",
}  # fmt: skip
GLYPHS = {char: tuple(int(row, 8) for row in rows) for char, rows in _ROWS.items()}
"""Five rows of three dots for each character, as octal digits."""
