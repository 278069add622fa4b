"""An agent with hands of its own: a Playwright script that drives the episode's browser itself.

    assay run townsquare --agent my_hands.py:walk --tasks museum_staff.1

It is called once an episode. Assay looks on from beside it, records every step and scores it.
"""

import json

from playwright.sync_api import sync_playwright


def walk(question, browser):
    """The names in the table of the museum's staff whose role the question asks for."""
    role = question.partition(" as a ")[2].partition(" at ")[0]
    with sync_playwright() as playwright:
        page = playwright.chromium.connect_over_cdp(browser.cdp_url).contexts[0].pages[0]
        page.get_by_role("link", name="Town museum").click()
        page.wait_for_timeout(1_000)
        # Reported, so that the step has a name, and is one step however it is done.
        with browser.step("click", target="Staff"):
            page.get_by_role("link", name="Staff").click()
        present = page.get_by_role("table").first
        rows = present.get_by_role("row").filter(has_text=role)
        names = [row.get_by_role("rowheader").inner_text() for row in rows.all()]
    return json.dumps(names)
