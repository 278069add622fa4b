"""The protocol of DevTools sessions, and sessions over Playwright's two APIs.

The coroutines of the synchronous session never wait, so `run_at_once` needs no event loop.
"""

from __future__ import annotations

import asyncio
import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, Final, Protocol, Self, TypeVar
from urllib.parse import urlsplit

from assay.browser.chromium.shared import playwright_error

T = TypeVar("T")
TAB_S: Final = 2.0
"""How long a new tab is waited for."""
TICK_S: Final = 0.05
TAB_TICKS: Final = 12
BLANK: Final = ("", "about:blank")
"""What a new tab shows, and has wholly loaded, before it goes where it was sent to."""
Handler = Callable[[dict[str, Any]], None]


class Transport(Protocol):
    """A DevTools session with one tab, or with a frame in another process.

    `sleep` must let messages be read meanwhile, and raise one of `errors` once the tab is gone:
    without that, the tab is waited for as if it still loaded.
    """

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """The errors that `send` and `sleep` raise when the tab or document is gone."""

    async def send(
        self, method: str, params: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]: ...

    def on(self, event: str, handler: Handler) -> None:
        """Call the handler for each later event of this name."""

    async def sleep(self, seconds: float) -> None: ...

    async def frames(self) -> Sequence[Transport]:
        """The sessions of frames in other processes; each frame keeps its session object."""

    async def tab_status(self) -> int | None:
        """The HTTP status of the tab that this tab opened last, or `None`."""

    async def close(self) -> None:
        """End the session and everything that it enabled."""


STATUS_SCRIPT: Final = "performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0"
"""Asks a document for its own HTTP status."""


def run_at_once(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that awaits only a synchronous transport, without an event loop."""
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    work.close()
    raise RuntimeError("a synchronous transport has waited")


class SessionTransport(ABC):
    """The common part of the transports over Playwright's two APIs."""

    def __init__(
        self, session: Any, page: Any = None, *, frame: Any = None, timeout_s: float | None = None
    ) -> None:
        """`session` belongs to the tab `page`, or to its `frame`."""
        self._session = session
        self._page = page
        self._frame = frame
        self._timeout_s = timeout_s
        self._children: dict[Any, tuple[str, Self | None]] = {}
        self._known: set[Any] = {page}
        """This tab, and those that were asked after already."""

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        return (playwright_error(),)

    @abstractmethod
    async def send(self, method: str, params: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """Send a command of the protocol, and return its result."""

    def on(self, event: str, handler: Handler) -> None:
        self._session.on(event, handler)

    @abstractmethod
    async def sleep(self, seconds: float) -> None:
        """Wait without holding up the page's events."""

    async def frames(self) -> Sequence[Self]:
        if self._frame is not None:
            return ()
        for frame, site in foreign_frames(self._page, self._children):
            child: Self | None = None
            with suppress(*self.errors, TimeoutError):
                session = await _result(self._page.context.new_cdp_session(frame))
                child = type(self)(session, self._page, frame=frame, timeout_s=self._timeout_s)
            self._children[frame] = site, child
        return [child for _, child in self._children.values() if child is not None]

    async def tab_status(self) -> int | None:
        with suppress(*self.errors, TimeoutError):
            page = self._page if self._frame is None else None
            tab = await opened_tab(page, self._known, self.sleep)
            if tab is None:
                return None
            await _result(tab.wait_for_load_state("domcontentloaded", timeout=TAB_S * 1000))
            session = await _result(self._page.context.new_cdp_session(tab))
            other = type(self)(session, tab, timeout_s=TAB_S)
            answer = await other.send("Runtime.evaluate", {"expression": STATUS_SCRIPT})
            await other.close()
            return int(answer["result"].get("value") or 0) or None
        return None

    async def close(self) -> None:
        for _, child in self._children.values():
            if child is not None:
                await child.close()
        self._children.clear()
        with suppress(*self.errors, TimeoutError):
            await _result(self._session.detach())


class PlaywrightTransport(SessionTransport):
    """A session of Playwright's asynchronous API."""

    async def send(self, method: str, params: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        arguments = None if params is None else dict(params)
        async with asyncio.timeout(self._timeout_s):
            answer: Mapping[str, Any] = await self._session.send(method, arguments)
        return answer

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        if _is_gone(self._page if self._frame is None else self._frame):
            raise playwright_error()("the tab or its frame is gone")


class BlockingTransport(SessionTransport):
    """A session of Playwright's synchronous API; its coroutines never wait."""

    async def send(self, method: str, params: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        arguments = None if params is None else dict(params)
        answer: Mapping[str, Any] = self._session.send(method, arguments, **self._limit)
        return answer

    @cached_property
    def _limit(self) -> dict[str, float]:
        # Older versions of Playwright wait for ever, as they do in the user's own calls.
        limited = "timeout" in inspect.signature(self._session.send).parameters
        return {"timeout": self._timeout_s * 1000} if limited and self._timeout_s else {}

    async def sleep(self, seconds: float) -> None:
        self._page.wait_for_timeout(seconds * 1000)
        if self._frame is not None and _is_gone(self._frame):
            raise playwright_error()("the frame is gone")


async def _result(value: Any) -> Any:
    """The result of a call of either Playwright API."""
    return await value if inspect.isawaitable(value) else value


async def opened_tab(page: Any, known: set[Any], sleep: Callable[[float], Awaitable[None]]) -> Any:
    """Wait for the tab that the page opened last, and add the tab to `known`."""
    tab = None
    for _ in range(0 if page is None else TAB_TICKS):
        for other in page.context.pages:
            if other not in known and await _result(other.opener()) is page:
                tab = other
        if tab is not None and tab.url not in BLANK:
            break
        await sleep(TICK_S)
    known.add(tab)
    return tab


def foreign_frames(page: Any, known: dict[Any, tuple[str, Any]]) -> list[tuple[Any, str]]:
    """The new frames of other sites; entries of removed frames are dropped from `known`."""
    sites = {frame: _site(frame.url) for frame in page.frames[1:]}
    for frame in [frame for frame in known if sites.get(frame) != known[frame][0]]:
        del known[frame]
    own = ("", _site(page.url))
    return [pair for pair in sites.items() if pair[0] not in known and pair[1] not in own]


def _is_gone(place: Any) -> bool:
    """Whether a tab or a frame is gone; a closed tab does not detach its frames."""
    tab = getattr(place, "page", place)
    return bool(tab.is_closed() or (tab is not place and place.is_detached()))


def _site(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
