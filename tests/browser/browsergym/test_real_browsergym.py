"""The bridge to the real BrowserGym, where there is one: `make browsergym-test`."""

from __future__ import annotations

import asyncio
import os
import re

import psutil
import pytest

from assay.browser.drive.browsergym.environment import VARIABLE, BrowserGym
from assay.errors import BadParameter, DeadResource
from assay.schema.observation import Observation
from assay.schema.task import Task

pytestmark = pytest.mark.skipif(
    not os.environ.get(VARIABLE), reason=f"{VARIABLE} names no interpreter with BrowserGym"
)
FAST = {"pre_observation_delay": 0.0, "slow_mo": 0}


def button(observation: Observation, *, right: bool) -> str:
    """A click on the button that the goal names, or on another one."""
    target = observation.text.partition('"')[2].partition('"')[0]
    for bid, name in re.findall(r"\[(\d+)\] button '(.*?)'", observation.text):
        if (name == target) is right:
            return f"click('{bid}')"
    raise AssertionError(f"no such button in {observation.text}")


def test_an_episode_is_paid_as_browsergym_pays_and_keeps_the_raw_reward() -> None:
    async def play() -> None:
        world = BrowserGym(options=FAST)
        try:
            for right, reward, raw in ((True, 1.0, 1.0), (False, 0.0, -1.0)):
                seen = await world.reset(Task(id="miniwob.click-button/3"))
                assert seen.text.startswith('goal: Click on the "')
                assert "InlineTextBox" not in seen.text
                missed = await world.step("click('no such bid')")
                assert "error: ValueError" in missed.text
                seen = await world.step(button(seen, right=right))
                assert (seen.reward, seen.raw_reward, seen.done) == (reward, raw, True)
                assert world.evidence().won is right
            with pytest.raises(BadParameter, match="126 registered tasks"):
                await world.reset(Task(id="miniwob.no-such-page"))
        finally:
            await world.close()

    asyncio.run(play())


def test_no_browser_outlives_a_step_that_took_too_long() -> None:
    async def play() -> list[psutil.Process]:
        world = BrowserGym(options=FAST, actions=("bid", "nav"), step_s=1.0)
        try:
            await world.reset(Task(id="miniwob.click-button/3"))
            family = psutil.Process(world.pid).children(recursive=True)
            assert any("chrom" in process.name() for process in family)
            with pytest.raises(DeadResource, match="longer than 1 s"):
                await world.step("noop(60000)")
            return family
        finally:
            await world.close()

    left = psutil.wait_procs(asyncio.run(play()), timeout=10)[1]
    assert [process for process in left if process.status() != psutil.STATUS_ZOMBIE] == []
