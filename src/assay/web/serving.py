"""Run uvicorn without its own logs, and stop gracefully on a signal."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn

from assay.web.asgi import App

KEEP_ALIVE_S = 60
MAX_HEAD_BYTES = 64 * 1024
"""Of an address with its headers."""


def serve(
    app: App,
    listening: socket.socket,
    *,
    grace_s: float = 10.0,
    on_ready: Callable[[], None] | None = None,
    on_stop: Callable[[], None] | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM, then finish accepted requests within `grace_s` seconds.

    The socket is closed and the application's lifespan has ended when this returns. A second
    signal stops at once. In a thread other than the main one no signal is taken: it ends with the
    process.
    """
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        # Not whichever parser is installed: of the two, h11 alone bounds the head of a request.
        http="h11",
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        # Longer than the pauses of a trainer between two batches.
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=max(1, round(grace_s)),
    )
    server = _Server(config)
    server.on_ready, server.on_stop = on_ready, on_stop
    server.run(sockets=[listening])


class _Server(uvicorn.Server):
    on_ready: Callable[[], None] | None = None
    on_stop: Callable[[], None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.on_ready is not None:
            self.on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        if self.force_exit:
            # uvicorn skips this then; what the application started would outlive it.
            await self.lifespan.shutdown()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals as uvicorn does, but do not raise a signal again at the end."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, action in before.items():
                signal.signal(number, action)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn's
        if self.should_exit:
            self.force_exit = True
        self.should_exit = True
        if self.on_stop is not None:
            self.on_stop()
