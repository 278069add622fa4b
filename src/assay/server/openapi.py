"""The OpenAPI document: what FastAPI knows, and the bodies that the routes read themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from assay import __version__
from assay.server import models
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

BODIES: Sequence[type[BaseModel]] = (
    models.ScoreRequest,
    models.StepsRequest,
    models.OpenRLHFRequest,
    models.NemoGymRequest,
    models.SlimeRequest,
)

ABOUT = """Scores for what an LLM agent did, and why.

A score is a finite number with its reason, or an abstention with its reason: a grader's failure is
never a zero. Where the server asks for a token, send it as `Authorization: Bearer …`. Every error
is `{"error": {"code", "message"}}`.
"""


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses=` of a route that may answer with these."""
    return {
        status: {"model": ErrorResponse, "description": STATUS_MEANINGS[status]}
        for status in statuses
    }


def body_of(model: type[BaseModel], *, lines: bool = False) -> dict[str, Any]:
    """The `openapi_extra=` of a route that reads such a body."""
    content: dict[str, Any] = {"application/json": {"schema": {"$ref": _place(model.__name__)}}}
    if lines:
        content["application/x-ndjson"] = {
            "schema": {"type": "string", "description": "One row, a JSON object, a line."}
        }
    return {"requestBody": {"required": True, "content": content}}


def document(app: FastAPI) -> dict[str, Any]:
    """The whole document."""
    found = get_openapi(
        title="Assay reward server", version=__version__, description=ABOUT, routes=app.routes
    )
    _, definitions = models_json_schema(
        [(body, "validation") for body in BODIES], ref_template=_place("{model}")
    )
    components = found.setdefault("components", {})
    components.setdefault("schemas", {}).update(definitions["$defs"])
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    found["security"] = [{}, {"token": []}]
    return found


def _place(name: str) -> str:
    return f"#/components/schemas/{name}"
