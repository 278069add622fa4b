"""A local server that speaks the chat protocols over real sockets, from prepared answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Prepared:
    """One response: what is sent, and how it ends."""

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    chunked: bool = False
    """Sent as a chunked stream, event by event."""
    breaks_off: bool = False
    """The connection is cut before the end that was promised."""
    silent: bool = False
    """Nothing is ever sent; the connection stays open until the server ends."""


@dataclass
class ChatServer:
    """What was prepared, and what was asked."""

    answers: Sequence[Prepared]
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


Choose = Callable[[int, str, dict[str, Any]], Prepared]
"""The answer to a request: of its number from 1, its path and its body."""


@contextmanager
def serving(*answers: Prepared, choose: Choose | None = None) -> Iterator[ChatServer]:
    """A running server; the last answer is repeated for every further request."""
    state = ChatServer(answers)
    ended = threading.Event()

    class Talk(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", "0"))
            state.requests.append(json.loads(self.rfile.read(length)))
            state.headers.append({name.lower(): value for name, value in self.headers.items()})
            state.paths.append(self.path)
            number = len(state.requests)
            if choose is not None:
                answer = choose(number, self.path, state.requests[-1])
            else:
                answer = answers[min(number, len(answers)) - 1]
            if answer.silent:
                ended.wait(60)
                self.close_connection = True
                return
            _send(self, answer)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as inherited
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Talk)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield state
    finally:
        ended.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _send(talk: BaseHTTPRequestHandler, answer: Prepared) -> None:
    talk.send_response(answer.status)
    for name, value in answer.headers:
        talk.send_header(name, value)
    if answer.chunked:
        talk.send_header("Transfer-Encoding", "chunked")
    else:
        promised = len(answer.body) + (100 if answer.breaks_off else 0)
        talk.send_header("Content-Length", str(promised))
    talk.end_headers()
    write: Callable[[bytes], object] = talk.wfile.write
    if answer.chunked:
        for event in answer.body.split(b"\n\n"):
            piece = event + b"\n\n"
            write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        if not answer.breaks_off:
            write(b"0\r\n\r\n")
    else:
        write(answer.body)
    if answer.breaks_off:
        talk.close_connection = True


def as_json(value: object, **more: Any) -> Prepared:
    """A JSON response."""
    headers = (("Content-Type", "application/json"), *more.pop("headers", ()))
    return Prepared(json.dumps(value).encode(), headers=headers, **more)


def as_events(*events: object, **more: Any) -> Prepared:
    """A stream of server-sent events; text is sent as it is, anything else as JSON."""
    texts = [event if isinstance(event, str) else f"data: {json.dumps(event)}" for event in events]
    headers = (("Content-Type", "text/event-stream"),)
    return Prepared("\n\n".join(texts).encode(), headers=headers, chunked=True, **more)


@dataclass
class Time:
    """A clock that only sleeping moves."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
