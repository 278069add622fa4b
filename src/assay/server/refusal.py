"""Requests that are not answered with a result, as one exception and one JSON shape."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from assay.errors import AssayError, BadRecord, UnknownName, UsageError


class Refusal(Exception):
    """The request is answered with this status and this error."""

    def __init__(
        self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})


def refusal_of(error: AssayError) -> Refusal:
    """The answer to a request that Assay itself refused."""
    if isinstance(error, UnknownName):
        return Refusal(404, "unknown_reward", str(error))
    if isinstance(error, BadRecord):
        return Refusal(422, "bad_record", str(error))
    if isinstance(error, UsageError):
        return Refusal(422, "bad_parameter", str(error))
    return Refusal(500, "internal", type(error).__name__)


def shape_refusal(error: ValidationError) -> Refusal:
    """The first things that are wrong with a body, by their place; its values are not repeated."""
    told = []
    for found in error.errors(include_input=False, include_url=False, include_context=False)[:3]:
        # A union's members are in the path, in brackets; only what the sender wrote is a place.
        place = ".".join(str(part) for part in found["loc"] if "[" not in str(part))
        told.append(f"{place[:100] or 'the body'}: {found['msg']}")
    return Refusal(422, "bad_request", "; ".join(told))
