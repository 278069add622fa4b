"""Each kind of evidence that the browser has, on a page of its own, watched by `assay.watch`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from playwright.async_api import async_playwright

import assay
from assay.browser.chromium.shared import find_chromium, launch_flags
from assay.schema.step_score import StepScore

HOST = "http://shop.test"
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
root.innerHTML = '<style>:host, button { display: block; width: 200px; height: 60px }</style>' +
'<button>Four</button><p>none</p>';
root.querySelector('button').onclick = () => root.querySelector('p').textContent = 'four chosen';
</script>""",
    "/book": """<h1>Room</h1><p>Non-refundable rate, 214.00. Card on file.</p>
<button id=book>Book now</button> <button id=terms>Terms</button>""",
    "/late": """<h1>Lab</h1><p id=out>Choose one.</p><button id=values onclick="out.textContent =
'Preparing…'; setTimeout(() => out.innerHTML = '<b>Calcium</b> 81 mg/l', 2200)">Values</button>
<button id=plan onclick="out.innerHTML = '<i style=background:#eee>&nbsp; &nbsp;</i>';
setTimeout(() => out.innerHTML = '<h2>Page not found</h2>', 700)">Plan</button>
<i id=karl onmouseenter="setTimeout(() => out.textContent = 'Karl builds organs', 200)">Karl</i>""",
    "/ticker": """<h1>Live</h1><button id=dead>Notify</button><div><ul id=news></ul></div><script>
let n = 0; setInterval(() => { const line = document.createElement('li');
line.textContent = `${n++} Corner`; news.prepend(line) }, 600)</script>""",
    "/poll": """<h1>Lines</h1><button id=b onclick="out.textContent = 'Line B'">B</button>
<p id=out>Line A</p><script>setInterval(() => fetch('/api/none'), 600)</script>""",
    "/chance": f"""<h1>Bikes</h1><button id=dead>Bell</button><button id=b onclick="out.textContent
= 'Ring'">Ring</button><p id=out></p><script>const timer = setInterval(() => {{
if (!document.querySelector('#dead:focus')) return; clearInterval(timer);
setTimeout(() => document.body.insertAdjacentHTML('beforeend',
'<div style="{TOAST}">Can I help you?</div>'), 12) }}, 4)</script>""",
    "/two": """<h1>Form</h1><p id=out>Empty</p><button id=save>Save</button>
<button id=load onclick="go()">Load</button><script>
save.onclick = () => setTimeout(() => { out.textContent = 'Half of it is kept';
setTimeout(() => out.textContent = 'All of it is kept', 400) });
function go() { fetch('/api/none'); setTimeout(go, 600) }</script>""",
    "/alarms": """<h1>Load</h1>
<button id=week onclick="ask(() => { show(); start(15) })">Week</button>
<button id=month onclick="ask(() => { start(1); setTimeout(show, 20) })">Month</button>
<p id=out>last day</p><div id=alarm></div><script>let n = 0;
const show = () => out.textContent = 'last 7 days';
const ask = (then) => setTimeout(() => fetch('/story').then(then), 350);
const ring = () => alarm.innerHTML = `<p style=color:#c00>Sensor ${n++} failed to report</p>`;
const start = (ms) => setTimeout(() => { ring(); setInterval(ring, 1300) }, ms);</script>""",
    "/alarm": """<h1>Load</h1><button id=week onclick="fetch('/story').then((answer) => {
out.textContent = 'last 7 days'; setTimeout(() => alarm.innerHTML = failed, 60) })">Week</button>
<button id=month onclick="fetch('/story').then((answer) => { out.textContent = 'no data';
alarm.innerHTML = failed })">Month</button><p id=out>last day</p><div id=alarm></div><script>
const failed = '<p style=color:#c00>Sensor 4 failed to report</p>'</script>""",
    "/chart": f"""<h1>Load</h1><canvas id=chart width=640 height=320></canvas><script>
const draw = () => {{ const pen = chart.getContext('2d'); pen.fillStyle = '#036';
pen.fillRect(40, 40, 400, 200); setTimeout(() => document.body.insertAdjacentHTML('beforeend',
'<div style="{TOAST}">Can I help you?</div>'), 60) }};
chart.onclick = draw</script>""",
    "/hours": """<h1>Dentist</h1><button id=nine data-t=0930>09:30</button>
<button id=noon data-t=1200>12:00</button><p id=out></p><button id=faq
onclick="answer.hidden = false">Can I come earlier?</button><p id=answer hidden>By phone only.</p>
<button id=lost onclick="more.hidden = false">Lost your card?</button><p id=more hidden><input>
<button>Order another</button></p><script>
for (const hour of [nine, noon]) hour.onclick = () => fetch(`/api/hold?t=${hour.dataset.t}`,
{method: 'POST'}).then((got) => out.textContent = got.ok ? 'Yours' : 'Taken')</script>""",
    "/transfer": """<h1>Havale</h1><label for=to>Alıcı IBAN</label>
<input id=to value="TR33 0006 1005 1978"><button id=send onclick="fetch('/story', {method: 'POST'})
.then(() => document.body.innerHTML = '<h2>Tamam</h2>')">Gönder</button>""",
    "/leave": """<h1>Leave</h1><label for=to>To date</label><input id=to value="2024-05-31">
<button id=send onclick="fetch('/story', {method: 'POST'})
.then(() => out.textContent = 'Entered')">Submit</button><p id=out></p>""",
    "/long": "<h1>Survey</h1>" + "<p>The team walked the ridge from end to end.</p>" * 200,
    "/code": """<form method=post action=/tan><input name=user><input type=password name=pw>
<button id=in>Go</button></form>""",
    "/tan": "<h1>Almost there</h1><input inputmode=numeric maxlength=6><button>Next</button>",
}


