"""What one look at a page saw, as `snapshot.js` told it."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the page saw."""

    url: str
    title: str
    text: str
    """What an agent reads: lines, with numbered elements."""
    plain: str
    """The visible text alone."""
    omitted: int
    """Characters that did not fit into the budget."""
    short: bool
    """Whether the page is too large to have been visited to its end."""
    refs: tuple[tuple[int, str, str], ...]
    """Number, role and name of every element that can be acted on."""
    skeleton: tuple[str, ...]
    forms: int
    """A hash of everything typed into the page."""
    counts: dict[str, int]
    texts: dict[str, str]
    scroll: tuple[int, int, int]
    """Where the window is, how high the page is, how high the window is."""
    notes: tuple[str, ...]
    """Dialogs, new windows and downloads since the last look."""


def read_look(answer: str, *, notes: tuple[str, ...]) -> tuple[Look, int]:
    """The look that the script's answer tells of, and the next number for an element."""
    seen = json.loads(answer)
    position, height, window = seen["scroll"]
    look = Look(
        url=seen["url"],
        title=seen["title"],
        text=seen["text"],
        plain=seen["plain"],
        omitted=int(seen["omitted"]),
        short=bool(seen["short"]),
        refs=tuple((int(i), str(role), str(name)) for i, role, name in seen["refs"]),
        skeleton=tuple(seen["skeleton"]),
        forms=int(seen["forms"]),
        counts={key: int(value) for key, value in seen["counts"].items()},
        texts=dict(seen["texts"]),
        scroll=(int(position), int(height), int(window)),
        notes=notes,
    )
    return look, int(seen["next"])
