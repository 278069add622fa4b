"""`POST /nemo-gym/verify`: what NeMo-Gym sends and expects."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import Response

from assay.adapters import nemo_gym
from assay.server.openapi import REWARD_REFUSALS, request_body
from assay.server.refusal import Refusal
from assay.server.requests import BoundReward, SharedQuery, json_body, json_response

router = APIRouter(tags=["trainers"])


class NemoGymRequest(BaseModel):
    """What NeMo-Gym posts to `/verify`: an OpenAI response, and the fields of the task."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "responses_create_params": {"input": "2+2=?"},
                    "response": {
                        "output": [
                            {
                                "type": "message",
                                "role": "assistant",
                                "content": [{"type": "output_text", "text": "4"}],
                            }
                        ]
                    },
                    "expected_answer": "4",
                }
            ]
        },
    )

    responses_create_params: dict[str, Any] | None = None
    response: dict[str, Any]


class NemoGymResponse(BaseModel):
    """The request's fields and the reward; an abstention's is masked, and a neutral number."""

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
    """The request's own fields with the reward.

    An abstention has `mask_sample: true`, at the top and in `instance_config`, a `failure_kind` and
    a `failure_reason`; its `reward` is the mean of the latest rewards of the same task.
    """
    body = await json_body(request)
    if not isinstance(body, dict):
        raise Refusal(422, "bad_request", "the body: not a JSON object")
    reward = BoundReward(request, query)
    row = nemo_gym.to_row(body)
    (score,) = await reward.score([row])
    filler = reward.numbers([score], [row], "mean")[0]
    return json_response(nemo_gym.to_response(body, score, filler=filler))
