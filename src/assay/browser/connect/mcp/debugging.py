"""A browser beside its MCP server, seen over its debugging port by threads that wait a little.

Every question has a time limit: a page that does not answer is missing evidence, and holds up
nobody for long.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from typing import Any, Final, TypeVar

from assay.browser.chromium.cdp import ProtocolError
from assay.browser.connect.follower import BrowserFollower
from assay.errors import BadParameter, DeadResource, MissingExtra
from assay.resources.threads import watching_loop
from assay.schema.observation import Observation

T = TypeVar("T")
CONNECT_S: Final = 10.0
BEGIN_S: Final = 1.5
"""How long a call may be held back for the look before it."""
END_S: Final = 6.0


class DebuggingPort:
    """The pages of a browser that an MCP server drives, step by step."""

    def __init__(self, address: str) -> None:
        """`address` is that of the debugging port, `http://127.0.0.1:9222` or `ws://…`.

        Raise `BadParameter` if no browser answers there, `MissingExtra` without `websockets`.
        """
        self._address = address
        self._loop = watching_loop()
        self._follower: BrowserFollower | None = None
        try:
            self._wait(self._open(), CONNECT_S)
        except (DeadResource, FutureTimeout) as error:
            raise BadParameter(
                f"no browser answers at {address!r:.200}: {error!s:.200}; start it with "
                "--remote-debugging-port, and give the same address to the MCP server"
            ) from error

    def begin(self, tool: str, arguments: Mapping[str, Any], url: str | None) -> bool:
        """Whether a step has begun to be watched, on the page with this address if there is one."""
        return self._ask(self._begin(tool, arguments, url), BEGIN_S) is True

    def end(self, error: str | None) -> Observation | None:
        """What there is to see of the step that was begun; `None` if that cannot be said."""
        return self._ask(self._end(error), END_S)

    def close(self) -> None:
        """The browser is left as it was."""
        self._ask(self._close(), CONNECT_S)

    def _wait(self, work: Coroutine[Any, Any, T], timeout_s: float) -> T:
        future = self._loop.submit(work)
        try:
            return future.result(timeout_s)
        except FutureTimeout:
            future.cancel()
            raise

    def _ask(self, work: Coroutine[Any, Any, T], timeout_s: float) -> T | None:
        with suppress(FutureTimeout, ProtocolError, DeadResource, MissingExtra):
            return self._wait(work, timeout_s)
        return None

    async def _open(self) -> BrowserFollower:
        if self._follower is None or self._follower.closed:
            self._follower = await BrowserFollower.open(self._address)
        return self._follower

    async def _begin(self, tool: str, arguments: Mapping[str, Any], url: str | None) -> bool:
        follower = await self._open()
        await follower.begin(tool, arguments, url=url)
        return True

    async def _end(self, error: str | None) -> Observation | None:
        follower = self._follower
        if follower is None or not follower.reporting:
            return None
        return (await follower.end(error, tell=False)).observation

    async def _close(self) -> None:
        if self._follower is not None:
            await self._follower.close()
            self._follower = None
