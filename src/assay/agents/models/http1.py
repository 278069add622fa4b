"""A small HTTP/1.1 client on asyncio: it posts a body and reads a bounded response.

Redirects are not followed, and cookies not kept; `connections` asks by a proxy with `httpx`.
"""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import h11
import httpx

from assay.errors import ModelError

HEAD_BYTES: Final = 65_536
"""Of a response's status line and headers."""
READ_BYTES: Final = 65_536
IDLE_S: Final = 4.0
"""A connection that was idle for longer is not used again: servers close theirs after 5 s."""


class NoResponse(Exception):
    """An HTTP request got no response; the message starts with the name of the error."""


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response: status, headers and body."""

    status: int
    headers: Mapping[str, str]
    """By their names in lower case."""
    content: bytes


class _Reader(asyncio.StreamReader):
    """A stream reader that counts the bytes that are not read yet."""

    unread_bytes = 0

    def feed_data(self, data: bytes) -> None:  # type: ignore[override] # a transport has bytes alone
        self.unread_bytes += len(data)
        super().feed_data(data)

    async def read(self, n: int = -1) -> bytes:
        data = await super().read(n)
        self.unread_bytes -= len(data)
        return data


class HttpConnection:
    """One connection to a server, for one request at a time."""

    def __init__(self, reader: _Reader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES)
        self.loop = asyncio.get_running_loop()
        self._idle_since = self.loop.time()

    @classmethod
    async def open(cls, url: httpx.URL, tls: ssl.SSLContext | None) -> HttpConnection:
        """Open a connection; raise NoResponse if the server cannot be reached."""
        host, port = url.raw_host.decode("ascii"), url.port or (443 if tls else 80)
        loop = asyncio.get_running_loop()
        reader = _Reader(loop=loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        try:
            # A name with several addresses: the next one is tried when the first does not answer.
            transport, _ = await loop.create_connection(
                lambda: protocol, host, port, ssl=tls, happy_eyeballs_delay=0.25
            )
        except (OSError, ValueError) as error:
            raise NoResponse(f"ConnectError: {error}") from None
        return cls(reader, asyncio.StreamWriter(transport, protocol, reader, loop))

    def is_usable(self) -> bool:
        """Whether the connection is open and was used recently, so another request may be sent.

        What the server sends without having been asked would be read as the next response.
        """
        now = self.loop.time()
        closed = self._reader.at_eof() or self._writer.is_closing() or self._has_unread()
        return not closed and now - self._idle_since < IDLE_S

    def _has_unread(self) -> bool:
        return bool(self._reader.unread_bytes or self._protocol.trailing_data[0])

    async def post(
        self, url: httpx.URL, headers: Mapping[str, str], body: bytes, *, max_bytes: int
    ) -> Response:
        """Send a request and return its response; the connection is then reusable or closed.

        Raises `NoResponse` if the connection breaks, `ModelError` for a response that is too long.
        """
        try:
            response = await self._exchange(url, headers, body, max_bytes)
        except h11.RemoteProtocolError as error:
            self.abort()
            raise NoResponse(f"RemoteProtocolError: {error}") from None
        except (h11.LocalProtocolError, UnicodeEncodeError) as error:
            self.abort()
            raise ModelError(f"the request cannot be sent: {error}") from None
        except (OSError, zlib.error) as error:
            self.abort()
            raise NoResponse(f"{type(error).__name__}: {error}") from None
        except BaseException:
            # Cancelled half-way, for one: what is left of the response belongs to nobody.
            self.abort()
            raise
        self._finish()
        return response

    def abort(self) -> None:
        """Close the connection at once."""
        self._writer.transport.abort()

    async def _exchange(
        self, url: httpx.URL, headers: Mapping[str, str], body: bytes, max_bytes: int
    ) -> Response:
        protocol = self._protocol
        size, host = str(len(body)), url.netloc.decode("ascii")
        head = [("host", host), *headers.items(), ("content-length", size)]
        request = h11.Request(method="POST", target=url.raw_path, headers=head)
        parts = (request, h11.Data(data=body), h11.EndOfMessage())
        self._writer.writelines([protocol.send(part) or b"" for part in parts])
        # A server may refuse a long body, and close, before it has read it: its response counts.
        with suppress(ConnectionError):
            await self._writer.drain()
        response: h11.Response | None = None
        received = bytearray()
        while True:
            event = await self._next_event()
            if isinstance(event, h11.Response):
                response = event
            elif isinstance(event, h11.Data):
                received += event.data
                if len(received) > max_bytes:
                    raise ModelError(f"the response is longer than {max_bytes:,} bytes")
            elif isinstance(event, h11.EndOfMessage):
                break
            elif isinstance(event, h11.ConnectionClosed):
                raise h11.RemoteProtocolError("Server disconnected without sending a response.")
        assert response is not None
        # Twice the same name is one of the cases where the last one counts, as good as any.
        names = {name.decode("ascii"): value.decode("latin-1") for name, value in response.headers}
        content = _decoded(bytes(received), names.get("content-encoding", ""), max_bytes)
        return Response(response.status_code, names, content)

    async def _next_event(self) -> object:
        while True:
            event = self._protocol.next_event()
            if event is not h11.NEED_DATA:
                return event
            data = await self._reader.read(READ_BYTES)
            if not data and self._protocol.their_state is h11.SEND_RESPONSE:
                raise h11.RemoteProtocolError("Server disconnected without sending a response.")
            self._protocol.receive_data(data)

    def _finish(self) -> None:
        if self._protocol.our_state is h11.DONE and self._protocol.their_state is h11.DONE:
            self._protocol.start_next_cycle()
            self._idle_since = self.loop.time()
        else:
            self.abort()


def _decoded(content: bytes, encoding: str, max_bytes: int) -> bytes:
    """Return the decompressed content; some servers compress without being asked."""
    kind = encoding.strip().lower()
    if kind in ("", "identity"):
        return content
    if kind not in ("gzip", "x-gzip", "deflate"):
        raise ModelError(f"the response has an unsupported content encoding: {encoding[:80]!r}")
    decoder = zlib.decompressobj(zlib.MAX_WBITS | 32)
    decoded = decoder.decompress(content, max_bytes + 1)
    if len(decoded) > max_bytes:
        raise ModelError(f"the response is longer than {max_bytes:,} bytes")
    return decoded
