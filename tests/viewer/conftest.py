"""A real ledger, a real server in a process of its own, and a real Chromium."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright

import assay
from assay.browser.chromium.shared import find_chromium, launch_flags
from tests.report.ledgers import write_run
from tests.viewer.ledgers import (
    audit_record,
    write_hostile,
    write_hostile_head,
    write_marked,
    write_talked,
)

TASKS = "club_fee.1,ticket_total.1"


@dataclass(frozen=True)
class Ledger:
    """The runs that the tests look at."""

    folder: Path
    cut: str
    """A real run of townsquare with short pages: `club_fee.1` is lost."""
    whole: str
    """The same with whole pages, twice."""


@dataclass(frozen=True)
class Viewer:
    """A running `assay view`."""

    url: str
    ledger: Ledger

    def at(self, path: str) -> str:
        return self.url + path


@pytest.fixture(scope="session")
def chromium() -> str:
    return find_chromium()


NAMES = ".names.json"


@pytest.fixture(scope="session")
def ledger(tmp_path_factory: pytest.TempPathFactory, chromium: str) -> Ledger:
    """A copy of the runs, which the first of several workers plays for all of them."""
    folder = tmp_path_factory.mktemp("runs")
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = tmp_path_factory.getbasetemp().parent / "viewer"
        shared.mkdir(exist_ok=True)
        with (shared / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (shared / NAMES).exists():
                play(shared)
        shutil.copytree(shared, folder, dirs_exist_ok=True)
    else:
        play(folder)
    cut, whole = json.loads((folder / NAMES).read_text())
    for name in (NAMES, ".lock"):
        (folder / name).unlink(missing_ok=True)
    return Ledger(folder, cut, whole)


def play(folder: Path) -> None:
    """Everything that the viewer is to show, in the folder."""
    runs = [
        assay.run(
            "townsquare",
            agent="rules",
            tasks=TASKS,
            workers=2,
            settings={"observation_chars": chars, "environment.screenshots": True},
            repeats=repeats,
            focus=focus,
            runs_dir=folder,
            repository=folder,
        )
        for chars, repeats, focus in (
            (4_000, 1, "short pages lose the clubs"),
            (24_000, 2, "whole pages find them"),
        )
    ]
    write_hostile_head(folder)
    write_hostile(folder)
    write_marked(folder)
    write_talked(folder)
    write_marked(folder, 450, run_id="long")
    before = {f"task {i}": 0.0 for i in range(12)}
    write_run(folder, "made-1", before)
    write_run(folder, "made-2", dict.fromkeys(before, 1.0), focus="everything works now")
    audit = folder / "audits" / "assistantbench_reward@1.json"
    audit.parent.mkdir()
    audit.write_text(json.dumps(audit_record()))
    (folder / NAMES).write_text(json.dumps([run.id for run in runs]))


@pytest.fixture(scope="session")
def viewer(ledger: Ledger) -> Iterator[Viewer]:
    with serving(ledger.folder) as url:
        yield Viewer(url, ledger)


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[str]:
    """The address of an `assay view` over the folder, for as long as the block."""
    words = ["-m", "assay.cli.main", "view", str(folder), "--port", "0", *options]
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        try:
            url = process.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:"), url
            yield url
        finally:
            process.terminate()
            ended = process.wait(timeout=20)
    assert ended == 0


@pytest.fixture(scope="module")
def browser(viewer: Viewer, chromium: str) -> Iterator[Browser]:
    """Of one module: Playwright's event loop must not be there when other tests run theirs."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=launch_flags())
        yield running
        running.close()


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[BrowserContext]:
    """One for all tests: the viewer keeps no session, so that nothing of one is left to another."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    yield context
    assert context.cookies() == []
    context.close()


@pytest.fixture
def page(window: BrowserContext, viewer: Viewer) -> Iterator[Page]:
    """A tab in which nothing goes wrong and nothing leaves the machine, in every test."""
    tab = window.new_page()
    tab.set_default_timeout(10_000)
    strangers: list[str] = []
    problems: list[str] = []

    def look(request: Request) -> None:
        if urlsplit(request.url).netloc not in ("", urlsplit(viewer.url).netloc):
            strangers.append(request.url)

    window.on("request", look)
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("dialog", lambda dialog: problems.append(f"dialog {dialog.message}"))
    tab.on(
        "console",
        lambda message: (
            problems.append(message.text) if "Content Security Policy" in message.text else None
        ),
    )
    yield tab
    for opened in window.pages:
        opened.close()
    window.remove_listener("request", look)
    assert strangers == []
    assert problems == []


def check_harmless(page: Page, name: str, scheme: str) -> None:
    """Nothing of the page's content runs, loads anything or leads elsewhere, opened and touched."""
    page.locator("details").evaluate_all("items => items.forEach(item => { item.open = true })")
    page.locator("main [title], main a").evaluate_all(
        "items => items.slice(0, 200).forEach(item => {"
        " for (const kind of ['mouseover', 'focus', 'mouseenter'])"
        " item.dispatchEvent(new Event(kind, {bubbles: true})) })"
    )
    assert page.evaluate("window.pwned") is None, name
    assert page.locator("main script:not([type='application/json'])").count() == 0, name
    touchy = "img, iframe, object, embed, base, [onerror], [onmouseover], [onfocus]"
    assert page.locator(f"main :is({touchy})").count() == 0, name
    hrefs = page.locator("a").evaluate_all("links => links.map(link => link.protocol)")
    assert set(hrefs) <= {scheme}, name
