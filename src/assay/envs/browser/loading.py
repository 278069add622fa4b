"""The navigations of a tab, and waiting for their end.

The browser announces a navigation before it answers the click that causes it, so there is nothing
to wait for on a page that stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from assay.envs.browser.traffic import Traffic
from assay.resources.browser import playwright_error

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Frame, Request, Response
    from playwright.async_api import Page as Tab

BEGINS_S: Final = 0.5
"""How long a navigation may take from its announcement to its request; a mail link sends none."""


class Loading:
    """Follows the navigations of a tab's main frame."""

    def __init__(self, tab: Tab, session: CDPSession, traffic: Traffic, *, frame_id: str) -> None:
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
        self._tab.on("requestfinished", self._traffic.record_end)
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
        else:
            self._traffic.record_request(request)

    def _on_response(self, response: Response) -> None:
        self._traffic.record_response(response)
        if self._is_navigation(response.request):
            self._traffic.status = response.status

    def _on_failure(self, request: Request) -> None:
        self._traffic.record_failure(request)
        if self._is_navigation(request):
            self.end()
