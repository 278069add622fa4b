"""ASGI types, and functions that send responses."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping, Sequence
from typing import Any, TypeAlias

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]
Header: TypeAlias = tuple[bytes, bytes]


def error_body(code: str, message: str) -> dict[str, dict[str, str]]:
    """Build the JSON error body of the viewer and the reward server."""
    return {"error": {"code": code, "message": message}}


async def send_response(
    send: Send, status: int, body: bytes, headers: Sequence[Header] = (), kind: str = "text/plain"
) -> None:
    """Send the whole response."""
    sized = [
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        *headers,
    ]
    await send({"type": "http.response.start", "status": status, "headers": sized})
    await send({"type": "http.response.body", "body": body})


async def send_error(
    send: Send, status: int, code: str, message: str, headers: Sequence[Header] = ()
) -> None:
    """Send the error, as JSON."""
    body = json.dumps(error_body(code, message)).encode()
    await send_response(send, status, body, headers, "application/json")


def header_values(scope: Scope, name: bytes) -> list[bytes]:
    """Return all values of a header in order; `name` must be lower case."""
    return [value for key, value in scope["headers"] if key.lower() == name]
