"""`POST /v1/steps`: what each recorded step of a browser agent is worth."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from assay.server.models import StepsRequest, StepsResponse
from assay.server.openapi import body_of, refusals
from assay.server.pool import WorkerLost
from assay.server.requests import admit, cancel_on_disconnect, lost_worker, read_body
from assay.server.scoring import ScoringService
from assay.server.step_jobs import score_steps

router = APIRouter(tags=["scores"])


@router.post(
    "/v1/steps",
    summary="Score the steps of an episode",
    response_model=StepsResponse,
    responses=refusals(400, 408, 413, 415, 422, 429, 503),
    openapi_extra=body_of(StepsRequest),
)
async def steps(request: Request) -> Response:
    """Each step's score from the record alone, as `assay steps --json` prints it.

    The steps of one episode belong together: each is judged by what came before it. They are
    records of `steps/<attempt>.jsonl`; one without a `schema_id` is taken for one of this version.
    """
    scoring: ScoringService = request.app.state.scoring
    body = await read_body(request, StepsRequest)
    deadline = scoring.deadline(body.deadline_s)
    with admit(scoring, request, len(body.steps)):
        work = scoring.run(score_steps, body.steps, deadline)
        try:
            answer = await cancel_on_disconnect(request, work)
        except WorkerLost as lost:
            raise lost_worker(lost, "the steps") from lost
    if answer is None:
        raise lost_worker(WorkerLost("deadline"), "the steps")
    return Response(answer, media_type="application/json")
