"""Routes about the server: rewards, health, metrics and documentation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from fastapi import APIRouter
from jinja2 import Environment
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from assay.server.models import Readiness, RewardsResponse
from assay.server.requests import catalogue_of, json_response, scoring_of

router = APIRouter(tags=["service"])

CSP = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"

TEMPLATE = Path(__file__).with_name("docs.html")


class Health(BaseModel):
    """Response of `/healthz`: the server process is alive."""

    status: Literal["ok"]


@router.get("/healthz", summary="Whether the process answers", response_model=Health)
async def healthz() -> Response:
    """Return 200 while the process runs, without waiting for scoring."""
    return json_response({"status": "ok"})


@router.get(
    "/readyz",
    summary="Whether requests are welcome",
    response_model=Readiness,
    responses={503: {"model": Readiness, "description": "Starting or draining."}},
)
async def readyz(request: Request) -> Response:
    """Return 200 if all workers have started; 503 while starting or stopping."""
    status = scoring_of(request).status
    return json_response({"status": status}, 200 if status == "ready" else 503)


@router.get("/v1/rewards", summary="The rewards that are served", response_model=RewardsResponse)
async def rewards(request: Request) -> Response:
    """List each reward with its required columns, options and documentation."""
    return json_response({"rewards": catalogue_of(request).records()})


@router.get(
    "/metrics",
    summary="For Prometheus",
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    response_class=Response,
)
async def metrics(request: Request) -> Response:
    """Metrics of requests, rows, queue, scoring time and workers."""
    return Response(request.app.state.metrics.text(), media_type=CONTENT_TYPE_LATEST)


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> Response:
    """Show the OpenAPI document as a page that loads nothing from other servers."""
    return HTMLResponse(_page(request.app.openapi()), headers={"content-security-policy": CSP})


def _page(document: dict[str, Any]) -> str:
    """Render the documentation page with all text escaped."""
    calls = [
        {**call, "method": method.upper(), "path": path, "examples": _examples(document, call)}
        for path, operations in document["paths"].items()
        for method, call in operations.items()
    ]
    template = Environment(autoescape=True).from_string(TEMPLATE.read_text("utf-8"))
    return template.render(doc=document, calls=calls)


def _examples(document: dict[str, Any], operation: dict[str, Any]) -> list[str]:
    content = operation.get("requestBody", {}).get("content", {})
    place = content.get("application/json", {}).get("schema", {}).get("$ref", "")
    schema = document["components"]["schemas"].get(place.rpartition("/")[2], {})
    return [json.dumps(example, indent=2) for example in schema.get("examples", [])]
