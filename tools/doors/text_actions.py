"""The labelled steps through `assay run`: as text actions of a real `BrowserEnvironment`.

    python -m tools.agreement --door run

An element is named by the number that the agent would read. What there is no text action for
(hover, drag, upload, a place within an element, a dialog answered with yes, what has no number) is
not offered, nor is what opens another tab, which the environment refuses.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from assay.browser.chromium.shared import playwright_error
from assay.browser.drive.environment import BrowserEnvironment
from assay.browser.observe.isolated import ActionFailed
from assay.browser.step_records import StepLog
from assay.errors import DeadResource
from assay.schema.task import Task
from tools.agreement import NOT_OFFERED, SHORT, Verdict

if TYPE_CHECKING:
    from playwright.async_api import Browser, Locator

NEAR = 1.5
"""Pixels by which two boxes of one element may differ."""
MOST_TURNS = 12
WINDOW = {"width": 1280, "height": 800}


class NotOffered(Exception):
    """There is no text action for this."""


async def judge(
    _: Browser,
    base: str,
    row: Mapping[str, Any],
    *,
    pause_ms: Callable[[], float],
    limit_ms: float = SHORT,
) -> Verdict:
    """The score of the row's action, after its setup, in an episode of its own."""
    actions = (*row["setup"], row["action"])
    waits = [float(action.get("value") or 0) for action in actions if action["kind"] == "wait"]
    world = BrowserEnvironment(allow=["*"], noop_s=waits[-1] if waits else 0.5)
    world._context_options["viewport"] = WINDOW  # noqa: SLF001 - as wide as the other doors'
    scoring = StepLog()
    verdict = Verdict(row["id"], row["family"], row["class"], row["sign"], None, NOT_OFFERED)
    try:
        start = {"start_url": base + row["page"]}
        scoring.record("", await world.reset(Task(id=row["id"], metadata=start)))
        for action in actions:
            for _turn in range(1 if action is row["action"] else times(action)):
                await asyncio.sleep(pause_ms() / 1000)
                work = partial(text_action, world, base, action, limit_ms)
                text = await in_browser(world, work)
                seen = await world.step(text)
                if "new window refused" in seen.text:
                    raise NotOffered
                scoring.record(text, seen)
        verdict = Verdict(row["id"], row["family"], row["class"], row["sign"], scoring.score)
    except NotOffered:
        pass
    except DeadResource as error:
        # As where Playwright takes too long: the machine is too busy to open a page.
        raise TimeoutError(str(error)) from error
    finally:
        await world.close()
    return verdict


def times(action: Mapping[str, Any]) -> int:
    """How often an agent scrolls to get as far as a script does at once."""
    turn = 0.9 * WINDOW["height"]
    way = abs(float(action.get("value") or 0)) if action["kind"] == "scroll" else 0.0
    return min(MOST_TURNS, max(1, math.ceil(way / turn)))


async def in_browser(world: BrowserEnvironment, work: Callable[[], Any]) -> Any:
    """The result of what must be done on the browser's own event loop."""
    browser = world._browser  # noqa: SLF001 - there is no other way to its tab
    assert browser is not None
    return await browser.run(work())


async def text_action(
    world: BrowserEnvironment, base: str, action: Mapping[str, Any], limit_ms: float
) -> str:
    """What an agent would write; raises `NotOffered`."""
    kind, value = action["kind"], action.get("value")
    if action.get("dialog") == "accept" or action.get("position"):
        raise NotOffered
    if kind == "goto":
        return call("goto", f"{base}{value}")
    if kind in ("back", "wait"):
        return call({"back": "back", "wait": "noop"}[kind])
    if kind == "scroll" and not action.get("selector"):
        return call("scroll", "down" if float(value or 0) > 0 else "up")
    if kind not in ("click", "check", "fill", "press", "select"):
        raise NotOffered
    tab = world._tab().tab  # noqa: SLF001
    place: Any = tab.frame_locator(action["frame"]) if action.get("frame") else tab
    element = place.locator(action["selector"])
    if kind == "press":
        with suppress(playwright_error()):
            await element.focus(timeout=limit_ms)
        return call("press", str(value))
    ref = await number_of(world, element, limit_ms)
    if kind == "fill":
        return call("fill", ref, str(value))
    return call("select", ref, str(value)) if kind == "select" else call("click", ref)


def call(name: str, *arguments: str) -> str:
    return f"{name}({', '.join(map(json.dumps, arguments))})"


async def number_of(world: BrowserEnvironment, element: Locator, limit_ms: float) -> str:
    """The number of the element on the page as the agent has read it; raises `NotOffered`.

    An element is the one whose box in the window is the same.
    """
    try:
        await element.scroll_into_view_if_needed(timeout=limit_ms)
        box = await element.bounding_box(timeout=limit_ms)
    except playwright_error():
        raise NotOffered from None
    if box is None:
        raise NotOffered
    wanted = (box["x"], box["y"], box["width"], box["height"])
    for ref in world._targets:  # noqa: SLF001
        with suppress(ActionFailed, playwright_error()):
            found = await world._tab().box(ref)  # noqa: SLF001
            if all(abs(a - b) < NEAR for a, b in zip(wanted, found, strict=True)):
                return ref
    raise NotOffered
