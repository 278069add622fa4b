"""Each kind of evidence that the browser has, on a page of its own, watched by `assay.watch`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright import sync_api as playwright

import assay
from assay.resources.browser import find_chromium
from assay.schema.step_score import StepScore

HOST = "http://shop.test"
FLAGS = ["--no-sandbox"] if os.geteuid() == 0 else []
TOAST = "position:fixed;right:9px;bottom:9px"
PAGES = {
    "/": f"""<title>Shop</title><h1>Shop</h1><p id=out></p><a id=gone href=/gone>Old lamp</a>
<a id=busy href=/busy>Offers</a><a id=story href=/story>Story</a>
<button id=red onclick="out.innerHTML='<span style=color:#c00>Nur noch bis Montag wählbar</span>'">
Red</button>
<button id=toast onclick="document.body.insertAdjacentHTML('beforeend',
'<div style=&quot;{TOAST}&quot;>Table 4 is taken</div>')">Table 4</button>
<button id=fine onclick="out.innerHTML='<b class=ok>Saved without errors</b>'">Save</button>
<button id=talk onclick="out.textContent='Orders cannot be changed after a day'">Question</button>
<button id=ask onclick="if (confirm('Start again?')) out.textContent='x'">Start again</button>
<button id=size onclick="alert('Please choose a size first')">Look for it</button>
<button id=json onclick="fetch('/api/lock', {{method: 'POST'}})">Lock</button>
<button id=tab onclick="window.open('/missing.txt')">Manual</button>
<button id=slow onclick="out.textContent='Preparing…'">Export</button>""",
    "/plain": "<h1>Plain</h1><button id=dead>Nothing</button><input id=name>",
    "/gone": "<h1>Sorry, we cannot find this lamp</h1><p>Try the <a href=/>shop</a>.</p>",
    "/busy": "<h1>Offers</h1><p>You have sent too many requests in a short time.</p>",
    "/story": "<h1>Access denied</h1>" + "<p>A novel about a door that stayed shut.</p>" * 60,
    "/view": """<h1>Plan</h1><button id=load onclick="go()">Budget</button><div id=v></div><script>
let n = 0; function go() { v.innerHTML = n++ ? '<h2>Budget</h2><p>12,400 spent</p>' :
'<p class=error>Could not load the budget.</p><button id=again onclick="go()">Once more</button>' }
</script>""",
    "/closed": """<h1>Rate us</h1><x-stars></x-stars><script>
const root = document.querySelector('x-stars').attachShadow({mode: 'closed'});
root.innerHTML = '<style>:host { display: block }</style><p>none</p><button>Four</button>';
root.querySelector('button').onclick = () => root.querySelector('p').textContent = 'four chosen';
</script>""",
    "/book": """<h1>Room</h1><p>Non-refundable rate, 214.00. Card on file.</p>
<button id=book>Book now</button> <button id=terms>Terms</button>""",
    "/code": """<form method=post action=/tan><input name=user><input type=password name=pw>
<button id=in>Go</button></form>""",
    "/tan": "<h1>Almost there</h1><input inputmode=numeric maxlength=6><button>Next</button>",
}


def answer(route: Any) -> None:
    path = route.request.url.removeprefix(HOST)
    if path == "/api/lock":
        route.fulfill(json={"data": None, "errors": [{"message": "locked"}]})
    elif path in PAGES:
        route.fulfill(body=f"<!doctype html>{PAGES[path]}", content_type="text/html; charset=utf-8")
    else:
        route.fulfill(status=404, body="not here", content_type="text/plain")


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        context = chromium.new_context()
        context.route("**/*", answer)
        yield context.new_page()
        chromium.close()


def score_of(page: Any, path: str, *clicks: str) -> StepScore:
    """The score of the last of the clicks."""
    page.goto(HOST + path)
    with assay.watch(page) as watch:
        for selector in clicks:
            with watch.step("click"):
                page.click(selector)
        assert watch.score is not None
        return watch.score


@pytest.mark.parametrize(
    ("click", "classification", "reason"),
    [
        ("#gone", "failure", "error_page_error"),
        ("#busy", "blocked", "block_rate_limited"),
        ("#story", "progress", "url_changed"),
        ("#red", "failure", "error_refusal"),
        ("#toast", "failure", "error_refusal"),
        ("#fine", "progress", "text_changed"),
        ("#talk", "progress", "text_changed"),
        ("#ask", "no_progress", "unchanged"),
        ("#size", "failure", "error_refusal"),
        ("#json", "failure", "error_request_failed"),
        ("#tab", "failure", "error_page_error"),
        ("#slow", "unknown", "pending"),
    ],
)
def test_what_the_page_says_and_the_browser_knows(
    page: Any, click: str, classification: str, reason: str
) -> None:
    score = score_of(page, "/", click)
    assert (score.classification, reason in [r.code for r in score.reasons]) == (
        classification,
        True,
    ), score


def test_what_a_failure_offers_is_a_way_to_try_again(page: Any) -> None:
    assert score_of(page, "/view", "#load").classification == "failure"
    assert score_of(page, "/view", "#load", "#again").classification == "recovered"


def test_a_closed_root_is_read_as_an_open_one(page: Any) -> None:
    page.goto(f"{HOST}/closed")
    with assay.watch(page) as watch:
        box = page.locator("x-stars").bounding_box()
        with watch.step("click"):
            page.mouse.click(box["x"] + 20, box["y"] + box["height"] - 20)
        assert watch.score is not None
        assert "text_changed" in [reason.code for reason in watch.score.reasons]


def test_what_is_written_beside_a_button_says_that_it_binds(page: Any) -> None:
    assert score_of(page, "/book", "#book").classification == "destructive_ungated"
    assert score_of(page, "/book", "#terms").classification == "no_progress"


def test_a_code_after_a_password_is_a_wall(page: Any) -> None:
    assert score_of(page, "/code", "#in").reasons[0].code == "block_gate"


def test_a_page_that_does_not_react_is_not_waited_for(page: Any) -> None:
    page.goto(f"{HOST}/plain")
    with assay.watch(page) as watch:
        times = []
        for _ in range(3):
            with watch.step("click"):
                page.click("#dead")
                began = time.perf_counter()
            times.append(time.perf_counter() - began)
    # A page that reacts to input is watched for 0.45 s before it is said to have done nothing.
    assert min(times) < 0.4
