"""Workers that die, hang or leave: no score is lost to them, and none is made up."""

import asyncio
import os
import signal
import threading
import time
from pathlib import Path

import psutil
import pytest

from assay.isolation.kernel import is_alive
from assay.server.jobs import WorkerCallContext, read_body
from assay.server.pool import WorkerLost, WorkerPool
from tests.ended import has_ended
from tests.server.running import Running, running, until

ROW = {"final_response": "ab"}


def test_a_row_that_kills_its_worker_costs_no_other_row_its_score(server: Running) -> None:
    rows = [{"final_response": text} for text in ("a", "bb", "die", "dddd")]
    before = server.metric('assay_worker_restarts_total{cause="died"}')
    scores = server.score("mortal", rows)
    assert [score["value"] for score in scores] == [1.0, 2.0, None, 4.0]
    assert scores[2]["abstained"] == "grader_error"
    assert "died" in scores[2]["because"]
    assert server.metric('assay_worker_restarts_total{cause="died"}') == before + 2


def test_a_worker_that_dies_by_chance_costs_nothing(server: Running, tmp_path: Path) -> None:
    row = {"final_response": "die", "once": str(tmp_path / "once")}
    assert [score["value"] for score in server.score("mortal", [ROW, row])] == [2.0, 3.0]


def test_a_workers_first_failure_of_a_kind_is_in_the_servers_log(server: Running) -> None:
    scores = server.score("broken", [{"final_response": "1"}] * 20)
    assert {score["abstained"] for score in scores} == {"grader_error"}
    until(lambda: "broken@1 abstained (grader_error)" in server.errors.read_text())
    lines = [line for line in server.errors.read_text().splitlines() if "broken@1" in line]
    assert len(lines) == 1
    assert "served_rewards.py:" in lines[0]
    assert "ZeroDivisionError: float division by zero" in lines[0]


def test_a_worker_killed_from_outside_is_replaced(server: Running) -> None:
    pids = {int(score["value"]) for score in server.score("whoami", [ROW])}
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    (score,) = server.score("whoami", [ROW])
    assert int(score["value"]) not in pids


def test_workers_that_were_killed_while_idle_cost_no_row_its_score(server: Running) -> None:
    server.wait_for_workers()
    pids = [worker.pid for worker in server.workers]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    until(lambda: not any(map(psutil.pid_exists, pids)))
    assert [score["value"] for score in server.score("length", [ROW] * 3)] == [2.0] * 3
    server.wait_for_workers()


def test_a_reward_that_leaves_abstains_and_its_worker_stays(server: Running) -> None:
    before = server.metric("assay_worker_restarts_total")
    scores = server.score("mortal", [{"final_response": "leave"}, ROW])
    assert (scores[0]["abstained"], scores[1]["value"]) == ("grader_error", 2.0)
    assert "SystemExit" in scores[0]["because"]
    assert server.metric("assay_worker_restarts_total") == before


@pytest.mark.parametrize("reward", ["hanging", "hanging_async"])
def test_a_row_that_does_not_return_costs_no_other_row_its_score(
    server: Running, reward: str
) -> None:
    server.wait_for_workers()
    before = server.metric('assay_worker_restarts_total{cause="deadline"}')
    rows = [ROW, {"final_response": "hang"}, ROW]
    scores = server.score(reward, rows, deadline_s=3.0)
    assert [score["value"] for score in scores] == [1.0, None, 1.0]
    assert scores[1]["abstained"] == "deadline"
    assert server.metric('assay_worker_restarts_total{cause="deadline"}') == before


def test_a_worker_that_cannot_be_interrupted_is_ended_at_the_deadline(server: Running) -> None:
    server.wait_for_workers()
    before = server.metric('assay_worker_restarts_total{cause="deadline"}')
    (score,) = server.score("hanging", [{"final_response": "hang hard"}], deadline_s=1.0)
    assert score["abstained"] == "deadline"
    assert server.metric('assay_worker_restarts_total{cause="deadline"}') == before + 1
    assert server.score("length", [ROW] * 200)[-1]["value"] == 2.0


