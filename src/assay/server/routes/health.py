"""`GET /healthz` and `/readyz`: for whoever starts, stops and balances servers."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from assay.server.models import Readiness
from assay.server.requests import json_response, scoring_of

router = APIRouter(tags=["service"])


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"]


@router.get("/healthz", summary="Whether the process answers", response_model=Health)
async def healthz() -> Response:
    """Always 200: nothing here waits for scoring."""
    return json_response({"status": "ok"})


@router.get(
    "/readyz",
    summary="Whether requests are welcome",
    response_model=Readiness,
    responses={503: {"model": Readiness, "description": "Starting or draining."}},
)
async def readyz(request: Request) -> Response:
    """200 when every worker has started; 503 before that, and once the server is to stop."""
    status = scoring_of(request).status
    return json_response({"status": status}, 200 if status == "ready" else 503)
