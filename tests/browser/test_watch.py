"""`assay.watch` scores the steps of a page that somebody else drives, and never touches it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
from playwright import sync_api as playwright

import assay
from assay.browser.chromium.shared import find_chromium, launch_flags
from assay.browser.step_records import rescore
from assay.ledger.steps import read_steps
from tools import agreement
from tools.agreement import PAGES, judge_all, read_rows

PAGE = """<!doctype html><title>Shop</title><h1>Lamps</h1><p id=out></p>
<button id=save onclick="out.textContent='Saved'">Save</button>
<button id=dead>Nothing</button>
<button id=ask onclick="out.textContent='answer ' + confirm('Really?')">Ask</button>
<button id=open onclick="window.open('about:blank')">Open</button>
<a id=file href="data:application/octet-stream,x" download="x.bin">File</a>
<button id=del>Delete account</button>"""
T = TypeVar("T")


def in_thread(work: Coroutine[Any, Any, T]) -> T:
    """The result; Playwright's synchronous API keeps an event loop in the thread of the tests."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, work).result()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=find_chromium(), args=launch_flags())
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context()
    tab = context.new_page()
    tab.set_content(PAGE)
    yield tab
    context.close()


def test_a_click_that_does_something_and_one_that_does_not(page: Any, tmp_path: Path) -> None:
    watch = assay.watch(page, steps=tmp_path / "steps.jsonl")
    with watch.step("click", selector="#save"):
        page.click("#save")
    assert watch.score is not None
    assert watch.score.classification == "progress"
    for _ in range(3):
        with watch.step("click", selector="#dead"):
            page.click("#dead")
    assert watch.score.classification == "repeat"
    assert watch.status.state == "stuck"
    watch.close()
    again = list(rescore(read_steps(tmp_path / "steps.jsonl")))
    assert not any(row.differs for row in again)
    assert [row.score.classification for row in again if row.score][-1] == "repeat"


RISKS = """<!doctype html><title>Notes</title><h1 id=top>Notes</h1><p id=out></p>
<button id=ask onclick="box.hidden=false">Delete note</button>
<div id=box hidden style="position:fixed;inset:0;background:#fff">The note will be deleted.
<button id=yes onclick="send('DELETE')">Yes</button></div>
<button id=buy onclick="out.textContent='Flats for sale'">Buy</button>
<button id=pay onclick="out.textContent='Thanks';send('POST')">Buy</button>
<button id=bare onclick="out.textContent='The note was deleted';send('POST')">Go</button>
<input id=answer placeholder="Reply to Ada" onkeydown="if(event.key=='Enter')send('POST')">
<input id=find placeholder="Find" onkeydown="if(event.key=='Enter')send('GET')">
<a id=jump href="#end">End</a><div style="height:3000px"></div><h2 id=end>End</h2>
<script>function send(method){fetch('/api/x',{method}).catch(()=>{})}</script>"""


@pytest.mark.parametrize(
    ("selector", "key", "classification"),
    [
        ("#ask", "", "progress"),
        ("#yes", "", "destructive_ungated"),
        ("#buy", "", "progress"),
        ("#pay", "", "destructive_ungated"),
        ("#bare", "", "destructive_ungated"),
        ("#answer", "Enter", "destructive_ungated"),
        ("#find", "Enter", "no_progress"),
        ("#jump", "", "observation"),
    ],
)
def test_what_a_step_has_sent_corrects_what_its_name_promises(
    browser: Any, selector: str, key: str, classification: str
) -> None:
    context = browser.new_context()
    tab = context.new_page()
    tab.route(
        "http://notes.test/**",
        lambda route: route.fulfill(
            body=RISKS if route.request.method == "GET" else "{}",
            content_type="text/html" if route.request.method == "GET" else "application/json",
        ),
    )
    tab.goto("http://notes.test/")
    if selector == "#yes":
        tab.click("#ask")
    if key:
        tab.fill(selector, "Hello")
    with assay.watch(tab) as watch:
        with watch.step("press" if key else "click", selector=selector, value=key):
            if key:
                tab.press(selector, key)
            else:
                tab.click(selector)
        assert watch.score is not None
        assert watch.score.classification == classification, watch.score.because
    context.close()


def test_what_was_clicked_is_seen_without_being_named(page: Any) -> None:
    with assay.watch(page) as watch:
        with watch.step("click"):
            page.get_by_text("Delete account").click()
        assert watch.score is not None
        assert watch.score.classification == "destructive_ungated"
        with watch.step("click", gate="satisfied"):
            page.get_by_text("Delete account").click()
        assert watch.score.classification != "destructive_ungated"


