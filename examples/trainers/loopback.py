"""A chat endpoint on the loopback around a function of the messages, in the place of a model."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import verifiers.v1 as vf


@contextmanager
def serve(reply: Callable[[str, list[dict[str, Any]]], str]) -> Iterator[vf.EvalClientConfig]:
    """verifiers' client of an endpoint that answers with `reply(model, messages)`."""

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text = reply(request["model"], request["messages"])
            message = {"role": "assistant", "content": text}
            completion = {
                "id": "loopback",
                "object": "chat.completion",
                "created": 0,
                "model": request["model"],
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 8, "completion_tokens": 4, "total_tokens": 12},
            }
            body = json.dumps(completion).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    os.environ["LOOPBACK_KEY"] = "none"
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        yield vf.EvalClientConfig(base_url=base_url, api_key_var="LOOPBACK_KEY")
    finally:
        server.shutdown()
        server.server_close()