@pytest.mark.parametrize(("reward", "text"), [("hanging", "hang hard"), ("stuck", "stuck")])
def test_a_row_that_cannot_be_interrupted_costs_no_other_row_its_score(
    server: Running, reward: str, text: str
) -> None:
    server.wait_for_workers()
    scores = server.score(reward, [ROW, {"final_response": text}, ROW, ROW], deadline_s=6.0)
    assert [score["value"] is None for score in scores] == [False, True, False, False]
    assert scores[1]["abstained"] == "deadline"


@pytest.mark.parametrize(
    ("text", "abstained", "why"),
    [
        ("die", "grader_error", "its child holds the pipes of the dead worker"),
        ("hang", "deadline", "its child holds the pipes of the worker that is killed"),
        ("return", None, "both return, and one of them is the worker"),
        ("daemon", "grader_error", "its child has another session, parent and environment"),
    ],
)
def test_a_reward_that_forks_costs_no_worker_and_leaves_no_process(
    bounded: Running, tmp_path: Path, text: str, abstained: str | None, why: str
) -> None:
    bounded.wait_for_workers()
    note = tmp_path / "pid"
    row = {"final_response": text, "note": str(note)}
    (score,) = bounded.score("forking", [row], deadline_s=2.0 if text == "hang" else 30.0)
    assert score.get("abstained") == abstained, why
    assert bounded.score("length", [ROW])[0]["value"] == 2.0
    bounded.wait_for_workers()
    for file in (note, tmp_path / "pid.daemon"):
        if file.exists():
            assert has_ended(int(file.read_text()))


def test_a_reward_that_writes_to_its_workers_pipes_costs_no_other_row_its_score(
    bounded: Running,
) -> None:
    rows = [{"final_response": text} for text in ("a", "noise", "cc")]
    scores = bounded.score("noisy", rows)
    assert [score["value"] for score in scores] == [1.0, None, 2.0]
    assert scores[1]["abstained"] == "grader_error"


@pytest.mark.parametrize(
    ("megabytes", "shared", "why"),
    [
        (20_480, False, "more than any worker may have: Python says so, and the worker stays"),
        (768, True, "shared memory, which the kernel's limit does not count, is watched"),
    ],
)
def test_a_row_that_takes_all_memory_abstains_and_costs_no_other_row_its_score(
    bounded: Running, megabytes: int, shared: bool, why: str
) -> None:
    rows = [{**ROW, "megabytes": size, "shared": shared} for size in (1, megabytes, 1)]
    scores = bounded.score("greedy", rows)
    assert [score["value"] for score in scores] == [2.0**20, None, 2.0**20], why
    assert scores[1]["abstained"] == "grader_error"


def test_a_server_stops_within_its_grace_whatever_a_reward_did(tmp_path: Path) -> None:
    options = ("--workers", "2", "--import", "served_rewards", "--grace-s", "1")
    with running(tmp_path, *options) as server:
        server.wait_for_workers()
        rows = [
            {"final_response": text, "note": str(tmp_path / text)} for text in ("hang", "daemon")
        ]
        body = {"reward": "forking", "rows": rows}
        thread = threading.Thread(target=lambda: server.http.post("/v1/score", json=body))
        thread.start()
        until((tmp_path / "hang").exists)
        server.process.terminate()
        assert server.process.wait(15) == 0
        thread.join(30)
        assert has_ended(int((tmp_path / "hang").read_text()))


def test_what_a_worker_started_is_ended_with_it_at_the_deadline(
    server: Running, tmp_path: Path
) -> None:
    server.wait_for_workers()
    note = tmp_path / "pid"
    (score,) = server.score("parent", [{**ROW, "note": str(note)}], deadline_s=2.0)
    assert score["abstained"] == "deadline"
    pid = int(note.read_text())
    until(lambda: not is_alive(pid))


