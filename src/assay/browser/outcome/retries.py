"""A second try of what failed: the retries that a page offers, and a form that came back."""

from __future__ import annotations

from collections.abc import Collection

from assay.browser.observe.requests import RequestLog
from assay.browser.observe.snapshot import PageSnapshot
from assay.schema.evidence import StepEvents
from assay.schema.outcome import Effect, ToolOutcome, reported_failure


def came_back(snapshot: PageSnapshot, before: PageSnapshot | None, requests: RequestLog) -> int:
    """How many forms that were sent are there again with what was typed, to be corrected.

    One with a password does not come back after a login that worked.
    """
    if before is None or not requests.submitted:
        return 0
    sent = {fields for fields, _, _ in before.sendable}
    return sum(fields in sent and (secret or typed) for fields, secret, typed in snapshot.sendable)


class OfferedRetries:
    """What a page offers where a step failed: a way to try the same again."""

    def __init__(self) -> None:
        self._goal: str | None = None
        self._offers: frozenset[tuple[str, str]] = frozenset()
        self._refused: frozenset[str] = frozenset()
        """Requests with which the failed step wanted to change something."""

    def goal(self, role: str, name: str, *, written: Collection[str] = ()) -> str | None:
        """What the failed step was meant to achieve, if this one is about the same.

        That is so if its element came with the failure, or if what was refused then, at the same
        address, was done now: another hour, another seat.
        """
        again = not self._refused.isdisjoint(written)
        return self._goal if again or (role, name) in self._offers else None

    def note(
        self,
        outcome: ToolOutcome,
        events: StepEvents | None,
        before: PageSnapshot | None,
        after: PageSnapshot,
        *,
        refused: Collection[str] = (),
    ) -> None:
        """Remember what came with a step that failed; a step that did not fail ends it.

        `refused` are the kinds of request with which it wanted to change something.
        """
        failed = events is not None and reported_failure(events) is not None
        if outcome.error is not None or outcome.block is not None or not failed:
            if outcome.effect != Effect.READ:
                self._goal, self._offers, self._refused = None, frozenset(), frozenset()
            return
        self._goal, self._refused = outcome.target or outcome.call, frozenset(refused)
        # Without the page before, it is not known what came with the failure.
        known = after if before is None else before
        self._offers = frozenset(after.steady_refs) - frozenset(known.steady_refs)
