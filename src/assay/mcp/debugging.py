"""A browser's debugging port, over which the pages of somebody else's browser are observed.

One WebSocket to the whole browser, with a session for each page (flattened, as Chrome calls it).
It runs on an event loop in a thread of its own, and every question has a time limit: a page that
does not answer is missing evidence, and holds up nobody for long.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from typing import Any, Final, TypeVar
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from assay.envs.browser.watching import PageWatch
from assay.errors import BadParameter
from assay.schema.observation import Observation

T = TypeVar("T")
MESSAGE_LIMIT_BYTES: Final = 64 << 20
CONNECT_S: Final = 5.0
ASK_S: Final = 5.0
BEGIN_S: Final = 1.5
"""How long a call may be held back for the look before it."""
END_S: Final = 6.0


class PortClosed(Exception):
    """The connection has ended, or the browser refused a command."""


class DebuggingPort:
    """A connection to a browser's debugging port."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._number = 0
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._handlers: dict[tuple[str, str], list[Callable[[dict[str, Any]], None]]] = {}
        self._reading = asyncio.create_task(self._read())

    @property
    def is_open(self) -> bool:
        return not self._reading.done()

    async def send(
        self, method: str, params: Mapping[str, Any] | None, session: str = ""
    ) -> dict[str, Any]:
        """The browser's answer; raises `PortClosed`, or `TimeoutError` when none comes."""
        if not self.is_open:
            raise PortClosed("the browser has closed its debugging port")
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": dict(params or {})}
        if session:
            message["sessionId"] = session
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        try:
            async with asyncio.timeout(ASK_S):
                await self._socket.send(json.dumps(message))
                return await answer
        except WebSocketException as error:
            raise PortClosed(str(error)) from error
        finally:
            self._answers.pop(number, None)

    def on(self, session: str, event: str, handler: Callable[[dict[str, Any]], None]) -> None:
        self._handlers.setdefault((session, event), []).append(handler)

    def forget(self, session: str) -> None:
        """The handlers of a session that has ended are gone."""
        for key in [key for key in self._handlers if key[0] == session]:
            del self._handlers[key]

    async def close(self) -> None:
        """The connection is closed; the browser and its pages are as they were."""
        await self._socket.close()
        self._reading.cancel()
        with suppress(asyncio.CancelledError, WebSocketException):
            await self._reading

    async def _read(self) -> None:
        try:
            async for line in self._socket:
                self._take(json.loads(line))
        finally:
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(PortClosed("the browser has closed its debugging port"))

    def _take(self, message: dict[str, Any]) -> None:
        answer = self._answers.get(message.get("id", 0))
        if answer is not None and not answer.done():
            if "error" in message:
                answer.set_exception(PortClosed(str(message["error"])[:500]))
            else:
                answer.set_result(message.get("result", {}))
        handlers = self._handlers.get((message.get("sessionId", ""), message.get("method", "")))
        for handler in handlers or ():
            handler(message.get("params", {}))


class PortSession:
    """A session with one page, or with a frame of it that has a process of its own."""

    def __init__(self, port: DebuggingPort, session: str) -> None:
        self._port = port
        self._session = session
        self._children: dict[str, PortSession] = {}
        self._attaches = False

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        return (PortClosed,)

    async def send(self, method: str, params: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        return await self._port.send(method, params, self._session)

    def on(self, event: str, handler: Callable[[dict[str, Any]], None]) -> None:
        self._port.on(self._session, event, handler)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def frames(self) -> Sequence[PortSession]:
        if not self._attaches:
            self._attaches = True
            self.on("Target.attachedToTarget", self._attach)
            self.on("Target.detachedFromTarget", self._detach)
            options = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True}
            await self.send("Target.setAutoAttach", options)
        return list(self._children.values())

    def _attach(self, event: dict[str, Any]) -> None:
        if event["targetInfo"]["type"] == "iframe":
            session = event["sessionId"]
            self._children[session] = PortSession(self._port, session)

    def _detach(self, event: dict[str, Any]) -> None:
        self._children.pop(event.get("sessionId", ""), None)

    async def close(self) -> None:
        with suppress(PortClosed, TimeoutError):
            await self._port.send("Target.detachFromTarget", {"sessionId": self._session})
        self._port.forget(self._session)


