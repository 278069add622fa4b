"""A chat endpoint on loopback that fails in eight ways, as often as it is told."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

FAULTS = (
    "refused", "401", "429", "500", "slow", "cut off", "malformed JSON", "wrong content type",
)  # fmt: skip
REFUSED_S = 0.02
"""How long nobody listens when a connection is to be refused."""
SLOW_S = 2.0
"""Longer than a call may take."""


class FaultyEndpoint:
    """Replies what the script of a task says for a step; a share of the requests fail instead."""

    def __init__(
        self, scripts: Mapping[str, Sequence[str]], *, share: float, rng: random.Random
    ) -> None:
        self.share = share
        self.faults: Counter[str] = Counter()
        self.replies = 0
        self.open_connections = 0
        self.url = ""
        self._scripts = scripts
        self._rng = rng
        self._server: asyncio.Server | None = None
        self._port = 0

    async def listen(self) -> None:
        """Accept connections, on the same port as before."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port, backlog=512)
        self._port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}/v1"

    async def close(self) -> None:
        """Stop accepting connections."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open_connections += 1
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self._answer(reader, writer):
                    pass
        finally:
            self.open_connections -= 1
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection stays open after one request and its response."""
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        )
        question = json.loads(await reader.readexactly(length))
        if self._rng.random() < self.share:
            fault = self._rng.choice(FAULTS)
            self.faults[fault] += 1
            return await self._fail(fault, writer)
        self.replies += 1
        return await _send(writer, 200, json.dumps(self._completion(question)).encode())

    def _completion(self, question: Mapping[str, Any]) -> dict[str, Any]:
        place = json.loads(question["messages"][-1]["content"])
        script = self._scripts[place["task"]]
        text = script[min(place["step"], len(script)) - 1]
        return {
            "choices": [
                {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            ],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5},
        }

    async def _fail(self, fault: str, writer: asyncio.StreamWriter) -> bool:
        if fault in ("401", "429", "500"):
            return await _send(writer, int(fault), b'{"error": {"message": "planted"}}')
        if fault == "malformed JSON":
            return await _send(writer, 200, b'{"choices": [{"message": {"content": "answer(')
        if fault == "wrong content type":
            return await _send(writer, 200, b'<html>answer("42")</html>', kind="text/html")
        if fault == "slow":
            await asyncio.sleep(SLOW_S)
        elif fault == "cut off":
            writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"choices": [{"message"')
            await writer.drain()
        else:
            writer.transport.abort()
            await self._refuse()
        return False

    async def _refuse(self) -> None:
        """Let nobody connect for a moment; one moment serves all who are to be refused in it."""
        if self._server is not None and self._server.is_serving():
            await self.close()
            await asyncio.sleep(REFUSED_S)
            await self.listen()


async def _send(
    writer: asyncio.StreamWriter, status: int, body: bytes, kind: str = "application/json"
) -> bool:
    head = f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()
    return True


@contextmanager
def serving(endpoint: FaultyEndpoint) -> Iterator[None]:
    """The endpoint listens, on a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(endpoint.listen(), loop).result()
    try:
        yield
    finally:
        asyncio.run_coroutine_threadsafe(endpoint.close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
