"""How many questions a second `assay run` asks a model, beside a bare client.

    python perf/questions.py                     # 2,000 questions, 64 at a time
    python perf/questions.py --questions 10000 --inspect-python PATH

One process serves chat completions from memory; the same requests are sent by bare `httpx`, by
`assay run`, which also scores each answer and has every attempt on the disk, and, with the Python
of an environment that has Inspect, by its `eval`. All in one run, in turn, each in a process of its
own, so that other work on the machine slows all; processor time is beside the rates, since it says
the same on a busy machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import socket
import statistics
import subprocess
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


def ask_bare_once(url: str, questions: int, workers: int) -> float:
    """As `ask_bare`, in an event loop of its own."""
    return asyncio.run(ask_bare(url, questions, workers))


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


def ask_own_once(url: str, questions: int, workers: int) -> float:
    """As `ask_own`, in an event loop of its own."""
    return asyncio.run(ask_own(url, questions, workers))


BARE, OURS = "bare client", "assay run"
ARMS = {BARE: ask_bare_once, "our client alone": ask_own_once, OURS: ask_with_assay}
INSPECT = {"Inspect, a solver that posts": "solver", "Inspect, `generate` of a model": "model"}


def measure(arm: str, url: str, questions: int, workers: int, python: str) -> tuple[float, float]:
    """Questions a second of that arm, and milliseconds of processor for each."""
    if arm in INSPECT:
        script = Path(__file__).with_name("questions_inspect.py")
        command = [python, str(script), url, str(questions), str(workers), INSPECT[arm]]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        result = json.loads(done.stdout.splitlines()[-1])
        return result["rate"], 1_000 * result["cpu_s"] / questions
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        rate, cpu_s = pool.apply(timed, (arm, url, questions, workers))
    return rate, 1_000 * cpu_s / questions


def timed(arm: str, url: str, questions: int, workers: int) -> tuple[float, float]:
    """Questions a second, and seconds of processor, in this process."""
    start = time.process_time()
    rate = ARMS[arm](url, questions, workers)
    return rate, time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--questions", type=int, default=2_000)
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--inspect-python", metavar="PATH", help="of an environment with Inspect")
    options = parser.parse_args()
    port = free_port()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(port,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    arms = [*ARMS, *(INSPECT if options.inspect_python else ())]
    rounds: dict[str, list[tuple[float, float]]] = {arm: [] for arm in arms}
    try:
        asyncio.run(wait_for(port))
        for _ in range(options.rounds):
            for arm in arms:
                counts = options.questions, options.workers
                rounds[arm].append(measure(arm, url, *counts, options.inspect_python or ""))
                print(f"  {arm}: {rounds[arm][-1][0]:.0f}/s, load {os.getloadavg()[0]:.1f}")
    finally:
        server.terminate()
        server.join()
    print(
        f"{options.questions:,} questions, {options.workers} at a time, medians of "
        f"{options.rounds}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n"
    )
    print("| | questions/s | of the bare client | ms of processor each | `assay run` is |")
    print("|---|---|---|---|---|")
    bare, ours = (statistics.median(rate for rate, _ in rounds[arm]) for arm in (BARE, OURS))
    for arm, results in rounds.items():
        rate = statistics.median(rate for rate, _ in results)
        cpu_ms = statistics.median(cpu_ms for _, cpu_ms in results)
        print(f"| {arm} | {rate:.0f} | {rate / bare:.0%} | {cpu_ms:.2f} | {ours / rate:.1f}× |")


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
