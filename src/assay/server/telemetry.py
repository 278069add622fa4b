"""Logs and metrics of the server, with an entry for every request."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
import time
import traceback
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid4

import orjson
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from assay.server.jobs import ChunkResult
from assay.web.asgi import App, Message, Receive, Scope, Send, header_values, send_error

LOGGER = "assay.server"
SAFE_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
GONE = 499
"""What is logged for a request whose client went away before it was answered."""
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""The buckets of durations."""


class JsonLogFormatter(logging.Formatter):
    """Format log records as JSON; exceptions are logged without their text."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            line["error"] = type(error).__name__
            line["at"] = [
                f"{frame.filename}:{frame.lineno} {frame.name}"
                for frame in traceback.extract_tb(error.__traceback__)[-8:]
            ]
        return orjson.dumps(line, default=repr).decode()


def log_to_stderr() -> None:
    """Log requests, without their contents, and uvicorn's warnings to stderr as JSON lines."""
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(JsonLogFormatter())
    for name, level in ((LOGGER, logging.INFO), ("uvicorn.error", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers = [lines]
        logger.setLevel(level)
        logger.propagate = False


def log(event: str, *, level: int = logging.INFO, **fields: Any) -> None:
    logging.getLogger(LOGGER).log(level, event, extra={"fields": fields})


class Metrics:
    """Metrics of one server in a separate Prometheus registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        counter = partial(Counter, registry=self.registry)
        gauge = partial(Gauge, registry=self.registry)
        histogram = partial(Histogram, buckets=SECONDS, registry=self.registry)
        self.requests = counter("assay_requests", "Requests answered.", ["route", "status"])
        self.request_seconds = histogram(
            "assay_request_seconds",
            "From the first byte of a request to the last of its answer.",
            ["route"],
        )
        self.rows = counter("assay_rows", "Rows answered.", ["reward", "outcome"])
        self.scoring_seconds = histogram(
            "assay_scoring_seconds", "What a worker takes for one chunk of rows."
        )
        self.worker_restarts = counter(
            "assay_worker_restarts",
            "Worker processes replaced, because they died or were ended at a deadline.",
            ["cause"],
        )
        self.queue_rows = gauge("assay_queue_rows", "Rows accepted and not finished.")
        self.workers = gauge("assay_workers", "Worker processes there are.")

    def count_rows(self, result: ChunkResult) -> None:
        """Count the rows of a finished or abandoned chunk."""
        for (reward, outcome), count in result.counts.items():
            self.rows.labels(reward, outcome).inc(count)
        if result.elapsed_s:
            self.scoring_seconds.observe(result.elapsed_s)

    def text(self) -> bytes:
        return generate_latest(self.registry)


def instrument(app: App, metrics: Metrics) -> App:
    """Wrap an application to log and count each request under an id."""

    async def observe(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        started = time.perf_counter()
        request_id = _request_id(scope)
        status = GONE

        async def send_counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await app(scope, receive, send_counted)
        except asyncio.CancelledError:
            # The server stops, and the time to finish is over: answer the client if possible.
            if status == GONE:
                message = "the server was stopped before this was finished; ask again"
                await send_error(send_counted, 503, "stopped", message)
        finally:
            took_s = time.perf_counter() - started
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
    """Return the client's request id if it is safe to log, or a new id."""
    ids = header_values(scope, b"x-request-id")
    if len(ids) == 1 and SAFE_ID.fullmatch(ids[0]):
        return ids[0].decode()
    return uuid4().hex
