"""Requests that the guards refuse, sent as ASGI sends them."""

import asyncio
import json
import socket
from typing import Any

import pytest
import uvicorn

from assay.web import serving
from assay.web.asgi import App, Message, Receive, Scope, Send
from assay.web.guards import BodyTooLarge, RequestGuards, guard

TOKEN = "a-token-of-some-length"
OURS = frozenset({"localhost", "127.0.0.1", "::1"})


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the length of the body."""
    size = 0
    while True:
        message = await receive()
        size += len(message["body"])
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


async def careless(scope: Scope, receive: Receive, send: Send) -> None:
    """Turns any trouble with the body into an answer of its own, as frameworks do."""
    try:
        await echo(scope, receive, send)
    except BodyTooLarge:
        await send({"type": "http.response.start", "status": 500, "headers": []})
        await send({"type": "http.response.body", "body": b"trouble"})


class Answer:
    def __init__(self, messages: list[Message]) -> None:
        self.status: int = messages[0]["status"]
        self.headers = {k.decode(): v.decode() for k, v in messages[0]["headers"]}
        self.body = b"".join(m.get("body", b"") for m in messages[1:])

    @property
    def code(self) -> Any:
        return json.loads(self.body)["error"]["code"]


def ask(
    guards: RequestGuards,
    *,
    method: str = "GET",
    target: str = "/",
    headers: dict[str, str] | None = None,
    body: tuple[bytes, ...] = (b"",),
    app: Any = echo,
) -> Answer:
    """The answer to one request; a Host header of ours unless it is in `headers`."""
    path, _, query = target.partition("?")
    sent_headers = {"host": "127.0.0.1:8000", **(headers or {})}
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(k.encode(), v.encode("latin-1")) for k, v in sent_headers.items() if v != "-"],
        "server": ("127.0.0.1", 8000),
    }
    pieces = [
        {"type": "http.request", "body": piece, "more_body": i < len(body) - 1}
        for i, piece in enumerate(body)
    ]
    sent: list[Message] = []

    async def receive() -> Message:
        return pieces.pop(0) if pieces else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(guard(app, guards)(scope, receive, send))
    return Answer(sent)


@pytest.mark.parametrize(
    ("host", "status", "why"),
    [
        ("127.0.0.1:8000", 200, "where it listens"),
        ("localhost:9000", 200, "a forwarded port is still this machine"),
        ("LOCALHOST", 200, "names have no case"),
        ("[::1]:8000", 200, "loopback of IPv6"),
        ("evil.example:8000", 421, "a name that was pointed at this machine"),
        ("localhost.evil.example", 421, "a name that only begins like ours"),
        ("127.0.0.1@evil.example", 421, "user information is not a name"),
        ("[", 421, "not a name at all"),
        ("", 421, "an empty name"),
        ("-", 400, "no Host header"),
    ],
)
def test_only_requests_under_a_name_of_ours_are_answered(host: str, status: int, why: str) -> None:
    assert ask(RequestGuards(OURS), headers={"host": host}).status == status, why


def test_any_name_will_do_where_the_guards_say_so() -> None:
    assert ask(RequestGuards(frozenset({"*"})), headers={"host": "rewards.svc:80"}).status == 200


@pytest.mark.parametrize(
    ("origin", "status", "why"),
    [
        ("http://127.0.0.1:8000", 200, "its own pages"),
        ("https://127.0.0.1:8000", 200, "behind a proxy that ends TLS"),
        ("http://localhost:8000", 403, "another name is another origin"),
        ("http://127.0.0.1:3000", 403, "another port is another application"),
        ("https://evil.example", 403, "another site"),
        ("null", 403, "a sandboxed frame or a file"),
    ],
)
def test_pages_of_other_origins_are_refused(origin: str, status: int, why: str) -> None:
    assert ask(RequestGuards(OURS), method="POST", headers={"origin": origin}).status == status, why


@pytest.mark.parametrize(
    ("header", "status", "why"),
    [
        (f"Bearer {TOKEN}", 200, "the token"),
        (f"bearer  {TOKEN}", 200, "the scheme has no case"),
        (f"Bearer {TOKEN}x", 401, "a longer one"),
        (f"Bearer {TOKEN[:-1]}", 401, "a shorter one"),
        ("Bearer ", 401, "an empty one"),
        ("Bearer \xff\xfe", 401, "bytes beyond ASCII"),
        (f"Basic {TOKEN}", 401, "another scheme"),
        ("-", 401, "no header"),
    ],
)
def test_the_token_is_asked_for(header: str, status: int, why: str) -> None:
    answer = ask(RequestGuards(OURS, token=TOKEN), headers={"authorization": header})
    assert answer.status == status, why
    if status == 401:
        assert answer.code == "unauthorized"
        assert TOKEN not in answer.body.decode()


def test_what_a_load_balancer_asks_needs_no_token_but_a_name_of_ours() -> None:
    guards = RequestGuards(OURS, token=TOKEN, open_paths=frozenset({"/healthz"}))
    assert ask(guards, target="/healthz").status == 200
    assert ask(guards, target="/healthz/more").status == 401
    assert ask(guards, target="/healthz", headers={"host": "evil.example"}).status == 421


def test_a_browser_brings_the_token_once_and_keeps_a_cookie_that_is_not_it() -> None:
    guards = RequestGuards(OURS, token=TOKEN)
    first = ask(guards, target=f"/runs?sort=mean&token={TOKEN}&q=a%20b")
    assert (first.status, first.headers["location"]) == (303, "/runs?sort=mean&q=a+b")
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert TOKEN not in cookie
    pair = cookie.partition(";")[0]
    assert ask(guards, target="/runs", headers={"cookie": pair}).status == 200
    assert ask(guards, target="/runs", headers={"cookie": pair[:-1] + "!"}).status == 401
    beside = f'theirs={{"a": [1, "b"]}}; odd; {pair}; more='
    assert ask(guards, target="/runs", headers={"cookie": beside}).status == 200
    other = RequestGuards(OURS, token=TOKEN + "2")
    assert ask(other, target="/runs", headers={"cookie": pair}).status == 401


@pytest.mark.parametrize(
    ("method", "target", "why"),
    [
        ("GET", "/?token=wrong", "not the token"),
        ("POST", f"/?token={TOKEN}", "only reading starts in an address"),
    ],
)
def test_a_token_in_the_address_is_not_a_way_around(method: str, target: str, why: str) -> None:
    assert ask(RequestGuards(OURS, token=TOKEN), method=method, target=target).status == 401, why


def test_the_way_on_never_leads_to_another_site() -> None:
    answer = ask(RequestGuards(OURS, token=TOKEN), target=f"//evil.example/x?token={TOKEN}")
    assert answer.headers["location"] == "/evil.example/x"


@pytest.mark.parametrize("app", [echo, careless], ids=["raises", "answers itself"])
@pytest.mark.parametrize(
    ("headers", "body", "status", "why"),
    [
        ({"content-length": "10"}, (b"0123456789",), 200, "as much as is allowed"),
        ({"content-length": "11"}, (b"0123456789a",), 413, "declared too large"),
        ({"content-length": "9" * 400}, (b"",), 413, "declared beyond reason"),
        ({"content-length": "-1"}, (b"",), 413, "no length at all"),
        ({}, (b"01234", b"56789"), 200, "in pieces, and within the limit"),
        ({}, (b"01234", b"56789", b"a"), 413, "in pieces, and beyond it"),
        ({"content-length": "1"}, (b"0123456789a",), 413, "declared falsely"),
    ],
)
def test_a_body_beyond_the_limit_is_refused(
    app: Any, headers: dict[str, str], body: tuple[bytes, ...], status: int, why: str
) -> None:
    guards = RequestGuards(OURS, max_body_bytes=10)
    answer = ask(guards, method="POST", headers=headers, body=body, app=app)
    assert answer.status == status, why
    if status == 413:
        assert answer.code == "body_too_large"
        assert answer.headers["connection"] == "close"


def test_a_stream_of_lines_has_a_limit_of_its_own() -> None:
    guards = RequestGuards(OURS, max_body_bytes=4, max_stream_bytes=8)
    lines = {"content-type": "application/x-ndjson; charset=utf-8"}
    assert ask(guards, headers=lines, body=(b"12345678",)).status == 200
    assert ask(guards, headers=lines, body=(b"123456789",)).status == 413
    assert ask(guards, body=(b"12345",)).status == 413


def test_a_web_socket_is_closed() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    asyncio.run(
        guard(echo, RequestGuards(OURS))({"type": "websocket", "headers": []}, receive, send)
    )
    assert sent == [{"type": "websocket.close", "code": 1008}]


def hold(guarded: App, size: int, path: str = "/") -> tuple[asyncio.Task[None], list[Message]]:
    """A request whose body has arrived, and that is not answered before its task is awaited."""
    messages: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"x" * size, "more_body": False}

    async def send(message: Message) -> None:
        messages.append(message)

    headers = [(b"host", b"127.0.0.1"), (b"content-length", str(size).encode())]
    scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
    return asyncio.create_task(guarded(scope, receive, send)), messages


@pytest.mark.parametrize(
    ("guards", "why"),
    [
        (RequestGuards(OURS, max_held_bytes=250, open_paths=frozenset({"/healthz"})), "bytes"),
        (RequestGuards(OURS, max_requests=2, open_paths=frozenset({"/healthz"})), "requests"),
    ],
)
def test_more_than_can_be_held_at_a_time_is_refused_and_welcome_again_later(
    guards: RequestGuards, why: str
) -> None:
    async def check() -> None:
        release = asyncio.Event()

        async def slow(scope: Scope, receive: Receive, send: Send) -> None:
            await receive()
            if scope["path"] != "/healthz":
                await release.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

        guarded = guard(slow, guards)
        held = [hold(guarded, 100) for _ in range(2)]
        await asyncio.sleep(0)
        task, refused = hold(guarded, 100)
        await task
        assert refused[0]["status"] == 503, why
        assert (b"retry-after", b"1") in refused[0]["headers"]
        task, health = hold(guarded, 0, "/healthz")
        await task
        assert health[0]["status"] == 200
        release.set()
        for task, messages in held:
            await task
            assert messages[0]["status"] == 200
        task, again = hold(guarded, 100)
        await task
        assert again[0]["status"] == 200

    asyncio.run(check())


@pytest.mark.parametrize(("pieces", "code"), [(4, 503), (40, 503), (1, 200)])
def test_a_line_of_a_stream_that_never_ends_is_held_like_a_body(pieces: int, code: int) -> None:
    parts = [b"{}\n" * 100, *[b"x" * 100] * pieces, b"\n"]

    async def read_all(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def check() -> list[Any]:
        rest = iter(parts)
        messages: list[Any] = []

        async def receive() -> dict[str, Any]:
            part = next(rest, None)
            return {"type": "http.request", "body": part or b"", "more_body": part is not None}

        async def send(message: Any) -> None:
            messages.append(message)

        kind = [(b"host", b"127.0.0.1"), (b"content-type", b"application/x-ndjson")]
        scope = {"type": "http", "method": "POST", "path": "/v1/score", "headers": kind}
        guards = RequestGuards(OURS, max_held_bytes=250, max_stream_bytes=10**6)
        await guard(read_all, guards)(scope, receive, send)
        return messages

    assert asyncio.run(check())[0]["status"] == code


def test_the_head_of_a_request_is_bounded_whatever_parser_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    configured: list[uvicorn.Config] = []

    class Recorded:
        def __init__(self, config: uvicorn.Config, *_: object) -> None:
            configured.append(config)

        def run(self, sockets: object) -> None:
            pass

    monkeypatch.setattr(serving, "_Server", Recorded)
    with socket.socket() as listening:
        serving.serve(echo, listening)
    assert configured[0].http == "h11"
    assert configured[0].h11_max_incomplete_event_size == 64 * 1024


@pytest.mark.parametrize(
    ("site", "mode", "target", "status", "why"),
    [
        ("same-origin", "cors", "/rewards/x?final_response=1", 200, "a page of ours"),
        ("none", "navigate", "/runs?page=2", 200, "typed, or from another program"),
        ("cross-site", "navigate", "/runs", 200, "a link on another site"),
        ("cross-site", "navigate", "/?token=whatever", 200, "the first visit"),
        ("cross-site", "navigate", "/rewards/x?final_response=1", 403, "a link that asks for work"),
        ("cross-site", "no-cors", "/rewards/x", 403, "a picture on another site"),
        ("same-site", "no-cors", "/runs", 403, "another port of this machine"),
    ],
)
def test_a_page_of_another_site_may_link_here_and_no_more(
    site: str, mode: str, target: str, status: int, why: str
) -> None:
    headers = {
        "sec-fetch-site": site,
        "sec-fetch-mode": mode,
        "sec-fetch-dest": "document" if mode == "navigate" else "image",
    }
    assert ask(RequestGuards(OURS), target=target, headers=headers).status == status, why
