"""Functions of routes: read a request, queue its rows, and answer with JSON."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from fastapi import Depends, Query
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from assay.errors import BadParameter, BadRecord
from assay.schema.score import Abstained, Score, score_from_record
from assay.server import jobs
from assay.server.catalogue import RewardCatalogue
from assay.server.jobs import ChunkResult, ScorerSpec, UnreadableRow
from assay.server.pool import WorkerLost
from assay.server.refusal import Refusal, client_gone, shape_refusal
from assay.server.scoring import ScoringService
from assay.web.strict_json import read_json, write_json

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")

INLINE_BYTES = 1024 * 1024
"""A larger body is read by a worker: the event loop has a few milliseconds for each, not more."""


class StrictBody(BaseModel):
    """Base model of request bodies; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True)
class QueryParams:
    """The query parameters that several routes share."""

    rewards: list[str]
    params: dict[str, Any]
    columns: dict[str, str]
    deadline_s: float | None


def _query_params(
    reward: Annotated[
        list[str],
        Query(
            max_length=32, description="`name` or `name@version`; the server's default if left out."
        ),
    ] = [],  # noqa: B006 - FastAPI copies it, and takes no factory here
    params: Annotated[
        str, Query(description='The reward\'s options as JSON: `{"mode": "hotpot"}`.')
    ] = "{}",
    columns: Annotated[
        str, Query(description='Where a parameter is found: `{"answer": "gold"}`.')
    ] = "{}",
    deadline_s: Annotated[
        float | None, Query(gt=0, description="Less than the server's own deadline.")
    ] = None,
) -> QueryParams:
    column_names = _json_object(columns, "columns")
    if not all(isinstance(column, str) for column in column_names.values()):
        raise Refusal(422, "bad_request", "columns: every value must be the name of a column")
    return QueryParams(reward, _json_object(params, "params"), column_names, deadline_s)


SharedQuery: TypeAlias = Annotated[QueryParams, Depends(_query_params)]
"""The type of a route's parameter that receives them."""


def _json_object(text: str, name: str) -> dict[str, Any]:
    try:
        value = read_json(text.encode("utf-8", "surrogatepass"))
    except BadRecord as error:
        raise Refusal(422, "bad_request", f"{name}: {error}") from error
    if not isinstance(value, dict):
        raise Refusal(422, "bad_request", f"{name}: not a JSON object")
    return value


def scoring_of(request: Request) -> ScoringService:
    """Return the scoring service of the application."""
    scoring: ScoringService = request.app.state.scoring
    return scoring


def catalogue_of(request: Request) -> RewardCatalogue:
    """Return the reward catalogue of the application."""
    catalogue: RewardCatalogue = request.app.state.catalogue
    return catalogue


def json_response(value: Any, status: int = 200) -> Response:
    """Build a JSON response; bytes are sent as they are."""
    body = value if isinstance(value, bytes) else write_json(value)
    return Response(body, status, media_type="application/json")


async def json_body(request: Request) -> Any:
    """Read the body as JSON; raise `Refusal` if it is not JSON."""
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise Refusal(
            415, "wrong_content_type", "send JSON with the header `Content-Type: application/json`"
        )
    scoring = scoring_of(request)
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
    except WorkerLost as error:
        raise lost_worker(error, "the body") from error


async def read_body(request: Request, model: type[M]) -> M:
    """Read the body as a `model` record; raise `Refusal` if it does not fit."""
    try:
        return model.model_validate(await json_body(request))
    except ValidationError as error:
        raise shape_refusal(error) from error


async def score_rows(
    request: Request,
    scorers: tuple[ScorerSpec, ...],
    rows: Sequence[Any],
    *,
    columns: dict[str, str],
    deadline_s: float | None,
    first: int = 1,
) -> ChunkResult:
    """Queue and score the rows; stop if the client disconnects."""
    scoring = scoring_of(request)
    deadline = scoring.deadline(deadline_s)
    with admit(request, len(rows)):
        work = scoring.score_rows(scorers, rows, columns=columns, deadline=deadline, first=first)
        return await cancel_on_disconnect(request, work)


StandInQuery: TypeAlias = Annotated[
    Annotated[float, Field(allow_inf_nan=False)] | Literal["mean", "none"],
    Query(
        description="What stands for an abstention: a number; `mean`, that of the latest rewards "
        "of the same prompt; or `none`."
    ),
]
"""The type of a route's parameter for trainers that know only numbers."""


