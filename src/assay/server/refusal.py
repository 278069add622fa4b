"""Error responses of the server: one exception type, and one JSON format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from assay.errors import AssayError, BadRecord, UnknownName, UsageError
from assay.web.asgi import error_body
from assay.web.strict_json import write_json


class Refusal(Exception):
    """A request that gets an error response with this status and message."""

    def __init__(
        self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})

    @property
    def body(self) -> bytes:
        return write_json(error_body(self.code, self.message))


def client_gone() -> Refusal:
    """Error for a client that closed the connection; only the log shows the error."""
    return Refusal(499, "client_gone", "the client closed the connection")


def refusal_of(error: AssayError) -> Refusal:
    """Convert an Assay error to an error response."""
    if isinstance(error, UnknownName):
        return Refusal(404, "unknown_reward", str(error))
    if isinstance(error, BadRecord):
        return Refusal(422, "bad_record", str(error))
    if isinstance(error, UsageError):
        return Refusal(422, "bad_parameter", str(error))
    return Refusal(500, "internal", type(error).__name__)


def shape_refusal(error: ValidationError) -> Refusal:
    """Convert errors of body validation to an error response, without the body's values."""
    return _bad_request(error.errors(include_input=False, include_url=False, include_context=False))


def error_handlers() -> dict[Any, Any]:
    """Return FastAPI exception handlers that convert every exception to a `Refusal`."""
    refusals: dict[type[Exception], Callable[[Any], Refusal]] = {
        Refusal: lambda refusal: refusal,
        AssayError: refusal_of,
        HTTPException: _framework_refusal,
        RequestValidationError: lambda error: _bad_request(error.errors()),
        # JSON may be nested deeper than what can be sent on to a worker; nothing of ours is.
        RecursionError: lambda _: Refusal(400, "bad_json", "the body is nested too deeply"),
        ClientDisconnect: lambda _: client_gone(),
        # Its traceback is logged.
        Exception: lambda _: Refusal(500, "internal", "a fault of this server; its log says more"),
    }

    async def handle(to_refusal: Callable[[Any], Refusal], _: Request, error: Any) -> Response:
        refusal = to_refusal(error)
        return Response(refusal.body, refusal.status, refusal.headers, "application/json")

    return {kind: partial(handle, to_refusal) for kind, to_refusal in refusals.items()}


def _framework_refusal(error: HTTPException) -> Refusal:
    codes = {404: "not_found", 405: "method_not_allowed"}
    code = codes.get(error.status_code, "refused")
    return Refusal(error.status_code, code, str(error.detail), error.headers)


def _bad_request(problems: Iterable[Mapping[str, Any]]) -> Refusal:
    messages = []
    for problem in list(problems)[:3]:
        # A union's members are in the path, in brackets; only what the sender wrote is a place.
        place = ".".join(str(part) for part in problem["loc"] if "[" not in str(part))
        messages.append(f"{place[:100] or 'the body'}: {problem['msg']}")
    return Refusal(422, "bad_request", "; ".join(messages))
