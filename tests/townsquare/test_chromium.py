"""The town in a real browser: sites found by name, scripts that draw late, an API to fetch."""

from __future__ import annotations

import asyncio

from assay.browser.chromium.shared import close_shared_browsers
from assay.browser.drive.environment import BrowserEnvironment
from assay.schema.task import Task
from townsquare.server import Town


async def visit() -> tuple[str, str]:
    """What the directory shows once its script has drawn it, and what the API answers."""
    world = BrowserEnvironment()
    try:
        async with Town(7) as town:
            start = town.url("directory", "/category/cafes")
            seen = await world.reset(Task(id="cafes", metadata={"start_url": start}))
            for _ in range(20):
                if "Sunday hours" in seen.text:
                    break
                seen = await world.step("noop()")
            url = town.url("weather", "/api/archive?station=none")
            return seen.text, (await world.step(f'fetch_json("{url}")')).text
    finally:
        await world.close()
        await close_shared_browsers()


def test_chromium_finds_the_sites_by_name_and_runs_the_directorys_script() -> None:
    drawn, fetched = asyncio.run(visit())
    assert "Loading" not in drawn
    assert "Next page" in drawn
    assert "\nerror: " in fetched, "a station that is not there is an error, not a payload"
