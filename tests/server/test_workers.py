"""Workers that die, hang or leave: no score is lost to them, and none is made up."""

import os
import signal
import threading
from pathlib import Path

import psutil
import pytest

from assay.resources.processes import is_alive
from tests.server.running import Running, until

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
def test_rows_finished_before_the_deadline_keep_their_scores(server: Running, reward: str) -> None:
    server.wait_for_workers()
    before = server.metric('assay_worker_restarts_total{cause="deadline"}')
    rows = [ROW, {"final_response": "hang"}, ROW]
    scores = server.score(reward, rows, deadline_s=1.0)
    assert [score["value"] for score in scores] == [1.0, None, None]
    assert [score.get("abstained") for score in scores] == [None, "deadline", "deadline"]
    assert server.metric('assay_worker_restarts_total{cause="deadline"}') == before


def test_a_worker_that_cannot_be_interrupted_is_ended_at_the_deadline(server: Running) -> None:
    server.wait_for_workers()
    before = server.metric('assay_worker_restarts_total{cause="deadline"}')
    scores = server.score("hanging", [ROW, {"final_response": "hang hard"}], deadline_s=1.0)
    assert [score["abstained"] for score in scores] == ["deadline", "deadline"]
    assert server.metric('assay_worker_restarts_total{cause="deadline"}') == before + 1
    assert server.score("length", [ROW] * 200)[-1]["value"] == 2.0


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
