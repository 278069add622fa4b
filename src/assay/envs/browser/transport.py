"""How an observer talks to a browser: commands and events of the DevTools protocol, and no more.

Three kinds of session fit: Playwright's asynchronous one, its synchronous one, whose calls are
made at once so that `run_at_once` can run the same coroutines without an event loop, and a
websocket of one's own.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol, TypeVar
from urllib.parse import urlsplit

from assay.resources.browser import playwright_error

T = TypeVar("T")
TAB_S: Final = 2.0
"""How long a new tab is waited for."""
Handler = Callable[[dict[str, Any]], None]


class Transport(Protocol):
    """A session with one tab, or with a frame of it that has a process of its own.

    Over a raw websocket: connect to the tab's `webSocketDebuggerUrl` (or attach to its target with
    `flatten`), let `send` write `{"id", "method", "params"}` (with the `sessionId`) and wait for
    the answer of that id, raise one of `errors` for an answer with `error` and when the socket is
    closed, and let `on` call the handler with the `params` of every message of that method.
    `sleep` must let messages be read meanwhile. `frames` are the sessions of the frames that
    `Target.setAutoAttach` (`flatten`, `waitForDebuggerOnStart: false`) reports; none is right too,
    and only means that frames of other sites are not read.
    """

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What `send` raises when the tab or the document is gone, beside `TimeoutError`."""

    async def send(
        self, method: str, params: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]: ...

    def on(self, event: str, handler: Handler) -> None:
        """Call the handler with each event of this name from now on."""

    async def sleep(self, seconds: float) -> None: ...

    async def frames(self) -> Sequence[Transport]:
        """Sessions of the frames with a process of their own, the same object each time."""

    async def tab_status(self) -> int | None:
        """The HTTP status of the document in the tab that this one opened last, if it can be asked.

        `None` is right too, and only means that such a tab is not looked at.
        """

    async def close(self) -> None:
        """End the session, and with it everything that it switched on."""


STATUS_SCRIPT: Final = "performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0"
"""Asks a document for its own HTTP status."""


def run_at_once(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that waits for nothing but a synchronous transport."""
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    work.close()
    raise RuntimeError("a synchronous transport has waited")


class PlaywrightTransport:
    """A session of Playwright's asynchronous API."""

    def __init__(self, session: Any, page: Any = None, *, timeout_s: float | None = None) -> None:
        self._session = session
        self._page = page
        self._timeout_s = timeout_s
        self._children: dict[Any, tuple[str, PlaywrightTransport | None]] = {}

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        return (playwright_error(),)

    async def send(self, method: str, params: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        arguments = None if params is None else dict(params)
        async with asyncio.timeout(self._timeout_s):
            answer: Mapping[str, Any] = await self._session.send(method, arguments)
        return answer

    def on(self, event: str, handler: Handler) -> None:
        self._session.on(event, handler)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def frames(self) -> Sequence[PlaywrightTransport]:
        if self._page is None:
            return ()
        for frame, site in foreign_frames(self._page, self._children):
            child: PlaywrightTransport | None = None
            with suppress(*self.errors, TimeoutError):
                session = await self._page.context.new_cdp_session(frame)
                child = type(self)(session, timeout_s=self._timeout_s)
            self._children[frame] = site, child
        return [child for _, child in self._children.values() if child is not None]

    async def tab_status(self) -> int | None:
        for tab in () if self._page is None else reversed(self._page.context.pages):
            if tab is self._page or await tab.opener() is not self._page:
                continue
            with suppress(*self.errors, TimeoutError):
                async with asyncio.timeout(TAB_S):
                    await tab.wait_for_load_state("domcontentloaded")
                    session = await self._page.context.new_cdp_session(tab)
                    answer = await session.send("Runtime.evaluate", {"expression": STATUS_SCRIPT})
                    await session.detach()
                    return int(answer["result"].get("value") or 0) or None
        return None

    async def close(self) -> None:
        for _, child in self._children.values():
            if child is not None:
                await child.close()
        self._children.clear()
        with suppress(*self.errors, TimeoutError):
            await self._session.detach()


class BlockingTransport:
    """A session of Playwright's synchronous API; its coroutines never wait."""

    def __init__(
        self, session: Any, page: Any, *, timeout_s: float | None = None, inner: bool = False
    ) -> None:
        self._session = session
        self._page = page
        self._inner = inner
        # Older versions of Playwright wait for ever, as they do in the user's own calls.
        limited = timeout_s is not None and "timeout" in inspect.signature(session.send).parameters
        self._limit = {"timeout": (timeout_s or 0) * 1000} if limited else {}
        self._timeout_s = timeout_s
        self._children: dict[Any, tuple[str, BlockingTransport | None]] = {}

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        return (playwright_error(),)

    async def send(self, method: str, params: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        arguments = None if params is None else dict(params)
        answer: Mapping[str, Any] = self._session.send(method, arguments, **self._limit)
        return answer

    def on(self, event: str, handler: Handler) -> None:
        self._session.on(event, handler)

    async def sleep(self, seconds: float) -> None:
        self._page.wait_for_timeout(seconds * 1000)

    async def frames(self) -> Sequence[BlockingTransport]:
        if self._inner:
            return ()
        for frame, site in foreign_frames(self._page, self._children):
            child: BlockingTransport | None = None
            with suppress(*self.errors, TimeoutError):
                session = self._page.context.new_cdp_session(frame)
                child = type(self)(session, self._page, timeout_s=self._timeout_s, inner=True)
            self._children[frame] = site, child
        return [child for _, child in self._children.values() if child is not None]

    async def tab_status(self) -> int | None:
        for tab in () if self._inner else reversed(self._page.context.pages):
            if tab is self._page or tab.opener() is not self._page:
                continue
            with suppress(*self.errors, TimeoutError):
                tab.wait_for_load_state("domcontentloaded", timeout=TAB_S * 1000)
                session = self._page.context.new_cdp_session(tab)
                answer = session.send("Runtime.evaluate", {"expression": STATUS_SCRIPT})
                session.detach()
                return int(answer["result"].get("value") or 0) or None
        return None

    async def close(self) -> None:
        for _, child in self._children.values():
            if child is not None:
                await child.close()
        self._children.clear()
        with suppress(*self.errors, TimeoutError):
            self._session.detach()


def foreign_frames(page: Any, known: dict[Any, tuple[str, Any]]) -> list[tuple[Any, str]]:
    """The frames of other sites that have no entry yet; entries of frames that left are dropped."""
    own = _site(page.url)
    sites = {frame: _site(frame.url) for frame in page.frames[1:]}
    for frame in [frame for frame in known if sites.get(frame) != known[frame][0]]:
        del known[frame]
    return [
        (frame, site)
        for frame, site in sites.items()
        if frame not in known and site not in ("", own)
    ]


def _site(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
