"""The client: the calls of `assay` itself, over HTTP."""

import asyncio
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import numpy as np
import pytest

import assay
from assay.errors import BadParameter, ServerError
from assay.schema.score import Abstained
from assay.server.client import AsyncClient, Client, batches
from tests.server.running import TOKEN, Running

ROWS: list[dict[str, Any]] = [{"final_response": f"{n}/2", "answer": str(n / 2)} for n in range(60)]


def test_scores_are_those_of_the_library(server: Running) -> None:
    here = list(assay.score_batch("math_equal_reward", ROWS))
    with Client(server.url) as client:
        assert list(client.score_batch("math_equal_reward", ROWS, batch_rows=7)) == here
        one = client.score("math_equal_reward", params={"percent": "strict"}, **ROWS[1])
        assert one == assay.score("math_equal_reward", params={"percent": "strict"}, **ROWS[1])
        absent = client.score("math_equal_reward", final_response="1")
        assert isinstance(absent, Abstained)
        assert absent.reason == "bad_row"


def test_a_bad_row_has_its_number_among_all_rows(server: Running) -> None:
    rows = [*ROWS[:9], {"final_response": "1"}]
    with Client(server.url) as client:
        there = list(client.score_batch("math_equal_reward", rows, batch_rows=4))
    assert there == list(assay.score_batch("math_equal_reward", rows))
    assert "row 10" in there[-1].because


def test_a_token_that_no_header_can_hold_is_refused_and_not_shown() -> None:
    with pytest.raises(BadParameter, match="such as a line break") as caught:
        Client("http://127.0.0.1:1", token="secret\n")
    assert "secret" not in str(caught.value)


def test_an_event_loop_gets_the_same(server: Running) -> None:
    async def ask() -> None:
        async with AsyncClient(server.url) as client:
            stream = client.score_batch("math_equal_reward", ROWS, batch_rows=7, concurrency=3)
            assert [score async for score in stream] == list(
                assay.score_batch("math_equal_reward", ROWS)
            )
            score = await client.score("math_equal_reward", **ROWS[0])
            assert float(score) == 1.0
            assert "length" in {reward.name for reward in await client.rewards()}
            assert await client.health() in ("ready", "starting")
            assert await client.steps([{"index": 0, "action": ""}]) == [None]

    asyncio.run(ask())


def test_columns_and_odd_texts_travel(server: Running) -> None:
    with Client(server.url) as client:
        rows = [{"text": "\ud800"}, {"text": "\U0001f600"}]
        scores = client.score_batch("mirror", rows, columns={"final_response": "text"})
        assert [score["text"] for score in scores] == ["\ud800", "\U0001f600"]


def test_rewards_steps_and_health_can_be_asked(server: Running) -> None:
    with Client(server.url) as client:
        assert {"length", "math_equal_reward"} <= {reward.name for reward in client.rewards()}
        first, second = client.steps(
            [
                {"index": 0, "action": ""},
                {"index": 1, "action": "click('a')", "outcome": {"tool": "click", "ok": False}},
            ]
        )
        assert first is None
        assert second is not None
        assert client.health() in ("ready", "starting")


def test_what_the_server_refuses_is_an_error_with_its_code(server: Running, small: Running) -> None:
    with Client(server.url) as client, pytest.raises(ServerError, match="did you mean") as caught:
        client.score("lenght", final_response="a")
    assert (caught.value.status, caught.value.code) == (404, "unknown_reward")
    with Client(small.url) as stranger, pytest.raises(ServerError, match="401 unauthorized"):
        stranger.rewards()
    with Client(small.url, token=TOKEN) as friend:
        assert [reward.name for reward in friend.rewards()] == ["gated", "length"]


def test_what_is_not_json_is_named_by_its_row(server: Running) -> None:
    rows: list[dict[str, object]] = [{"final_response": "a"}, {"final_response": object()}]
    rows += [{"final_response": "ab", "extra": np.array([1, 2])}, {"final_response": b"abc"}]
    with Client(server.url) as client:
        scores = list(client.score_batch("length", rows, batch_rows=3))
    assert [score["reward"] for score in scores] == [1.0, None, 2.0, None]
    assert scores[1] == Abstained(
        "bad_row", "row 2 cannot be sent as JSON: it holds an object", (), {}, "length@1"
    )
    assert scores[3]["abstained"] == "bad_row"
    assert "row 4 cannot be sent as JSON: it holds bytes" in scores[3].because


def test_tables_are_sent_by_their_rows(server: Running) -> None:
    columns = {"text": ["a", "bb"]}
    with Client(server.url) as client:
        scores = client.score_batch("length", columns, columns={"final_response": "text"})
        assert [float(score) for score in scores] == [1.0, 2.0]


