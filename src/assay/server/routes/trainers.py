"""Routes for the trainers OpenRLHF, NeMo-Gym and slime."""

from __future__ import annotations

from math import isfinite
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, JsonValue
from starlette.requests import Request
from starlette.responses import Response

from assay.adapters import nemo_gym, openrlhf, slime
from assay.schema.score import Abstained
from assay.server.openapi import REWARD_REFUSALS, request_body
from assay.server.refusal import Refusal
from assay.server.requests import (
    BoundReward,
    SharedQuery,
    StandInQuery,
    check_rows,
    json_body,
    json_response,
    read_body,
)

NEMO_GYM_EXAMPLE: JsonValue = {
    "responses_create_params": {"input": "2+2=?"},
    "response": {"output": [{
        "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "4"}],
    }]},
    "expected_answer": "4",
}  # fmt: skip
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
    """Rewards in order; parts that any row lacks are omitted."""

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
    """Return a reward for each query; the label is the reward's `answer`.

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


class NemoGymRequest(BaseModel):
    """Request that NeMo-Gym sends to `/verify`: an OpenAI response and task fields."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": [NEMO_GYM_EXAMPLE]})

    responses_create_params: dict[str, Any] | None = None
    response: dict[str, Any]


class NemoGymResponse(BaseModel):
    """The request's fields and the reward; `mask_sample` marks an abstention."""

    model_config = ConfigDict(extra="allow")

    reward: float
    """To be read only where `mask_sample` is false."""
    reward_components: dict[str, float]
    mask_sample: bool
    failure_kind: str | None = None
    failure_reason: str | None = None


@router.post(
    "/nemo-gym/verify",
    summary="NeMo-Gym: POST /verify",
    response_model=NemoGymResponse,
    responses=REWARD_REFUSALS,
    openapi_extra=request_body(NemoGymRequest),
)
async def nemo_gym_verify(request: Request, query: SharedQuery) -> Response:
    """Return the request's fields with the reward.

    An abstention has `mask_sample: true`, at the top and in `instance_config`, a `failure_kind` and
    a `failure_reason`; its `reward` is the mean of the latest rewards of the same task.
    """
    body = await json_body(request)
    if not isinstance(body, dict):
        raise Refusal(422, "bad_request", "the body must be a JSON object")
    reward = BoundReward(request, query)
    row = nemo_gym.to_row(body)
    (score,) = await reward.score([row])
    filler = reward.numbers([score], [row], "mean")[0]
    return json_response(nemo_gym.to_response(body, score, filler=filler))


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
    """Return the reward as a number, or with `keyed` as an object with its parts.

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
