"""A small drawing of rectangles, lines and texts, as an SVG document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal
from xml.sax.saxutils import escape

Anchor = Literal["start", "middle", "end"]
INK, FAINT, PAPER = "#1f2933", "#9aa5b1", "#ffffff"
FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"


@dataclass(frozen=True, slots=True)
class RectangleMark:
    x: float
    y: float
    width: float
    height: float
    colour: str
    tip: str = ""
    """What a viewer shows when the mouse rests on it."""


@dataclass(frozen=True, slots=True)
class LineMark:
    x1: float
    y1: float
    x2: float
    y2: float
    colour: str = INK


@dataclass(frozen=True, slots=True)
class TextMark:
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
    shapes: list[RectangleMark | LineMark | TextMark] = field(default_factory=list)

    def svg(self) -> str:
        """The drawing as an SVG document."""
        body = "\n".join(_svg(shape) for shape in self.shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" role="img" font-family="{FONT}">\n'
            f"<title>{_safe(self.title)}</title>\n"
            f'<rect width="{self.width}" height="{self.height}" fill="{PAPER}"/>\n{body}\n</svg>\n'
        )


def _safe(text: str) -> str:
    """The text for XML, which has no form for control characters and lone surrogates."""
    printable = "".join(char if char.isprintable() else "\ufffd" for char in text)
    return escape(printable, {'"': "&quot;"})


def _svg(shape: RectangleMark | LineMark | TextMark) -> str:
    if isinstance(shape, RectangleMark):
        tip = f"<title>{_safe(shape.tip)}</title>" if shape.tip else ""
        return (
            f'<rect x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" '
            f'height="{shape.height:.1f}" fill="{shape.colour}">{tip}</rect>'
        )
    if isinstance(shape, LineMark):
        return (
            f'<line x1="{shape.x1:.1f}" y1="{shape.y1:.1f}" x2="{shape.x2:.1f}" '
            f'y2="{shape.y2:.1f}" stroke="{shape.colour}"/>'
        )
    turn = f' transform="rotate(-90 {shape.x:.1f} {shape.y:.1f})"' if shape.turned else ""
    return (
        f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" font-size="{shape.size}" '
        f'fill="{shape.colour}" text-anchor="{shape.anchor}"{turn}>{_safe(shape.text)}</text>'
    )
