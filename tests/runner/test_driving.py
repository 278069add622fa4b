"""Agents with hands of their own: a Playwright script drives the browser, and Assay looks on."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.browser.step_records import rescore
from assay.errors import BadParameter
from assay.ledger.run import Run
from assay.report.comparison import compare
from assay.report.diagnosis import diagnose
from assay.schema.episode import Episode
from tests.browser.site import Site, serve

ROOT = Path(__file__).resolve().parents[2]
PAUSE_MS = 1_500
"""Longer than what keeps two actions together as one step."""
UNMASKED = {"step_s": 5, "episode_s": 40, "attempts": 1}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serve() as running:
        yield running


class Attached:
    """The first tab of a browser that is driven over its address, for plain functions."""

    def __init__(self, address: str) -> None:
        from playwright.sync_api import sync_playwright

        self._driver = sync_playwright()
        self.browser = self._driver.__enter__().chromium.connect_over_cdp(address)
        self.page = self.browser.contexts[0].pages[0]

    def __enter__(self) -> Any:
        return self.page

    def __exit__(self, *_: object) -> None:
        self._driver.__exit__()


def play(
    folder: Path,
    agent: Any,
    start: str,
    *,
    limits: dict[str, Any] | None = None,
    **metadata: Any,
) -> Episode:
    run = run_of(folder, agent, start, limits=limits, **metadata)
    (episode,) = run.final(full=True)
    return episode


def run_of(
    folder: Path,
    agent: Any,
    start: str,
    *,
    limits: dict[str, Any] | None = None,
    **metadata: Any,
) -> Run:
    settings = {f"limits.{key}": value for key, value in {**UNMASKED, **(limits or {})}.items()}
    task = {"id": "t", "question": "What?", "answer": "42", "start_url": start, **metadata}
    return assay.run(
        agent=agent,
        tasks=[task],
        environment="browser",
        rewards=["qa_f1_reward"],
        settings=settings,
        runs_dir=folder,
        repository=folder,
    )


def classes(episode: Episode) -> list[tuple[str, str]]:
    """The actions and classes of the scored steps."""
    return [
        (step.action, step.scores[0]["classification"])
        for step in episode.trajectory.steps
        if step.scores and step.scores[0]["score"] is not None
    ]


def test_what_a_playwright_script_does_is_recorded_and_scored_as_it_is_seen(
    tmp_path: Path, site: Site
) -> None:
    def walk(question: str, browser: Any) -> str:
        assert question == "What?"
        with Attached(browser.cdp_url) as page:
            page.fill("input[name=note]", "for Ada")
            page.wait_for_timeout(PAUSE_MS)
            page.goto(site.base + "/recovery/no-progress")
            page.wait_for_timeout(PAUSE_MS)
            page.go_back()
            page.wait_for_timeout(PAUSE_MS)
            page.goto(site.base + "/recovery/progress-positive")
            page.wait_for_timeout(PAUSE_MS)
            page.click("button")
        return "42"

    episode = play(tmp_path, walk, site.base + "/shop")
    assert (episode.stop_reason, episode.final_response) == ("answered", "42")
    assert episode.scores[0].value == 1.0  # type: ignore[union-attr]  # it did not abstain
    assert classes(episode) == [
        ('fill("textbox Note")', "progress"),
        (f'goto("{site.base}/recovery/no-progress")', "progress"),
        ("back()", "repeat"),
        (f'goto("{site.base}/recovery/progress-positive")', "progress"),
        ('click("button Add the lamp")', "progress"),
    ]
    assert not any(row.differs for row in rescore(episode.trajectory.steps))
    messages = episode.trajectory.messages
    assert [message.role for message in messages[:3]] == ["user", "assistant", "tool"]


def test_a_step_that_the_script_reports_has_its_name_and_its_error(
    tmp_path: Path, site: Site
) -> None:
    from playwright.sync_api import Error

    def walk(question: str, browser: Any) -> str:
        with Attached(browser.cdp_url) as page:
            with pytest.raises(Error), browser.step("click", selector="#missing"):
                page.click("#missing", timeout=300)
            with browser.step("add", what="lamp"):
                page.click("button")
        return "42"

    episode = play(tmp_path, walk, site.base + "/recovery/progress-positive")
    failure, success = classes(episode)
    assert failure == ('click("#missing")', "failure")
    assert success[0] == 'add("lamp", "button Add the lamp")'
    assert success[1] in ("progress", "recovered")


def test_an_async_agent_and_a_class_report_alike(tmp_path: Path, site: Site) -> None:
    class Walker:
        def __init__(self, *, word: str = "41") -> None:
            self.word = word

        async def run(self, task: assay.Task, browser: Any) -> dict[str, Any]:
            from playwright.async_api import async_playwright

            async with async_playwright() as driver:
                chromium = await driver.chromium.connect_over_cdp(browser.cdp_url)
                page = chromium.contexts[0].pages[0]
                async with browser.step("click", target="Add the lamp"):
                    await page.click("button")
            return {"answer": self.word, "usage": {"prompt_tokens": 7, "calls": 1}}

    episode = play(tmp_path, Walker, site.base + "/recovery/progress-positive")
    assert (episode.final_response, episode.usage.prompt_tokens) == ("41", 7)
    assert classes(episode) == [('click("Add the lamp")', "progress")]


@pytest.mark.parametrize(
    ("ending", "stop_reason"),
    [
        ("raises", "agent_error"),
        ("nothing", "gave_up"),
        ("hangs", "timeout"),
        ("walks", "step_limit"),
    ],
)
def test_how_an_episode_ends(tmp_path: Path, site: Site, ending: str, stop_reason: str) -> None:
    def walk(question: str, browser: Any) -> None:
        with Attached(browser.cdp_url) as page:
            if ending == "raises":
                raise ValueError("kaboom")
            if ending == "hangs":
                threading.Event().wait(60)
            for _ in range(9 if ending == "walks" else 0):
                with browser.step("click", target="button"):
                    page.click("button")

    limits = {"steps": 3, "episode_s": 6 if ending == "hangs" else 40}
    episode = play(tmp_path, walk, site.base + "/recovery/no-progress", limits=limits)
    assert episode.stop_reason == stop_reason
    assert len(classes(episode)) == (3 if ending == "walks" else 0)


def test_a_browser_that_ends_under_the_agent_is_no_fault_of_the_agent(
    tmp_path: Path, site: Site
) -> None:
    def crash(question: str, browser: Any) -> None:
        import httpx
        from websockets.sync.client import connect

        version = httpx.get(f"{browser.cdp_url}/json/version", trust_env=False).json()
        with connect(version["webSocketDebuggerUrl"], proxy=None) as socket:
            socket.send(json.dumps({"id": 1, "method": "Browser.close"}))
            socket.recv()
            threading.Event().wait(30)

    episode = play(tmp_path, crash, site.base + "/shop")
    assert episode.stop_reason == "env_error", episode.failure


def refused(page: Any, url: str, *, timeout_ms: int = 5_000) -> bool:
    from playwright.sync_api import Error

    try:
        page.goto(url, timeout=timeout_ms)
    except Error:
        return True
    return False


def test_no_page_of_the_agents_browser_reaches_what_the_benchmark_does_not_allow(
    tmp_path: Path, site: Site
) -> None:
    visits: list[str] = []

    class Secret(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            visits.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    private = ThreadingHTTPServer(("127.0.0.1", 0), Secret)
    threading.Thread(target=private.serve_forever, daemon=True).start()
    forbidden = f"http://127.0.0.1:{private.server_address[1]}/secret"

    def walk(question: str, browser: Any) -> str:
        attached = Attached(browser.cdp_url)
        with attached as page:
            tries: list[Callable[[], Any]] = [
                lambda: page,
                attached.browser.contexts[0].new_page,
                lambda: attached.browser.new_context().new_page(),
            ]
            return str([refused(make(), forbidden) for make in tries])

    try:
        episode = play(tmp_path, walk, site.base + "/shop")
    finally:
        private.shutdown()
        private.server_close()
    assert episode.final_response == "[True, True, True]"
    assert visits == []


def test_a_tab_that_is_closed_while_it_loads_is_not_waited_for(tmp_path: Path, site: Site) -> None:
    def walk(question: str, browser: Any) -> str:
        attached = Attached(browser.cdp_url)
        with attached as page:
            other = attached.browser.contexts[0].new_page()
            page.wait_for_timeout(PAUSE_MS)
            assert refused(other, site.base + "/slow?ms=60000", timeout_ms=1_000)
            other.close()
        return "42"

    episode = play(tmp_path, walk, site.base + "/shop")
    assert (episode.stop_reason, episode.final_response) == ("answered", "42")


def test_runs_of_driving_agents_are_compared_and_diagnosed_as_others_are(
    tmp_path: Path, site: Site
) -> None:
    def walk(question: str, browser: Any, *, answer: str = "42") -> str:
        with Attached(browser.cdp_url) as page, browser.step("click"):
            page.click("button")
        return answer

    run = run_of(tmp_path, walk, site.base + "/recovery/progress-positive")
    other = run_of(
        tmp_path, lambda question, browser: "41", site.base + "/recovery/progress-positive"
    )
    assert compare(run.path, other.path) is not None
    assert diagnose(other.path) is not None


def test_the_example_drives_the_town_and_is_paid(tmp_path: Path) -> None:
    run = assay.run(
        "townsquare",
        agent=f"{ROOT}/examples/my_hands.py:walk",
        tasks="museum_staff.1",
        runs_dir=tmp_path,
        repository=tmp_path,
    )
    assert run.mean == 1.0


def test_an_environment_without_a_browser_is_refused_before_the_run(tmp_path: Path) -> None:
    def walk(question: str, browser: Any) -> str:
        return "42"

    with pytest.raises(BadParameter, match="needs a `browser`"):
        assay.run("webshop", agent=walk, tasks="0", runs_dir=tmp_path, repository=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_parameter_that_nothing_fills_is_refused_before_the_run(
    tmp_path: Path, site: Site
) -> None:
    def walk(question: str, browser: Any, colour: str) -> str:
        return colour

    with pytest.raises(BadParameter, match="needs 'colour'"):
        play(tmp_path, walk, site.base + "/shop")
