"""What every response says to the browser: nothing from elsewhere, nothing inline, no guessing."""

from __future__ import annotations

from collections.abc import Mapping

from assay.viewer.pictures import picture_kind
from assay.web.asgi import App, Message, Receive, Scope, Send

POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "object-src 'none'",
        "frame-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
RAW_POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"
"""For what agents and pages left behind: shown or saved, never run."""

HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-cache",
}


def secured(app: App) -> App:
    """The application, each of whose answers carries the headers that it did not set itself."""

    async def with_headers(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.encode(), value.encode())
                        for name, value in HEADERS.items()
                        if name.encode() not in present
                    ),
                ]
            await send(message)

        await app(scope, receive, send_headed if scope["type"] == "http" else send)

    return with_headers


def artifact_type(data: bytes) -> str:
    """A picture by its first bytes, else plain text: never a type that a browser would run."""
    return picture_kind(data) or "text/plain; charset=utf-8"
