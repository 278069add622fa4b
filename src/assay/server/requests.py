"""What a route needs of a request: its body read, its rows admitted, its client still there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from assay.errors import BadRecord
from assay.server import jobs
from assay.server.jobs import UnreadableRow
from assay.server.pool import WorkerLost
from assay.server.refusal import Refusal, shape_refusal
from assay.server.scoring import ScoringService
from assay.server.strict_json import read_json

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")

INLINE_BYTES = 1024 * 1024
"""A larger body is read by a worker: the event loop has a few milliseconds for each, not more."""


async def json_body(request: Request) -> Any:
    """The JSON value in the body."""
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise Refusal(
            415, "wrong_content_type", "send JSON, with the header `Content-Type: application/json`"
        )
    scoring: ScoringService = request.app.state.scoring
    try:
        async with asyncio.timeout(scoring.settings.deadline_s):
            body = await request.body()
    except TimeoutError as error:
        raise Refusal(408, "slow_body", "the body did not arrive before the deadline") from error
    try:
        if len(body) <= INLINE_BYTES:
            return read_json(body)
        return await scoring.run(jobs.read_body, body, scoring.deadline())
    except BadRecord as error:
        raise Refusal(400, "bad_json", f"the body {error}") from error
    except WorkerLost as lost:
        raise lost_worker(lost, "the body") from lost


async def read_body(request: Request, model: type[M]) -> M:
    """The body as a record of that kind."""
    try:
        return model.model_validate(await json_body(request))
    except ValidationError as error:
        raise shape_refusal(error) from error


@contextmanager
def admit(scoring: ScoringService, request: Request, rows: int) -> Iterator[None]:
    """The rows are in the queue for as long as the block lasts."""
    check_rows(scoring, rows)
    request.scope["assay.rows"] = rows
    if not scoring.admission.try_enter(rows):
        raise queue_full(scoring)
    try:
        yield
    finally:
        scoring.admission.leave(rows)


def check_rows(scoring: ScoringService, rows: int) -> None:
    """A request may have as many rows."""
    most = scoring.settings.max_rows
    if rows > most:
        raise Refusal(
            413,
            "too_many_rows",
            f"{rows:,} rows, and a request may have {most:,}; send fewer at a time, or NDJSON",
        )


def lost_worker(lost: WorkerLost, what: str) -> Refusal:
    """The answer when no worker brought it back."""
    if lost.loss == "deadline":
        return Refusal(408, "deadline", f"{what} took longer than the deadline allows")
    return Refusal(503, "worker_died", f"two workers died over {what}", {"Retry-After": "1"})


def queue_full(scoring: ScoringService) -> Refusal:
    """The answer when there is no room."""
    after_s = scoring.admission.retry_after_s()
    return Refusal(
        429,
        "queue_full",
        f"{scoring.admission.rows:,} rows are waiting already; try again in {after_s} s",
        {"Retry-After": str(after_s)},
    )


async def cancel_on_disconnect(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What the work returns; it is given up when the client goes away."""
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Refusal(499, "client_gone", "the client closed the connection")
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def read_lines(
    request: Request, *, most: int, stall_s: float
) -> AsyncIterator[list[tuple[int, Any]]]:
    """The lines of a body as they arrive, numbered, a few at a time; blank ones are passed over.

    A line longer than `most` bytes is given as `UnreadableRow`; its rest is dropped as it comes. A
    sender that falls silent for `stall_s` is refused: it may be gone without a word.
    """
    number = 0
    rest = b""
    skipping = False
    async for piece in _pieces(request, stall_s):
        *whole, rest = (rest + piece).split(b"\n")
        items: list[tuple[int, Any]] = []
        for line in whole:
            number += 1
            if not skipping and line.strip():
                items.append((number, _line(line, most)))
            skipping = False
        if len(rest) > most and not skipping:
            items.append((number + 1, _line(rest, most)))
            skipping = True
        if skipping:
            rest = b""
        if items:
            yield items
    if rest.strip() and not skipping:
        yield [(number + 1, _line(rest, most))]


async def _pieces(request: Request, stall_s: float) -> AsyncIterator[bytes]:
    pieces = aiter(request.stream())
    while True:
        try:
            async with asyncio.timeout(stall_s):
                piece = await anext(pieces)
        except StopAsyncIteration:
            return
        except TimeoutError as error:
            message = f"nothing was sent for {stall_s:g} s, and the stream had not ended"
            raise Refusal(408, "slow_body", message) from error
        yield piece


def _line(line: bytes, most: int) -> Any:
    return line if len(line) <= most else UnreadableRow(f"is longer than {most:,} bytes")
