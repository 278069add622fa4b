"""A browser's debugging port as the connection that page evidence is read over.

One WebSocket to the whole browser, with a session for each page (flattened, as Chrome calls it).
Only domains that observe are used; nothing here acts on a page.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from assay.errors import BadParameter

MESSAGE_LIMIT_BYTES: Final = 32 * 1024 * 1024
EventCallback = Callable[[Mapping[str, Any]], None]


class DebuggingPort:
    """A connection to a browser's debugging port; `close` ends it and leaves the browser alone."""

    def __init__(self, address: str, *, timeout_s: float = 5.0) -> None:
        """`address` is the browser's WebSocket address, `ws://127.0.0.1:9222/devtools/browser/…`.

        Raise `BadParameter` if nobody answers there.
        """
        self._timeout_s = timeout_s
        self._number = 0
        try:
            self._socket = connect(
                address, open_timeout=timeout_s, max_size=MESSAGE_LIMIT_BYTES, proxy=None
            )
        except (OSError, WebSocketException, ValueError) as error:
            raise BadParameter(
                f"no browser answers at {address!r:.200}: {error!s:.200}; start it with "
                "--remote-debugging-port and give that address"
            ) from error

    def send(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The browser's answer to a command; raises `TimeoutError` when none comes."""
        self._number += 1
        number = self._number
        self._socket.send(json.dumps({"id": number, "method": method, "params": params or {}}))
        while True:
            message = json.loads(self._socket.recv(timeout=self._timeout_s))
            if message.get("id") == number:
                return dict(message.get("result", {}))

    def close(self) -> None:
        """The connection is closed; the browser and its pages are as they were."""
        self._socket.close()
