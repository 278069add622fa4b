"""What looking at a step costs on the town's pages: our own browser, and a page of a user.

    python -m perf.evidence [--rounds 10] [--beside SRC]

`evidence` is the time from the end of the action to the observation: waiting until the page is
still, reading it, and, for a user's page, two small pictures. With `--beside`, the same walk is
done by the package in that `src` folder as well, in turns, so that both meet the same load of the
machine; its steps are compared as a whole, because an older version cannot be asked for the parts.

Exits with 1 when the median is above the bound.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from assay.browser.chromium.shared import close_shared_browsers, find_chromium
from assay.browser.drive.environment import BrowserEnvironment
from assay.browser.drive.page import BrowserPage
from assay.browser.observe.observer import PageObserver
from assay.schema.task import Task
from perf.browser import WALK, action
from townsquare.server import Town

ROOT = Path(__file__).resolve().parents[1]
BOUND_MS = 60.0


async def own_browser(home: str, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of whole steps, and of their parts after the action, in our own browser."""
    steps: list[float] = []
    evidence: list[float] = []
    ended = [0.0]
    do: Callable[..., Awaitable[str]] = BrowserPage.do
    settle: Callable[..., Awaitable[None]] = PageObserver.settle

    async def timed_settle(observer: PageObserver, **options: Any) -> None:
        ended[0] = ended[0] or time.perf_counter()
        await settle(observer, **options)

    async def timed_do(page: BrowserPage, call: Any) -> str:
        answer = await do(page, call)
        ended[0] = ended[0] or time.perf_counter()
        return answer

    BrowserPage.do = timed_do  # type: ignore[method-assign,assignment]
    PageObserver.settle = timed_settle  # type: ignore[method-assign,assignment]
    world = BrowserEnvironment(start_url=home)
    for _ in range(rounds):
        seen = await world.reset(Task(id="walk"))
        for step in WALK:
            began, ended[0] = time.perf_counter(), 0.0
            seen = await world.step(action(step, seen.text, home))
            now = time.perf_counter()
            steps.append((now - began) * 1000)
            evidence.append((now - ended[0]) * 1000)
    await world.close()
    await close_shared_browsers()
    return {"steps": steps, "evidence": evidence}


async def user_page(home: str, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of evidence before and after an action on a page that is watched."""
    from playwright.async_api import async_playwright

    import assay

    times: list[float] = []
    async with async_playwright() as playwright:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=flags)
        page = await browser.new_page()
        await page.goto(home)
        watch = await assay.watch(page)
        for _ in range(rounds):
            verbs: tuple[tuple[str, Callable[[], Awaitable[Any]]], ...] = (
                ("fill", lambda: page.get_by_label("Search the web").fill("museum")),
                ("click", lambda: page.get_by_role("button", name="Search").click()),
                ("goto", lambda: page.goto(home)),
                ("click", lambda: page.get_by_text("Weather archive").first.click()),
                ("goto", lambda: page.goto(home)),
            )
            for verb, act in verbs:
                began = time.perf_counter()
                async with watch.step(verb):
                    acts = time.perf_counter()
                    await act()
                    acted = time.perf_counter()
                times.append((time.perf_counter() - acted + acts - began) * 1000)
        await watch.close()
        await browser.close()
    return {"evidence": times}


def in_turn(source: Path, home: str) -> dict[str, list[float]]:
    """One round of the walk by the package in another folder."""
    command = [sys.executable, "-m", "perf.evidence", "--walk", home]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    answer = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=True
    )
    times: dict[str, list[float]] = json.loads(answer.stdout.splitlines()[-1])
    return times


def line(name: str, times: list[float]) -> str:
    nine_tenths = statistics.quantiles(times, n=10)[-1]
    return f"{name:<44} {statistics.median(times):8.1f} {nine_tenths:8.1f}  {len(times):5d}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--beside", type=Path, help="the src folder of another version")
    parser.add_argument("--walk", metavar="URL", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.walk:
        print(json.dumps(asyncio.run(own_browser(options.walk, 1))))
        return 0
    rows: dict[str, list[float]] = {}
    with Town() as town:
        for _ in range(options.rounds):
            for name, source in (("now", ROOT / "src"), ("beside", options.beside)):
                if source is not None:
                    for part, times in in_turn(source, town.base_url).items():
                        rows.setdefault(f"own browser, {part}, {name}", []).extend(times)
        watched = asyncio.run(user_page(town.base_url, options.rounds))
        rows["a watched page, evidence, now"] = watched["evidence"]
    print(f"{'milliseconds':<44} {'median':>8} {'9 of 10':>8}  steps")
    for name, times in rows.items():
        print(line(name, times))
    median = statistics.median(rows["own browser, evidence, now"])
    return 0 if median <= BOUND_MS else 1


if __name__ == "__main__":
    sys.exit(main())
