"""Build the OpenAPI document, including request bodies that routes read themselves."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel

from assay import __version__
from assay.server.models import ErrorResponse

STATUS_MEANINGS = {
    400: "The body is not JSON.",
    404: "No such reward is served here; the message names the nearest.",
    408: "Not read or finished by the deadline.",
    413: "More bytes or rows than one request may have.",
    415: "The body is said to be something other than JSON.",
    422: "The body has another shape, or the reward refuses its options.",
    429: "The queue is full; `Retry-After` says in how many seconds to come again.",
    503: "Not now: the server starts, drains, or lost its worker; try again.",
}

ABOUT = """Scores for what an LLM agent did, and why.

A score is a finite number with its reason, or an abstention with its reason: a grader's failure is
never a zero. Where the server asks for a token, send it as `Authorization: Bearer …`. Every error
is `{"error": {"code", "message"}}`.
"""


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Build the `responses=` of a route from its error statuses."""
    return {
        status: {"model": ErrorResponse, "description": STATUS_MEANINGS[status]}
        for status in statuses
    }


REWARD_REFUSALS = refusals(400, 404, 408, 413, 415, 422, 429)
"""Those of a route that scores rows with rewards."""


def request_body(model: type[BaseModel], *, lines: bool = False) -> dict[str, Any]:
    """Build the `openapi_extra=` of a route from the model of its request body."""
    content: dict[str, Any] = {"application/json": {"schema": model.model_json_schema()}}
    if lines:
        content["application/x-ndjson"] = {
            "schema": {"type": "string", "description": "One row, a JSON object, a line."}
        }
    return {"requestBody": {"required": True, "content": content}}


def document(app: FastAPI, routers: Iterable[APIRouter]) -> dict[str, Any]:
    """Build the whole document, with request bodies among its components."""
    whole = get_openapi(
        title="Assay reward server", version=__version__, description=ABOUT, routes=app.routes
    )
    for route in chain.from_iterable(router.routes for router in routers):
        if isinstance(route, APIRoute) and "requestBody" in (extra := route.openapi_extra or {}):
            # Not FastAPI's copy of the schema, which has lost every `null`.
            schema = extra["requestBody"]["content"]["application/json"]["schema"]
            whole["components"]["schemas"][schema["title"]] = schema
            for operation in whole["paths"][route.path].values():
                content = operation["requestBody"]["content"]["application/json"]
                content["schema"] = {"$ref": f"#/components/schemas/{schema['title']}"}
    whole["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    whole["security"] = [{}, {"token": []}]
    return whole
