"""How the page after a step compares with the page before it: which channels differ."""

from __future__ import annotations

from operator import attrgetter
from typing import Final, NamedTuple

from assay.browser.steps.inputs import RecentSteps, StepInput
from assay.schema.evidence import PageEvidence
from assay.schema.outcome import Effect

SHOT_DISTANCE: Final = 6
"""Bits in which two screenshot hashes may differ and still count as the same picture."""
ADDRESS: Final = 1
NETWORK: Final = 8
PICTURE: Final = 32
STATE: Final = 1 | 2 | 4
"""The channels that make up a state of the page."""
_digests: Final = attrgetter("url", "dom", "text", "net", "refs")


class PageDelta(NamedTuple):
    """The channels that could be compared, and those that differ."""

    changed: int
    """Bits of the channels that differ."""
    compared: int
    """How many channels could be compared, a read's result among them."""
    new_info: bool
    fresh: bool
    """Whether the step led to something that the history does not know."""


def page_delta(step: StepInput, recent: RecentSteps | None) -> PageDelta:
    compared, changed = _compared_channels(step.before, step.after)
    new_info = False
    fresh = changed & STATE > 0 and (recent is None or recent.revisits <= 0)
    if recent is not None and recent.seen_info is not None:
        new_info = not recent.seen_info
        if step.outcome.effect == Effect.READ:
            compared += 1
            fresh = fresh or new_info
    return PageDelta(changed, compared, new_info, fresh)


def _compared_channels(a: PageEvidence | None, b: PageEvidence | None) -> tuple[int, int]:
    """How many channels both have, and the bits of those among them that differ."""
    if a is None or b is None or a.schema != b.schema:
        return 0, 0
    compared = changed = 0
    bit = 1
    for x, y in zip(_digests(a), _digests(b), strict=True):
        if x is not None and y is not None:
            compared += 1
            if x != y:
                changed |= bit
        bit += bit
    if a.shot is not None and b.shot is not None:
        compared += 1
        if (a.shot ^ b.shot).bit_count() > SHOT_DISTANCE:
            changed |= bit
    elif a.tiles is not None and b.tiles is not None:
        compared += 1
        if a.tiles != b.tiles and _tiles_differ(a.tiles, b.tiles):
            changed |= bit
    return compared, changed


def _tiles_differ(a: str, b: str) -> bool:
    """Whether a tile that does not change by itself is another one."""
    if len(a) != len(b):
        return True
    return any(x != y and x != "." and y != "." for x, y in zip(a, b, strict=True))
