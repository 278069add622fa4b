"""Chromium as a process: found, shared, mourned, and never left behind."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from assay.browser.chromium.shared import Browser, find_chromium
from assay.browser.drive.page import BrowserPage
from assay.errors import DeadResource, MissingExtra
from tests.browser.drive import Driver
from tests.browser.site import Site


def descendants(pid: int) -> Iterator[tuple[int, str]]:
    """The processes below one, with their command lines."""
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        # A process may end while it is being looked at.
        with suppress(FileNotFoundError, ProcessLookupError):
            for child in task.read_text().split():
                line = Path(f"/proc/{child}/cmdline").read_bytes().decode(errors="replace")
                yield int(child), line
                yield from descendants(int(child))


def below(pid: int, word: str, without: str = "\1") -> list[int]:
    return [p for p, line in descendants(pid) if word in line and without not in line]


def ended(pid: int, within_s: float = 30.0) -> bool:
    """Whether the process has ended, waited for without looking at a clock."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], within_s)[0])
    finally:
        os.close(handle)


def test_a_tab_that_does_not_answer_is_a_dead_world_and_not_a_fault_of_the_agent(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def open_slowly(*_: object, **__: object) -> None:
        raise TimeoutError

    driver = Driver(site)
    with monkeypatch.context() as patch:
        patch.setattr(BrowserPage, "open", open_slowly)
        with pytest.raises(DeadResource, match="does not answer"):
            driver.begin("/")
    driver.begin("/")
    driver.close()


@pytest.mark.parametrize(
    ("word", "without"), [("--remote-debugging-pipe", "--type="), ("run-driver", "\1")]
)
def test_a_killed_browser_is_a_dead_world_and_the_next_reset_starts_another(
    site: Site, word: str, without: str
) -> None:
    driver = Driver(site)
    driver.begin("/")
    victims = below(os.getpid(), word, without)
    assert victims
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
        assert ended(pid)
    with pytest.raises(DeadResource, match="Chromium ended"):
        driver.do("noop()")
    assert not driver.world.alive()
    with pytest.raises(DeadResource):
        driver.world.evidence()
    assert "Start" in driver.begin("/").text
    driver.close()


ORPHAN = """
import asyncio, sys
from assay.browser.drive.environment import BrowserEnvironment
from assay.schema.task import Task

async def main():
    world = BrowserEnvironment(start_url=sys.argv[1])
    await world.reset(Task(id="x"))
    print("ready", flush=True)
    await world.step('click("1")')
    await asyncio.sleep(3600)

asyncio.run(main())
"""


def test_nothing_survives_a_parent_that_is_killed_while_its_page_hangs(site: Site) -> None:
    command = [sys.executable, "-c", ORPHAN, f"{site.base}/hostile/hang"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        pids = [pid for pid, _ in descendants(parent.pid)]
        parent.kill()
    assert len(pids) > 3, "a driver, a browser, a page at least"
    assert all(ended(pid) for pid in pids)


LEAVING = """
import asyncio, os, sys
from assay.browser.drive.environment import BrowserEnvironment
from assay.schema.task import Task

async def main():
    await BrowserEnvironment(start_url=sys.argv[1]).reset(Task(id="x"))

asyncio.run(main())
"""


def test_a_script_that_closes_nothing_ends_in_silence_and_leaves_nothing(site: Site) -> None:
    command = [sys.executable, "-W", "always", "-c", LEAVING, site.base]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")


def test_without_a_chromium_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    monkeypatch.delenv("ASSAY_CHROMIUM", raising=False)

    async def start() -> None:
        browser = Browser()
        try:
            await browser.start()
        finally:
            await browser.close()

    with pytest.raises(MissingExtra, match="playwright install chromium"):
        asyncio.run(start())


def test_a_chromium_that_is_named_must_be_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ASSAY_CHROMIUM", str(tmp_path / "absent"))
    with pytest.raises(MissingExtra, match="absent"):
        find_chromium()
    mine = tmp_path / "mine"
    mine.touch()
    monkeypatch.setenv("ASSAY_CHROMIUM", str(mine))
    assert find_chromium() == str(mine)


def test_a_file_that_is_no_browser_is_a_dead_resource(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "chromium"
    fake.write_text("#!/bin/sh\nexit 7\n")
    fake.chmod(0o755)
    monkeypatch.setenv("ASSAY_CHROMIUM", str(fake))

    async def start() -> None:
        browser = Browser()
        try:
            await browser.start()
        finally:
            await browser.close()
            await browser.close()

    with pytest.raises(DeadResource, match="did not start"):
        asyncio.run(start())


def test_a_closed_browser_does_nothing_more() -> None:
    async def late() -> None:
        browser = Browser()
        await browser.close()
        await browser.start()

    with pytest.raises(DeadResource, match="closed"):
        asyncio.run(late())