class BrowserWatch:
    """Watches the pages of a browser that somebody else drives, for threads that wait a little."""

    def __init__(self, address: str) -> None:
        """`address` is that of the debugging port, `http://127.0.0.1:9222` or `ws://…`.

        Raise `BadParameter` if no browser answers there.
        """
        self._address = address
        self._loop = asyncio.new_event_loop()
        self._port: DebuggingPort | None = None
        self._watches: dict[str, PageWatch] = {}
        self._current: PageWatch | None = None
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()
        try:
            self._wait(self._open(), CONNECT_S)
        except (OSError, WebSocketException, ValueError, KeyError, FutureTimeout) as error:
            self._stop()
            raise BadParameter(
                f"no browser answers at {address!r:.200}: {error!s:.200}; start it with "
                "--remote-debugging-port, and give the same address to the MCP server"
            ) from error

    def begin(self, tool: str, arguments: Mapping[str, Any], url: str | None) -> bool:
        """Whether a step has begun to be watched, on the page with this address if there is one."""
        return self._ask(self._begin(tool, arguments, url), BEGIN_S) is True

    def end(self, error: str | None) -> Observation | None:
        """What there is to see of the step; `None` if that cannot be said."""
        return self._ask(self._end(error), END_S)

    def close(self) -> None:
        """The browser is left as it was."""
        self._ask(self._close(), ASK_S)
        self._stop()

    def _run(self) -> None:
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(ASK_S)

    def _wait(self, work: Coroutine[Any, Any, T], timeout_s: float) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(timeout_s)
        except FutureTimeout:
            future.cancel()
            raise

    def _ask(self, work: Coroutine[Any, Any, T], timeout_s: float) -> T | None:
        with suppress(FutureTimeout, PortClosed, OSError, WebSocketException):
            return self._wait(work, timeout_s)
        self._current = None
        return None

    async def _open(self) -> None:
        address = self._address
        if not address.startswith(("ws://", "wss://")):
            address = await asyncio.to_thread(_socket_address, address)
        socket = await connect(
            address, open_timeout=CONNECT_S, max_size=MESSAGE_LIMIT_BYTES, proxy=None
        )
        self._port, self._watches, self._current = DebuggingPort(socket), {}, None
        await self._choose(None)

    async def _begin(self, tool: str, arguments: Mapping[str, Any], url: str | None) -> bool:
        if self._port is None or not self._port.is_open:
            await self._open()
        self._current = await self._choose(url)
        if self._current is None:
            return False
        await self._current.begin(tool, arguments)
        return True

    async def _end(self, error: str | None) -> Observation | None:
        watch, self._current = self._current, None
        return None if watch is None else await watch.end(error)

    async def _choose(self, url: str | None) -> PageWatch | None:
        """The watch of the page with this address, or of the one that was opened last."""
        assert self._port is not None
        answer = await self._port.send("Target.getTargets", None)
        pages = {
            info["targetId"]: info["url"]
            for info in answer["targetInfos"]
            if info["type"] == "page" and not info["url"].startswith("devtools:")
        }
        for gone in self._watches.keys() - pages.keys():
            del self._watches[gone]
        for target in pages:
            if target not in self._watches:
                options = {"targetId": target, "flatten": True}
                session = (await self._port.send("Target.attachToTarget", options))["sessionId"]
                self._watches[target] = await PageWatch.open(PortSession(self._port, session))
        fitting = [target for target, at in pages.items() if at == url] or list(pages)
        known = [target for target in self._watches if target in fitting]
        return self._watches[known[-1]] if known else None

    async def _close(self) -> None:
        for watch in self._watches.values():
            await watch.close()
        if self._port is not None:
            await self._port.close()


def _socket_address(address: str) -> str:
    """The WebSocket address that the browser names at its debugging port."""
    # The browser is where the user says, and no proxy stands before it.
    opener = build_opener(ProxyHandler({}))
    try:
        with opener.open(f"{address.rstrip('/')}/json/version", timeout=CONNECT_S) as response:
            return str(json.load(response)["webSocketDebuggerUrl"])
    except URLError as error:
        raise OSError(str(error.reason)) from error
