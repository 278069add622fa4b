"""The requests, console messages and navigations of a tab."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from assay.browser.chromium.shared import playwright_error
from assay.browser.observe.digest import net_line
from assay.schema.evidence import Channel, ConsoleFact, NetworkFact

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Frame, Request, Response
    from playwright.async_api import Page as Tab

KEPT_REQUESTS: Final = 200
KEPT_MESSAGES: Final = 50
KEPT_NOTES: Final = 10
KEPT_LINES: Final = 1_000
"""Kinds of request that are counted apart; a page that makes up more is counted as one."""
BEGINS_S: Final = 0.5
"""How long a navigation may take from its announcement to its request; a mail link sends none."""


class TrafficRecorder:
    """The record of one tab, or of several in a row when one had to be replaced.

    It has the latest requests and messages for contracts, and counts of requests for the digest.
    """

    def __init__(self) -> None:
        self.step = 0
        self.status: int | None = None
        """The HTTP status of the main document."""
        self.requests: deque[NetworkFact] = deque(maxlen=KEPT_REQUESTS)
        self.messages: deque[ConsoleFact] = deque(maxlen=KEPT_MESSAGES)
        self.cut: set[Channel] = set()
        """The records whose beginning was dropped."""
        self.sent: Counter[str] = Counter()
        """Every request that changed something since the tab was opened, counted by kind."""
        self._notes: list[str] = []

    def begin(self, step: int) -> None:
        """Record what follows as part of `step`."""
        self.step = step

    def record_response(self, response: Response) -> None:
        request = response.request
        self._record(NetworkFact(request.method, request.url[:2_000], response.status, self.step))

    def record_failure(self, request: Request) -> None:
        self._record(NetworkFact(request.method, request.url[:2_000], None, self.step))

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


class NavigationTracker:
    """Follows the navigations of a tab's main frame, and waits for their end.

    The browser announces a navigation before it answers the click that causes it, so there is
    nothing to wait for on a page that stays.
    """

    def __init__(
        self, tab: Tab, session: CDPSession, traffic: TrafficRecorder, *, frame_id: str
    ) -> None:
        self._tab = tab
        self._session = session
        self._traffic = traffic
        self._frame_id = frame_id
        self._started = asyncio.Event()
        self._arrived = asyncio.Event()
        self._arrived.set()

    def watch(self, committed: Callable[[], None]) -> None:
        """Follow the tab from now on; `committed` is called when its document was replaced."""

        def on_navigated(frame: Frame) -> None:
            if frame == self._tab.main_frame:
                committed()
                if frame.url.startswith("about:"):
                    self._traffic.status = None

        self._tab.on("request", self._on_request)
        self._tab.on("response", self._on_response)
        self._tab.on("requestfailed", self._on_failure)
        self._tab.on("domcontentloaded", lambda _: self.end())
        self._tab.on("framenavigated", on_navigated)
        self._session.on("Page.frameRequestedNavigation", self._on_announced)
        self._session.on("Page.frameScheduledNavigation", self._on_announced)

    @property
    def under_way(self) -> bool:
        return not self._arrived.is_set()

    def end(self) -> None:
        """Note that no navigation is under way."""
        self._started.set()
        self._arrived.set()

    async def arrive(self) -> None:
        """Wait for the navigation that is under way, if one is; the caller keeps the deadline."""
        if not self.under_way:
            return
        try:
            async with asyncio.timeout(BEGINS_S):
                await self._started.wait()
        except TimeoutError:
            self.end()
        await self._arrived.wait()

    def _on_announced(self, event: dict[str, Any]) -> None:
        new_tab = event.get("disposition", "currentTab") != "currentTab"
        if new_tab or event["frameId"] != self._frame_id:
            return
        if self._arrived.is_set():
            self._started.clear()
            self._arrived.clear()

    def _is_navigation(self, request: Request) -> bool:
        # A request that belongs to no frame any more has none to ask for.
        with suppress(playwright_error()):
            return request.is_navigation_request() and request.frame == self._tab.main_frame
        return False

    def _on_request(self, request: Request) -> None:
        if self._is_navigation(request):
            self._arrived.clear()
            self._started.set()

    def _on_response(self, response: Response) -> None:
        self._traffic.record_response(response)
        if self._is_navigation(response.request):
            self._traffic.status = response.status

    def _on_failure(self, request: Request) -> None:
        self._traffic.record_failure(request)
        if self._is_navigation(request):
            self.end()
