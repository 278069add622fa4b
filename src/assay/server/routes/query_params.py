"""What a request may say in its address, where its body has no place for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Query

from assay.errors import BadRecord
from assay.server.refusal import Refusal
from assay.server.strict_json import read_json

RewardNames = Annotated[
    list[str],
    Query(max_length=32, description="`name` or `name@version`; the server's default if left out."),
]


@dataclass(frozen=True, slots=True)
class QueryParams:
    """The query parameters that several routes share, read."""

    rewards: list[str]
    params: dict[str, Any]
    columns: dict[str, str]
    deadline_s: float | None


def query_params(
    reward: RewardNames = [],  # noqa: B006 - FastAPI copies it, and takes no factory here
    params: Annotated[
        str, Query(description='The reward\'s options as JSON: `{"mode": "hotpot"}`.')
    ] = "{}",
    columns: Annotated[
        str, Query(description='Where a parameter is found: `{"answer": "gold"}`.')
    ] = "{}",
    deadline_s: Annotated[
        float | None, Query(gt=0, description="Less than the server's own deadline.")
    ] = None,
) -> QueryParams:
    """The query parameters, as a dependency of a route."""
    named = _object(columns, "columns")
    if not all(isinstance(column, str) for column in named.values()):
        raise Refusal(422, "bad_request", "columns: every value is the name of a column")
    return QueryParams(reward, _object(params, "params"), named, deadline_s)


def _object(text: str, name: str) -> dict[str, Any]:
    try:
        value = read_json(text.encode("utf-8", "surrogatepass"))
    except BadRecord as error:
        raise Refusal(422, "bad_request", f"{name}: {error}") from error
    if not isinstance(value, dict):
        raise Refusal(422, "bad_request", f"{name}: not a JSON object")
    return value
