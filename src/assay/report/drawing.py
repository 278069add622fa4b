"""A small drawing of rectangles, lines and texts, as an SVG document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal
from xml.sax.saxutils import escape

INK, FAINT, PAPER = "#1f2933", "#9aa5b1", "#ffffff"
FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"


@dataclass(slots=True)
class Drawing:
    """A sheet of this size; what is painted later covers what was painted before."""

    width: int
    height: int
    title: str
    _marks: list[str] = field(default_factory=list, init=False)

    def rectangle(
        self, x: float, y: float, width: float, height: float, colour: str, tip: str = ""
    ) -> None:
        """Paint a rectangle; `tip` is what a viewer shows when the mouse rests on it."""
        title = f"<title>{_safe(tip)}</title>" if tip else ""
        self._marks.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'fill="{colour}">{title}</rect>'
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str = INK) -> None:
        """Paint a line between two points."""
        self._marks.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        anchor: Literal["start", "middle", "end"] = "start",
        colour: str = INK,
        size: int = 11,
        *,
        upwards: bool = False,
    ) -> None:
        """Write a text, from left to right or upwards."""
        turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if upwards else ""
        self._marks.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" '
            f'text-anchor="{anchor}"{turn}>{_safe(text)}</text>'
        )

    def svg(self) -> str:
        """The drawing as an SVG document."""
        body = "\n".join(self._marks)
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
