"""`POST /v1/steps`: score the recorded steps of a browser agent."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from starlette.requests import Request
from starlette.responses import Response

from assay.server.openapi import refusals, request_body
from assay.server.pool import WorkerLost
from assay.server.requests import (
    StrictBody,
    admit,
    cancel_on_disconnect,
    json_response,
    lost_worker,
    read_body,
    scoring_of,
)
from assay.server.step_jobs import score_steps

EXAMPLE: JsonValue = {"steps": [
    {"index": 0, "action": ""},
    {"index": 1, "action": 'click("a12")',
     "outcome": {"tool": "click", "ok": False, "error": "not_visible"}},
]}  # fmt: skip
router = APIRouter(tags=["scores"])


class StepsRequest(StrictBody):
    """Recorded steps of one episode, in order, as in a run's `steps/<attempt>.jsonl`."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    steps: list[dict[str, Any]]
    deadline_s: Annotated[float, Field(gt=0)] | None = None


class StepResult(BaseModel):
    """One step with its new score and its recorded score."""

    step: int
    action: str
    score: dict[str, Any] | None
    """Null for the reset and for a step without an outcome."""
    stored: dict[str, Any] | None
    stored_by: str | None
    differs: bool


class StepsResponse(BaseModel):
    """The results of all steps, in order."""

    scorer: str
    steps: list[StepResult]


@router.post(
    "/v1/steps",
    summary="Score the steps of an episode",
    response_model=StepsResponse,
    responses=refusals(400, 408, 413, 415, 422, 429, 503),
    openapi_extra=request_body(StepsRequest),
)
async def steps(request: Request) -> Response:
    """Score each step from its record alone, as `assay steps --json` does.

    The steps of one episode belong together: each is scored by what came before it. They are
    records of `steps/<attempt>.jsonl`; one without a `schema_id` is taken for one of this version.
    """
    body = await read_body(request, StepsRequest)
    scoring = scoring_of(request)
    deadline = scoring.deadline(body.deadline_s)
    with admit(request, len(body.steps)):
        work = scoring.run(score_steps, body.steps, deadline)
        try:
            answer = await cancel_on_disconnect(request, work)
        except WorkerLost as error:
            raise lost_worker(error, "the steps") from error
    if answer is None:
        raise lost_worker(WorkerLost("deadline"), "the steps")
    return json_response(answer)
