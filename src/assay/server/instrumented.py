"""Every request counted and logged, also those that were turned away at the door."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from uuid import uuid4

from assay.server.logs import log
from assay.server.metrics import Metrics
from assay.web.asgi import App, Message, Receive, Scope, Send, header_values, send_error

SAFE_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
GONE = 499
"""What is logged for a request whose client went away before it was answered."""


def instrument(app: App, metrics: Metrics, clock: Callable[[], float] = time.perf_counter) -> App:
    """The application, with each request under an id, in the log and in the metrics."""

    async def observe(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        started = clock()
        request_id = _request_id(scope)
        status = GONE

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await app(scope, receive, send_noted)
        except asyncio.CancelledError:
            # The server stops, and the time to finish is over: the client is told, if it can be.
            if status == GONE:
                message = "the server was stopped before this was finished; ask again"
                await send_error(send_noted, 503, "stopped", message)
        finally:
            took_s = clock() - started
            route = getattr(scope.get("route"), "path", None) or "-"
            metrics.requests.labels(route, str(status)).inc()
            metrics.request_seconds.labels(route).observe(took_s)
            log(
                "request",
                id=request_id,
                method=scope["method"] if len(scope["method"]) < 16 else "-",
                route=route,
                status=status,
                rows=scope.get("assay.rows", 0),
                ms=round(took_s * 1000, 1),
            )

    return observe


def _request_id(scope: Scope) -> str:
    """The client's own, if it is one that a log can hold; else a new one."""
    given = header_values(scope, b"x-request-id")
    if len(given) == 1 and SAFE_ID.fullmatch(given[0]):
        return given[0].decode()
    return uuid4().hex
