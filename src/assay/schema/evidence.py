"""The facts that an environment records at each step, without any score of Assay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias


@dataclass(frozen=True, slots=True)
class PageEvidence:
    """Hashes and facts of a web page; `None` means that a part was not recorded.

    Only equality of digests has a meaning, except for the screenshot hash, whose Hamming
    distance says how much of the picture changed. What changes by itself (a clock, a
    ticker, an advertisement) is left out of the digests as soon as that has been seen.
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
    tiles: str | None = None
    """One character for each tile of the screenshot; `.` for a tile that changes by itself."""
    kind: Literal["page"] = "page"


class StepEvents(NamedTuple):
    """The browser's events during one step of the agent; `None` means "not recorded"."""

    status: int | None = None
    """The HTTP status of the main document that the step loaded."""
    redirects: int | None = None
    """Redirects on the way to that document."""
    answered: int | None = None
    """The step's own requests that were answered well: scripts', and forms' into frames."""
    failed_writes: int | None = None
    """Its own requests that change something, and were refused or broke off."""
    failed_reads: int | None = None
    """Its own requests for data that were refused or broke off."""
    pending: int | None = None
    """Its own requests that had no answer when the page was read."""
    rejected: int | None = None
    """Fields that the page or the browser refused at this step; for a fill, only its own field."""
    kept: bool | None = None
    """Whether the field holds what the call put into it."""
    downloads: int | None = None
    tabs: int | None = None
    """Tabs and windows that were opened."""
    dialogs: int | None = None
    copies: int | None = None
    """Writes to the clipboard."""
    scrolled: int | None = None
    """How many pixels the window or a part of the page moved, up or down."""
    popups: int | None = None
    """Overlays that came up by themselves; they are left out of the digests."""
    closed: int | None = None
    """Overlays that had come up by themselves, and were put out of the way."""
    refusals: int | None = None
    """Messages that came with the step and say, by colour or words, that it did not work."""
    missing: bool | None = None
    """Whether the page or view that came says of itself that what was asked for is not there."""


class NetworkFact(NamedTuple):
    """One network request of the page, with the status of its response."""

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
    """The page facts that an outcome contract checks; `None` means "not recorded"."""

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
    """The state that a text environment records after each step, for scoring the episode."""

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
