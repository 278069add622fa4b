"""`GET /docs`: the OpenAPI document as one plain page, for a person and without scripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

router = APIRouter(tags=["service"])

CSP = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"

TEMPLATE = Path(__file__).with_name("docs.html")


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> Response:
    """The OpenAPI document as a page, which loads nothing from anywhere."""
    return HTMLResponse(_page(request.app.openapi()), headers={"content-security-policy": CSP})


def _page(document: dict[str, Any]) -> str:
    """The page; every text in it is escaped."""
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