def test_a_request_that_no_worker_is_free_for_is_answered_at_its_deadline(
    small: Running, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    busy = {"reward": "gated", "row": {**ROW, "gate": str(gate)}}
    thread = threading.Thread(target=lambda: small.post("/v1/score", busy))
    thread.start()
    until(Path(f"{gate}.waiting").exists)
    (score,) = small.score("length", [ROW], deadline_s=0.1)
    assert (score["value"], score["abstained"]) == (None, "deadline")
    gate.touch()
    thread.join(30)


def test_there_are_as_many_workers_as_before(server: Running) -> None:
    server.wait_for_workers()
    assert len(server.workers) == 2


@pytest.mark.parametrize("kind", ["forge", "exit"])
def test_a_reply_that_a_reward_wrote_is_nobodys(server: Running, kind: str) -> None:
    rows = [{"final_response": text} for text in ("a", kind, "ccc")]
    scores = server.score("forger", rows)
    assert [score["value"] for score in scores] == [1.0, None, 3.0]
    assert "died" in scores[1]["because"]
    for length in range(1, 7):
        assert server.score("length", [{"final_response": "a" * length}])[0]["value"] == length


def test_memory_that_a_reward_takes_away_does_not_end_the_server(server: Running) -> None:
    rows = [{"final_response": text} for text in ("a", "shorten", "ccc")]
    server.score("forger", rows)
    assert [score["value"] for score in server.score("length", [ROW])] == [2.0]


def _interrupted(argument: object, turn: WorkerCallContext) -> None:
    raise KeyboardInterrupt


def test_work_that_is_interrupted_costs_a_worker_and_not_its_place() -> None:
    causes: list[str] = []

    async def interrupt() -> None:
        pool = WorkerPool(1, imports=(), rewards=(), memory_bytes=None, on_restart=causes.append)
        pool.start()
        try:
            with pytest.raises(WorkerLost):
                await pool.run(_interrupted, None, time.monotonic() + 60)
            assert await pool.run(read_body, b"[1]", time.monotonic() + 60) == [1]
        finally:
            await pool.close()

    asyncio.run(interrupt())
    assert causes == ["died"]


def test_slow_programs_hold_up_neither_each_other_nor_other_rows(server: Running) -> None:
    tests = {"fn": "add", "calls": [{"args": [1, 2], "expected": 3}]}
    right, busy, asleep = (
        "def add(a, b): return a + b",
        "while True: pass",
        "import time; time.sleep(99)",
    )
    rows = [
        {"final_response": f"```python\n{program}\n```", "tests": tests}
        for program in (busy, right, asleep, right, asleep)
    ]
    slow: list[list[float]] = []
    threads = [
        threading.Thread(
            target=lambda: slow.append([one["value"] for one in server.score("own_programs", rows)])
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    began = time.monotonic()
    quick = server.score("math_equal_reward", [{"final_response": "1", "answer": "1"}] * 100)
    took_s = time.monotonic() - began
    assert all(one["value"] == 1.0 for one in quick)
    still_slow = any(thread.is_alive() for thread in threads)
    for thread in threads:
        thread.join()
    assert slow == [[0.0, 1.0, 0.0, 1.0, 0.0]] * 4
    assert still_slow or took_s < 3.0


def test_queries_calls_and_records_are_scored(server: Running) -> None:
    database = {"script": "CREATE TABLE t (x); INSERT INTO t VALUES (1), (2);"}
    endless = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT x FROM t"
    rows = [
        {"final_response": query, "answer": "SELECT x FROM t", "database": database}
        for query in ("SELECT x FROM t", "DROP TABLE t", endless, "SELECT x FROM t")
    ]
    scores = server.score("sql_reward", rows, params={"max_steps": 100_000})
    assert [one["value"] for one in scores] == [1.0, 0.0, 0.0, 1.0]
    function = {"name": "book", "arguments": '{"seats": 2}'}
    call = {
        "trajectory": [{"role": "assistant", "tool_calls": [{"function": function}]}],
        "answer": [{"book": {"seats": [2]}}],
        "tools": [{"name": "book", "parameters": {"properties": {"seats": {}}}}],
    }
    assert [one["value"] for one in server.score("tool_call_reward", [call])] == [1.0]
    record = {"final_response": '{"a": 1}', "answer": {"a": 1}, "schema": {"required": ["a"]}}
    assert [one["value"] for one in server.score("json_reward", [record])] == [1.0]
