"""What is refused, and how: bytes, rows, shapes, hosts, tokens, and a full queue."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.server.running import JSON, NDJSON, Running, until

ROW = {"final_response": "ab"}


def code_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


@pytest.mark.parametrize(
    ("body", "refusal", "why"),
    [
        (b"", (400, "bad_json"), "nothing"),
        (b"{", (400, "bad_json"), "torn"),
        (b"\xff\xfe", (400, "bad_json"), "not UTF-8"),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, (400, "bad_json"), "nested too deeply"),
        (b'["\\ud800",' + b"[" * 50_000 + b"]" * 50_001, (400, "bad_json"), "slowly, too"),
        (b'{"rows":[' + b"{}," * 300_000 + b"{}]}", (400, "bad_json"), "too many values"),
        (b"[]", (422, "bad_request"), "a list"),
        (b"null", (422, "bad_request"), "nothing, in JSON"),
        (b'"text"', (422, "bad_request"), "a text"),
        (b'{"reward": "length"}', (422, "bad_request"), "neither row nor rows"),
        (b'{"reward": "length", "row": {}, "rows": []}', (422, "bad_request"), "both"),
        (b'{"reward": "length", "rows": {}}', (422, "bad_request"), "rows that are no list"),
        (b'{"reward": 1, "row": {}}', (422, "bad_request"), "a reward that is no name"),
        (b'{"reward": "length", "row": {}, "x": 1}', (422, "bad_request"), "an unknown field"),
        (b'{"reward": "length", "row": {}, "deadline_s": 0}', (422, "bad_request"), "no time"),
        (b'{"reward": "length", "row": {}, "columns": {"answer": 1}}', (422, "bad_request"), "int"),
        (b'{"reward": "length", "row": {}, "columns": {"x": "y"}}', (422, "bad_parameter"), "no x"),
        (b'{"reward": "length", "row": {}, "params": {"x": 1}}', (422, "bad_parameter"), "no x"),
        (b'{"reward": "needy", "row": {}}', (422, "bad_parameter"), "an option is missing"),
        (b'{"reward": ["length", "length"], "row": {}}', (422, "bad_parameter"), "twice"),
        (b'{"reward": "length@9", "row": {}}', (404, "unknown_reward"), "no such version"),
        (
            b'{"reward": "length@%s", "row": {}}' % (b"1" * 5000),
            (404, "unknown_reward"),
            "a version of more digits than Python reads",
        ),
        (b'{"reward": "webshop_reward", "row": {}}', (404, "unknown_reward"), "needs a world"),
        (b'{"reward": "\\ud800", "row": {}}', (404, "unknown_reward"), "half a pair"),
        (
            b'{"reward": "choosy", "row": {"final_response": ""}, "params": {"mode": "bad"}}',
            (422, "bad_parameter"),
            "refused when it is called",
        ),
    ],
)
def test_a_body_that_cannot_be_answered_is_refused_in_words(
    server: Running, body: bytes, refusal: tuple[int, str], why: str
) -> None:
    answer = server.http.post("/v1/score", content=body, headers=JSON)
    assert code_of(answer) == refusal, why
    assert len(answer.json()["error"]["message"]) > 10


def test_another_content_type_is_refused_with_the_right_one(server: Running) -> None:
    answer = server.http.post("/v1/score", data={"reward": "length"})
    assert code_of(answer) == (415, "wrong_content_type")
    assert "application/json" in answer.json()["error"]["message"]


@pytest.mark.parametrize("depth", [200, 900, 960, 1000])
@pytest.mark.parametrize("path", ["/v1/score", "/v1/steps", "/nemo-gym/verify?reward=mirror"])
def test_what_is_nested_deeply_is_answered_or_refused(
    server: Running, path: str, depth: int
) -> None:
    deep = b"[" * depth + b"]" * depth
    item = b'{"type": "function_call_output", "output": %s}' % deep
    bodies = {
        "/v1/score": b'{"reward": "mirror", "row": {"id": %s, "final_response": %s}}'
        % (deep, deep),
        "/v1/steps": b'{"steps": [{"index": 0, "action": "", "outcome": {"x": %s}}]}' % deep,
    }
    body = bodies.get(path, b'{"response": {"output": [%s]}, "x": %s}' % (item, deep))
    answer = server.http.post(path, content=body, headers=JSON)
    assert answer.status_code in (200, 400, 422), answer.text[:300]
    assert server.score("length", [ROW])[0]["value"] == 2.0


@pytest.mark.parametrize(
    "item",
    [1, "x", None, [], {"type": "message", "content": 5}, {"type": "message", "content": {"a": 1}}],
    ids=str,
)
def test_an_odd_item_of_a_response_is_no_fault_of_the_server(server: Running, item: Any) -> None:
    for output in ([item], [item, item], item):
        body = {"response": {"output": output}, "answer": "1"}
        answer = server.post("/nemo-gym/verify?reward=math_equal_reward", body)
        assert answer.status_code in (200, 422), answer.text


@pytest.mark.parametrize(
    ("method", "path", "refusal"),
    [
        ("GET", "/nowhere", (404, "not_found")),
        ("GET", "/v1/score", (405, "method_not_allowed")),
        ("POST", "/slime/rm?reward=length&abstained=nan", (422, "bad_request")),
        ("POST", "/slime/rm?reward=length&deadline_s=-1", (422, "bad_request")),
        ("POST", "/nemo-gym/verify?reward=length&params=[1]", (422, "bad_request")),
        ("POST", "/nemo-gym/verify?reward=length&params={", (422, "bad_request")),
        ("POST", '/nemo-gym/verify?reward=length&columns={"a":1}', (422, "bad_request")),
        ("POST", "/nemo-gym/verify?reward=length", (422, "bad_record")),
        ("POST", "/openrlhf/get_reward?reward=length", (422, "bad_request")),
        ("POST", "/v1/steps", (422, "bad_request")),
    ],
)
def test_every_error_has_one_shape(
    server: Running, method: str, path: str, refusal: tuple[int, str]
) -> None:
    content = b"{}" if method == "POST" else None
    answer = server.http.request(method, path, content=content, headers=JSON)
    assert code_of(answer) == refusal


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("\ud800", "half of a surrogate pair"),
        ("a\udfffb", "the other half"),
        ("\U0001f600", "a whole pair"),
        ("\x00\x1b[31m", "control characters"),
    ],
)
def test_any_text_comes_back_as_it_was(server: Running, text: str, why: str) -> None:
    body = json.dumps({"reward": "mirror", "row": {"final_response": text}}).encode()
    answer = server.http.post("/v1/score", content=body, headers=JSON)
    assert answer.status_code == 200, why
    (result,) = json.loads(answer.content)["results"]
    assert result["scores"]["mirror"]["notes"]["text"] == text


def test_a_long_integer_keeps_its_digits(server: Running) -> None:
    number = 10**30 + 1
    body = {"id": number, "final_response": str(number), "answer": number}
    answer = server.post("/v1/score", {"reward": "math_equal_reward", "row": body})
    (result,) = json.loads(answer.content)["results"]
    assert result["id"] == number


def test_one_odd_row_does_not_cost_a_large_batch_its_scores(server: Running) -> None:
    rows = [{"final_response": "x" * 700_000}, {"final_response": "\ud800"}] * 4
    body = json.dumps({"reward": "length", "rows": rows}).encode()
    answer = server.http.post("/v1/score", content=body, headers=JSON)
    assert answer.status_code == 200, answer.text
    values = [result["scores"]["length"]["value"] for result in answer.json()["results"]]
    assert values == [700_000.0, 1.0] * 4
    torn = server.http.post("/v1/score", content=body[:-1], headers=JSON)
    assert code_of(torn) == (400, "bad_json")


def test_more_bytes_than_allowed_are_refused_declared_or_not(small: Running) -> None:
    body = b'{"reward": "length", "row": {"final_response": "%s"}}' % (b"x" * 1_100_000)
    assert code_of(small.http.post("/v1/score", content=body, headers=JSON)) == (
        413,
        "body_too_large",
    )

    def pieces() -> Any:
        yield from (body[start : start + 65_536] for start in range(0, len(body), 65_536))

    assert code_of(small.http.post("/v1/score", content=pieces(), headers=JSON)) == (
        413,
        "body_too_large",
    )


def test_a_line_longer_than_allowed_abstains_and_the_next_is_read(small: Running) -> None:
    long = b'{"final_response": "%s"}' % (b"x" * 1_100_000)
    lines = b"\n".join([b'{"final_response": "a"}', long, b'{"final_response": "abc"}'])
    answer = small.http.post("/v1/score?reward=length", content=lines, headers=NDJSON)
    scores = [json.loads(line)["scores"]["length"] for line in answer.text.splitlines()]
    assert [score["value"] for score in scores] == [1.0, None, 3.0]
    assert "longer than" in scores[1]["because"]


def test_more_rows_than_a_request_may_have_are_refused(small: Running) -> None:
    answer = small.post("/v1/score", {"reward": "length", "rows": [ROW] * 5})
    assert code_of(answer) == (413, "too_many_rows")
    steps = [{"index": n, "action": ""} for n in range(5)]
    assert code_of(small.post("/v1/steps", {"steps": steps})) == (413, "too_many_rows")
    # None of these would reach a worker.
    apart = {"query": ["a"] * 5, "prompts": ["b"] * 5}
    assert code_of(small.post("/openrlhf/get_reward", apart)) == (413, "too_many_rows")


@pytest.mark.parametrize("column", ["final_response.upper", "n.real", "l.append"])
def test_a_column_is_a_place_in_the_row_and_never_an_attribute(
    server: Running, column: str
) -> None:
    row = {**ROW, "n": 1, "l": []}
    columns = {"final_response": column}
    (score,) = server.score("mirror", [row], columns=columns)
    assert (score["value"], score["abstained"]) == (None, "bad_row")


def test_a_full_queue_answers_429_and_when_to_come_again(small: Running, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    body = {"reward": "gated", "rows": [{**ROW, "gate": str(gate)}] * 4}

    async def fill() -> list[httpx.Response]:
        limits = httpx.Limits(max_connections=20)
        async with httpx.AsyncClient(
            base_url=small.url,
            headers=dict(small.http.headers),
            timeout=60,
            limits=limits,
            trust_env=False,
        ) as http:
            waiting = [asyncio.create_task(http.post("/v1/score", json=body)) for _ in range(17)]
            refused, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            (first,) = [task.result() for task in refused]
            assert code_of(first) == (429, "queue_full")
            assert 1 <= int(first.headers["retry-after"]) <= 60
            stream = await http.post(
                "/v1/score?reward=length", content=b'{"final_response": "a"}', headers=NDJSON
            )
            assert code_of(stream) == (429, "queue_full")
            assert (await http.get("/healthz")).status_code == 200
            gate.touch()
            return [await task for task in waiting]

    answers = asyncio.run(fill())
    assert sorted(answer.status_code for answer in answers) == [200] * 16 + [429]
    assert small.metric("assay_queue_rows") == 0


def test_work_of_a_client_that_went_away_is_given_up(small: Running, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    body = {"reward": "gated", "rows": [{**ROW, "gate": str(gate)}]}
    stop = threading.Event()

    def ask() -> None:
        with httpx.Client(base_url=small.url, headers=dict(small.http.headers)) as http:
            http.timeout = httpx.Timeout(30, read=0.2)
            with pytest.raises(httpx.ReadTimeout):
                http.post("/v1/score", json=body)
        stop.set()

    threading.Thread(target=ask).start()
    assert stop.wait(30)
    until(lambda: small.metric("assay_queue_rows") == 0)
    gate.touch()
    assert small.score("length", [ROW])[0]["value"] == 2.0


def test_the_token_is_asked_for_but_not_by_who_asks_for_health(small: Running) -> None:
    with httpx.Client(base_url=small.url, trust_env=False) as stranger:
        assert stranger.get("/healthz").status_code == 200
        assert stranger.get("/readyz").status_code in (200, 503)
        for path in ("/v1/rewards", "/metrics", "/docs", "/openapi.json"):
            assert code_of(stranger.get(path)) == (401, "unauthorized"), path
        refused = stranger.post("/v1/score", json={"reward": "length", "row": ROW})
        assert code_of(refused) == (401, "unauthorized")


def test_other_hosts_and_origins_are_refused(server: Running) -> None:
    rebound = server.http.get("/healthz", headers={"host": "evil.example"})
    assert code_of(rebound) == (421, "wrong_host")
    foreign = server.http.post("/v1/score", json={}, headers={"origin": "https://evil.example"})
    assert code_of(foreign) == (403, "wrong_origin")
