"""Every route, over real HTTP."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

import assay
from assay.browser.step_records import rescore
from assay.ledger.steps import read_steps
from assay.schema.score import score_to_record
from assay.schema.step_score import step_score_to_record
from tests.server.running import JSON, NDJSON, Running

DATA = Path(__file__).parents[1] / "data"
HALF = {"final_response": "so \\boxed{1/2}", "answer": "0.5"}


def labelled_rows() -> list[dict[str, Any]]:
    """500 rows of maths and prose, right and wrong, some of them hostile."""
    rows = []
    for name in ("equivalence", "negative", "surface", "own_pairs", "adversarial_inputs"):
        with (DATA / "math" / f"{name}.jsonl").open() as lines:
            records = [json.loads(line) for line in lines]
        pairs = [(r.get("pred", r.get("response", "")), r.get("gold", "1")) for r in records]
        rows += [{"final_response": str(p), "answer": str(g)} for p, g in pairs[:150]]
    return rows[:500]


@pytest.mark.parametrize("reward", ["math_equal_reward", "qa_f1_reward", "fuzzy_answer_reward"])
def test_500_rows_score_as_they_do_in_process(server: Running, reward: str) -> None:
    rows = labelled_rows()
    assert len(rows) == 500
    here = [json.loads(json.dumps(score_to_record(assay.score(reward, **row)))) for row in rows]
    assert server.score(reward, rows) == here


def test_a_composed_reward_is_served_with_its_components(server: Running) -> None:
    right, wrong = server.score("composed", [HALF, {**HALF, "answer": "3"}])
    assert (right["scorer"], right["value"], wrong["value"]) == ("composed@1", 1.5, 0.0)
    assert (right["parts"]["paid/brief"], wrong["parts"]["gate/brief"]) == (0.5, 0.0)


def test_one_row_several_rewards_and_columns_of_other_names(server: Running) -> None:
    body = {
        "reward": ["math_equal_reward", "qa_f1_reward@1"],
        "row": {"id": 7, "final_response": "0.5", "extra": {"solution": "1/2"}},
        "columns": {"answer": "extra.solution"},
    }
    answer = server.post("/v1/score", body)
    assert answer.status_code == 200, answer.text
    (result,) = answer.json()["results"]
    assert (result["line"], result["id"]) == (1, 7)
    assert result["scores"]["math_equal_reward"]["value"] == 1.0
    assert result["scores"]["qa_f1_reward"]["value"] < 1.0


def test_options_go_to_the_reward_that_has_them(server: Running) -> None:
    (score,) = server.score("needy", [{"final_response": ""}], params={"scale": 3})
    assert (score["value"], score["params"]) == (3.0, {"scale": 3})


def test_a_row_without_a_column_abstains_with_its_number(server: Running) -> None:
    scores = server.score("math_equal_reward", [HALF, {"final_response": "1"}])
    assert scores[0]["value"] == 1.0
    assert (scores[1]["value"], scores[1]["abstained"]) == (None, "bad_row")
    assert "row 2" in scores[1]["because"]


def test_no_rows_are_no_results(server: Running) -> None:
    assert server.score("math_equal_reward", []) == []


def test_lines_are_answered_with_lines_in_order(server: Running) -> None:
    rows = [{"id": n, "final_response": "x" * (n % 7)} for n in range(1000)]
    lines = [json.dumps(row) for row in rows]
    lines[10:10] = ["", "not json", '{"final_response": NaN}', "[1]", '{"answer": "x"}']
    answer = server.http.post(
        "/v1/score?reward=length", content="\n".join(lines).encode(), headers=NDJSON
    )
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    results = [json.loads(line) for line in answer.text.splitlines()]
    good = [result for result in results if "id" in result]
    assert [result["id"] for result in good] == list(range(1000))
    assert [r["scores"]["length"]["value"] for r in good] == [float(n % 7) for n in range(1000)]
    bad = [result for result in results if "id" not in result]
    assert [result["line"] for result in bad] == [12, 13, 14, 15]
    reasons = [result["scores"]["length"]["abstained"] for result in bad]
    assert reasons == ["bad_row", "bad_response", "bad_row", "bad_row"]


def test_a_row_that_cannot_be_read_costs_no_other_its_score(server: Running) -> None:
    deep: Any = "1"
    for _ in range(600):
        deep = [deep]
    rows = [HALF, {**HALF, "answer": {"a": 1}}, 7, {**HALF, "final_response": [1]}, HALF]
    rows += [{**HALF, "answer": deep}, None, HALF]
    scores = server.score("math_equal_reward", rows)
    assert [score["value"] for score in scores] == [1.0, None, None, None, 1.0, None, None, 1.0]
    reasons = [score.get("abstained") for score in scores]
    assert reasons[1:4] == ["bad_reference", "bad_row", "bad_response"]
    assert reasons[5:7] == ["bad_row", "bad_row"]
    for number in (2, 3, 4, 6, 7):
        assert f"row {number}" in scores[number - 1]["because"]


@pytest.mark.parametrize("value", [b"NaN", b"-Infinity", b"1e999", b"9" * 5_000])
def test_a_number_that_is_none_is_its_rows_affair(server: Running, value: bytes) -> None:
    body = b'{"reward": "math_equal_reward", "rows": [{"final_response": "1", "answer": "1"}, '
    body += b'{"id": %s, "final_response": "1", "answer": %s}]}' % (value, value)
    answer = server.http.post("/v1/score", content=body, headers=JSON)
    assert answer.status_code == 200, answer.text
    good, bad = (result["scores"]["math_equal_reward"] for result in answer.json()["results"])
    assert good["value"] == 1.0
    assert bad["abstained"] in ("bad_reference", "missing_reference")
    assert bad["because"].startswith("row 2: ")


def test_a_line_is_answered_before_the_next_one_is_sent(server: Running) -> None:
    import http.client

    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=30)
    connection.putrequest("POST", "/v1/score?reward=length")
    connection.putheader("Content-Type", "application/x-ndjson")
    connection.putheader("Transfer-Encoding", "chunked")
    connection.endheaders()
    sock = connection.sock
    assert sock is not None

    def send(line: bytes) -> None:
        sock.sendall(b"%x\r\n%s\r\n" % (len(line), line))

    received = b""
    for text in (b"a", b"bb", b"ccc"):
        send(b'{"final_response": "%s"}\n' % text)
        while received.count(b'"scorer"') < len(text):
            received += sock.recv(65536)
    sock.sendall(b"0\r\n\r\n")
    while not received.endswith(b"0\r\n\r\n"):
        received += sock.recv(65536)
    connection.close()
    assert [v in received for v in (b'"value":1.0', b'"value":2.0', b'"value":3.0')] == [True] * 3


def test_the_deadline_in_the_address_holds_for_each_piece_of_a_stream(server: Running) -> None:
    server.wait_for_workers()
    answer = server.http.post(
        "/v1/score?reward=hanging&deadline_s=0.5",
        content=b'{"final_response": "hang"}\n',
        headers=NDJSON,
        # Less than the server's own deadline.
        timeout=30,
    )
    score = answer.json()["scores"]["hanging"]
    assert (score["value"], score["abstained"]) == (None, "deadline")


def test_rows_are_counted_from_the_first(server: Running) -> None:
    body = {"reward": "math_equal_reward", "rows": [HALF, {}], "first": 513}
    results = server.post("/v1/score", body).json()["results"]
    assert [result["line"] for result in results] == [513, 514]
    assert "row 514" in results[1]["scores"]["math_equal_reward"]["because"]


def test_recorded_steps_are_scored_as_by_the_command(server: Running, tmp_path: Path) -> None:
    path = tmp_path / "steps.jsonl"
    records = recorded_steps(path)
    here = [row.score for row in rescore(read_steps(path))]
    answer = server.post("/v1/steps", {"steps": records})
    assert answer.status_code == 200, answer.text
    there = answer.json()
    scorer = there["scorer"]
    expected = [
        None if s is None else json.loads(json.dumps(step_score_to_record(s, scorer=scorer)))
        for s in here
    ]
    assert [step["score"] for step in there["steps"]] == expected
    assert any(expected)


def recorded_steps(path: Path) -> list[dict[str, Any]]:
    """A short episode, as a script writes it: a click that failed, and one that worked."""
    from assay.ledger.steps import StepsWriter
    from assay.schema.episode import Step

    outcomes: list[dict[str, Any] | None] = [
        None,
        {"tool": "click", "ok": False, "error": "not_visible"},
        {"tool": "click", "ok": True},
    ]
    with StepsWriter(path) as steps:
        for index, outcome in enumerate(outcomes):
            action = "" if index == 0 else f'click("a{index}")'
            steps.write(Step(index=index, action=action, outcome=outcome))
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    ("steps", "part"),
    [
        ([{"index": "x", "action": ""}], "steps[0].index"),
        ([{"index": 0, "action": ""}, {"index": 1}], "steps[1].action"),
        ([{"index": 0, "action": "", "schema_id": "other"}], "steps[0]"),
        ([{"index": 1, "action": "", "outcome": {"effect": "sideways"}}], "outcome"),
        ([{"index": 1, "action": "", "outcome": {"tool": "a", "call": 5}}], "'call'"),
        ([{"index": 1, "action": "", "outcome": {"tool": "a", "error": []}}], "'error'"),
        (
            [
                {"index": 0, "action": ""},
                {
                    "index": 1,
                    "action": "",
                    "outcome": {"tool": "a"},
                    "scores": [{"contract": {"total": "x"}}],
                },
            ],
            "steps[1]: not the state of a contract: 'total'",
        ),
    ],
)
def test_a_record_that_is_no_step_is_refused_by_its_place(
    server: Running, steps: list[Any], part: str
) -> None:
    answer = server.post("/v1/steps", {"steps": steps})
    assert answer.status_code == 422
    assert part in answer.json()["error"]["message"]


def test_openrlhf_gets_rewards_and_a_neutral_number_for_an_abstention(server: Running) -> None:
    body = {
        "query": ["2+2=? 4</s>", "2+2=? 5", "another prompt"],
        "prompts": ["2+2=? ", "2+2=? ", "2+2=? "],
        "labels": ["4", "4", "4"],
    }
    answer = server.post("/openrlhf/get_reward?reward=math_equal_reward", body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["rewards"] == [1.0, 0.0, 0.5]
    assert answer.json()["scores"] == [1.0, 0.0, 0.5]
    assert answer.json()["extra_logs"] == {"abstained": [0.0, 0.0, 1.0]}
    null = server.post("/openrlhf/get_reward?reward=math_equal_reward&abstained=none", body)
    assert null.json()["rewards"] == [1.0, 0.0, None]
    whole = {key: values[:2] for key, values in body.items()}
    logs = server.post("/openrlhf/get_reward?reward=math_equal_reward", whole).json()["extra_logs"]
    assert logs == {"acc": [1.0, 0.0], "abstained": [0.0, 0.0]}


def verify_request(text: str, **fields: Any) -> dict[str, Any]:
    message = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text}],
    }
    return {
        "responses_create_params": {"input": "2+2=?"},
        "response": {"id": "r", "output": [message]},
        **fields,
    }


def test_nemo_gym_gets_the_fields_back_and_a_mask_for_an_abstention(server: Running) -> None:
    body = verify_request("4", expected_answer="4", uuid="u1")
    answer = server.post("/nemo-gym/verify?reward=math_equal_reward", body).json()
    assert (answer["reward"], answer["mask_sample"], answer["uuid"]) == (1.0, False, "u1")
    unknown = server.post("/nemo-gym/verify?reward=math_equal_reward", verify_request("4")).json()
    assert (unknown["mask_sample"], unknown["failure_kind"]) == (True, "verifier_error")
    assert unknown["instance_config"] == {"mask_sample": True}


@pytest.mark.parametrize("output", ["4", "", ["4"], [None], 4])
def test_what_is_no_response_is_refused_and_not_a_wrong_answer(
    server: Running, output: Any
) -> None:
    body = {"response": {"output": output}, "expected_answer": "4"}
    answer = server.post("/nemo-gym/verify?reward=math_equal_reward", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "bad_record")


def test_a_trainers_route_cuts_off_end_tokens_and_no_other_does(server: Running) -> None:
    asked = "?reward=qa_f1_reward"
    sent = {"prompt": "?", "response": "Paris<|im_end|>", "label": "Paris"}
    assert server.post(f"/slime/rm{asked}", sent).json() == 1.0
    verify = verify_request("Paris<|im_end|>", expected_answer="Paris")
    assert server.post(f"/nemo-gym/verify{asked}", verify).json()["reward"] == 1.0
    query = {"query": ["ask Paris<｜end▁of▁sentence｜>"], "prompts": ["ask "], "labels": ["Paris"]}
    assert server.post(f"/openrlhf/get_reward{asked}", query).json()["rewards"] == [1.0]
    row = {"final_response": "Paris</s>", "answer": "Paris"}
    scored = server.post("/v1/score", {"row": row, "reward": "qa_f1_reward"}).json()
    assert scored["results"][0]["scores"]["qa_f1_reward"]["value"] < 1.0


def test_slime_gets_a_number_for_an_abstention_and_a_refusal_if_it_asks_for_one(
    server: Running,
) -> None:
    route = "/slime/rm?reward=math_equal_reward"
    good = {"prompt": "2+2=?", "response": "4", "label": "4"}
    assert server.post(route, good).json() == 1.0
    keyed = server.post(f"{route}&keyed=true", good).json()
    assert keyed == {"acc": 1.0, "score": 1.0, "abstained": 0.0}
    assert 0.0 < server.post(route, {**good, "label": None}).json() <= 1.0
    refused = server.post(f"{route}&abstained=none", {**good, "label": None})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "abstained")
    assert server.post(f"{route}&abstained=-1", {**good, "label": None}).json() == -1.0


def test_a_trainers_request_takes_the_default_reward(small: Running) -> None:
    body = {"query": ["abcd"], "prompts": ["ab"], "labels": [None]}
    assert small.post("/openrlhf/get_reward", body).json()["rewards"] == [2.0]


def test_without_a_default_the_reward_has_to_be_named(server: Running) -> None:
    answer = server.post("/v1/score", {"row": HALF})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "bad_parameter")


def test_the_rewards_are_those_that_are_served(server: Running, small: Running) -> None:
    names = {reward["name"] for reward in server.http.get("/v1/rewards").json()["rewards"]}
    assert {"math_equal_reward", "qa_f1_reward", "mirror"} <= names
    assert not {"webshop_reward", "environment_reward"} & names
    served = small.http.get("/v1/rewards").json()["rewards"]
    assert [reward["name"] for reward in served] == ["gated", "length"]
    assert served[0]["needs"] == ["final_response", "gate"]
    refused = small.post("/v1/score", {"reward": "math_equal_reward", "row": HALF})
    assert refused.status_code == 404


def test_an_unknown_reward_names_the_nearest(server: Running) -> None:
    answer = server.post("/v1/score", {"reward": "math_equl_reward", "row": HALF})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_reward")
    assert "did you mean 'math_equal_reward'" in answer.json()["error"]["message"]


def test_the_process_is_alive_and_its_workers_are_counted(server: Running) -> None:
    assert server.http.get("/healthz").json() == {"status": "ok"}
    before = server.metric('assay_rows_total{outcome="scored",reward="length"}')
    server.score("length", [{"final_response": "a"}] * 3)
    assert server.http.get("/readyz").json()["status"] in ("ready", "starting")
    assert server.metric('assay_rows_total{outcome="scored",reward="length"}') == before + 3
    assert server.metric("assay_queue_rows") == 0
    assert server.metric('assay_requests_total{route="/v1/score",status="200"}') > 0


def test_the_documentation_loads_nothing_from_elsewhere(server: Running) -> None:
    page = server.http.get("/docs")
    assert page.status_code == 200
    assert "POST /v1/score" in page.text
    assert "<script" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    paths = server.http.get("/openapi.json").json()["paths"]
    assert {"/v1/score", "/v1/steps", "/openrlhf/get_reward", "/nemo-gym/verify"} <= set(paths)


def test_examples_of_the_document_are_answered(server: Running) -> None:
    document = server.http.get("/openapi.json").json()
    for path, operations in document["paths"].items():
        content = operations.get("post", {}).get("requestBody", {}).get("content")
        if content is None:
            continue
        name = content["application/json"]["schema"]["$ref"].rpartition("/")[2]
        for example in document["components"]["schemas"][name]["examples"]:
            answer = server.post(f"{path}?reward=math_equal_reward", example)
            assert answer.status_code == 200, (path, answer.text)


def test_a_request_keeps_its_own_id(server: Running) -> None:
    response = server.http.get("/healthz", headers={"x-request-id": "mine-1"})
    assert response.headers["x-request-id"] == "mine-1"
    odd = server.http.get("/healthz", headers={"x-request-id": "a b"})
    assert odd.headers["x-request-id"] != "a b"


def test_the_log_has_a_line_for_each_request_and_nothing_of_what_was_in_it(
    small: Running,
) -> None:
    secret = "a-secret-of-a-row"
    body = {"reward": "length", "row": {"final_response": secret}}
    small.post("/v1/score?reward=" + secret, body, headers={"x-request-id": "logged"})
    wrong = httpx.get(f"{small.url}/metrics", headers={"authorization": f"Bearer {secret}"})
    assert wrong.status_code == 401
    text = small.errors.read_text()
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    (line,) = [line for line in lines if line.get("id") == "logged"]
    assert (line["route"], line["status"], line["rows"]) == ("/v1/score", 200, 1)
    assert line["ms"] >= 0
    assert secret not in text
