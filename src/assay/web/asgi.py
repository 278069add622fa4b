"""The shapes of ASGI, and one answer in them."""

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
    """The one shape in which either door says what went wrong."""
    return {"error": {"code": code, "message": message}}


async def answer(
    send: Send, status: int, body: bytes, headers: Sequence[Header] = (), kind: str = "text/plain"
) -> None:
    """The whole response is sent."""
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
    """The error is sent, as JSON."""
    body = json.dumps(error_body(code, message)).encode()
    await answer(send, status, body, headers, "application/json")


def header_values(scope: Scope, name: bytes) -> list[bytes]:
    """Every value of a header, in order; `name` is in lower case."""
    return [value for key, value in scope["headers"] if key.lower() == name]
