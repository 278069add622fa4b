"""Serves the town's web on a loopback port, in one thread.

The Host header chooses the site. Names under `.localhost` reach this machine in Chromium without
a name server; another client connects to 127.0.0.1 and sends the Host header itself.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import Future
from contextlib import suppress
from http.client import responses
from typing import Self
from urllib.parse import parse_qsl, unquote, urlsplit

from assay.errors import ResourceError
from townsquare.pages.render import page
from townsquare.pages.request import DOMAIN, Request, Response, redirect, site_url
from townsquare.pages.web import Web
from townsquare.records.draw import draw_records
from townsquare.records.schema import TOWN

ADDRESS = "127.0.0.1"
METHODS = ("GET", "HEAD", "POST")
MAX_HEAD_BYTES = 16_384
MAX_BODY_BYTES = 65_536
MAX_FIELDS = 50
MAX_CONNECTIONS = 512
IDLE_S = 30.0
HANG_S = 60.0
START_S = 10.0


class Town:
    """A local server of the town's web, as in `with Town(seed=7) as town: town.base_url`.

    `port` 0 takes a free one. A page that hangs is given up after `hang_s`, when the client
    disconnects, or when the town stops.
    """

    def __init__(self, seed: int = 7, *, port: int = 0, hang_s: float = HANG_S) -> None:
        self.seed = seed
        self._web = Web(draw_records(seed))
        self._requested_port = port
        self._hang_s = hang_s
        self._port = 0
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped: asyncio.Event | None = None

    @property
    def port(self) -> int:
        """The port of the running server."""
        if self._thread is None:
            raise ResourceError("the town is not running; call start() first")
        return self._port

    @property
    def base_url(self) -> str:
        """The address of the portal, without a final slash."""
        return site_url("", "", port=self.port)

    def url(self, site: str, path: str = "/") -> str:
        """Return the address of a page on a site of the town."""
        return site_url(site, path, port=self.port)

    def start(self) -> str:
        """Start the server, if it is not running, and return the portal's address."""
        if self._thread is None:
            listening: Future[int] = Future()
            thread = threading.Thread(
                target=lambda: asyncio.run(self._run(listening)), name="townsquare", daemon=True
            )
            thread.start()
            try:
                self._port = listening.result(START_S)
            except (OSError, TimeoutError) as error:
                raise ResourceError(
                    f"the town cannot listen on {ADDRESS}:{self._requested_port}: {error!r}"
                ) from error
            self._thread = thread
        return self.base_url

    def stop(self) -> None:
        """Close all connections and free the port; a second call does nothing."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        assert self._loop is not None
        assert self._stopped is not None
        self._loop.call_soon_threadsafe(self._stopped.set)
        thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.start)
        return self

    async def __aexit__(self, *exception: object) -> None:
        await asyncio.to_thread(self.stop)

    async def _run(self, listening: Future[int]) -> None:
        """Serve requests until the server is stopped, then close all connections."""
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        try:
            listener = socket.create_server((ADDRESS, self._requested_port))
        except OSError as error:
            listening.set_exception(error)
            return
        connections: set[asyncio.Task[None]] = set()
        with listener:
            listener.settimeout(0)
            self._loop.add_reader(listener, self._accept, listener, connections)
            listening.set_result(listener.getsockname()[1])
            await self._stopped.wait()
            self._loop.remove_reader(listener)
        for connection in connections:
            connection.cancel()
        if connections:
            await asyncio.wait(connections)

    def _accept(self, listener: socket.socket, connections: set[asyncio.Task[None]]) -> None:
        """Accept one client and start to serve it, without an await in between."""
        try:
            client, _ = listener.accept()
        except (BlockingIOError, ConnectionError):
            return
        if len(connections) >= MAX_CONNECTIONS:
            client.close()
            return
        client.settimeout(0)
        # asyncio sets this only for sockets that it accepted itself; without, an answer in two
        # pieces waits 40 ms for the reader's acknowledgement.
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = asyncio.ensure_future(self._serve(client))
        connections.add(connection)
        connection.add_done_callback(connections.discard)
        # A task cancelled before its first line never opened a transport that would close this.
        connection.add_done_callback(lambda _: client.close())

    async def _serve(self, client: socket.socket) -> None:
        """Answer the requests of one connection until it ends, is idle or breaks the rules."""
        reader, writer = await asyncio.open_connection(sock=client, limit=MAX_HEAD_BYTES)
        try:
            with suppress(ConnectionError, TimeoutError, asyncio.IncompleteReadError):
                while await self._answer_request(reader, writer):
                    pass
                writer.close()
                async with asyncio.timeout(IDLE_S):
                    await writer.wait_closed()
        finally:
            writer.transport.abort()

    async def _answer_request(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request; return whether the connection stays open."""
        try:
            async with asyncio.timeout(IDLE_S):
                head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return await _send(writer, _bad_request("the request is too large"), status=431)
        method, target, headers = _read_head(head)
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers or not (length.isascii() and length.isdecimal()):
            return await _send(writer, _bad_request("a body needs a plain length"), status=400)
        if len(length) > 9 or int(length) > MAX_BODY_BYTES:
            return await _send(writer, _bad_request("the request is too large"), status=413)
        async with asyncio.timeout(IDLE_S):
            await reader.readexactly(int(length))
        if method not in METHODS:
            return await _send(writer, _bad_request("only GET, HEAD and POST"), status=405)
        response = self._respond(method, target, headers.get("host", ""))
        if response.hangs:
            # A client that disconnects, or sends more, ends the wait as well.
            async with asyncio.timeout(self._hang_s):
                await reader.read(1)
            return False
        await _send(writer, response, head_only=method == "HEAD")
        return headers.get("connection", "").lower() != "close"

    def _respond(self, method: str, target: str, host: str) -> Response:
        name = host.lower().partition(":")[0]
        if name in (ADDRESS, "localhost"):
            return redirect(site_url("", port=self._port))
        site = name.removesuffix(DOMAIN).removesuffix(".")
        if name not in (DOMAIN, f"{site}.{DOMAIN}"):
            return _bad_request("this server has no site of that name")
        try:
            parts = urlsplit(target)
            query = dict(parse_qsl(parts.query, max_num_fields=MAX_FIELDS))
            path = unquote(parts.path, errors="strict") or "/"
        except ValueError:
            return _bad_request("the address cannot be read")
        return self._web.respond(Request(site, path, query, method == "POST", self._port))


def _read_head(head: bytes) -> tuple[str, str, dict[str, str]]:
    """Return method, target and headers of a request; malformed parts are empty."""
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    method, target = (words[0], words[1]) if len(words) == 3 else ("", "")
    pairs = (line.partition(":") for line in lines if ":" in line)
    return method, target, {name.strip().lower(): value.strip() for name, _, value in pairs}


def _bad_request(reason: str) -> Response:
    return page(f"{TOWN} web", "Bad request", "walls.note", status=400, note=reason)


async def _send(
    writer: asyncio.StreamWriter,
    response: Response,
    *,
    status: int | None = None,
    head_only: bool = False,
) -> bool:
    """Send the response, and return `False`."""
    code = response.status if status is None else status
    lines = [
        f"HTTP/1.1 {code} {responses.get(code, 'Unknown')}",
        f"Content-Type: {response.content_type}",
        f"Content-Length: {len(response.body)}",
        "Cache-Control: no-store",
        "X-Content-Type-Options: nosniff",
        *(f"{name}: {value}" for name, value in response.headers),
    ]
    if status is not None:
        lines.append("Connection: close")
    writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")
    if not head_only:
        writer.write(response.body)
    await writer.drain()
    return False
