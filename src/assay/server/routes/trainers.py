"""The shapes that trainers send, each on its own route, through the adapters' pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from assay.adapters import nemo_gym, openrlhf, slime
from assay.adapters.binding import Binding
from assay.errors import BadParameter, BadRecord
from assay.schema.score import Abstained, Score, score_from_record
from assay.server.catalogue import Catalogue
from assay.server.jobs import ScorerSpec, bind_all
from assay.server.models import (
    NemoGymRequest,
    NemoGymResponse,
    OpenRLHFRequest,
    OpenRLHFResponse,
    SlimeRequest,
)
from assay.server.openapi import body_of, refusals
from assay.server.refusal import Refusal
from assay.server.requests import admit, cancel_on_disconnect, check_rows, json_body, read_body
from assay.server.routes.query_params import QueryParams, query_params
from assay.server.scoring import ScoringService
from assay.server.strict_json import read_json, write_json

router = APIRouter(tags=["trainers"])
USUAL = refusals(400, 404, 408, 413, 415, 422, 429)
Query_ = Annotated[QueryParams, Depends(query_params)]


@router.post(
    "/openrlhf/get_reward",
    summary="OpenRLHF: --reward.remote_url",
    response_model=OpenRLHFResponse,
    responses=USUAL,
    openapi_extra=body_of(OpenRLHFRequest),
)
async def openrlhf_rewards(request: Request, query: Query_) -> Response:
    """A reward for each query; the label is the reward's `answer`.

    An abstention is null in `rewards` and `scores`, and 1 in `extra_logs.abstained`. A part that
    some row of the request lacks is left out of `extra_logs`, which hold numbers only. A query
    that does not contain its prompt abstains: the prompt's own text is not graded.
    """
    body = await read_body(request, OpenRLHFRequest)
    check_rows(request.app.state.scoring, len(body.query))
    rows = openrlhf.to_rows(body.model_dump())
    binding, ask = _bound(request, query)
    whole = [row for row in rows if "final_response" in row]
    scores = iter(await _score(request, query, binding, ask, whole))
    answer = openrlhf.to_response(
        [next(scores) if "final_response" in row else _no_prompt(binding) for row in rows],
        parts=binding.parts,
    )
    logs: dict[str, list[float]] = answer["extra_logs"]
    answer["extra_logs"] = {name: row for name, row in logs.items() if all(map(isfinite, row))}
    return Response(write_json(answer), media_type="application/json")


@router.post(
    "/nemo-gym/verify",
    summary="NeMo-Gym: POST /verify",
    response_model=NemoGymResponse,
    responses=USUAL,
    openapi_extra=body_of(NemoGymRequest),
)
async def nemo_gym_verify(request: Request, query: Query_) -> Response:
    """The request's own fields with the verdict.

    An abstention has `mask_sample: true`, a `failure_kind` and a `failure_reason`; its `reward` is
    the filler that NeMo-Gym itself writes there, and nobody may read it.
    """
    body = await json_body(request)
    if not isinstance(body, dict):
        raise Refusal(422, "bad_request", "the body: not a JSON object")
    binding, ask = _bound(request, query)
    (score,) = await _score(request, query, binding, ask, [nemo_gym.to_row(body)])
    return Response(write_json(nemo_gym.to_response(body, score)), media_type="application/json")


@router.post(
    "/slime/rm",
    summary="slime: --rm-url",
    responses={
        200: {"content": {"application/json": {"schema": {"type": ["number", "object"]}}}},
        **USUAL,
    },
    openapi_extra=body_of(SlimeRequest),
)
async def slime_rm(
    request: Request,
    query: Query_,
    abstained: Annotated[
        float | None, Query(allow_inf_nan=False, description="The number of an abstention.")
    ] = None,
    keyed: Annotated[
        bool, Query(description="Answer with an object, for `--reward-key score`.")
    ] = False,
) -> Response:
    """The reward as a number, or with `keyed` as an object with its parts.

    slime's HTTP door has no word for an abstention. It is answered with 422 (`abstained`) unless
    the address chooses a number for it.
    """
    body = await read_body(request, SlimeRequest)
    binding, ask = _bound(request, query)
    (score,) = await _score(request, query, binding, ask, [slime.to_row(body.model_dump())])
    if isinstance(score, Abstained) and abstained is None:
        raise Refusal(422, "abstained", f"{score.scorer}: {score.reason}: {score.because}")
    answer = slime.to_response(score, binding.parts, abstained=abstained, keyed=keyed)
    return Response(write_json(answer), media_type="application/json")


def _bound(request: Request, query: QueryParams) -> tuple[Binding, ScorerSpec]:
    catalogue: Catalogue = request.app.state.catalogue
    scorers = catalogue.scorers(query.rewards, query.params)
    if len(scorers) != 1:
        raise BadParameter("a trainer's request asks for one reward")
    return bind_all(scorers, query.columns)[0], scorers[0]


async def _score(
    request: Request,
    query: QueryParams,
    binding: Binding,
    ask: ScorerSpec,
    rows: Sequence[dict[str, Any]],
) -> list[Score]:
    scoring: ScoringService = request.app.state.scoring
    deadline = scoring.deadline(query.deadline_s)
    with admit(scoring, request, len(rows)):
        work = scoring.score_rows((ask,), rows, columns=query.columns, deadline=deadline)
        done = await cancel_on_disconnect(request, work)
    return [_read(result, binding.name) for result in done.results]


def _read(result: bytes, name: str) -> Score:
    try:
        return score_from_record(read_json(result)["scores"][name])
    except BadRecord:
        # The worker wrote more than the readers of requests take.
        return Abstained("grader_error", "the score could not be read back")


def _no_prompt(binding: Binding) -> Score:
    return binding.scorer.abstain("bad_row", "the query does not contain its prompt")
