"""`POST /slime/rm`: what slime sends and expects."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import Response

from assay.adapters import slime
from assay.schema.score import Abstained
from assay.server.openapi import REWARD_REFUSALS, request_body
from assay.server.refusal import Refusal
from assay.server.requests import (
    BoundReward,
    SharedQuery,
    StandInQuery,
    json_response,
    read_body,
)

router = APIRouter(tags=["trainers"])


class SlimeRequest(BaseModel):
    """What slime posts to `--rm-url`."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"prompt": "2+2=?", "response": "4", "label": "4"}]}
    )

    prompt: Any = None
    response: Any
    label: Any = None
    metadata: dict[str, Any] | None = None


@router.post(
    "/slime/rm",
    summary="slime: --rm-url",
    responses={
        200: {"content": {"application/json": {"schema": {"type": ["number", "object"]}}}},
        **REWARD_REFUSALS,
    },
    openapi_extra=request_body(SlimeRequest),
)
async def slime_rm(
    request: Request,
    query: SharedQuery,
    abstained: StandInQuery = "mean",
    keyed: Annotated[
        bool, Query(description="Answer with an object, for `--reward-key score`.")
    ] = False,
) -> Response:
    """The reward as a number, or with `keyed` as an object with its parts.

    slime's HTTP interface has no abstentions, so one is a number: by default the mean of the latest
    rewards of the same prompt. With `abstained=none` it is answered with 422 (`abstained`), which
    slime asks for ten times and then fails over.
    """
    body = await read_body(request, SlimeRequest)
    reward = BoundReward(request, query)
    row = slime.to_row(body.model_dump())
    (score,) = await reward.score([row])
    (number,) = reward.numbers([score], [row], abstained)
    if isinstance(score, Abstained) and number is None:
        raise Refusal(422, "abstained", f"{score.scorer}: {score.reason}: {score.because}")
    parts = reward.binding.parts
    return json_response(slime.to_response(score, parts, abstained=number, keyed=keyed))
