"""The labelled steps over the DevTools port: reported by their script to `watch_browser`.

    python -m tools.agreement --door devtools

The script of `tools.agreement` does every step in a browser of its own; what is scored is what
`watch_browser` sees from outside, told of the step's name, its arguments and how it ended.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from assay.browser.chromium.shared import find_chromium
from assay.browser.connect.devtools import watch_browser
from tools.agreement import SHORT, Hands, Verdict, free_ports

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

IDLE: dict[Browser, list[tuple[Browser, str]]] = {}
"""By the browser of a run of all steps, the others with a port that no step uses now."""


async def launch(like: Browser) -> tuple[Browser, str]:
    """A browser with a debugging port, and where that is; it ends with Playwright's driver."""
    port, _ = free_ports()
    flags = [f"--remote-debugging-port={port}"] + ["--no-sandbox"] * (os.geteuid() == 0)
    browser = await like.browser_type.launch(executable_path=find_chromium(), args=flags)
    return browser, f"http://127.0.0.1:{port}"


async def close_idle(like: Browser) -> None:
    """The browsers that were launched for the steps of this one have ended."""
    for browser, _ in IDLE.pop(like, []):
        await browser.close()


@asynccontextmanager
async def open_page(like: Browser, url: str) -> AsyncIterator[tuple[Page, str]]:
    """A page in a context of its own, and the port of its browser, in which there is no other.

    Browsers are used again, one for each step that is done at the same time.
    """
    if like not in IDLE:
        IDLE[like] = []
        like.on("disconnected", lambda _: asyncio.ensure_future(close_idle(like)))
    browser, address = IDLE[like].pop() if IDLE[like] else await launch(like)
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        page = await context.new_page()
        await page.goto(url)
        yield page, address
    finally:
        await context.close()
        IDLE.setdefault(like, []).append((browser, address))


async def judge(
    browser: Browser,
    base: str,
    row: Mapping[str, Any],
    *,
    pause_ms: Callable[[], float],
    limit_ms: float = SHORT,
) -> Verdict:
    """The score of the row's action, after its setup, in a context of its own."""
    from playwright.async_api import Error

    async with open_page(browser, base + row["page"]) as (page, address):
        script = Hands(page, base, limit_ms)
        watch = await asyncio.to_thread(watch_browser, address)
        for action in (*row["setup"], row["action"]):
            # An agent thinks between its steps.
            await page.wait_for_timeout(pause_ms())
            arguments = {name: value for name, value in action.items() if name != "kind"}
            with suppress(Error):
                async with watch.step(action["kind"], **arguments):
                    await script.do(action)
        score = watch.score
        await watch.aclose()
    return Verdict(row["id"], row["family"], row["class"], row["sign"], score)
