"""`POST /v1/score`: score rows from one JSON body or from a stream of lines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any, Self

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from assay.errors import AssayError, BadParameter
from assay.server.jobs import RowChunk, ScorerSpec, bind_all
from assay.server.openapi import REWARD_REFUSALS, request_body
from assay.server.refusal import Refusal, refusal_of
from assay.server.requests import (
    QueryParams,
    SharedQuery,
    StrictBody,
    catalogue_of,
    json_response,
    queue_full,
    read_body,
    read_lines,
    score_rows,
    scoring_of,
)
from assay.server.scoring import ScoringService
from assay.web.guards import BUSY, BodyTooLarge, is_ndjson

NDJSON = "application/x-ndjson"
MAX_FIRST = 2**53
"""Beyond it other languages lose digits."""
ROW: JsonValue = {"final_response": "The answer is \\boxed{\\tfrac12}", "answer": "0.5"}
REQUESTS: JsonValue = [
    {"reward": "math_equal_reward", "rows": [ROW]},
    {"reward": ["qa_f1_reward", "fuzzy_answer_reward"],
     "row": {"final_response": "Paris", "gold": "paris"}, "columns": {"answer": "gold"}},
]  # fmt: skip
RESULT: JsonValue = {"line": 1, "scores": {"math_equal_reward": {
    "scorer": "math_equal_reward@2", "value": 1.0, "because": "1/2 equals 0.5",
    "parts": {"acc": 1.0},
}}}  # fmt: skip

router = APIRouter(tags=["scores"])


class ScoreRequest(StrictBody):
    """Rows to score, and the reward or rewards that score each row."""

    model_config = ConfigDict(json_schema_extra={"examples": REQUESTS})

    reward: str | Annotated[list[str], Field(max_length=32)] | None = None
    """One name or several, each `name` or `name@version`; the server's default if left out."""
    row: Any = None
    """One row: an object whose members are what the reward asks for."""
    rows: list[Any] | None = None
    """Several. Either this or `row`. One that is no object abstains (`bad_row`)."""
    params: dict[str, Any] = Field(default_factory=dict)
    """The options of the reward; an option goes to each reward that has it."""
    columns: dict[str, str] = Field(default_factory=dict)
    """Where a parameter is found if not under its own name: `{"answer": "extra.solution"}`."""
    deadline_s: Annotated[float, Field(gt=0)] | None = None
    """Less than the server's own. Rows that are not finished by then abstain (`deadline`)."""
    first: Annotated[int, Field(ge=1, le=MAX_FIRST)] = 1
    """The number of the first row, for one of several requests with the rows of one file."""

    @model_validator(mode="after")
    def _either_row_or_rows(self) -> Self:
        if (self.row is None) == (self.rows is None):
            raise ValueError("give either 'row' or 'rows'")
        return self

    @property
    def all_rows(self) -> list[Any]:
        return [self.row] if self.row is not None else self.rows or []

    @property
    def names(self) -> list[str]:
        if self.reward is None:
            return []
        return [self.reward] if isinstance(self.reward, str) else self.reward


class ScoreRecord(BaseModel):
    """One score, with either `value` or `abstained`, never both."""

    scorer: str
    """`name@version`."""
    value: float | None
    """A finite number, or null when the reward abstained: never a number for a failure."""
    because: str
    abstained: str | None = None
    """Why there is no value: `bad_row`, `grader_error`, `deadline`, `missing_reference`, …"""
    parts: dict[str, float | None]
    """The reward's further numbers, always under the same names."""
    notes: dict[str, str] = Field(default_factory=dict)
    params: dict[str, Any] = Field(default_factory=dict)


class Result(BaseModel):
    """The scores of one row, with copies of the row's `id` and `task_id`."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": [RESULT]})

    line: int
    """The number of the row: from 1, or from the request's `first`."""
    scores: dict[str, ScoreRecord]


class ScoreResponse(BaseModel):
    """The results of all rows, in order."""

    results: list[Result]


