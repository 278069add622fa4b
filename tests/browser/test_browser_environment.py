"""A real page as an agent meets it: what is read, done, waited for and recorded."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from assay.browser.drive.environment import BrowserEnvironment
from assay.errors import BadParameter, DeadResource, NotReset
from assay.resources.contract import HOSTILE
from assay.schema.evidence import PageEvidence, WorldEvidence
from assay.schema.outcome import Effect
from assay.schema.task import Task
from tests.browser.drive import Driver, code, page
from tests.browser.site import Site


def test_an_unchanged_page_has_the_same_digests_at_every_look(driver: Driver) -> None:
    for path in ("/form", "/clock", "/hostile/shadow"):
        first = page(driver.open(path))
        assert page(driver.do("noop()")) == first
        assert page(driver.goto(path)) == first, "numbers and nonces of a load are not its state"


def test_a_click_changes_the_digests_of_what_it_changed(driver: Driver) -> None:
    before = page(driver.open("/recovery/progress-positive"))
    after = page(driver.click("Add the lamp"))
    assert after.url != before.url
    assert after.text != before.text
    assert (after.dom, after.net, after.refs) == (before.dom, before.net, before.refs)


def test_what_is_typed_is_part_of_the_text_digest(driver: Driver) -> None:
    digests = [page(driver.open("/form")).text]
    long = "x" * 5_000
    for name, text in [
        ("Name", "Ann"),
        ("Secret", "hunter2"),
        ("Text", long),
        ("Text", long + "y"),
    ]:
        driver.fill(name, text)
        digests.append(page(driver.seen).text)
    driver.do(f'select("{driver.ref("Month")}", "may")')
    digests.append(page(driver.seen).text)
    driver.click("Agree")
    digests.append(page(driver.seen).text)
    driver.fill("Day", "2024-02-29")
    digests.append(page(driver.seen).text)
    assert len(set(digests)) == len(digests)
    assert "hunter2" not in driver.seen.text
    assert 'value="Ann"' in driver.seen.text


def test_requests_that_change_something_count_since_the_tab_was_opened(driver: Driver) -> None:
    start = page(driver.open("/hostile/requests")).net
    driver.click("Tell")
    before = page(driver.wait_for(lambda seen: page(seen).net != start)).net
    driver.click("Ask")
    driver.wait_for(lambda seen: seen.facts is not None and "network" in seen.facts.cut)
    assert page(driver.seen).net == before, "300 requests that only read change nothing"
    assert page(driver.goto("/")).net == before, "and another page does not forget"


def test_a_picture_is_hashed_only_when_asked_for(site: Site, driver: Driver) -> None:
    assert page(driver.open("/recovery/no-progress")).shot is None
    seeing = Driver(site, shot_hash=True)
    first = page(seeing.open("/recovery/no-progress")).shot
    again = page(seeing.do("noop()")).shot
    other = page(seeing.goto("/colours")).shot
    seeing.close()
    assert (first ^ again).bit_count() <= 6 < (first ^ other).bit_count()


BLOCKS = [
    ("/recovery/blocking-page", "access_denied", "status 403"),
    ("/rate-limited", "rate_limited", "status 429"),
    ("/account", "auth_redirect", "asked for a page, got a login"),
    ("/captcha", "captcha", "a challenge on a page with nothing else"),
    ("/bot-check", "bot_check", "the title of a well-known interstitial"),
    ("/captcha/rich", None, "a challenge on a page with much else is a form on it"),
    ("/login", None, "asked for the login"),
    ("/deceptive", None, "it talks about access denied, timeouts and CAPTCHAs"),
    ("/deceptive/tickets", None, "its title is Forbidden, and it is full of text"),
    ("/nothing", None, "a page that does not exist blocks nobody"),
]


def test_blocks_are_seen_by_structure_and_never_by_what_a_page_says(driver: Driver) -> None:
    driver.open("/")
    for path, block, why in BLOCKS:
        outcome = driver.goto(path).outcome
        assert outcome is not None
        assert (outcome.block, outcome.error, outcome.ok) == (block, None, True), why


ARRIVALS = [
    ("/redirect/chain", "Arrived", "redirects by the server"),
    ("/redirect/script", "Arrived", "two redirects by script"),
    ("/slow?ms=300", "Worth the wait", "a slow server"),
]


def test_an_action_ends_where_the_page_comes_to_rest(site: Site) -> None:
    driver = Driver(site, patience=None)
    driver.open("/")
    for path, words, why in ARRIVALS:
        assert words in driver.goto(path).text, why
    for name, words in [
        ("Slow page", "Worth the wait"),
        ("Leave", "Arrived"),
        ("Fetch", "fetched"),
    ]:
        driver.goto("/later")
        assert words in driver.click(name).text, name
        assert code(driver.seen) is None
    driver.close()


def test_what_a_script_shows_later_is_there_after_a_noop(driver: Driver) -> None:
    driver.open("/later")
    driver.click("Ask")
    driver.wait_for(lambda seen: "The answer is 42" in seen.text)


ERRORS = [
    ('click("999999")', "not_found", "a number that no element ever had"),
    ('click("Save")', "not_found", "not a number"),
    ('goto("file:///etc/passwd")', "nav_error", "not http(s)"),
    ('goto("about:crash")', "nav_error", "about: is more than about:blank"),
    ('goto("javascript:alert(1)")', "nav_error", "a script"),
    ('goto("http://127.0.0.1:1/")', "nav_error", "nobody answers there"),
    ('press("NoSuchKey")', "bad_call", "no such key"),
    ('scroll("left")', "not_found", "no such direction"),
    ('search("words")', "not_found", "no search engine"),
    ("frobnicate()", "other", "no such action"),
]


def test_errors_are_told_by_the_error_channel_alone(driver: Driver) -> None:
    driver.open("/deceptive")
    for action, expected, why in ERRORS:
        seen = driver.do(action)
        assert code(seen) == expected, why
        assert "error: " in seen.text


def test_elements_that_cannot_be_used_say_so(driver: Driver) -> None:
    driver.open("/form")
    assert code(driver.click("Off")) == "not_interactive"
    assert code(driver.fill("Fixed", "y")) == "not_interactive"
    assert code(driver.do(f'select("{driver.ref("Month")}", "June")')) == "not_found"
    assert '"April", "May"' in driver.seen.text


def test_a_number_of_an_earlier_page_is_stale_and_never_another_element(driver: Driver) -> None:
    driver.open("/cycle/a")
    old = driver.ref("To B")
    driver.click("To B")
    assert driver.ref("To A") != old
    seen = driver.do(f'click("{old}")')
    assert code(seen) == "stale_ref"
    assert seen.outcome is not None
    assert seen.outcome.target is not None, "what it was after is still known"


def test_the_same_call_has_one_signature_whatever_number_its_element_has(driver: Driver) -> None:
    driver.open("/cycle/a")
    calls = []
    for name in ("To B", "To A", "To B", "To A"):
        outcome = driver.click(name).outcome
        assert outcome is not None
        calls.append((outcome.call, page(driver.seen)))
    assert calls[:2] == calls[2:]
    assert calls[0] != calls[1]


def test_pressing_enter_in_a_form_is_as_risky_as_its_button(driver: Driver) -> None:
    driver.open("/shop")
    driver.fill("Note", "wrap it")
    outcome = driver.do('press("Enter")').outcome
    assert outcome is not None
    assert (outcome.effect, outcome.gate) == (Effect.IRREVERSIBLE, "unknown")
    assert "Thank you" in driver.seen.text


@pytest.mark.parametrize(
    ("gates", "approved", "gate"),
    [
        ("unknown", [], "unknown"),
        ("required", [], "missing"),
        ("required", ["buy NOW "], "satisfied"),
        ("satisfied", [], "satisfied"),
        ("not_required", [], "not_required"),
    ],
)
def test_a_gate_is_recorded_and_never_changes_what_is_done(
    site: Site, gates: Any, approved: list[str], gate: str
) -> None:
    driver = Driver(site, gates=gates)
    driver.open("/shop", approved=approved)
    outcome = driver.click("Buy now").outcome
    driver.close()
    assert outcome is not None
    assert (outcome.effect, outcome.gate) == (Effect.IRREVERSIBLE, gate)
    assert "Thank you" in driver.seen.text


def test_facts_for_a_contract_hold_what_its_selectors_match(driver: Driver) -> None:
    driver.open("/shop/thanks", selectors=["#order", "p", "not a selector ["])
    facts = driver.seen.facts
    assert facts is not None
    assert facts.texts["#order"] == "Order 17 is on its way"
    assert facts.counts["p"] == 1
    assert "not a selector [" not in facts.counts
    assert facts.text == "Thank you\nOrder 17 is on its way"
    assert facts.status == 200


def test_json_is_fetched_beside_the_page(driver: Driver) -> None:
    driver.open("/")
    seen = driver.do(f'fetch_json("{driver.site.base}/api/items")')
    assert '"lamp"' in seen.text
    assert page(seen).url == page(driver.do("noop()")).url
    assert code(driver.do(f'fetch_json("{driver.site.base}/nothing")')) == "nav_error"


def test_frames_shadows_and_wrappers_are_read_through(driver: Driver) -> None:
    text = driver.open("/hostile/shadow").text
    for words in ("in the shadow", "slotted words", 'button "Inner"', 'button "Wrapped"'):
        assert words in text
    assert code(driver.click("Inner")) is None


def test_going_back_and_scrolling(driver: Driver) -> None:
    driver.open("/cycle/a")
    driver.click("To B")
    assert "Page A" in driver.do("back()").text
    driver.goto("/long")
    assert "scrolled to 0" in driver.seen.text
    assert "scrolled to 648" in driver.do('scroll("down")').text


def test_the_world_keeps_the_promises_of_an_environment(site: Site) -> None:
    async def live() -> None:
        world = BrowserEnvironment(start_url=site.base)
        for refused in (world.evidence, lambda: asyncio.run(world.step("noop()"))):
            with pytest.raises(NotReset):
                await asyncio.to_thread(refused)
        assert world.alive()
        with pytest.raises(BadParameter, match="start_url"):
            await world.reset(Task(id="x", metadata={"start_url": "file:///etc/passwd"}))
        seen = await world.reset(Task(id="one"))
        before = world.evidence()
        assert before == WorldEvidence(
            "browser", "one", progress={"steps": 0, "url": f"{site.base}/"}
        )
        assert isinstance(seen.evidence, PageEvidence)
        assert seen.outcome is not None
        assert seen.outcome.ok
        world.forget()
        world.forget()
        with pytest.raises(NotReset):
            world.evidence()
        with pytest.raises(NotReset):
            await world.step("noop()")
        await world.reset(Task(id="two"))
        await world.close()
        await world.close()
        assert not world.alive()
        for late in (world.step("noop()"), world.reset(Task(id="three"))):
            with pytest.raises(DeadResource):
                await late
        with pytest.raises(DeadResource):
            world.evidence()

    asyncio.run(live())


def test_one_episode_leaves_nothing_to_the_next(site: Site) -> None:
    def walk(driver: Driver) -> list[Any]:
        seen = [driver.begin("/shop"), driver.fill("Note", "x"), driver.click("Buy now")]
        return [(s.text, s.evidence, s.outcome, s.facts) for s in seen]

    first, second = Driver(site), Driver(site)
    walks = [walk(first), walk(first), walk(second)]
    first.close()
    second.close()
    assert walks[0] == walks[1] == walks[2]


def test_a_start_page_that_does_not_load_is_a_dead_world(driver: Driver) -> None:
    with pytest.raises(DeadResource, match="start page"):
        asyncio.run(driver.world.reset(Task(id="x", metadata={"start_url": "http://127.0.0.1:1/"})))
    assert not driver.world.alive()


def test_texts_without_a_meaning_are_errors_and_nothing_else(driver: Driver) -> None:
    before = page(driver.open("/form"))
    for action in HOSTILE.values():
        assert code(driver.do(action)) is not None
        assert len(driver.seen.text) < 5_000
    for action in ('fill("1", "\ud800")', f'search("{"x" * 9_000}")', 'goto("http://")'):
        assert len(driver.do(action).text) < 5_000
    assert page(driver.goto("/form")) == before
