"""Requests that nobody should send to a reward server: from a seed, and from its own document."""

from __future__ import annotations

import json
import random
import socket
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.core.result import Ok

PATHS = (
    "/v1/score",
    "/v1/steps",
    "/openrlhf/get_reward",
    "/nemo-gym/verify",
    "/slime/rm",
    "/v1/score?reward=qa_f1_reward",
    "/nowhere",
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    1e308,
    "",
    "x",
    "\ud800",
    "\x00",
    [],
    {},
    [[]],
    {"a": None},
    "math",
)
REWARDS = ("qa_f1_reward", "math_equal_reward", "fuzzy_answer_reward", "no_such_reward")
KEYS = ("reward", "row", "rows", "params", "columns", "deadline_s", "steps", "query", "prompts")
KINDS = ("application/json", "application/x-ndjson", "text/plain", "application/json; charset=x")


def hostile_request(rng: random.Random, oversize: int) -> tuple[bytes, bool]:
    """The bytes of one request, and whether the sender leaves without an answer."""
    body = _body(rng, oversize)
    path, kind = rng.choice(PATHS), rng.choice(KINDS)
    if body.startswith(b'{"reward": "') and body.endswith(b"]}"):
        # A good body deserves a good place most of the time; what is in its rows is odd enough.
        path, kind = ("/v1/score", KINDS[0]) if rng.random() < 0.8 else (path, kind)
    head = [
        f"POST {path} HTTP/1.1",
        "Host: 127.0.0.1",
        f"Content-Type: {kind}",
        "Connection: close",
    ]
    if rng.random() < 0.2:
        head.append("Transfer-Encoding: chunked")
        body = b"%x\r\n%s\r\n" % (len(body), body) if body else b""
        body += b"0\r\n\r\n" if rng.random() < 0.7 else b"zz\r\n"
    else:
        head.append(f"Content-Length: {len(body)}")
    if rng.random() < 0.05:
        head.append(rng.choice(["X: \x01", "Content-Length: 1", "Host: other", "Expect: 1"]))
    request = "\r\n".join(head).encode() + b"\r\n\r\n" + body
    leaves = rng.random() < 0.3
    if leaves and rng.random() < 0.5:
        request = request[: rng.randrange(1, len(request))]
    return request, leaves


def _body(rng: random.Random, oversize: int) -> bytes:
    kind = rng.choice(["bytes", "torn", "types", "deep", "rows", "rows", "oversize", "lines"])
    if kind == "bytes":
        return rng.randbytes(rng.randrange(200))
    if kind == "deep":
        return b"[" * rng.randrange(1, 20_000)
    if kind == "oversize" and rng.random() < 0.1:
        return b'{"reward": "' + b"x" * oversize
    if kind == "lines":
        return b"\n".join(json.dumps(rng.choice(VALUES)).encode() for _ in range(5))
    if kind == "rows":
        rows = [{"final_response": rng.choice(VALUES), "answer": rng.choice(VALUES)}] * 3
        return json.dumps({"reward": rng.choice(REWARDS), "rows": rows}).encode()
    text = json.dumps({rng.choice(KEYS): rng.choice(VALUES) for _ in range(4)})
    return text[: rng.randrange(len(text))].encode() if kind == "torn" else text.encode()


def send(url: str, request: bytes, *, leaves: bool, timeout_s: float = 60.0) -> int | None:
    """The status of the answer, 0 for a connection closed without one; `None`: the sender left."""
    place = urlsplit(url)
    answer = b""
    with socket.create_connection((place.hostname, place.port), timeout_s) as connection:
        # It may be refused before all of it was sent, and the answer be there all the same.
        with suppress(ConnectionError):
            connection.sendall(request)
        if leaves:
            return None
        with suppress(ConnectionError):
            while b"\r\n" not in answer and (piece := connection.recv(4096)):
                answer += piece
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0


def ask_by_document(url: str, examples: int) -> list[int]:
    """The statuses of requests that schemathesis makes from the OpenAPI document, right and wrong.

    As many of each kind for each operation; `/readyz` is left out, whose 503 is an answer.
    """
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    statuses: list[int] = []
    for result in schema.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        if operation.path == "/readyz":
            continue
        for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
            if mode is schemathesis.GenerationMode.NEGATIVE and operation.method == "get":
                # Without parameters or a body nothing can be wrong.
                continue

            @settings(
                max_examples=examples,
                deadline=None,
                database=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def ask(case: schemathesis.Case[Any]) -> None:
                statuses.append(case.call(base_url=url).status_code)

            ask()
    return statuses