@router.post(
    "/v1/score",
    summary="Score one row or many",
    response_model=ScoreResponse,
    responses={200: {"content": {NDJSON: {"schema": {"type": "string"}}}}, **REWARD_REFUSALS},
    openapi_extra=request_body(ScoreRequest, lines=True),
)
async def score(request: Request, query: SharedQuery) -> Response:
    """Score each row, in order, as `assay score --json` does.

    A row that lacks a column abstains (`bad_row`), and so does one whose reference or response the
    reward cannot read (`bad_reference`, `bad_response`), that is not finished by the deadline
    (`deadline`), or whose scoring failed (`grader_error`): the status is 200, `value` is null and
    `abstained` says why.

    With `Content-Type: application/x-ndjson` the body is one row a line, of any number, the reward
    and its options are in the address, and the answer is one result a line, sent as soon as it is
    known. A line that is not JSON abstains. Such an answer is complete only when it has as many
    results as lines were sent; its last line is `{"error": …}` if it had to be broken off.
    """
    catalogue = catalogue_of(request)
    if is_ndjson(request.scope):
        return _score_lines(request, catalogue.scorers(query.rewards, query.params), query)
    body = await read_body(request, ScoreRequest)
    scorers = catalogue.scorers(body.names or query.rewards, body.params or query.params)
    columns = body.columns or query.columns
    bind_all(scorers, columns)  # Refuse the reward's options before any row is queued.
    result = await score_rows(
        request,
        scorers,
        body.all_rows,
        columns=columns,
        deadline_s=body.deadline_s or query.deadline_s,
        first=body.first,
    )
    return json_response(b'{"results":[' + b",".join(result.results) + b"]}")


def _score_lines(request: Request, scorers: tuple[ScorerSpec, ...], query: QueryParams) -> Response:
    bind_all(scorers, query.columns)
    scoring = scoring_of(request)
    if scoring.admission.full:
        raise queue_full(scoring)
    results = _results(request, scoring, scorers, query)
    return LineStream(results, stall_s=scoring.settings.deadline_s)


async def _results(
    request: Request, scoring: ScoringService, scorers: tuple[ScorerSpec, ...], query: QueryParams
) -> AsyncGenerator[bytes, None]:
    rows = 0
    limits = scoring.settings
    size = limits.chunk_rows
    lines = read_lines(request, max_bytes=limits.max_body_bytes, stall_s=limits.deadline_s)
    chunks = (
        RowChunk(scorers, query.columns, "line", items[start : start + size])
        async for items in lines
        for start in range(0, len(items), size)
    )
    try:
        async with aclosing(scoring.score_stream(chunks, deadline_s=query.deadline_s)) as stream:
            async for result in stream:
                rows += len(result.results)
                request.scope["assay.rows"] = rows
                yield b"\n".join(result.results) + b"\n"
    except BodyTooLarge as error:
        message = f"the stream is larger than {limits.max_stream_bytes:,} bytes"
        refusal = Refusal(413, "body_too_large", message)
        yield (Refusal(*BUSY[:3]) if error.busy else refusal).body + b"\n"
    except (Refusal, BadParameter) as error:
        refusal = error if isinstance(error, Refusal) else refusal_of(error)
        yield refusal.body + b"\n"
    except (AssayError, RecursionError) as error:
        yield Refusal(500, "internal", type(error).__name__).body + b"\n"
    except ClientDisconnect:
        return


class LineStream(StreamingResponse):
    """A response that is sent in pieces; a client that stops reading is disconnected.

    The framework's own watches for a disconnect by reading the request, which here is still
    being read.
    """

    media_type = NDJSON

    def __init__(self, pieces: AsyncGenerator[bytes, None], *, stall_s: float) -> None:
        super().__init__(pieces, headers={"cache-control": "no-store"})
        self._pieces = pieces
        self._stall_s = stall_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Send the whole stream."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async with aclosing(self._pieces) as pieces:
            async for piece in pieces:
                async with asyncio.timeout(self._stall_s):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
