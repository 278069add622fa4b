"""The DevTools protocol over a websocket, with a browser that keeps answers back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.server import ServerConnection, serve

from assay.browser.chromium.cdp import ProtocolConnection, ProtocolError, connect_to_browser


@asynccontextmanager
async def connected() -> AsyncIterator[ProtocolConnection]:
    """A connection to a browser that answers for itself, but for none of its pages."""

    async def answer(socket: ServerConnection) -> None:
        async for text in socket:
            message = json.loads(text)
            if "sessionId" not in message:
                await socket.send(json.dumps({"id": message["id"], "result": {"ok": True}}))

    async with serve(answer, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        connection = await connect_to_browser(f"ws://127.0.0.1:{port}")
        try:
            yield connection
        finally:
            await connection.close()


def test_nothing_is_waited_for_once_a_page_is_gone() -> None:
    async def main() -> None:
        async with connected() as connection, asyncio.timeout(10):
            page, other = connection.session("page"), connection.session("other")
            asking = asyncio.create_task(page.send("Runtime.evaluate"))
            waiting = asyncio.create_task(other.send("Runtime.evaluate"))
            await page.sleep(0.01)
            connection.forget("page")
            with pytest.raises(ProtocolError, match="has gone"):
                await asking
            with pytest.raises(ProtocolError, match="has gone"):
                await page.send("Runtime.evaluate")
            with pytest.raises(ProtocolError, match="has gone"):
                await page.sleep(0.01)
            await other.sleep(0.01)
            assert await connection.browser.send("Browser.getVersion") == {"ok": True}
            assert not waiting.done()
            connection.forget("other")
            with pytest.raises(ProtocolError):
                await waiting

    asyncio.run(main())


def test_the_frames_of_a_page_go_with_it() -> None:
    async def main() -> None:
        async with connected() as connection, asyncio.timeout(10):
            page = connection.session("page")
            asking = asyncio.create_task(page.frames())
            await asyncio.sleep(0.05)
            page.deliver(
                "Target.attachedToTarget", {"sessionId": "frame", "targetInfo": {"type": "iframe"}}
            )
            frame = connection.session("frame")
            connection.forget("page")
            assert frame.gone
            assert await asking == ()

    asyncio.run(main())
