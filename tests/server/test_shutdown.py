"""Stopping: what was accepted is finished, and no process is left."""

import json
import signal
import socket
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from tests.server.running import Running, running, until

OPTIONS = ("--workers", "1", "--import", "served_rewards", "--rewards", "gated,hanging")


def ask_in_thread(server: Running, body: dict[str, Any]) -> tuple[threading.Thread, list[Any]]:
    answers: list[Any] = []

    def ask() -> None:
        try:
            answers.append(server.post("/v1/score", body))
        except httpx.TransportError as error:
            answers.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    return thread, answers


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_accepted_request_is_answered_before_the_end(
    tmp_path: Path, number: signal.Signals
) -> None:
    gate = tmp_path / "gate"
    with running(tmp_path, *OPTIONS) as server:
        row = {"final_response": "", "gate": str(gate)}
        thread, answers = ask_in_thread(server, {"reward": "gated", "rows": [row]})
        until(Path(f"{gate}.waiting").exists)
        workers = server.workers
        # Open before the end, so that it can still be asked how things stand.
        assert server.http.get("/readyz").json() == {"status": "ready"}
        server.process.send_signal(number)
        gate.touch()
        thread.join(30)
        assert answers[0].json()["results"][0]["scores"]["gated"]["value"] == 1.0
        assert server.process.wait(30) == 0
        assert len(workers) == 1
        assert not workers[0].is_running()


def test_work_beyond_the_grace_is_ended(tmp_path: Path) -> None:
    with running(tmp_path, *OPTIONS, "--grace-s", "1") as server:
        row = {"final_response": "", "gate": str(tmp_path / "never")}
        thread, answers = ask_in_thread(server, {"reward": "gated", "rows": [row]})
        until((tmp_path / "never.waiting").exists)
        (worker,) = server.workers
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(30) == 0
        thread.join(30)
        assert answers[0].status_code == 503
        assert answers[0].json()["error"]["code"] == "stopped"
        assert not worker.is_running()
    for line in (tmp_path / "stderr.txt").read_text().splitlines()[1:]:
        json.loads(line)


def test_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    with running(tmp_path, *OPTIONS, "--grace-s", "600") as server:
        row = {"final_response": "", "gate": str(tmp_path / "never")}
        thread, _ = ask_in_thread(server, {"reward": "gated", "rows": [row]})
        until((tmp_path / "never.waiting").exists)
        (worker,) = server.workers
        server.process.send_signal(signal.SIGTERM)
        # The first was taken when the port no longer answers.
        until(lambda: not _listens(server))
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(30) == 0
        thread.join(30)
        assert not worker.is_running()


def _listens(server: Running) -> bool:
    place = urlsplit(server.url)
    try:
        socket.create_connection((place.hostname, place.port), 1).close()
    except OSError:
        return False
    return True


def test_workers_end_with_a_server_that_was_killed(tmp_path: Path) -> None:
    with running(tmp_path, *OPTIONS) as server:
        server.post("/v1/score", {"reward": "hanging", "row": {"final_response": ""}})
        workers = server.workers
        assert len(workers) == 1
        server.process.kill()
        assert psutil.wait_procs(workers, timeout=30)[1] == []
