from __future__ import annotations

import asyncio

import pytest

from assay.resources.browser import Browser
from assay.resources.town.server import Town

pytest.importorskip("playwright")


def test_chromium_finds_the_sites_by_name_and_runs_the_directorys_script() -> None:
    async def look() -> tuple[str, str]:
        browser = Browser()
        try:
            async with Town(7) as town, browser.context() as context:
                page = await context.new_page()
                await page.goto(town.url("directory", "/category/cafes"))
                await page.wait_for_selector("main table")
                after = await page.inner_text("main")
                payload = await page.evaluate(
                    "url => fetch(url).then(answer => answer.text())",
                    town.url("weather", "/api/archive?station=none"),
                )
                return after, str(payload)
        finally:
            await browser.close()

    after, payload = asyncio.run(look())
    assert "Loading" not in after
    assert "Sunday hours" in after
    assert "Next page" in after
    assert "station is one of" in payload