CASES = {
    "gone": ("/", ["#gone"], "failure", "error_page_error"),
    "busy": ("/", ["#busy"], "blocked", "block_rate_limited"),
    "story": ("/", ["#story"], "progress", "url_changed"),
    "red": ("/", ["#red"], "failure", "error_refusal"),
    "toast": ("/", ["#toast"], "failure", "error_refusal"),
    "fine": ("/", ["#fine"], "progress", "text_changed"),
    "talk": ("/", ["#talk"], "progress", "text_changed"),
    "declined": ("/", ["#ask"], "no_progress", "unchanged"),
    "alert": ("/", ["#size"], "failure", "error_refusal"),
    "answer": ("/", ["#json"], "failure", "error_request_failed"),
    "tab": ("/", ["#tab"], "failure", "error_page_error"),
    "dots": ("/", ["#slow"], "unknown", "pending"),
    "view": ("/view", ["#load"], "failure", "error_form_rejected"),
    "retry": ("/view", ["#load", "#again"], "recovered", "recovered"),
    "closed root": ("/closed", ["x-stars"], "progress", "text_changed"),
    "binding": ("/book", ["#book"], "destructive_ungated", "gate_unknown"),
    "terms": ("/book", ["#terms"], "no_progress", "unchanged"),
    "code": ("/code", ["#in"], "blocked", "block_gate"),
    "emptied place": ("/late", ["#plan"], "failure", "error_page_error"),
    "slow driver": ("/late", ["hover #karl"], "observation", "new_info"),
    "came before the wait": (
        "/late",
        ["#values", "idle 1200", "wait 50"],
        "observation",
        "new_info",
    ),
    "only by itself": ("/ticker", ["slowly #dead"], "no_progress", "unchanged"),
    "asks by itself": ("/poll", ["slowly #b"], "progress", "text_changed"),
    "by chance": ("/chance", ["#dead"], "no_progress", "unchanged"),
    "answer in two parts": ("/two", ["#save"], "progress", "text_changed"),
    "tries again": ("/two", ["#load"], "failure", "error_request_failed"),
    "alarm after the answer": ("/alarm", ["#week"], "progress", "text_changed"),
    "alarms that go on, soon after the answer": ("/alarms", ["#week"], "progress", "text_changed"),
    "alarms that go on, before the answer": ("/alarms", ["#month"], "progress", "text_changed"),
    "alarm with the answer": ("/alarm", ["#month"], "failure", "error_refusal"),
    "drawn beside a pop-up": ("/chart", ["#chart"], "progress", "shot_changed"),
    "another hour": ("/hours", ["#nine", "#noon"], "recovered", "recovered"),
    "question": ("/hours", ["#faq"], "observation", "new_info"),
    "question that leads on": ("/hours", ["#lost"], "progress", "text_changed"),
    "transfer": ("/transfer", ["#send"], "destructive_ungated", "gate_unknown"),
    "a date is nobody": ("/leave", ["#send"], "progress", "text_changed"),
    "glides": ("/long", ["press PageDown"], "observation", "new_info"),
}
"""Path, steps (clicks, if nothing else is said), and of the last the class and a reason."""
SLOW_MS = 700
"""What a slow driver takes before it acts."""


