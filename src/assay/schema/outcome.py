"""The kind and the result of one tool call, as codes for step scorers and traces."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal, NamedTuple, TypeAlias

from assay.schema.blocking import BlockCode
from assay.schema.evidence import StepEvents


class Effect(IntEnum):
    """The greatest harm that a tool call can do, from the lowest to the highest risk."""

    READ = 0
    BROWSER = 1
    """Changes the page or the browser, and can be undone there."""
    EXTERNAL = 2
    """Sends something to the world outside: a form, a message, an order."""
    DESTRUCTIVE = 3
    IRREVERSIBLE = 4


Gate: TypeAlias = Literal["not_required", "satisfied", "missing", "unknown"]
"""Whether the confirmation that policy asks for was given before the call."""

ErrorCode: TypeAlias = Literal[
    "stale_ref", "not_found", "not_interactive", "timeout", "protocol", "target_closed",
    "nav_error", "empty_result", "wrong_element", "silent_click", "page_error", "request_failed",
    "form_rejected", "value_refused", "refusal", "bad_call", "other",
]  # fmt: skip


class ToolOutcome(NamedTuple):
    """The kind and the result of one tool call."""

    tool: str
    call: str | None = None
    """Signature of the tool and its arguments; the tool's name stands in where it is missing."""
    target: str | None = None
    """What the call is meant to achieve, the same when a retry uses another element reference."""
    effect: Effect = Effect.BROWSER
    gate: Gate = "unknown"
    ok: bool | None = None
    error: ErrorCode | None = None
    """A failure, whatever `ok` says."""
    block: BlockCode | None = None
    items: int | None = None
    """How many items were extracted that were not extracted before."""
    info: str | None = None
    """Digest of what the call returned."""
    box: tuple[float, float, float, float] | None = None
    """Where the target was on the picture that the agent saw: x, y, width, height.

    Only for those who look: no score reads it.
    """


def reported_failure(events: StepEvents) -> ErrorCode | None:
    """The failure that the browser reported for a step, or `None`."""
    status = events.status
    if (status is not None and status >= 400) or events.missing:
        return "page_error"
    if events.rejected is not None and events.rejected > 0:
        return "form_rejected"
    # A page that loaded stands for the step, whatever the scripts of the old or the new one miss.
    if status is None:
        if events.failed_writes is not None and events.failed_writes > 0:
            return "request_failed"
        if events.failed_reads is not None and events.failed_reads > 0 and not events.answered:
            return "request_failed"
    if events.refusals is not None and events.refusals > 0:
        return "refusal"
    return "value_refused" if events.kept is False else None
