"""`GET /v1/rewards`: the rewards that are served."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from assay.server.models import RewardsResponse
from assay.server.requests import catalogue_of, json_response

router = APIRouter(tags=["service"])


@router.get("/v1/rewards", summary="The rewards that are served", response_model=RewardsResponse)
async def rewards(request: Request) -> Response:
    """Each with what it needs, its options and its documentation."""
    return json_response({"rewards": catalogue_of(request).records()})