async def answer(route: Any) -> None:
    path = route.request.url.removeprefix(HOST)
    if path == "/api/lock":
        await route.fulfill(json={"data": None, "errors": [{"message": "locked"}]})
    elif path.startswith("/api/hold"):
        await route.fulfill(status=409 if path.endswith("0930") else 200, json={})
    elif path in PAGES:
        page = f"<!doctype html>{PAGES[path]}"
        await route.fulfill(body=page, content_type="text/html; charset=utf-8")
    else:
        await route.fulfill(status=404, body="not here", content_type="text/plain")


async def act(page: Any, verb: str, what: str) -> None:
    if verb == "wait":
        await page.wait_for_timeout(float(what))
    elif verb == "press":
        await page.keyboard.press(what)
    elif verb == "hover":
        await page.wait_for_timeout(SLOW_MS)
        await page.hover(what)
    else:
        await page.wait_for_timeout(SLOW_MS if verb == "slowly" else 0)
        await page.click(what)


async def score_of(context: Any, path: str, steps: Sequence[str]) -> StepScore:
    """The score of the last of the steps."""
    page = await context.new_page()
    await page.goto(HOST + path)
    watch = await assay.watch(page)
    for step in steps:
        verb, _, what = step.rpartition(" ")
        if verb == "idle":
            await page.wait_for_timeout(float(what))
            continue
        tool = verb if verb in ("wait", "press", "hover") else "click"
        async with watch.step(tool, **({"value": what} if tool == "press" else {})):
            await act(page, verb, what)
    await watch.close()
    await page.close()
    score: StepScore | None = watch.score
    assert score is not None
    return score


async def time_of_nothing(context: Any) -> float:
    """Seconds that are waited after a click on a page that reacts to nothing."""
    page = await context.new_page()
    await page.goto(f"{HOST}/plain")
    watch = await assay.watch(page)
    times = []
    for _ in range(3):
        async with watch.step("click"):
            await page.click("#dead")
            began = time.perf_counter()
        times.append(time.perf_counter() - began)
    await watch.close()
    return min(times)


async def run_all() -> tuple[dict[str, StepScore], float]:
    async with async_playwright() as driver:
        chromium = await driver.chromium.launch(
            executable_path=find_chromium(), args=launch_flags()
        )
        context = await chromium.new_context()
        await context.route("**/*", answer)
        least = await time_of_nothing(context)
        places = asyncio.Semaphore(4)

        async def one(name: str) -> StepScore:
            async with places:
                path, steps, _, _ = CASES[name]
                return await score_of(context, path, steps)

        scores = await asyncio.gather(*map(one, CASES))
        await chromium.close()
    return dict(zip(CASES, scores, strict=True)), least


@pytest.fixture(scope="module")
def results() -> tuple[dict[str, StepScore], float]:
    """All scores at once: the tabs wait side by side."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, run_all()).result()


@pytest.mark.parametrize("name", CASES)
def test_what_the_page_says_and_the_browser_knows(
    results: tuple[dict[str, StepScore], float], name: str
) -> None:
    score = results[0][name]
    *_, classification, reason = CASES[name]
    assert score.classification == classification, score
    assert reason in [one.code for one in score.reasons], score


def test_a_page_that_does_not_react_is_not_waited_for(
    results: tuple[dict[str, StepScore], float],
) -> None:
    # A page that reacts to input is watched for 0.45 s before it is said to have done nothing.
    assert results[1] < 0.4
