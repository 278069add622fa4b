"""A server that names a time is not asked before it, by any of the workers of a run."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import assay
from assay.agents.models.connections import RateGate

WORKERS = 64
PAUSE_S = 1


class Server(ThreadingHTTPServer):
    """Answers three requests, then refuses one of 64 that came together, then one of 32."""

    daemon_threads = True
    request_queue_size = 2 * WORKERS

    def __init__(self, status: int) -> None:
        super().__init__(("127.0.0.1", 0), Talk)
        self.status = status
        self.lock = threading.Condition()
        self.arrivals: list[float] = []
        self.pauses: list[tuple[float, float]] = []
        """From when to when nobody should ask."""

    def refuses(self) -> bool:
        """Whether this request is refused; those that came together with it are held until then."""
        with self.lock:
            self.arrivals.append(time.monotonic())
            number = len(self.arrivals)
            self.lock.notify_all()
            group = next((end for end in (67, 99) if end - WORKERS < number <= end), 0)
            if number <= 3 or not group:
                return False
            if number == group:
                now = time.monotonic()
                self.pauses.append((now, now + PAUSE_S))
                return True
            self.lock.wait_for(lambda: len(self.arrivals) >= group, timeout=10)
        # The refusal is on its way before any other reply.
        time.sleep(0.1)
        return False

    def early(self) -> list[int]:
        """How many requests were sent in each of the pauses."""
        return [
            sum(begin < arrival < end for arrival in self.arrivals) for begin, end in self.pauses
        ]


class Talk(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        refused = self.server.refuses()
        message = {"choices": [{"message": {"content": "42"}}]}
        content = json.dumps({"error": "slow down"} if refused else message).encode()
        self.send_response(self.server.status if refused else 200)
        if refused:
            self.send_header("retry-after", str(PAUSE_S))
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as inherited
        pass


@pytest.fixture(params=[429, 503, 529])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    server = Server(request.param)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_none_of_64_workers_asks_before_the_time_that_the_server_named(
    server: Server, tmp_path: Path
) -> None:
    run = assay.run(
        tasks=[{"question": f"question {n}", "answer": "42"} for n in range(200)],
        model="openai:m",
        rewards=["qa_f1_reward"],
        settings={"model_options.base_url": f"http://127.0.0.1:{server.server_address[1]}"},
        workers=WORKERS,
        runs_dir=tmp_path / "runs",
    )
    assert run.mean == 1.0
    assert server.early() == [0, 0]
    assert len(server.arrivals) == 202


def test_callers_in_threads_of_their_own_wait_for_each_other() -> None:
    gate = RateGate()
    entered, queued, outcome = threading.Event(), threading.Event(), list[str]()

    async def first() -> None:
        async with gate.request(time.monotonic, asyncio.sleep) as number:
            gate.slow_down(number, 0.0)
            entered.set()
            await asyncio.to_thread(queued.wait, 5)

    async def second() -> None:
        async def enter() -> None:
            async with gate.request(time.monotonic, asyncio.sleep):
                outcome.append("entered")

        waiting = asyncio.create_task(enter())
        await asyncio.sleep(0)
        outcome.append("waits")
        queued.set()
        await asyncio.wait_for(waiting, 5)

    holder = threading.Thread(target=asyncio.run, args=(first(),))
    holder.start()
    assert entered.wait(5)
    # In debug mode a loop refuses to be woken by another thread in a way that it may sleep through.
    asyncio.run(second(), debug=True)
    holder.join()
    assert outcome == ["waits", "entered"]
