"""How things look in a terminal: hostile text made harmless, numbers in one form."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from assay.schema.score import Abstained, Score


def plain(value: Any, limit: int = 60) -> str:
    """Any value as one short line without control characters: it cannot drive a terminal."""
    text = value if isinstance(value, str) else repr(value)
    # Cut first: model output may be megabytes.
    cut = text[: limit + 1]
    shown = "".join(char if char.isprintable() else repr(char)[1:-1] for char in cut)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def number(score: Score) -> Text:
    """A score as a coloured number, an abstention as a dash."""
    if isinstance(score, Abstained):
        return Text("—", style="yellow")
    style = "green" if score.value >= 0.99 else "red" if score.value <= 0 else "cyan"
    return Text(f"{score.value:.3f}", style=style)


def output() -> Console:
    """Where results go."""
    return Console(highlight=False)


def progress_output() -> Console:
    """Where progress goes."""
    return Console(stderr=True, highlight=False)
