"""A client of Chrome's DevTools protocol; another program may drive the same browser."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.request import ProxyHandler, build_opener

from assay.errors import DeadResource, MissingExtra

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

Handler = Callable[[dict[str, Any]], None]
AUTO_ATTACH: Final = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True}
MESSAGE_BYTES: Final = 64 * 1024 * 1024
OPEN_S: Final = 10.0
REPLY_S: Final = 30.0
PICTURE_S: Final = 3.0
"""How long a picture may take: none ever comes of a tab that no window shows."""


class ProtocolError(Exception):
    """The browser refused a command, or closed before it answered."""


class ProtocolSession:
    """A DevTools session with a browser or one page; it implements `Transport`."""

    def __init__(self, connection: ProtocolConnection, session_id: str = "") -> None:
        self._connection = connection
        self.session_id = session_id
        """Empty for the session of the browser itself."""
        self._handlers: dict[str, list[Handler]] = {}
        self._frames: dict[str, ProtocolSession] = {}
        self._attaching = False
        self.gone = False
        """Whether the page has gone, or is followed no more."""
        self.status_of_opened: Callable[[], Awaitable[int | None]] | None = None

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        return (ProtocolError, TimeoutError)

    async def send(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the browser's answer; raise `ProtocolError` if it refuses or closes."""
        return await self._connection.request(method, params or {}, self.session_id)

    def on(self, event: str, handler: Handler) -> None:
        self._handlers.setdefault(event, []).append(handler)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        if self.gone or self._connection.closed.is_set():
            raise ProtocolError("the page has gone")

    async def frames(self) -> Sequence[ProtocolSession]:
        if not self._attaching:
            self._attaching = True
            self.on("Target.attachedToTarget", self._on_attached)
            self.on("Target.detachedFromTarget", self._on_detached)
            with suppress(ProtocolError):
                await self.send("Target.setAutoAttach", AUTO_ATTACH)
        return tuple(self._frames.values())

    def _on_attached(self, event: dict[str, Any]) -> None:
        if event["targetInfo"]["type"] == "iframe":
            child = str(event["sessionId"])
            self._frames[child] = self._connection.session(child)

    def _on_detached(self, event: dict[str, Any]) -> None:
        child = str(event["sessionId"])
        self._connection.forget(child)
        self._frames.pop(child, None)

    async def tab_status(self) -> int | None:
        return None if self.status_of_opened is None else await self.status_of_opened()

    async def close(self) -> None:
        self._handlers.clear()
        with suppress(ProtocolError):
            detached = {"sessionId": self.session_id}
            await self._connection.browser.send("Target.detachFromTarget", detached)
        self._connection.forget(self.session_id)

    def end(self) -> None:
        """Mark the page and its frames as closed."""
        self.gone = True
        frames, self._frames = self._frames, {}
        for frame in frames:
            self._connection.forget(frame)

    def deliver(self, event: str, params: dict[str, Any]) -> None:
        """Call the handlers that are registered for an event."""
        for handler in tuple(self._handlers.get(event, ())):
            handler(params)


class ProtocolConnection:
    """A websocket connection to a browser, as `connect_to_browser` opens it."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self._waiting: dict[int, tuple[str, asyncio.Future[dict[str, Any]]]] = {}
        """By number: the session that was asked, and its answer."""
        self._sessions: dict[str, ProtocolSession] = {}
        self.browser = self.session("")
        self.closed = asyncio.Event()
        """Set when the browser, or this side, has closed the connection."""
        self._reading = asyncio.create_task(self._read())

    def session(self, session_id: str) -> ProtocolSession:
        """Return the session with this id; make a session for a new id."""
        if session_id not in self._sessions:
            self._sessions[session_id] = ProtocolSession(self, session_id)
        return self._sessions[session_id]

    def forget(self, session_id: str) -> None:
        """Remove a session, and fail the requests that wait for its answers."""
        session = self._sessions.pop(session_id, None)
        if session is not None:
            session.end()
        self._give_up(session_id)

    def _give_up(self, session_id: str | None = None) -> None:
        """Fail the waiting requests of one session, or of all sessions."""
        for owner, answer in self._waiting.values():
            if (session_id is None or owner == session_id) and not answer.done():
                answer.set_exception(ProtocolError("the browser or its page has gone"))

    async def request(
        self, method: str, params: Mapping[str, Any], session_id: str
    ) -> dict[str, Any]:
        """Send one command and return the answer; raise `ProtocolError` if it fails."""
        from websockets.exceptions import WebSocketException

        limit_s = PICTURE_S if method == "Page.captureScreenshot" else REPLY_S
        number = next(self._ids)
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if session_id:
            message["sessionId"] = session_id
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = session_id, answer
        try:
            if self.closed.is_set() or session_id not in self._sessions:
                raise ProtocolError(f"{method}: the browser or its page has gone")
            await self._socket.send(json.dumps(message))
            async with asyncio.timeout(limit_s):
                return await answer
        except WebSocketException as error:
            raise ProtocolError(f"{method}: the browser has gone") from error
        except TimeoutError as error:
            if answer.cancelled():
                raise ProtocolError(f"{method}: no answer within {limit_s:g} s") from error
            raise
        finally:
            del self._waiting[number]

    async def _read(self) -> None:
        from websockets.exceptions import WebSocketException

        try:
            with suppress(WebSocketException, OSError):
                async for text in self._socket:
                    self._take(json.loads(text))
        finally:
            self.closed.set()
            self._give_up()

    def _take(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        if number is None:
            session = self._sessions.get(message.get("sessionId", ""))
            if session is not None:
                session.deliver(str(message.get("method")), message.get("params") or {})
            return
        _, answer = self._waiting.get(number, ("", None))
        if answer is None or answer.done():
            return
        if "error" in message:
            problem = str(message["error"].get("message", message["error"]))
            answer.set_exception(ProtocolError(f"Protocol error: {problem[:500]}"))
        else:
            answer.set_result(message.get("result") or {})

    async def close(self) -> None:
        await self._socket.close()
        await self._reading


async def connect_to_browser(address: str) -> ProtocolConnection:
    """Connect to a browser; raise `MissingExtra` without `websockets`, or `DeadResource`."""
    try:
        from websockets.asyncio.client import connect
        from websockets.exceptions import WebSocketException
    except ImportError as error:
        raise MissingExtra.of("following a browser", "websockets") from error
    try:
        url = await asyncio.to_thread(_websocket_address, address)
        socket = await connect(
            url, open_timeout=OPEN_S, ping_interval=None, max_size=MESSAGE_BYTES, proxy=None
        )
    except (OSError, TimeoutError, ValueError, WebSocketException) as error:
        problem = f"no browser answers at {address[:200]!r}: {str(error)[:300]}"
        raise DeadResource(problem) from error
    return ProtocolConnection(socket)


def _websocket_address(address: str) -> str:
    if address.startswith(("ws://", "wss://")):
        return address
    if not address.startswith(("http://", "https://")):
        raise ValueError("the address must begin with http:// or ws://")
    # Without the machine's proxies: a browser's port of debugging is on a loopback address.
    direct = build_opener(ProxyHandler({}))
    try:
        with direct.open(f"{address.rstrip('/')}/json/version", timeout=OPEN_S) as answer:
            return str(json.loads(answer.read(MESSAGE_BYTES))["webSocketDebuggerUrl"])
    except (KeyError, TypeError) as error:
        raise ValueError("the server does not speak the DevTools protocol") from error
