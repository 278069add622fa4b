"""What the endpoints of one run share: open connections, and how fast a server may be asked."""

from __future__ import annotations

import asyncio
import math
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from pathlib import Path

import httpx

from assay.resources.loopback import is_loopback

CLIENT_REQUESTS = 1
"""How many requests one HTTP client has under way before there is another client."""


class RateGate:
    """When a request may be sent to one URL; a refusal for too many slows all callers down.

    After one nobody sends before the time that the server named, and then half as many requests
    are under way at once; each round of replies allows one more.
    """

    def __init__(self) -> None:
        self._resume_at = -math.inf
        self._limit = math.inf
        self._refusals = 0
        self._under_way = 0
        self._waiting: list[asyncio.Future[None]] = []

    @asynccontextmanager
    async def request(
        self, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]
    ) -> AsyncIterator[int]:
        """One request is under way while the block lasts; the number is for `slow_down`."""
        # Asked again after every wait: another request may have been refused meanwhile.
        while (pause_s := self._resume_at - clock()) > 0 or self._under_way >= self._limit:
            if pause_s > 0:
                await sleep(pause_s)
                continue
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            await waiter
        self._under_way += 1
        refusals = self._refusals
        try:
            yield refusals
        finally:
            self._under_way -= 1
            if refusals == self._refusals:
                self._limit += 1 / self._limit
            self._wake()

    def slow_down(self, sent_after: int, resume_at: float) -> None:
        """A request was refused; those that were sent together with it count once."""
        self._resume_at = max(self._resume_at, resume_at)
        if sent_after == self._refusals:
            self._refusals += 1
            self._limit = max(1.0, (self._under_way + 1) // 2)

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)


class _Client:
    """An HTTP client, and how many requests it has under way."""

    def __init__(self, url: httpx.URL, certificates: ssl.SSLContext | bool) -> None:
        self.under_way = 0
        # Certificates are not loaded where there is nothing to verify: redirects are not
        # followed. Deadlines, and how many requests are under way, are for the caller to say.
        self.http = httpx.AsyncClient(
            timeout=None,  # noqa: S113 - see above
            verify=certificates,
            # A proxy of the environment is for other machines, and would read the key.
            trust_env=not is_loopback(url.host),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
        )


class Connections:
    """HTTP clients by server, and gates by URL."""

    def __init__(self, cache: Path | None = None) -> None:
        self.cache = cache
        """The folder of the replies that are kept; `None` where none are."""
        self._clients: dict[str, list[_Client]] = {}
        self._certificates: ssl.SSLContext | None = None
        self._gates: dict[str, RateGate] = {}

    @contextmanager
    def client(self, url: httpx.URL) -> Iterator[httpx.AsyncClient]:
        """A client for that server, for one request.

        A client looks at all its connections for every request, so that many clients with one
        connection each take less time than one with many.
        """
        key = f"{url.scheme}://{url.netloc.decode('ascii')}"
        clients = self._clients.setdefault(key, [])
        client = next((each for each in clients if each.under_way < CLIENT_REQUESTS), None)
        if client is None:
            client = _Client(url, self._load_certificates() if url.scheme == "https" else False)
            clients.append(client)
        client.under_way += 1
        try:
            yield client.http
        finally:
            client.under_way -= 1

    def _load_certificates(self) -> ssl.SSLContext:
        """What all clients verify servers with: it takes longer to load than a request does."""
        if self._certificates is None:
            self._certificates = httpx.create_ssl_context()
        return self._certificates

    def gate(self, url: httpx.URL) -> RateGate:
        """The gate of that URL."""
        return self._gates.setdefault(str(url), RateGate())

    async def close(self) -> None:
        """Close every connection; a second call does nothing."""
        clients, self._clients = self._clients, {}
        for client in (each for group in clients.values() for each in group):
            await client.http.aclose()


_SHARED: ContextVar[Connections | None] = ContextVar("assay_connections", default=None)


@asynccontextmanager
async def shared_connections(cache: Path | None = None) -> AsyncIterator[None]:
    """Whatever is asked while the block lasts, by this task and those it starts, shares.

    With `cache`, replies are kept in that folder, and found there.
    """
    connections = Connections(cache)
    token = _SHARED.set(connections)
    try:
        yield
    finally:
        _SHARED.reset(token)
        await connections.close()


def connections_of_the_run() -> Connections | None:
    """What this task shares with others; `None` outside of a run."""
    return _SHARED.get()
