"""What operators ask: is it alive, is it ready, what does it do, how is it doing."""

from __future__ import annotations

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from assay.server.catalogue import Catalogue
from assay.server.models import Health, Readiness, RewardsResponse
from assay.server.page import page_of
from assay.server.state import ServerState
from assay.server.strict_json import write_json

router = APIRouter(tags=["service"])

CSP = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"


@router.get("/healthz", summary="Whether the process answers", response_model=Health)
async def healthz() -> Response:
    """Always 200: nothing here waits for scoring."""
    return Response(b'{"status":"ok"}', media_type="application/json")


@router.get(
    "/readyz",
    summary="Whether requests are welcome",
    response_model=Readiness,
    responses={503: {"model": Readiness, "description": "Starting or draining."}},
)
async def readyz(request: Request) -> Response:
    """200 when every worker has started; 503 before that, and once the server is to stop."""
    server_state: ServerState = request.app.state.server_state
    status = server_state.status
    return Response(
        write_json({"status": status}),
        200 if status == "ready" else 503,
        media_type="application/json",
    )


@router.get("/v1/rewards", summary="The rewards that are served", response_model=RewardsResponse)
async def rewards(request: Request) -> Response:
    """Each with what it needs, its options and its documentation."""
    catalogue: Catalogue = request.app.state.catalogue
    answer = write_json({"rewards": catalogue.records()})
    return Response(answer, media_type="application/json")


@router.get(
    "/metrics",
    summary="For Prometheus",
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    response_class=Response,
)
async def metrics(request: Request) -> Response:
    """Requests, rows, queue, scoring time and workers."""
    return Response(request.app.state.metrics.text(), media_type=CONTENT_TYPE_LATEST)


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> Response:
    """The OpenAPI document as a page, which loads nothing from anywhere."""
    page = page_of(request.app.openapi())
    return HTMLResponse(page, headers={"content-security-policy": CSP})
