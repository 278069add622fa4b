"""The inputs of the step scorer: codes and digests, never the text of a page.

Nothing is checked: an unknown code counts as "other", a count beyond a limit as the limit.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Final, Literal, NamedTuple, TypeAlias

from assay.schema.evidence import PageEvidence, StepEvents
from assay.schema.outcome import Effect, ErrorCode, ToolOutcome, reported_failure

ContractVerdict: TypeAlias = Literal["pass", "fail", "inconclusive"]

Progress: TypeAlias = Literal["progressing", "stalling", "stuck", "unknown"]
"""What a progress tracker of the caller says about the run of steps."""


class ContractStatus(NamedTuple):
    """The share of an outcome contract that holds after a step."""

    verdict: ContractVerdict | None = None
    """`None` while the contract is not due: progress counts, and not yet holding is no failure."""
    satisfied: int = 0
    total: int = 0
    prev_satisfied: int | None = None
    """`None` is "not known", so that nothing was gained or lost."""
    critical: bool = False
    fresh: bool = True
    """Whether the facts are of this step."""
    id: str = ""


class HistoryFacts(NamedTuple):
    """Facts from the history about a step: repeated calls, revisits and a pending failure."""

    same_call: int = 0
    """How often the same call was made in the same page state."""
    same_error: int = 0
    """How often the same call failed."""
    revisits: int = 0
    """How often the page had been in the state that the step led into; 0 if it stayed."""
    seen_info: bool | None = None
    """Whether the same result was returned before; `None` when the result was not recorded."""
    pending: ErrorCode | None = None
    """The failure that has not been repaired yet."""
    same_target: bool = False
    """Whether this call is meant to achieve what the pending failure missed."""
    fresh_refs: bool = False
    """Whether this is the first step after a stale reference that shows other elements."""
    passed: bool = False
    """Whether the same contract passed at an earlier step."""
    blocked: bool = False
    """Whether something stood in the agent's way at the step before."""
    barren: int = 0
    """How many steps in a row before this one led to nothing new."""


class StepInput(NamedTuple):
    """One observed step: the call and its outcome, and the page before and after it."""

    outcome: ToolOutcome
    before: PageEvidence | None = None
    after: PageEvidence | None = None
    progress: Progress = "unknown"
    contract: ContractStatus | None = None
    recent: HistoryFacts | None = None
    events: StepEvents | None = None


def failure_code(step: StepInput) -> ErrorCode | None:
    """The error of a step, from the tool or from the browser; `None` without an error."""
    outcome = step.outcome
    if outcome.error is not None:
        return outcome.error
    if outcome.ok is False:
        return "other"
    # Behind a wall nothing of the page is the step's own failure.
    if step.events is None or outcome.block is not None:
        return None
    return reported_failure(step.events)


def contract_change(contract: ContractStatus | None) -> tuple[int, int]:
    """How much of the contract the step gained and lost, in thousandths."""
    if contract is None or contract.prev_satisfied is None or contract.total <= 0:
        return 0, 0
    total = contract.total
    now = min(max(contract.satisfied, 0), total)
    before = min(max(contract.prev_satisfied, 0), total)
    if now > before:
        # Rounded up, so that the smallest gain is one.
        return (1000 * (now - before) + total - 1) // total, 0
    return 0, 1000 * (before - now) // total


SHOT_DISTANCE: Final = 6
"""Bits in which two screenshot hashes may differ and still count as the same picture."""
ADDRESS: Final = 1
NETWORK: Final = 8
PICTURE: Final = 32
STATE: Final = 1 | 2 | 4
"""The channels that make up a state of the page."""
_digests: Final = attrgetter("url", "dom", "text", "net", "refs")


class PageDelta(NamedTuple):
    """The difference of two pages: the channels that differ, and how many were compared."""

    changed: int
    """Bits of the channels that differ."""
    compared: int
    """How many channels could be compared, a read's result among them."""
    new_info: bool
    fresh: bool
    """Whether the step led to something that the history does not know."""


def page_delta(step: StepInput, recent: HistoryFacts | None) -> PageDelta:
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
    """The number of channels that both pages have, and the bits of those that differ."""
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
    """Whether two pictures differ in a tile that does not change by itself."""
    return len(a) != len(b) or any(
        x != y and x != "." and y != "." for x, y in zip(a, b, strict=True)
    )
