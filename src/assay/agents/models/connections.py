"""The open connections and rate limits that all model endpoints of a run share."""

from __future__ import annotations

import asyncio
import math
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Final
from urllib.request import getproxies, proxy_bypass

import httpx

from assay.agents.models.http1 import HttpConnection, NoResponse, Response
from assay.errors import ModelError
from assay.resources.loopback import is_loopback


class RateGate:
    """Limits the requests to one URL; a response with status 429 slows all callers down.

    After one nobody sends before the time that the server named, and then half as many requests
    are under way at once; each round of replies allows one more. Callers may be in several threads,
    each with a loop of its own.
    """

    def __init__(self) -> None:
        self._resume_at = -math.inf
        self._limit = math.inf
        self._refusals = 0
        self._under_way = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._lock = Lock()

    @asynccontextmanager
    async def request(
        self, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]
    ) -> AsyncIterator[int]:
        """Wait until a request may be sent, and count the request as open within the block."""
        # Asked again after every wait: another request may have been refused meanwhile.
        while (obstacle := self._enter(clock())) is not None:
            await (sleep(obstacle) if isinstance(obstacle, float) else obstacle)
        refusals = self._refusals
        try:
            yield refusals
        finally:
            self._leave(refusals)

    def slow_down(self, sent_after: int, resume_at: float) -> None:
        """Slow down after a refused request; requests that were sent together count once."""
        with self._lock:
            self._resume_at = max(self._resume_at, resume_at)
            if sent_after == self._refusals:
                self._refusals += 1
                self._limit = max(1.0, (self._under_way + 1) // 2)

    def _enter(self, now: float) -> float | asyncio.Future[None] | None:
        """Begin a request and return `None`, or return the seconds or the future to wait for."""
        with self._lock:
            if self._resume_at > now:
                return self._resume_at - now
            if self._under_way < self._limit:
                self._under_way += 1
                return None
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            return waiter

    def _leave(self, refusals: int) -> None:
        with self._lock:
            self._under_way -= 1
            if refusals == self._refusals:
                self._limit += 1 / self._limit
            waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            with suppress(RuntimeError):  # of a loop that is closed
                waiter.get_loop().call_soon_threadsafe(_settle, waiter)


def _settle(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


class Connections:
    """The open connections of each server, and the rate gate of each URL."""

    def __init__(self, cache: Path | None = None) -> None:
        self.cache = cache
        """The folder of the replies that are kept; `None` where none are."""
        self._idle: dict[str, list[HttpConnection]] = {}
        self._home: asyncio.AbstractEventLoop | None = None
        """The loop whose connections are kept: the first one that asked, while it is open."""
        self._proxied: dict[str, httpx.AsyncClient] = {}
        self._tls: ssl.SSLContext | None = None
        self._gates: dict[str, RateGate] = {}

    async def post(
        self, url: httpx.URL, headers: Mapping[str, str], body: bytes, *, max_bytes: int
    ) -> Response:
        """The response of the server.

        Raises `NoResponse`, or `ModelError` for a response that is too long or a bad proxy.
        """
        if _has_proxy(url):
            return await self._post_by_proxy(url, headers, body, max_bytes=max_bytes)
        is_home = self._is_home(asyncio.get_running_loop())
        idle = self._idle.setdefault(_server(url), []) if is_home else []
        connection = _take_usable(idle)
        if connection is None:
            connection = await HttpConnection.open(url, self._context(url))
        response = await connection.post(url, headers, body, max_bytes=max_bytes)
        if is_home and connection.is_usable():
            idle.append(connection)
        else:
            connection.abort()
        return response

    def _is_home(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether connections of this event loop are kept for reuse.

        An agent may start a loop for each question, in a thread of its own: a connection that
        outlives its loop can neither be used nor closed.
        """
        if self._home is None or self._home.is_closed():
            self._home, self._idle = loop, {}
        return loop is self._home

    def _context(self, url: httpx.URL) -> ssl.SSLContext | None:
        if url.scheme != "https":
            return None
        if self._tls is None:
            self._tls = httpx.create_ssl_context()
        return self._tls

    async def _post_by_proxy(
        self, url: httpx.URL, headers: Mapping[str, str], body: bytes, *, max_bytes: int
    ) -> Response:
        key = _server(url)
        if key not in self._proxied:
            # Deadlines, and how many requests are under way, are for the caller to say.
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
            try:
                self._proxied[key] = httpx.AsyncClient(timeout=None, limits=limits)  # noqa: S113
            except (ImportError, ValueError) as error:
                # A kind that httpx does not know, or knows with another package alone.
                raise ModelError(
                    f"the proxy in the environment variables cannot be used: {error}"
                ) from error
        received = bytearray()
        request = self._proxied[key].stream("POST", url, content=body, headers=headers)
        try:
            async with request as response:
                async for chunk in response.aiter_bytes():
                    received += chunk
                    if len(received) > max_bytes:
                        raise ModelError(f"the response is longer than {max_bytes:,} bytes")
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise NoResponse(f"{type(error).__name__}: {error}") from None
        return Response(response.status_code, dict(response.headers), bytes(received))

    def gate(self, url: httpx.URL) -> RateGate:
        """The gate of that URL."""
        return self._gates.setdefault(str(url), RateGate())

    async def close(self) -> None:
        """Close every connection; a second call does nothing."""
        idle, self._idle = self._idle, {}
        for connection in (each for group in idle.values() for each in group):
            # The loop may be another one than this, and closed.
            with suppress(RuntimeError):
                connection.loop.call_soon_threadsafe(connection.abort)
        # Once for that call, and once for what it asks the loop to do.
        for _ in range(2 * bool(idle)):
            await asyncio.sleep(0)
        proxied, self._proxied = self._proxied, {}
        for client in proxied.values():
            await client.aclose()


def _server(url: httpx.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


def _take_usable(idle: list[HttpConnection]) -> HttpConnection | None:
    """Return the last connection that is usable, and close those that are not."""
    while idle:
        connection = idle.pop()
        if connection.is_usable():
            return connection
        connection.abort()
    return None


def _has_proxy(url: httpx.URL) -> bool:
    """Whether the environment variables name a proxy for this server on another machine."""
    if _is_own(url.host):
        return False
    proxies = getproxies()
    return (url.scheme in proxies or "all" in proxies) and not proxy_bypass(url.host)


_is_own: Final = lru_cache(maxsize=64)(is_loopback)


_SHARED: ContextVar[Connections | None] = ContextVar("assay_connections", default=None)


@asynccontextmanager
async def shared_connections(cache: Path | None = None) -> AsyncIterator[None]:
    """Share connections among all model requests of this asyncio task within the block."""
    connections = Connections(cache)
    token = _SHARED.set(connections)
    try:
        yield
    finally:
        _SHARED.reset(token)
        await connections.close()


def connections_of_the_run() -> Connections | None:
    """Return the connections that this run shares; `None` outside of a run."""
    return _SHARED.get()
