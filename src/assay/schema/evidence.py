"""What an environment records at one step: facts, never a score of ours.

Standard library only: evidence is built on every step of an agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias


@dataclass(frozen=True, slots=True)
class PageEvidence:
    """Digests of a page; every part may be missing, and a missing one says nothing.

    Only equality of digests has a meaning, except for the screenshot hash, whose Hamming
    distance says how much of the picture changed.
    """

    url: str | None = None
    dom: str | None = None
    """The skeleton of the document: tags, roles, landmarks, rough counts."""
    text: str | None = None
    """The visible text, form values included, with clocks, counters and nonces masked."""
    net: str | None = None
    """The successful requests that change something, since the tab was opened.

    It grows and never shrinks, so two equal digests mean that nothing was sent in between.
    """
    refs: str | None = None
    """The actionable elements, as roles and names."""
    n_refs: int | None = None
    shot: int | None = None
    """A 64-bit perceptual hash of the screenshot."""
    dialog: bool | None = None
    schema: str = "d1"
    """Digests of another schema cannot be compared; they count as missing."""
    kind: Literal["page"] = "page"


class NetworkFact(NamedTuple):
    """One request that the page made, and how it was answered."""

    method: str
    url: str
    status: int | None = None
    """`None` while it is pending, and when it failed without an answer."""
    step: int = 0
    """The step during which it was sent."""


class ConsoleFact(NamedTuple):
    """One message that the page wrote to its console."""

    level: str
    text: str
    step: int = 0


Channel: TypeAlias = Literal[
    "url", "text", "counts", "network", "console", "dialog", "shot", "data"
]
"""The parts of `PageFacts` that can be missing, cut or old, each on its own."""


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What was recorded of a page, as an outcome contract reads it; `None` is "not recorded"."""

    step: int = 0
    """The step after which the facts were taken."""
    url: str | None = None
    title: str | None = None
    status: int | None = None
    """The HTTP status of the main document."""
    text: str | None = None
    """The visible text of the whole page."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """The visible text of single elements, by selector."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """How many elements match, by selector; `*` counts them all."""
    network: tuple[NetworkFact, ...] | None = None
    console: tuple[ConsoleFact, ...] | None = None
    dialog: bool | None = None
    """Whether a dialog is open."""
    shot: int | None = None
    """A 64-bit perceptual hash of the screenshot."""
    data: Mapping[str, Any] | None = None
    """What was extracted, as JSON values."""
    taken: Mapping[Channel, int] = field(default_factory=dict)
    """The step of a channel that was taken at another one than `step`."""
    cut: frozenset[Channel] = frozenset()
    """Channels of which only a beginning was recorded."""


@dataclass(frozen=True, slots=True)
class WorldEvidence:
    """What a text environment records after one step, enough to score the episode without it."""

    world: str
    task_id: str
    score: float | None = None
    """The environment's own score so far, in its own unit."""
    done: bool = False
    won: bool | None = None
    progress: Mapping[str, Any] = field(default_factory=dict)
    """Sub-goals and whatever else the environment's reward reads, as JSON values."""
    kind: Literal["world"] = "world"


Evidence: TypeAlias = PageEvidence | WorldEvidence
