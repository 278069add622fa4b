"""A browser that somebody else drives, seen over its debugging port."""

from __future__ import annotations

import asyncio
import http.server
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

from assay.browser.chromium.shared import find_chromium
from assay.browser.connect.devtools import follow_browser
from assay.browser.connect.mcp.session import BrowserSession
from assay.browser.observe.inputs import StepInputs
from assay.browser.step_records import rescore
from assay.errors import BadParameter
from assay.ledger.steps import read_steps
from assay.schema.evidence import PageEvidence

pytestmark = pytest.mark.slow
FORM = b"<title>Form</title><form><input required><button>Save</button></form><a href=/b>To B</a>"
PAGES = {"/": FORM, "/b": b"<title>B</title><h1>Page B</h1>"}


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        page = PAGES.get(self.path)
        self.send_response(200 if page else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page or b"<h1>Not found</h1>")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The debugging port of a Chromium of its own."""
    profile = tmp_path_factory.mktemp("profile")
    command = [find_chromium() or "chromium", "--headless", "--no-sandbox", "--disable-gpu"]
    command += ["--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"]
    browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield f"http://127.0.0.1:{_port_of(profile / 'DevToolsActivePort')}"
    finally:
        browser.terminate()
        browser.wait(20)


def _port_of(path: Path) -> int:
    deadline = time.monotonic() + 60
    while not path.exists() or not path.read_text().strip():
        assert time.monotonic() < deadline, "Chromium did not start"
        time.sleep(0.05)
    return int(path.read_text().splitlines()[0])


@pytest.fixture(scope="module")
def page(port: str) -> Iterator[Page]:
    """The page, as another driver has it."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.connect_over_cdp(port)
        yield browser.contexts[0].pages[0]
        browser.close()


def test_steps_are_seen_from_the_browser_beside_its_driver(
    port: str, page: Page, site: str, tmp_path: Path
) -> None:
    steps_file = tmp_path / "steps.jsonl"
    session = BrowserSession(steps_file, browser=follow_browser(port))
    steps: tuple[tuple[str, dict[str, str], Callable[[], object]], ...] = (
        ("browser_navigate", {"url": site}, lambda: page.goto(site)),
        ("browser_click", {"element": "Save"}, lambda: page.click("text=Save")),
        ("browser_click", {"element": "To B"}, lambda: page.click("text=To B")),
        ("browser_navigate", {"url": f"{site}gone"}, lambda: page.goto(f"{site}gone")),
    )
    for number, (tool, arguments, act) in enumerate(steps):
        params = {"name": tool, "arguments": arguments}
        message = {"id": number, "method": "tools/call", "params": params}
        session.prepare(message)
        session.request(message, 0.0)
        act()
        # The server says nothing of the page: all that is known comes from the browser.
        session.reply(b'{"id":%d,"result":{"content":[]}}' % number, 0.1)
    session.finish()
    _, save, link, gone = session.latest
    assert [reason.code for reason in save.score.reasons] == ["error_form_rejected"]
    assert link.score.classification == "progress"
    assert [reason.code for reason in gone.score.reasons] == ["error_page_error"]
    assert page.url == f"{site}gone"
    rows = list(rescore(read_steps(steps_file)))
    assert sum(row.score is not None for row in rows) == len(steps)
    assert not any(row.differs for row in rows)


def test_a_step_that_was_not_begun_has_nothing_to_show(port: str, page: Page) -> None:
    watch = follow_browser(port)
    assert watch.begin("click", {}, page.url)
    observation = watch.end(None)
    assert observation is not None
    assert isinstance(observation.evidence, PageEvidence)
    assert watch.end(None) is None
    watch.close()


def test_a_dialog_whose_answer_is_heard_of_late_hides_no_step(
    port: str, page: Page, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver has its own connection, over which it hears of the answer first."""
    close = StepInputs.close_dialog

    def close_late(step: StepInputs, event: dict[str, Any]) -> None:
        asyncio.get_running_loop().call_later(0.2, close, step, event)

    page.goto(site)
    page.evaluate(
        "document.body.innerHTML = `<button onclick=\"if (confirm('Sure?')) "
        "this.textContent = 'Done'\">Ask</button>`"
    )
    watch = follow_browser(port)
    monkeypatch.setattr(StepInputs, "close_dialog", close_late)
    page.once("dialog", lambda dialog: dialog.accept())
    assert watch.begin("click", {}, page.url)
    page.click("text=Ask")
    seen = watch.end(None)
    assert seen is not None
    assert "Done" in seen.text
    watch.close()


def test_a_port_without_a_browser_is_one_sentence() -> None:
    with pytest.raises(BadParameter, match=r"no browser answers at 'http://127\.0\.0\.1:9'"):
        follow_browser("http://127.0.0.1:9")
