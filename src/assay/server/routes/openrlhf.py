"""`POST /openrlhf/get_reward`: what OpenRLHF sends and expects."""

from __future__ import annotations

from math import isfinite
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import Response

from assay.adapters import openrlhf
from assay.server.openapi import REWARD_REFUSALS, request_body
from assay.server.requests import (
    BoundReward,
    SharedQuery,
    StandInQuery,
    check_rows,
    json_response,
    read_body,
)

router = APIRouter(tags=["trainers"])


class OpenRLHFRequest(BaseModel):
    """What OpenRLHF posts to `--reward.remote_url`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"query": ["2+2=?\n4"], "prompts": ["2+2=?\n"], "labels": ["4"]}]
        }
    )

    query: list[Any]
    """Texts of prompt and response together; the response is what follows the prompt."""
    prompts: list[Any]
    labels: list[Any] | None = None
    """The reward's `answer`."""


class OpenRLHFResponse(BaseModel):
    """Rewards in order; a part that some row lacks is left out."""

    rewards: list[float | None]
    scores: list[float | None]
    extra_logs: dict[str, list[float]]
    """The reward's parts, and `abstained`, which is 1 for a row without a reward."""


@router.post(
    "/openrlhf/get_reward",
    summary="OpenRLHF: --reward.remote_url",
    response_model=OpenRLHFResponse,
    responses=REWARD_REFUSALS,
    openapi_extra=request_body(OpenRLHFRequest),
)
async def openrlhf_rewards(
    request: Request, query: SharedQuery, abstained: StandInQuery = "mean"
) -> Response:
    """A reward for each query; the label is the reward's `answer`.

    An abstention is 1 in `extra_logs.abstained`. OpenRLHF reads numbers only, so in `rewards` and
    `scores` it is by default the mean of the latest rewards of the same prompt; with
    `abstained=none` it is null. A part that some row of the request lacks is left out of
    `extra_logs`, which hold numbers only. A query that does not contain its prompt abstains: the
    prompt's own text is not graded.
    """
    body = await read_body(request, OpenRLHFRequest)
    check_rows(request, len(body.query))
    rows = openrlhf.to_rows(body.model_dump())
    reward = BoundReward(request, query)
    scores = iter(await reward.score([row for row in rows if openrlhf.has_response(row)]))
    ordered = [
        next(scores) if openrlhf.has_response(row) else openrlhf.no_prompt(reward.binding)
        for row in rows
    ]
    numbers = reward.numbers(ordered, rows, abstained)
    answer = openrlhf.to_response(ordered, numbers, parts=reward.binding.parts)
    logs: dict[str, list[float]] = answer["extra_logs"]
    answer["extra_logs"] = {name: row for name, row in logs.items() if all(map(isfinite, row))}
    return json_response(answer)