def test_an_address_that_is_none_is_a_plain_sentence() -> None:
    with pytest.raises(BadParameter, match="use an address with http"):
        Client("localhost:8700")


def test_rows_are_cut_into_requests_by_number_and_size() -> None:
    sizes = [len(batch.rows) for batch in batches(({"n": n} for n in range(10)), 4)]
    assert sizes == [4, 4, 2]
    large = [{"text": "x" * 3_000_000}] * 3
    assert [len(batch.rows) for batch in batches(large, 100)] == [1, 1, 1]
    assert list(batches([], 4)) == []


Reply = Callable[[int], tuple[int, dict[str, str], bytes]]


@contextmanager
def replying(reply: Reply) -> Iterator[tuple[str, list[int]]]:
    """A server that answers request n with `reply(n)`: its address, and the requests so far."""
    requests: list[int] = []

    class Replies(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            requests.append(len(requests) + 1)
            status, headers, body = reply(len(requests))
            if status == 0:
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            """Nothing is logged."""

    with HTTPServer(("127.0.0.1", 0), Replies) as httpd:
        thread = Thread(target=httpd.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{httpd.server_port}", requests
        finally:
            httpd.shutdown()
            thread.join()


SCORE = {"scorer": "a@1", "value": 1.0, "because": "", "parts": {}}
GOOD = json.dumps({"results": [{"line": 1, "scores": {"a": SCORE}}]}).encode()
FULL = json.dumps({"error": {"code": "queue_full", "message": "full"}}).encode()


@pytest.mark.parametrize(
    ("first", "why"),
    [
        ((429, {"retry-after": "3"}, FULL), "the queue was full"),
        ((503, {"retry-after": "3"}, b"<html>"), "a proxy while the server restarts"),
        ((0, {}, b""), "the connection broke"),
    ],
)
def test_what_may_pass_is_asked_again_after_a_while(
    first: tuple[int, dict[str, str], bytes], why: str
) -> None:
    def reply(n: int) -> tuple[int, dict[str, str], bytes]:
        return first if n < 3 else (200, {}, GOOD)

    pauses: list[float] = []
    with replying(reply) as (url, requests):
        with Client(url, sleep=pauses.append, rng=random.Random(1)) as client:
            assert float(client.score("a")) == 1.0, why
        assert requests == [1, 2, 3]
    minimum = float(first[1].get("retry-after", 0))
    assert all(minimum + 0.125 <= pause <= minimum + 0.5 for pause in pauses)
    assert len(pauses) == 2


@pytest.mark.parametrize("status", [400, 401, 404, 413, 422, 500])
def test_what_will_not_pass_is_asked_once(status: int) -> None:
    pauses: list[float] = []
    with replying(lambda n: (status, {}, FULL)) as (url, requests):
        with Client(url, sleep=pauses.append) as client, pytest.raises(ServerError) as caught:
            client.score("a")
        assert (caught.value.status, requests, pauses) == (status, [1], [])


def test_patience_ends_with_the_last_answer() -> None:
    pauses: list[float] = []

    async def note(pause_s: float) -> None:
        pauses.append(pause_s)

    async def ask(url: str) -> None:
        async with AsyncClient(url, retries=2, sleep=note) as client:
            await client.score("a")

    with replying(lambda n: (429, {}, FULL)) as (url, requests):
        with pytest.raises(ServerError, match="429 queue_full"):
            asyncio.run(ask(url))
        assert (len(requests), len(pauses)) == (3, 2)


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"<html>",
        b'{"results": []}',
        b'{"results": [{"scores": {}}]}',
        b'{"results": [{"scores": []}]}',
        b'{"results": [{"scores": {"a": []}}]}',
        b'{"steps": [{"score": 5}]}',
        b'{"steps": 5}',
    ],
)
def test_an_answer_of_something_else_is_no_score(body: bytes) -> None:
    with (
        replying(lambda n: (200, {}, body)) as (url, _),
        Client(url) as client,
    ):
        with pytest.raises(ServerError, match=r"not from a reward server|0 results for"):
            client.score("a")
        with pytest.raises(ServerError, match="not from a reward server"):
            client.steps([])
        with pytest.raises(ServerError, match="not from a reward server"):
            client.rewards()


def test_the_client_does_without_the_server() -> None:
    code = "import assay.server.client, sys; print('fastapi' in sys.modules)"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == "False"


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_token_and_rows_for_this_machine_do_not_go_through_a_proxy(
    kind: type[Client] | type[AsyncClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://proxy.test:3128")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for url, trusted in (
        ("http://127.0.0.1:8700", False),
        ("http://localhost:8700", False),
        ("http://[::1]:8700", False),
        ("http://rewards.lab:8700", True),
    ):
        assert kind(url)._http.trust_env is trusted, url
