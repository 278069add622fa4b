"""Step rewards on a real page: what the browser testifies is what the scorer says."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from assay.browser.step_records import StepLog, rescore
from assay.browser.steps import contract_from_toml
from assay.ledger.steps import read_steps
from assay.schema.step_score import StepScore
from tests.browser.drive import Driver
from tests.browser.site import Site
from tools import live


class Scored:
    """A driver whose steps are scored as they happen."""

    def __init__(self, driver: Driver, path: str, contract: str = "", **metadata: Any) -> None:
        self.driver = driver
        self.scoring = StepLog(contract_from_toml(contract) if contract else None)
        self.scoring.record("", driver.open(path, **metadata))

    def do(self, action: str) -> StepScore:
        self.scoring.record(action, self.driver.do(action))
        assert self.scoring.score is not None
        return self.scoring.score

    def click(self, name: str) -> StepScore:
        return self.do(f'click("{self.driver.ref(name)}")')


def test_a_fresh_read_after_a_failed_action_scores_higher_than_failing_again(
    driver: Driver,
) -> None:
    after: dict[str, StepScore] = {}
    for choice in ("repeat", "read"):
        walk = Scored(driver, "/redrawn")
        save = f'click("{driver.ref("Save")}")'
        driver.site.redraw()
        assert walk.do(save).classification == "failure"
        after[choice] = walk.do(save if choice == "repeat" else "noop()")
    assert after["repeat"].classification == "failure"
    assert after["read"].classification == "progress"
    assert after["read"].milli > after["repeat"].milli
    recovered = walk.click("Save")
    assert recovered.classification == "recovered"
    assert recovered.milli > after["read"].milli


def test_what_came_while_the_agent_thought_is_not_its_own(driver: Driver, tmp_path: Path) -> None:
    log = StepLog(steps=tmp_path / "steps.jsonl", verbatim=True)
    log.record("", driver.open("/news"))
    driver.site.redraw()
    seen = driver.click("Nothing")
    assert "Two stories" in seen.text
    assert seen.before is not None
    log.record("click", seen, arguments={})
    log.close()
    assert log.score is not None
    assert log.score.classification == "no_progress"
    *_, again = rescore(read_steps(tmp_path / "steps.jsonl"))
    assert again.score == log.score, "the page as the step began is in the record"


def test_another_page_that_works_is_no_recovery(driver: Driver) -> None:
    walk = Scored(driver, "/cycle/a")
    old = driver.ref("To B")
    walk.click("To B")
    assert walk.do(f'click("{old}")').classification == "failure"
    other = walk.do(f'goto("{driver.site.base}/form")')
    assert other.classification == "progress"
    assert "failure_pending" in [reason.code for reason in other.reasons]


def test_two_pages_in_turn_do_not_pay(driver: Driver) -> None:
    walk = Scored(driver, "/cycle/a")
    worth = [walk.click(name).milli for name in ("To B", "To A") * 6]
    assert worth[0] > 0
    assert sum(worth) < 0
    assert worth[-1] < 0


CONTRACT = """all = [{ url = { suffix = "/shop/thanks" } },
  { network = { method = "POST", url = { contains = "/shop/buy" }, status = [303] } },
  { dom_text = { selector = "#order", contains = "Order 17" } }]"""


@pytest.mark.parametrize(
    ("approved", "kind", "milli"),
    [(["Buy now"], "contract_pass", 1000), ([], "destructive_ungated", -1000)],
)
def test_a_purchase_is_worth_what_its_gate_says(
    site: Site, approved: list[str], kind: str, milli: int
) -> None:
    driver = Driver(site, gates="required", selectors=["#order"])
    walk = Scored(driver, "/shop", CONTRACT, approved=approved)
    score = walk.click("Buy now")
    driver.close()
    assert (score.classification, score.milli) == (kind, milli)


def test_deceptive_text_is_progress_and_a_real_block_is_not(driver: Driver) -> None:
    walk = Scored(driver, "/deceptive")
    assert walk.click("Forbidden City tickets").classification == "progress"
    blocked = walk.do(f'goto("{driver.site.base}/recovery/blocking-page")')
    assert (blocked.classification, blocked.controllable) == ("blocked", False)


def test_scoring_asks_nobody_and_does_nothing(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No model, no network, no process, and no step that the agent did not take."""
    first = driver.open("/stale")
    old = f'click("{driver.ref("Save")}")'
    driver.click("Refresh")
    failed = driver.do(old)
    taken = driver.world.evidence()

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("scoring reached out")

    with monkeypatch.context() as patch:
        patch.setattr(socket, "socket", refuse)
        patch.setattr(subprocess, "Popen", refuse)
        patch.setattr(asyncio, "run", refuse)
        patch.setattr(driver.world, "step", refuse)
        scoring = StepLog()
        scoring.record("", first)
        scoring.record(old, failed)
    assert scoring.score is not None
    assert scoring.score.classification == "failure"
    assert driver.world.evidence() == taken


@pytest.mark.long
def test_the_live_paths_give_the_transcript_that_the_documentation_shows(site: Site) -> None:
    transcript, misses = asyncio.run(live.go())
    assert misses == []
    page = (Path(live.__file__).parents[1] / "docs" / "steps.md").read_text()
    assert transcript.join(live.TRANSCRIPT) in page