class BoundReward:
    """The single reward that a trainer's address names, with its options."""

    def __init__(self, request: Request, query: QueryParams) -> None:
        self._request = request
        self._query = query
        self._scorers = catalogue_of(request).scorers(query.rewards, query.params)
        if len(self._scorers) != 1:
            raise BadParameter("a trainer's request must name exactly one reward")
        (self.binding,) = jobs.bind_all(self._scorers, query.columns)

    async def score(self, rows: Sequence[dict[str, Any]]) -> list[Score]:
        query = self._query
        result = await score_rows(
            self._request, self._scorers, rows, columns=query.columns, deadline_s=query.deadline_s
        )
        return [self._read(record) for record in result.results]

    def numbers(
        self,
        scores: Sequence[Score],
        rows: Sequence[dict[str, Any]],
        abstained: float | Literal["mean", "none"],
    ) -> list[float | None]:
        """Return each score's number, or a replacement for each abstention."""
        if abstained == "none":
            return [score["reward"] for score in scores]
        binding = replace(self.binding, abstained=abstained)
        for score, row in zip(scores, rows, strict=True):
            binding.note(score, row)
        return [binding.number(score, row) for score, row in zip(scores, rows, strict=True)]

    def _read(self, record: bytes) -> Score:
        try:
            return score_from_record(read_json(record)["scores"][self.binding.name])
        except BadRecord:
            # The worker wrote more than the readers of requests take.
            return Abstained("grader_error", "the score of the worker could not be read")


@contextmanager
def admit(request: Request, rows: int) -> Iterator[None]:
    """Keep the rows in the queue during the block; raise `Refusal` if the queue is full."""
    check_rows(request, rows)
    scoring = scoring_of(request)
    request.scope["assay.rows"] = rows
    if not scoring.admission.try_enter(rows):
        raise queue_full(scoring)
    try:
        yield
    finally:
        scoring.admission.leave(rows)


def check_rows(request: Request, rows: int) -> None:
    """Raise `Refusal` if the request has too many rows."""
    limit = scoring_of(request).settings.max_rows
    if rows > limit:
        raise Refusal(
            413,
            "too_many_rows",
            f"{rows:,} rows are too many; send at most {limit:,} in one request, or use NDJSON",
        )


def lost_worker(error: WorkerLost, what: str) -> Refusal:
    """Build the error response for work that no worker finished."""
    if error.cause in ("deadline", "stuck"):
        return Refusal(408, "deadline", f"{what} took longer than the deadline allows")
    if error.cause == "memory":
        return Refusal(413, "too_much_memory", f"{what} takes more memory than a worker may")
    return Refusal(503, "worker_died", f"two workers died over {what}", {"Retry-After": "1"})


def queue_full(scoring: ScoringService) -> Refusal:
    """Build the error response for a full queue."""
    after_s = scoring.admission.retry_after_s()
    return Refusal(
        429,
        "queue_full",
        f"{scoring.admission.rows:,} rows are waiting already; try again in {after_s} s",
        {"Retry-After": str(after_s)},
    )


async def cancel_on_disconnect(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of the work; cancel the work if the client disconnects."""
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_wait_for_disconnect(request))
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise client_gone()
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def read_lines(
    request: Request, *, max_bytes: int, stall_s: float
) -> AsyncIterator[list[tuple[int, Any]]]:
    """Yield the numbered lines of a body as they arrive, without blank lines.

    A line longer than `max_bytes` becomes an `UnreadableRow`; its rest is dropped as it comes.
    Raises `Refusal` if nothing arrives for `stall_s`: the sender may be gone without a word.
    """
    number = 0
    rest = bytearray()
    skipping = False
    async for piece in _body_pieces(request, stall_s):
        # What came before is not gone through again: a line may arrive in any number of pieces.
        *whole, end = piece.split(b"\n")
        if whole:
            whole[0] = bytes(rest) + whole[0]
            rest.clear()
        rest += end
        items: list[tuple[int, Any]] = []
        for line in whole:
            number += 1
            if not skipping and line.strip():
                items.append((number, _line(line, max_bytes)))
            skipping = False
        if len(rest) > max_bytes and not skipping:
            items.append((number + 1, _line(rest, max_bytes)))
            skipping = True
        if skipping:
            rest.clear()
        if items:
            yield items
    if rest.strip() and not skipping:
        yield [(number + 1, _line(bytes(rest), max_bytes))]


async def _body_pieces(request: Request, stall_s: float) -> AsyncIterator[bytes]:
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


def _line(line: bytes | bytearray, max_bytes: int) -> Any:
    return line if len(line) <= max_bytes else UnreadableRow(f"is longer than {max_bytes:,} bytes")
