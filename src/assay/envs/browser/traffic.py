"""The requests and console messages of a tab: the latest for contracts, counts for the digest."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from typing import TYPE_CHECKING, Final

from assay.envs.browser.digest import net_line
from assay.schema.evidence import Channel, ConsoleFact, NetworkFact

if TYPE_CHECKING:
    from playwright.async_api import Request, Response

KEPT_REQUESTS: Final = 200
KEPT_MESSAGES: Final = 50
KEPT_NOTES: Final = 10
KEPT_LINES: Final = 1_000
"""Kinds of request that are counted apart; a page that makes up more is counted as one."""
AWAITED: Final = frozenset(("xhr", "fetch", "document"))
"""Requests whose answers a page usually shows."""


class Traffic:
    """The record of one tab, or of several in a row when one had to be replaced."""

    def __init__(self) -> None:
        self.step = 0
        self.status: int | None = None
        """The HTTP status of the main document."""
        self.requests: deque[NetworkFact] = deque(maxlen=KEPT_REQUESTS)
        self.messages: deque[ConsoleFact] = deque(maxlen=KEPT_MESSAGES)
        self.quiet = asyncio.Event()
        """No request that this step began is unanswered."""
        self.quiet.set()
        self.cut: set[Channel] = set()
        """The records whose beginning was dropped."""
        self.sent: Counter[str] = Counter()
        """Every request that changed something since the tab was opened, counted by kind."""
        self._notes: list[str] = []
        self._open: set[Request] = set()

    def begin(self, step: int) -> None:
        """Record what follows as part of `step`."""
        self.step = step
        self._open.clear()
        self.quiet.set()

    def record_request(self, request: Request) -> None:
        if request.resource_type in AWAITED:
            self._open.add(request)
            self.quiet.clear()

    def record_response(self, response: Response) -> None:
        request = response.request
        self._record(NetworkFact(request.method, request.url[:2_000], response.status, self.step))

    def record_failure(self, request: Request) -> None:
        self._record(NetworkFact(request.method, request.url[:2_000], None, self.step))
        self.record_end(request)

    def record_end(self, request: Request) -> None:
        self._open.discard(request)
        if not self._open:
            self.quiet.set()

    def _record(self, fact: NetworkFact) -> None:
        if len(self.requests) == KEPT_REQUESTS:
            self.cut.add("network")
        self.requests.append(fact)
        line = net_line(fact)
        if line is not None:
            counted = line in self.sent or len(self.sent) < KEPT_LINES
            self.sent[line if counted else "more"] += 1

    def record_message(self, level: str, text: str) -> None:
        if len(self.messages) == KEPT_MESSAGES:
            self.cut.add("console")
        self.messages.append(ConsoleFact(level, text[:500], self.step))

    def note(self, text: str) -> None:
        """Show this in the next snapshot, in one line because part of it is the page's text."""
        line = " ".join(text[:300].split())
        if len(self._notes) < KEPT_NOTES and line not in self._notes:
            self._notes.append(line)

    def take_notes(self) -> tuple[str, ...]:
        notes, self._notes = tuple(self._notes), []
        return notes
