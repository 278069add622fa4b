"""A chat endpoint over real sockets that fails as it is told, request by request.

    with serving(script("ok", "unauthorized"), reply=lambda request: "42") as endpoint:
        model = OpenAIModel(model="m", base_url=endpoint.url)

What happens to a request is chosen by a function of the request (`script`, `at_random`, or one of
your own), so that a test can say what has to come of it. The server speaks OpenAI's chat
completions and Anthropic's messages, each as a whole or as a stream of events.
"""

from __future__ import annotations

import json
import random
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, Literal, get_args

Fault = Literal[
    "ok", "odd_text", "unauthorized", "forbidden", "not_found", "quota", "too_long", "busy",
    "broken", "reset", "slow", "cut_off", "malformed", "web_page", "no_reply",
]  # fmt: skip
FAULTS: tuple[Fault, ...] = get_args(Fault)
STATUS: Mapping[Fault, tuple[int, Any]] = MappingProxyType(
    {
        "unauthorized": (401, {"error": {"message": "Incorrect API key provided"}}),
        "forbidden": (403, {"error": {"message": "Country not supported"}}),
        "not_found": (404, {"error": {"message": "The model `m` does not exist"}}),
        "quota": (429, {"error": {"code": "insufficient_quota", "message": "Check your plan"}}),
        "too_long": (400, {"error": {"code": "context_length_exceeded", "message": "Too long"}}),
        "busy": (429, {"error": {"message": "Rate limit reached"}}),
        "broken": (500, {"error": {"message": "Internal error"}}),
    }
)


@dataclass(frozen=True)
class Request:
    """One request, as far as choosing what happens to it needs."""

    number: int
    """From 1, in the order of arrival."""
    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]


Choose = Callable[[Request], Fault]
ReplyText = Callable[[Request], str]


def script(*faults: Fault) -> Choose:
    """The faults in their order; the last one for every further request."""
    return lambda request: faults[min(request.number, len(faults)) - 1]


def at_random(seed: int, weights: Mapping[Fault, float]) -> Choose:
    """A fault of these by chance, which depends on the seed and the number of the request alone."""
    names, shares = list(weights), list(weights.values())

    def choose(request: Request) -> Fault:
        return random.Random(f"{seed}/{request.number}").choices(names, shares)[0]

    return choose


@dataclass
class FaultyEndpoint:
    """Where the server is, and what it was asked."""

    url: str
    requests: list[Request] = field(default_factory=list)
    faults: Counter[Fault] = field(default_factory=Counter)
    open_requests: int = 0
    """Under way at this moment: 0 at the end, or something was left behind."""


def free_port() -> int:
    """A port of this machine on which nobody listens: connections are refused."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving(
    choose: Choose,
    *,
    reply: ReplyText = lambda request: "42",
    slow_s: float = 60.0,
    port: int = 0,
) -> Iterator[FaultyEndpoint]:
    """A running server; `slow_s` is how long a slow reply takes, if nobody hangs up before."""
    ended, lock = threading.Event(), threading.Condition()

    class Talk(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("content-length", "0")))
            headers = {name.lower(): value for name, value in self.headers.items()}
            with lock:
                number = len(state.requests) + 1
                request = Request(number, self.path, json.loads(content), headers)
                state.requests.append(request)
                fault = choose(request)
                state.faults[fault] += 1
                state.open_requests += 1
            try:
                with suppress(ConnectionError):
                    _answer(self, request, fault, reply, lambda: ended.wait(slow_s))
            finally:
                with lock:
                    state.open_requests -= 1
                    lock.notify_all()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as inherited
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Talk)
    server.daemon_threads = True
    state = FaultyEndpoint(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        ended.set()
        server.shutdown()
        thread.join()
        server.server_close()
        with lock:
            lock.wait_for(lambda: state.open_requests == 0, timeout=30)


def _answer(
    talk: BaseHTTPRequestHandler,
    request: Request,
    fault: Fault,
    reply: ReplyText,
    wait: Callable[[], object],
) -> None:
    if fault in STATUS:
        status, body = STATUS[fault]
        # A request id of its own in every message, as public endpoints have it.
        record = {**body, "request_id": f"req_{random.Random(request.number).randbytes(8).hex()}"}
        return _send(talk, json.dumps(record).encode(), status=status)
    if fault == "reset":
        return _reset(talk)
    if fault == "slow":
        wait()
    if fault == "web_page":
        return _send(talk, b"<!doctype html><title>Welcome</title>", kind="text/html")
    if fault == "malformed":
        return _send(talk, b'{"choices": [{"message": {"content": "4')
    if fault == "no_reply":
        return _send(talk, b"{}")
    text = "I would rather talk about the weather." if fault == "odd_text" else reply(request)
    kind, content = encode(request, text)
    _send(talk, content, kind=kind, cut_off=fault == "cut_off")
    return None


def encode(request: Request, text: str) -> tuple[str, bytes]:
    """The content type and the body of a good reply, in the protocol of the request."""
    anthropic = request.path.endswith("/messages")
    if not request.body.get("stream"):
        whole = _anthropic(text) if anthropic else _openai(text)
        return "application/json", json.dumps(whole).encode()
    events = _anthropic_events(text) if anthropic else _openai_events(text)
    return "text/event-stream", "".join(f"data: {event}\n\n" for event in events).encode()


def _openai(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


def _openai_events(text: str) -> list[str]:
    half = len(text) // 2
    choices = (
        {"delta": {"role": "assistant", "content": text[:half]}},
        {"delta": {"content": text[half:]}, "finish_reason": "stop"},
    )
    return [*(json.dumps({"choices": [choice]}) for choice in choices), "[DONE]"]


def _anthropic(text: str) -> dict[str, Any]:
    usage = {"input_tokens": 10, "output_tokens": 2}
    return {"type": "message", "content": [{"type": "text", "text": text}], "usage": usage}


def _anthropic_events(text: str) -> list[str]:
    delta = {"type": "text_delta", "text": text}
    events = ({"type": "content_block_delta", "delta": delta}, {"type": "message_stop"})
    return [json.dumps(event) for event in events]


def _send(
    talk: BaseHTTPRequestHandler,
    content: bytes,
    *,
    status: int = 200,
    kind: str = "application/json",
    cut_off: bool = False,
) -> None:
    """The response; one that is cut off ends cleanly in the middle of a stream, or of its body."""
    talk.send_response(status)
    talk.send_header("Content-Type", kind)
    stream = kind == "text/event-stream"
    sent = content[: len(content) // 2] if cut_off else content
    talk.send_header("Content-Length", str(len(sent if stream else content)))
    talk.end_headers()
    talk.wfile.write(sent)
    talk.close_connection = talk.close_connection or cut_off


def _reset(talk: BaseHTTPRequestHandler) -> None:
    """The connection is ended as the kernel refuses one: with a reset, and nothing sent."""
    talk.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    talk.close_connection = True
    talk.connection.close()
