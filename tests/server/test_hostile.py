"""Strangers who send anything at all: an answer that is theirs to mend, and a server that stays."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from perf.hostility import ask_by_document, hostile_request, send
from tests.server.running import Running, until

REQUESTS = 400
UNCLOSED = ["<answer>" + "\\(" * 32_000, "<answer>" + "}" * 256_000]


def test_hostile_requests_are_answered_with_2xx_or_4xx_and_leave_nothing(server: Running) -> None:
    rng = random.Random(11)
    requests = [hostile_request(rng, oversize=9_000_000) for _ in range(REQUESTS)]
    restarts = server.metric("assay_worker_restarts_total")
    with ThreadPoolExecutor(8) as senders:
        statuses = list(senders.map(lambda one: send(server.url, one[0], leaves=one[1]), requests))
    answered = [status for status in statuses if status is not None]
    assert len(answered) > REQUESTS / 2
    assert {status // 100 for status in answered} == {2, 4}
    until(lambda: server.metric("assay_queue_rows") == 0)
    assert len(server.workers) == 2
    assert server.metric("assay_worker_restarts_total") == restarts
    assert server.score("length", [{"final_response": "ab"}])[0]["value"] == 2.0


def test_requests_made_from_the_document_never_find_a_fault_of_the_server(server: Running) -> None:
    statuses = ask_by_document(server.url, examples=6)
    assert len(statuses) > 50
    assert {status // 100 for status in statuses} == {2, 4}


@pytest.mark.parametrize("response", UNCLOSED, ids=["formulas", "braces"])
def test_one_hostile_row_makes_no_other_row_miss_its_deadline(
    server: Running, response: str
) -> None:
    server.wait_for_workers()
    rows = [{"final_response": rf"\boxed{{{k}}}", "answer": str(k)} for k in range(64)]
    rows[20]["final_response"] = response
    scores = server.score("math_equal_reward", rows, deadline_s=6.0)
    assert [score["value"] for score in scores] == [float(k != 20) for k in range(64)]
