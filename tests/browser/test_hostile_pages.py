"""Pages that mean harm, or only go wrong: bounded, recorded, and over with the step."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.browser.drive import Driver, code, page
from tests.browser.site import Site


@pytest.fixture(scope="module")
def hurried(site: Site) -> Iterator[Driver]:
    """A world that gives a page little time."""
    driver = Driver(site, timeout_s=1.5)
    driver.open("/")
    yield driver
    driver.close()


def test_scripts_that_rewrite_prototypes_are_not_met(driver: Driver) -> None:
    driver.open("/hostile/prototypes")
    assert 'heading "Still here"' in driver.seen.text
    assert code(driver.click("Press")) is None


def test_elements_named_like_properties_are_read_as_what_they_are(driver: Driver) -> None:
    driver.open("/hostile/clobber")
    assert "title: Clobbered" in driver.seen.text
    for name in ("tagName", "getAttribute", "childNodes", "checkVisibility"):
        assert f'textbox "{name}"' in driver.seen.text
    assert code(driver.fill("matches", "y")) is None
    assert "matches=y" in driver.click("Send it").text


LARGE = [
    ("/hostile/megabytes", "3 MB of text"),
    ("/hostile/many", "100,000 elements"),
    ("/hostile/buttons", "5,200 buttons"),
]


@pytest.mark.parametrize(("path", "why"), LARGE)
def test_a_large_page_is_cut_visibly(site: Site, path: str, why: str) -> None:
    driver = Driver(site, chars=5_000, timeout_s=60)
    seen = driver.open(path)
    driver.close()
    assert seen.truncated, why
    assert len(seen.text) < 5_500
    assert "characters not shown" in seen.text or "too large to be read" in seen.text
    assert seen.facts is not None
    assert "text" in seen.facts.cut, "a contract cannot say what is not on it"


def test_ten_thousand_levels_cost_at_most_the_tab(hurried: Driver) -> None:
    hurried.goto("/hostile/deep")
    assert "Arrived" in hurried.wait_for_page("/redirect/done").text


def test_dialogs_are_dismissed_and_told(driver: Driver) -> None:
    driver.open("/hostile/dialogs")
    seen = driver.click("Ask")
    assert "note: confirm dialog dismissed: Sure?" in seen.text
    assert 'button "false"' in seen.text


def test_a_page_that_opens_dialogs_for_ever_is_given_up(driver: Driver) -> None:
    driver.open("/hostile/dialogs")
    seen = driver.click("Talk")
    assert code(seen) == "target_closed"
    assert "one dialog after the other" in seen.text
    assert "Arrived" in driver.goto("/redirect/done").text


def test_new_windows_are_refused_and_told(driver: Driver) -> None:
    driver.open("/hostile/windows")
    seen = driver.click("Elsewhere")
    assert f"new window refused, use goto to read it: {driver.site.base}/cycle/a" in seen.text
    assert seen.facts is not None
    assert seen.facts.url == f"{driver.site.base}/hostile/windows"


def test_a_download_is_refused_and_told(driver: Driver) -> None:
    driver.open("/")
    seen = driver.goto("/hostile/download")
    assert code(seen) == "nav_error"
    assert "download" in seen.text


def test_a_page_that_hangs_is_stopped_and_can_be_left(hurried: Driver) -> None:
    hurried.goto("/hostile/hang")
    assert code(hurried.click("Freeze")) in ("timeout", "target_closed")
    assert "Arrived" in hurried.wait_for_page("/redirect/done").text


NEVER_THERE: list[tuple[str, set[str | None], str]] = [
    ("/redirect/loop", {"nav_error"}, "the server redirects for ever"),
    ("/hostile/reload", {None, "timeout", "target_closed"}, "the page reloads itself for ever"),
    ("/slow?ms=4000", {"timeout"}, "longer than there is time"),
    ("/empty", {"nav_error"}, "no content"),
]


def test_loading_ends_also_where_a_page_never_comes_to_rest(
    hurried: Driver, driver: Driver
) -> None:
    driver.open("/")
    for path, codes, why in NEVER_THERE:
        # A busy machine may take all the time of a hurried world for an answer that there is.
        world = driver if codes == {"nav_error"} else hurried
        assert code(world.goto(path)) in codes, why
        assert "Arrived" in world.wait_for_page("/redirect/done").text


def test_a_page_cannot_keep_the_agent(driver: Driver) -> None:
    driver.open("/hostile/leave")
    driver.click("Hold")
    assert "Arrived" in driver.goto("/redirect/done").text


def test_text_of_a_page_cannot_pass_for_ours(driver: Driver) -> None:
    seen = driver.open("/hostile/text")
    seen.text.encode("utf-8")
    head = seen.text.partition("\n\n")[0].splitlines()
    assert "title: Forged note: title" in head
    assert "note: alert dialog dismissed: said note: dialog" in head
    assert not any(line.startswith(("note: title", "note: dialog")) for line in head)
    assert seen.facts is not None
    assert seen.facts.console is not None
    assert max(len(message.text) for message in seen.facts.console) <= 500


def test_a_crashed_page_is_an_error_and_the_episode_goes_on(driver: Driver) -> None:
    start = page(driver.open("/shop"))
    sent = page(driver.click("Buy now")).net
    browser, old = driver.world._browser, driver.world._tab().tab
    assert browser is not None

    async def kill_renderer() -> None:
        session = await old.context.new_cdp_session(old)
        crashing = asyncio.ensure_future(session.send("Page.crash"))
        await asyncio.wait([crashing], timeout=0.5)
        crashing.cancel()

    asyncio.run(browser.run(kill_renderer()))
    seen = driver.do("noop()")
    assert code(seen) == "target_closed"
    assert "Lamp" in driver.goto("/shop").text
    assert page(driver.seen).net == sent != start.net, "what was sent is still known"
