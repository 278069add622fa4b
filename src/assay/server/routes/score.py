"""`POST /v1/score`: rows in one piece, or as a stream of lines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from assay.errors import AssayError, BadParameter
from assay.server.catalogue import Catalogue
from assay.server.jobs import Chunk, ScorerSpec, bind_all
from assay.server.models import ScoreRequest, ScoreResponse
from assay.server.openapi import body_of, refusals
from assay.server.refusal import Refusal, refusal_of
from assay.server.requests import admit, cancel_on_disconnect, queue_full, read_body, read_lines
from assay.server.routes.query_params import QueryParams, query_params
from assay.server.scoring import ScoringService
from assay.server.strict_json import write_json
from assay.web.asgi import error_body
from assay.web.guards import BodyTooLarge, is_ndjson

NDJSON = "application/x-ndjson"

router = APIRouter(tags=["scores"])


@router.post(
    "/v1/score",
    summary="Score one row or many",
    response_model=ScoreResponse,
    responses={
        200: {"content": {NDJSON: {"schema": {"type": "string"}}}},
        **refusals(400, 404, 408, 413, 415, 422, 429),
    },
    openapi_extra=body_of(ScoreRequest, lines=True),
)
async def score(request: Request, query: Annotated[QueryParams, Depends(query_params)]) -> Response:
    """Each row's score, in order, as `assay score --json` prints it.

    A row that lacks a column abstains (`bad_row`), and so does one that is not finished by the
    deadline (`deadline`), or whose scoring failed (`grader_error`): the status is 200, `value` is
    null and `abstained` says why.

    With `Content-Type: application/x-ndjson` the body is one row a line, of any number, the reward
    and its options are in the address, and the answer is one result a line, sent as soon as it is
    known. A line that is not JSON abstains. Such an answer is complete only when it has as many
    results as lines were sent; its last line is `{"error": …}` if it had to be broken off.
    """
    scoring: ScoringService = request.app.state.scoring
    catalogue: Catalogue = request.app.state.catalogue
    if is_ndjson(request.scope):
        return _scored_lines(request, scoring, catalogue, query)
    body = await read_body(request, ScoreRequest)
    scorers = catalogue.scorers(body.names or query.rewards, body.params or query.params)
    columns = body.columns or query.columns
    bind_all(scorers, columns)
    rows = body.all_rows
    deadline = scoring.deadline(body.deadline_s or query.deadline_s)
    with admit(scoring, request, len(rows)):
        work = scoring.score_rows(
            scorers, rows, columns=columns, deadline=deadline, first=body.first
        )
        done = await cancel_on_disconnect(request, work)
    answer = b'{"results":[' + b",".join(done.results) + b"]}"
    return Response(answer, media_type="application/json")


def _scored_lines(
    request: Request, scoring: ScoringService, catalogue: Catalogue, query: QueryParams
) -> Response:
    scorers = catalogue.scorers(query.rewards, query.params)
    bind_all(scorers, query.columns)
    if scoring.admission.full:
        raise queue_full(scoring)
    return LineStream(
        _results(request, scoring, scorers, query), stall_s=scoring.settings.deadline_s
    )


async def _results(
    request: Request, scoring: ScoringService, scorers: tuple[ScorerSpec, ...], query: QueryParams
) -> AsyncGenerator[bytes, None]:
    rows = 0
    chunks = _chunks(request, scoring, scorers, query.columns)
    try:
        async with aclosing(scoring.score_stream(chunks, deadline_s=query.deadline_s)) as stream:
            async for done in stream:
                rows += len(done.results)
                request.scope["assay.rows"] = rows
                yield b"\n".join(done.results) + b"\n"
    except BodyTooLarge:
        message = f"the stream is larger than {scoring.settings.max_stream_bytes:,} bytes"
        yield write_json(error_body("body_too_large", message)) + b"\n"
    except Refusal as error:
        yield write_json(error_body(error.code, error.message)) + b"\n"
    except BadParameter as error:
        yield write_json(error_body(refusal_of(error).code, str(error))) + b"\n"
    except (AssayError, RecursionError) as error:
        yield write_json(error_body("internal", type(error).__name__)) + b"\n"
    except ClientDisconnect:
        return


async def _chunks(
    request: Request,
    scoring: ScoringService,
    scorers: tuple[ScorerSpec, ...],
    columns: dict[str, str],
) -> AsyncIterator[Chunk]:
    limits = scoring.settings
    size = limits.chunk_rows
    lines = read_lines(request, most=limits.max_body_bytes, stall_s=limits.deadline_s)
    async for items in lines:
        for start in range(0, len(items), size):
            yield Chunk(scorers, columns, "line", items[start : start + size])


class LineStream(StreamingResponse):
    """An answer that is sent as it is made; a client that does not read it is let go.

    The framework's own watches for a disconnect by reading the request, which here is still
    being read.
    """

    media_type = NDJSON

    def __init__(self, pieces: AsyncGenerator[bytes, None], *, stall_s: float) -> None:
        super().__init__(pieces, headers={"cache-control": "no-store"})
        self._pieces = pieces
        self._stall_s = stall_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """The whole stream is sent."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async with aclosing(self._pieces) as pieces:
            async for piece in pieces:
                async with asyncio.timeout(self._stall_s):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