def test_errors_of_the_caller_pass_through_and_only_the_tools_are_failures(page: Any) -> None:
    with assay.watch(page) as watch:
        with pytest.raises(AssertionError, match="Saved"), watch.step("click", selector="#save"):
            assert page.click("#save") == page.inner_text("#out")
        assert watch.score is not None
        assert watch.score.classification == "progress"
        with pytest.raises(playwright.Error), watch.step("click", selector="#none"):
            page.click("#none", timeout=200)
        assert watch.score.classification == "failure"


def behaviour(page: Any, *, watched: bool) -> list[str]:
    """What a script sees of dialogs, pop-ups and downloads."""
    seen: list[str] = []
    page.context.on("page", lambda _: seen.append("tab"))
    page.on("download", lambda item: seen.append(item.suggested_filename))
    watch = assay.watch(page) if watched else None
    for name in ("ask", "open", "file"):
        if watch is None:
            page.click(f"#{name}")
        else:
            with watch.step("click"):
                page.click(f"#{name}")
        seen.append(page.inner_text("#out"))
    page.wait_for_timeout(300)
    seen.append(f"{len(page.context.pages)} tabs")
    seen.append(str(page.evaluate("Object.keys(window).length + ' ' + innerWidth")))
    if watch is not None:
        watch.close()
    page.click("#save")
    seen.append(page.inner_text("#out"))
    return seen


def test_the_page_behaves_as_it_does_unobserved(browser: Any) -> None:
    results = []
    for watched in (False, True):
        context = browser.new_context()
        tab = context.new_page()
        tab.set_content(PAGE)
        results.append(behaviour(tab, watched=watched))
        context.close()
    assert results[0] == results[1]
    assert "answer false" in results[0], "Playwright dismisses what nobody listens for"


def test_a_dialog_that_the_user_leaves_open_blocks_nobody(page: Any) -> None:
    dialogs: list[Any] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog))
    with assay.watch(page) as watch:
        with watch.step("wait"):
            page.evaluate("setTimeout(() => alert('later'), 50)")
            page.wait_for_event("dialog")
        dialogs[0].dismiss()
        with watch.step("click", selector="#save"):
            page.click("#save")
        assert watch.score is not None
        assert watch.score.milli >= 0


def test_an_asynchronous_page_is_awaited(tmp_path: Path) -> None:
    async def go() -> str:
        from playwright.async_api import async_playwright

        async with async_playwright() as driver:
            chromium = await driver.chromium.launch(
                executable_path=find_chromium(), args=launch_flags()
            )
            tab = await chromium.new_page()
            await tab.set_content(PAGE)
            watch = await assay.watch(tab, steps=tmp_path / "steps.jsonl")
            async with watch.step("click", selector="#save"):
                await tab.click("#save")
            score = watch.score
            await watch.close()
            await chromium.close()
            assert score is not None
            return score.classification

    assert in_thread(go()) == "progress"
    assert not any(row.differs for row in rescore(read_steps(tmp_path / "steps.jsonl")))


FEW = (
    "requests-02 forms-25 walls-18 pending-02 loops-05 irreversible-14 noise-04 walls-07 browser-09"
).split()


@pytest.mark.long
@pytest.mark.parametrize("door", ["watch", "run"])
def test_a_few_of_the_labelled_steps_are_judged_as_a_person_does(door: str) -> None:
    rows = read_rows(PAGES, FEW)
    verdicts = in_thread(judge_all(rows, door=door, longest_pause_ms=200, limit_ms=30_000))
    assert len(verdicts) == len(FEW)
    offered = [v for v in verdicts if v.offered]
    # One of them asks for a yes to a dialog, for which there is no text action.
    assert len(offered) == len(FEW) - (door == "run")
    wrong = [f"{v.id}: {v.label}, not {v.given}" for v in offered if v.label != v.given]
    assert len(wrong) <= 1, wrong


def test_pages_are_served_on_other_ports_where_one_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def go() -> str:
        async with agreement.serve(PAGES) as base:
            return base

    free, other = agreement.free_ports()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = iter([(free, taken.getsockname()[1]), (free, other)])
        monkeypatch.setattr(agreement, "free_ports", lambda: next(ports))
        assert in_thread(go()) == f"http://127.0.0.1:{free}"
    assert next(ports, None) is None


def test_the_observer_leaves_no_error_in_the_page(browser: Any) -> None:
    context = browser.new_context()
    tab = context.new_page()
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    with assay.watch(tab) as watch:
        with watch.step("goto"):
            tab.goto("about:blank")
        tab.set_content("<button onclick=\"document.body.append('gone')\">Delete</button>")
        with watch.step("click"):
            tab.click("button")
    context.close()
    assert errors == []
