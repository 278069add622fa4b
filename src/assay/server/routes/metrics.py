"""`GET /metrics`: the counts of the server, for Prometheus."""

from __future__ import annotations

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response

router = APIRouter(tags=["service"])


@router.get(
    "/metrics",
    summary="For Prometheus",
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    response_class=Response,
)
async def metrics(request: Request) -> Response:
    """Requests, rows, queue, scoring time and workers."""
    return Response(request.app.state.metrics.text(), media_type=CONTENT_TYPE_LATEST)
