"""A scripted endpoint on loopback in the shape of OpenAI's chat and completions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tools.foreign_logs.questions import reply_to

MODEL = "scripted-1"


class _Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        request = json.loads(self.rfile.read(length))
        if "messages" in request:
            status, body = _chat(json.dumps(request["messages"], ensure_ascii=False))
            if request.get("stream") and status == 200:
                self._stream(body)
            else:
                self._send(status, body)
        else:
            prompts = request["prompt"]
            self._send(*_completions([prompts] if isinstance(prompts, str) else prompts))

    def do_GET(self) -> None:
        self._send(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as its parent has it
        """Nothing is printed."""

    def _stream(self, body: dict[str, Any]) -> None:
        """The same reply as events: its text in one piece, its end, its usage."""
        message = body["choices"][0]["message"]
        head = {**body, "object": "chat.completion.chunk", "usage": None}
        deltas = [({"index": 0, "delta": message, "finish_reason": None},)]
        deltas.append(({"index": 0, "delta": {}, "finish_reason": "stop"},))
        chunks = [{**head, "choices": list(choices)} for choices in deltas]
        chunks.append({**head, "choices": [], "usage": body["usage"]})
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
        data = "".join([*lines, "data: [DONE]\n\n"]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _failure() -> tuple[int, dict[str, Any]]:
    return 500, {"error": {"message": "the model is on fire", "type": "server_error"}}


def _chat(prompt: str) -> tuple[int, dict[str, Any]]:
    reply = reply_to(prompt)
    if reply is None:
        return _failure()
    message = {"role": "assistant", "content": reply}
    return 200, _envelope("chat.completion", [{"message": message}], prompt, reply)


def _completions(prompts: list[str]) -> tuple[int, dict[str, Any]]:
    replies = [reply_to(prompt) or "" for prompt in prompts]
    choices = [{"text": reply} for reply in replies]
    return 200, _envelope("text_completion", choices, " ".join(prompts), " ".join(replies))


def _envelope(kind: str, choices: list[dict[str, Any]], prompt: str, reply: str) -> dict[str, Any]:
    sent, received = len(prompt.split()), len(reply.split())
    return {
        "id": "scripted",
        "object": kind,
        "created": 0,
        "model": MODEL,
        "choices": [
            {"index": index, "finish_reason": "stop", "logprobs": None, **choice}
            for index, choice in enumerate(choices)
        ],
        "usage": {
            "prompt_tokens": sent,
            "completion_tokens": received,
            "total_tokens": sent + received,
        },
    }


@contextmanager
def serve() -> Iterator[str]:
    """The address of the endpoint, with `/v1`, while it is served."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Endpoint)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
