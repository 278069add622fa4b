"""The labelled steps through `assay mcp --cdp`: as calls and replies of a browser's MCP server.

    python -m tools.agreement --door mcp

The calls are those of Playwright MCP. Its place is taken by a small server: the script of
`tools.agreement` does the step (it also answers dialogs), and the reply names the address, the
title and the elements of the page as Playwright MCP does. So every step can be done, also those for
which an agent would need another call to look an element up.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from assay.browser.connect.devtools import FollowedBrowser
from assay.browser.connect.mcp.session import BrowserSession
from tools.agreement import NOT_OFFERED, SHORT, Hands, Verdict
from tools.doors.devtools import open_page

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

PATIENCE_S = 30.0
"""How long a call is held back for a look: a busy machine says nothing of the rules."""
TOOLS = {
    "click": "browser_click",
    "check": "browser_click",
    "fill": "browser_type",
    "press": "browser_press_key",
    "select": "browser_select_option",
    "hover": "browser_hover",
    "goto": "browser_navigate",
    "back": "browser_navigate_back",
    "wait": "browser_wait_for",
    "scroll": "browser_mouse_wheel",
    "drag": "browser_mouse_drag_xy",
    "drag_to": "browser_drag",
    "upload": "browser_file_upload",
}


async def element_of(page: Page, action: Mapping[str, Any]) -> str:
    """What an agent would call the element: its name, as a snapshot shows it."""
    place: Any = page.frame_locator(action["frame"]) if action.get("frame") else page
    from playwright.async_api import Error

    with suppress(Error):
        snapshot = await place.locator(action["selector"]).aria_snapshot(timeout=500)
        return str(snapshot).partition("\n")[0].partition('"')[2].rpartition('"')[0]
    return ""


async def call_of(page: Page, base: str, action: Mapping[str, Any]) -> dict[str, Any]:
    """The name and the arguments of the call that does the action."""
    kind, value = action["kind"], action.get("value")
    arguments: dict[str, Any] = {}
    if action.get("selector") and kind != "press":
        # Playwright MCP takes an element's number in the latest snapshot, or a selector.
        arguments = {"element": await element_of(page, action), "target": action["selector"]}
    if kind == "goto":
        arguments["url"] = f"{base}{value}"
    elif kind == "fill":
        arguments["text"] = str(value)
    elif kind == "press":
        arguments["key"] = str(value)
    elif kind == "select":
        arguments["values"] = [str(value)]
    elif kind == "wait":
        arguments["time"] = value
    elif kind == "scroll":
        arguments = {"deltaX": 0, "deltaY": value}
    elif kind == "drag_to":
        arguments["endTarget"] = value
    elif kind == "upload":
        # The call names no field: a click before it has opened the chooser.
        arguments = {"paths": [value]}
    return {"name": TOOLS[kind], "arguments": arguments}


async def reply_of(page: Page, error: str) -> dict[str, Any]:
    """What the server replies: how the call failed, or the page."""
    if error:
        text = f"### Error\n{error}"
    else:
        from playwright.async_api import Error

        title = snapshot = ""
        with suppress(Error):
            title = await page.title()
            snapshot = await page.locator("body").aria_snapshot(timeout=2_000)
        text = f"### Page\n- Page URL: {page.url}\n- Page Title: {title}\n"
        text += f"### Snapshot\n```yaml\n{snapshot}\n```"
    return {"content": [{"type": "text", "text": text}], "isError": bool(error)}


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

    actions = (*row["setup"], row["action"])
    if any(action["kind"] not in TOOLS for action in actions):
        return Verdict(row["id"], row["family"], row["class"], row["sign"], None, NOT_OFFERED)
    async with open_page(browser, base + row["page"]) as (page, address):
        script = Hands(page, base, limit_ms)
        limits = {"begin_s": PATIENCE_S, "end_s": PATIENCE_S}
        followed = await asyncio.to_thread(partial(FollowedBrowser, address, **limits))
        session = BrowserSession(browser=followed)
        for number, action in enumerate(actions):
            # An agent thinks between its steps.
            await page.wait_for_timeout(pause_ms())
            call = await call_of(page, base, action)
            message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}
            await asyncio.to_thread(session.prepare, message)
            session.request(message, monotonic())
            error = ""
            try:
                await script.do(action)
            except Error as failure:
                error = str(failure)
            result = await reply_of(page, error)
            reply = {"jsonrpc": "2.0", "id": number, "result": result}
            await asyncio.to_thread(session.reply, json.dumps(reply).encode(), monotonic())
        score = session.score
        await asyncio.to_thread(session.finish)
    return Verdict(row["id"], row["family"], row["class"], row["sign"], score)
