"""What a request costs with each HTTP client that models could be asked with.

    python perf/http_clients.py                                            # 2,000 requests each
    python perf/http_clients.py --peer .venv-peers/clients/bin/python      # aiohttp and httpx2 too

One process serves chat completions from memory (the server of `perf/questions.py`). Each client
posts the same requests, 64 at a time, over kept connections, in a process of its own, in turn,
`--rounds` times; the medians are shown. Processor time says more than the rate on a machine that is
busy with other work.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

Post = Callable[[bytes], Awaitable[bytes]]
HEADERS = {"content-type": "application/json", "authorization": "Bearer x"}
OWN = ("httpx", "httpx, 8 a client", "h11", "raw streams", "assay's")
PEERS = ("httpx2", "aiohttp")


@asynccontextmanager
async def httpx_client(port: int, module: str = "httpx") -> AsyncIterator[Post]:
    httpx: Any = import_module(module)
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(limits=limits, trust_env=False, timeout=60) as client:

        async def post(body: bytes) -> bytes:
            response = await client.post(_url(port), content=body, headers=HEADERS)
            return bytes(response.content)

        yield post


@asynccontextmanager
async def several_httpx_clients(port: int) -> AsyncIterator[Post]:
    """As many clients as keep each at 8 requests: one looks at all its connections every time."""
    httpx: Any = import_module("httpx")
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    clients: list[list[Any]] = []

    async def post(body: bytes) -> bytes:
        entry = next((each for each in clients if each[1] < 8), None)
        if entry is None:
            client = httpx.AsyncClient(limits=limits, trust_env=False, timeout=60, verify=False)
            clients.append(entry := [client, 0])
        entry[1] += 1
        try:
            response = await entry[0].post(_url(port), content=body, headers=HEADERS)
        finally:
            entry[1] -= 1
        return bytes(response.content)

    yield post
    for client, _ in clients:
        await client.aclose()


@asynccontextmanager
async def aiohttp_client(port: int) -> AsyncIterator[Post]:
    aiohttp: Any = import_module("aiohttp")
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def post(body: bytes) -> bytes:
            async with session.post(_url(port), data=body, headers=HEADERS) as response:
                return bytes(await response.read())

        yield post


@asynccontextmanager
async def h11_client(port: int) -> AsyncIterator[Post]:
    """The parser alone, over streams: no pool to speak of, no errors."""
    h11: Any = import_module("h11")
    idle: list[tuple[Any, asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def post(body: bytes) -> bytes:
        if idle:
            protocol, reader, writer = idle.pop()
        else:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            protocol = h11.Connection(h11.CLIENT)
        head = [("host", "127.0.0.1"), ("content-length", str(len(body))), *HEADERS.items()]
        request = h11.Request(method="POST", target="/v1/chat/completions", headers=head)
        writer.writelines(map(protocol.send, (request, h11.Data(body), h11.EndOfMessage())))
        received = b""
        while True:
            event = protocol.next_event()
            if event is h11.NEED_DATA:
                protocol.receive_data(await reader.read(65_536))
            elif type(event) is h11.Data:
                received += event.data
            elif type(event) is h11.EndOfMessage:
                break
        protocol.start_next_cycle()
        idle.append((protocol, reader, writer))
        return received

    yield post
    for _, _, writer in idle:
        writer.close()


@asynccontextmanager
async def raw_client(port: int) -> AsyncIterator[Post]:
    """Two searches in the bytes, and no more: the least that a request can cost."""
    idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
    head = "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())

    async def post(body: bytes) -> bytes:
        pair = idle.pop() if idle else await asyncio.open_connection("127.0.0.1", port)
        reader, writer = pair
        writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        top = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(top.partition(b"content-length:")[2].partition(b"\r\n")[0])
        content = await reader.readexactly(length)
        idle.append(pair)
        return content

    yield post
    for _, writer in idle:
        writer.close()


@asynccontextmanager
async def own_client(port: int) -> AsyncIterator[Post]:
    """Ours, as an endpoint uses it: pool, bounds, errors; without retries and gate."""
    connections: Any = import_module("assay.agents.models.connections").Connections()
    url = import_module("httpx").URL(_url(port))

    async def post(body: bytes) -> bytes:
        response = await connections.post(url, HEADERS, body, max_bytes=16_000_000)
        return bytes(response.content)

    yield post
    await connections.close()


CLIENTS: dict[str, Callable[[int], Any]] = {
    "httpx": httpx_client,
    "httpx, 8 a client": several_httpx_clients,
    "httpx2": lambda port: httpx_client(port, "httpx2"),
    "aiohttp": aiohttp_client,
    "h11": h11_client,
    "raw streams": raw_client,
    "assay's": own_client,
}


def _url(port: int) -> str:
    return f"http://127.0.0.1:{port}/v1/chat/completions"


async def measure(name: str, port: int, requests: int, workers: int) -> tuple[float, float]:
    """Requests a second, and milliseconds of processor for each."""
    numbers = iter(range(requests))
    async with CLIENTS[name](port) as post:

        async def work() -> None:
            for number in numbers:
                messages = [{"role": "user", "content": f"question {number}"}]
                content = await post(json.dumps({"model": "m", "messages": messages}).encode())
                assert json.loads(content)["choices"]

        start, spent = time.perf_counter(), time.process_time()
        await asyncio.gather(*(work() for _ in range(workers)))
        elapsed, spent = time.perf_counter() - start, time.process_time() - spent
    return requests / elapsed, 1_000 * spent / requests


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", default="", help="an interpreter that has aiohttp and httpx2")
    parser.add_argument("--client", default="", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.client:
        figures = measure(options.client, options.port, options.requests, options.workers)
        print(json.dumps(asyncio.run(figures)))
        return
    from perf import questions

    port = questions.free_port()
    spawn = multiprocessing.get_context("spawn")
    server = spawn.Process(target=questions.serve, args=(port,), daemon=True)
    server.start()
    try:
        asyncio.run(questions.wait_for(port))
        _compare(port, options)
    finally:
        server.terminate()
        server.join()
    load = os.getloadavg()[0]
    print(f"{options.requests:,} requests, {options.workers} at a time, load {load:.1f}")


def _compare(port: int, options: argparse.Namespace) -> None:
    pythons = dict.fromkeys(OWN, sys.executable)
    pythons |= dict.fromkeys(PEERS, options.peer) if options.peer else {}
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in pythons}
    for _ in range(options.rounds):
        for name, python in pythons.items():
            arguments = ["--client", name, "--port", str(port)]
            counts = ["--requests", str(options.requests), "--workers", str(options.workers)]
            command = [python, __file__, *arguments, *counts]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            figures[name].append(tuple(json.loads(output)))
    for name, rounds in sorted(figures.items(), key=lambda item: item[1][0][1]):
        rate, spent = (statistics.median(values) for values in zip(*rounds, strict=True))
        print(f"{name:18} {rate:6.0f}/s   {spent:.3f} ms of processor each")


if __name__ == "__main__":
    main()
