"""How many questions a second `assay run` asks a model, beside a bare client.

    python perf/questions.py                     # 2,000 questions, 64 at a time
    python perf/questions.py --questions 10000

One process serves chat completions from memory; the same requests are sent by bare `httpx`, by
Assay's own HTTP client alone, and by `assay run`, which also scores each answer and has every
attempt on the disk. All in one run, in turn, so that other work on the machine slows all;
processor time is beside the rates, since it says the same on a busy machine.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import multiprocessing
import os
import socket
import statistics
import tempfile
import time
from pathlib import Path

import httpx

import assay
from assay.agents.models.connections import Connections

REPLY = json.dumps(
    {
        "choices": [{"message": {"content": "42"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 1},
    }
).encode()
HEAD = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(REPLY)}\r\n\r\n"


class Server(asyncio.Protocol):
    """Answers every complete request with the same reply."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._received = b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = self._received[:end].lower()
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
            if len(self._received) < end + 4 + length:
                return
            self._received = self._received[end + 4 + length :]
            self._transport.write(HEAD.encode() + REPLY)


def serve(port: int) -> None:
    async def forever() -> None:
        server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", port)
        await server.serve_forever()

    asyncio.run(forever())


async def ask_bare(url: str, questions: int, workers: int) -> float:
    """Questions a second of a bare client that shares its connections."""
    numbers = iter(range(questions))
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(limits=limits, trust_env=False, timeout=60) as client:

        async def work() -> None:
            for number in numbers:
                messages = [{"role": "user", "content": f"question {number}"}]
                response = await client.post(url, json={"model": "m", "messages": messages})
                assert response.json()["choices"]

        start = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(workers)))
        return questions / (time.perf_counter() - start)


async def ask_own(url: str, questions: int, workers: int) -> float:
    """Questions a second of the HTTP client that runs use, without the run."""
    numbers = iter(range(questions))
    connections = Connections()
    address = httpx.URL(url)
    headers = {"content-type": "application/json"}

    async def work() -> None:
        for number in numbers:
            messages = [{"role": "user", "content": f"question {number}"}]
            body = json.dumps({"model": "m", "messages": messages}).encode()
            response = await connections.post(address, headers, body, max_bytes=1_000_000)
            assert json.loads(response.content)["choices"]

    start = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(workers)))
    elapsed_s = time.perf_counter() - start
    await connections.close()
    return questions / elapsed_s


def ask_with_assay(url: str, questions: int, workers: int) -> float:
    """Questions a second of a run: asked, scored, and on the disk."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "questions.jsonl")
        rows = ({"question": f"question {n}", "answer": "42"} for n in range(questions))
        path.write_text("\n".join(map(json.dumps, rows)))
        start = time.perf_counter()
        run = assay.run(
            path,
            model="openai:m",
            rewards=["qa_f1_reward"],
            settings={"model_options.base_url": url.removesuffix("/chat/completions")},
            workers=workers,
            runs_dir=Path(folder, "runs"),
        )
        elapsed_s = time.perf_counter() - start
        assert run.mean == 1.0
        return questions / elapsed_s


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--questions", type=int, default=2_000)
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    port = free_port()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(port,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    shares: list[float] = []
    try:
        asyncio.run(wait_for(port))
        for _ in range(options.rounds):
            spent = [time.process_time()]
            bare = asyncio.run(ask_bare(url, options.questions, options.workers))
            spent.append(time.process_time())
            own = asyncio.run(ask_own(url, options.questions, options.workers))
            spent.append(time.process_time())
            run = ask_with_assay(url, options.questions, options.workers)
            spent.append(time.process_time())
            bare_ms, own_ms, run_ms = (
                1_000 * (after - before) / options.questions
                for before, after in itertools.pairwise(spent)
            )
            shares.append(run / bare)
            print(
                f"bare httpx {bare:5.0f}/s ({bare_ms:.2f} ms of processor each)   our client alone "
                f"{own:5.0f}/s ({own_ms:.2f} ms)   assay run {run:5.0f}/s ({run_ms:.2f} ms)   "
                f"{run / bare:.0%} of bare httpx ({bare_ms / run_ms:.0%} by processor time)"
            )
    finally:
        server.terminate()
        server.join()
    load = os.getloadavg()[0]
    print(
        f"median share {statistics.median(shares):.0%}; {options.questions:,} questions, "
        f"{options.workers} at a time, {os.cpu_count()} cores, load {load:.1f}"
    )


async def wait_for(port: int) -> None:
    for _ in range(100):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return
    raise SystemExit("the server did not start")


if __name__ == "__main__":
    main()
