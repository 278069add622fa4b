"""Refuse unsafe or too large requests before they reach the application.

In this order: a `Host` that is not one of ours (a web page whose name was pointed at this machine),
an `Origin` that is another site, a request without the token, more than can be served at a time, a
body that is too large. Every refusal is a small JSON object, `{"error": {"code", "message"}}`.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from assay.web.asgi import App, Header, Message, Receive, Scope, Send, send_error, send_response
from assay.web.asgi import header_values as values_of

ANY_HOST = "*"
CLOSE: Header = (b"connection", b"close")
"""The unread rest of a body must not be taken for the next request."""
NDJSON = b"application/x-ndjson"
DRAIN_S = 1.0
"""For how long the rest of a body that is too large is read."""


@dataclass(frozen=True, slots=True)
class RequestGuards:
    """Rules for accepted requests: hosts, token and body sizes."""

    allowed_hosts: frozenset[str]
    """Names without port, in lower case, as `address.allowed_hosts` returns them; `*` is any."""
    token: str | None = None
    """What `Authorization: Bearer …` must hold; `None` asks for nothing.

    A browser brings it once as `?token=…` and is sent on to the same address without it, with a
    cookie that no script can read and no other site can use.
    """
    max_body_bytes: int = 32 * 1024 * 1024
    max_stream_bytes: int | None = None
    """The limit of an NDJSON body, which is read line by line; `None`: as any other."""
    max_held_bytes: int | None = None
    """What all requests that are not answered yet may have sent; `None`: any amount."""
    max_requests: int | None = None
    """Requests at a time; `None`: any number."""
    open_paths: frozenset[str] = frozenset()
    """Answered without the token: what a load balancer asks."""


class BodyTooLarge(Exception):
    """The body of a request, or of all requests together (`busy`), exceeds the limit."""

    def __init__(self, *, busy: bool = False) -> None:
        super().__init__()
        self.busy = busy


def guard(app: App, guards: RequestGuards) -> App:
    """The application behind its guards."""

    load = _Load(guards.max_held_bytes, guards.max_requests)

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        elif await _admit(scope, guards, send):
            stream = is_ndjson(scope)
            limit = (guards.max_stream_bytes if stream else None) or guards.max_body_bytes
            counts = scope["path"] not in guards.open_paths
            body = _Body(receive, send, limit, load, stream=stream, counts=counts)
            await _limit_body(app, scope, body)

    return guarded


async def _admit(scope: Scope, guards: RequestGuards, send: Send) -> bool:
    """Return whether to accept the request; a refused request has been answered."""
    refusal = _wrong_host(scope, guards) or _wrong_origin(scope)
    if refusal is not None:
        await send_error(send, *refusal, headers=[CLOSE])
        return False
    if guards.token is None or scope["path"] in guards.open_paths:
        return True
    if await _redirect_with_cookie(scope, guards.token, send):
        return False
    if not _knows_token(scope, guards.token):
        message = "this server asks for its token: send `Authorization: Bearer …`"
        headers = [(b"www-authenticate", b"Bearer"), CLOSE]
        await send_error(send, 401, "unauthorized", message, headers)
        return False
    return True


def _wrong_host(scope: Scope, guards: RequestGuards) -> tuple[int, str, str] | None:
    hosts = values_of(scope, b"host")
    if len(hosts) != 1:
        return 400, "bad_host", "a request has exactly one Host header"
    if ANY_HOST in guards.allowed_hosts or _name_of(hosts[0]) in guards.allowed_hosts:
        return None
    return 421, "wrong_host", "this server does not answer under the name in the Host header"


def _wrong_origin(scope: Scope) -> tuple[int, str, str] | None:
    host = values_of(scope, b"host")[0].lower()
    for origin in values_of(scope, b"origin"):
        scheme, _, place = origin.lower().partition(b"://")
        if scheme not in (b"http", b"https") or place != host:
            return 403, "wrong_origin", "pages of other sites may not ask this server"
    sites = values_of(scope, b"sec-fetch-site")
    if any(site.lower() not in (b"same-origin", b"none") for site in sites) and not _is_link(scope):
        return 403, "wrong_origin", "pages of other sites may link to this server, and no more"
    return None


def _is_link(scope: Scope) -> bool:
    """Whether a browser follows a plain link to a page, without other query parameters."""
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    return (
        scope["method"] in ("GET", "HEAD")
        and values_of(scope, b"sec-fetch-mode") == [b"navigate"]
        and values_of(scope, b"sec-fetch-dest") == [b"document"]
        and all(name == "token" for name, _ in query)
    )


def _name_of(host: bytes) -> str:
    """Return the host name of a Host header, without the port."""
    try:
        return (urlsplit(f"//{host.decode('latin-1')}").hostname or "").lower()
    except ValueError:
        return ""


async def _redirect_with_cookie(scope: Scope, token: str, send: Send) -> bool:
    """Redirect a browser that sent the token in the URL; return whether it was redirected."""
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    tokens = [value for name, value in query if name == "token"]
    if not tokens or scope["method"] not in ("GET", "HEAD") or not _same(tokens[0], token):
        return False
    rest = urlencode([pair for pair in query if pair[0] != "token"])
    # One slash in front: two would name another site.
    path = "/" + scope.get("raw_path", scope["path"].encode()).decode("latin-1").lstrip("/\\")
    cookie = f"{_cookie_name(scope)}={_cookie_value(token)}; Path=/; HttpOnly; SameSite=Strict"
    headers = [
        (b"location", (path + (f"?{rest}" if rest else "")).encode("latin-1")),
        (b"set-cookie", cookie.encode()),
        (b"referrer-policy", b"no-referrer"),
        (b"cache-control", b"no-store"),
    ]
    await send_response(send, 303, b"", headers)
    return True


def _knows_token(scope: Scope, token: str) -> bool:
    for value in values_of(scope, b"authorization"):
        kind, _, secret = value.decode("latin-1").partition(" ")
        if kind.lower() == "bearer" and _same(secret.strip(), token):
            return True
    ours = _cookie_name(scope)
    # Not the standard library's reader, which gives up at the first odd cookie: other servers on
    # this machine set theirs for every port.
    for value in values_of(scope, b"cookie"):
        for cookie in value.decode("latin-1").split(";"):
            name, _, secret = cookie.strip().partition("=")
            if name == ours and _same(secret, _cookie_value(token)):
                return True
    return False


def _same(secret: str, expected: str) -> bool:
    return hmac.compare_digest(secret.encode("utf-8", "replace"), expected.encode())


def _cookie_name(scope: Scope) -> str:
    """Return the cookie name with the port, because all ports of a host share cookies."""
    server = scope.get("server")
    return f"assay_{server[1]}" if server else "assay"


def _cookie_value(token: str) -> str:
    """Return a hash of the token for the cookie, which all ports of a host receive."""
    return hmac.new(token.encode(), b"assay cookie", hashlib.sha256).hexdigest()


def is_ndjson(scope: Scope) -> bool:
    """Whether the request declares its body as NDJSON."""
    kinds = values_of(scope, b"content-type")
    return [kind.partition(b";")[0].strip().lower() for kind in kinds] == [NDJSON]


async def _limit_body(app: App, scope: Scope, body: _Body) -> None:
    declared = values_of(scope, b"content-length")
    size = int(declared[0][:20]) if declared and declared[0].isdigit() else 0
    if size > body.limit or (declared and not declared[0].isdigit()):
        await body.refuse()
        return
    body.load.requests += body.counts
    try:
        if body.counts and body.load.is_full(size):
            await body.refuse(BUSY)
            return
        await app(scope, body.receive, body.send)
    except BodyTooLarge:
        await body.refuse(body.problem)
    finally:
        body.load.requests -= body.counts
        body.load.held_bytes -= body.size


class _Refusal(NamedTuple):
    status: int
    code: str
    message: str
    headers: tuple[Header, ...]


BUSY = _Refusal(
    503,
    "busy",
    "as many requests as this server holds at a time have arrived; ask again in a second",
    ((b"retry-after", b"1"), CLOSE),
)


@dataclass(slots=True)
class _Load:
    """Number of unanswered requests and the bytes that they hold."""

    max_bytes: int | None
    max_requests: int | None
    held_bytes: int = 0
    requests: int = 0

    def is_full(self, more: int = 0) -> bool:
        """Whether `more` bytes or the current requests exceed a limit."""
        too_many = self.max_requests is not None and self.requests > self.max_requests
        return too_many or (self.max_bytes is not None and self.held_bytes + more > self.max_bytes)


@dataclass(slots=True)
class _Body:
    """Count received bytes; above a limit, replace the application's response by an error."""

    source: Receive
    sink: Send
    limit: int
    load: _Load
    stream: bool = False
    """Read line by line: what was read is let go, and only a line that has not ended is held."""
    counts: bool = True
    received: int = 0
    size: int = 0
    too_large: bool = False
    problem: _Refusal | None = None
    started: bool = False
    """Whether the answer has begun."""

    async def receive(self) -> MutableMapping[str, Any]:
        if self.too_large:
            raise BodyTooLarge
        message = await self.source()
        if message["type"] == "http.request":
            size = len(message.get("body", b""))
            self.received += size
            self._hold(message.get("body", b""))
            if self.received > self.limit or self.problem is not None:
                self.too_large = True
                raise BodyTooLarge(busy=self.problem is not None)
        return message

    def _hold(self, part: bytes) -> None:
        """Count the bytes in memory: the whole body, or the unfinished line of a stream."""
        size = self.size + len(part)
        if self.stream and b"\n" in part:
            size = len(part) - part.rindex(b"\n") - 1
        self.load.held_bytes += size - self.size
        if size > self.size and self.load.is_full():
            self.problem = BUSY
        self.size = size

    async def send(self, message: Message) -> None:
        if self.too_large and not self.started:
            await self.refuse(self.problem)
        else:
            self.started = self.started or message["type"] == "http.response.start"
            await self.sink(message)

    async def refuse(self, problem: _Refusal | None = None) -> None:
        """Send the error, by default 413, unless the response has started."""
        self.too_large = True
        if self.started:
            return
        self.started = True
        await self._drain()
        self.sink, send = _nowhere, self.sink
        message = f"the body is larger than {self.limit:,} bytes; send less at a time"
        refusal = problem or _Refusal(413, "body_too_large", message, (CLOSE,))
        await send_error(send, *refusal)

    async def _drain(self) -> None:
        """Read and discard the rest, because many clients first send the whole body."""
        dropped = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_S):
                while dropped <= self.limit:
                    message = await self.source()
                    if message["type"] != "http.request" or not message.get("more_body"):
                        return
                    dropped += len(message.get("body", b""))


async def _nowhere(message: Message) -> None:
    """Ignore what the application sends after the request was refused."""
