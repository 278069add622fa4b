"""The reward of WebShop: what it pays, live and recorded."""

from __future__ import annotations

import asyncio
import math
import re
from typing import Any

import pytest

from assay.resources.context import Context
from assay.resources.pool import PoolLimits, Pools
from assay.schema.episode import Episode, Step, Trajectory
from assay.schema.evidence import WorldEvidence
from assay.schema.task import Task
from assay.scoring.scorer import score_async
from tests.worlds.recordings import recorded, score_of


def test_webshop_pays_the_score_of_the_purchase() -> None:
    progress = {
        "page": "done",
        "asin": "B000",
        "r_type": 0.5,
        "attributes": 4,
        "attributes_matched": 1,
        "goal_options": 0,
        "options_matched": 0,
        "price_ok": True,
    }
    evidence = WorldEvidence("webshop", "7", 0.2, done=True, won=False, progress=progress)
    result = score_of("webshop_reward", recorded(evidence), task_id=7)
    assert (result["reward"], result["output"]) == (0.2, "B000")
    assert dict(result.parts) == {
        "bought": 1.0,
        "r_type": 0.5,
        "r_att": 0.25,
        "r_option": None,
        "r_price": 1.0,
    }


def test_webshop_pays_nothing_for_nothing_bought_and_says_so() -> None:
    evidence = WorldEvidence("webshop", "7", progress={"page": "results"})
    result = score_of("webshop_reward", recorded(evidence))
    assert (result["reward"], result["bought"]) == (0.0, 0.0)
    assert "nothing was bought" in result.because
    assert "results" in result.because


def test_webshop_is_not_scored_for_another_task_id() -> None:
    evidence = WorldEvidence("webshop", "7", 1.0, done=True, won=True)
    result = score_of("webshop_reward", recorded(evidence), task_id=8)
    assert result["abstained"] == "wrong_task"
    assert "'7'" in result.because


def test_a_purchase_is_scored_live_and_the_next_rollout_starts_from_nothing() -> None:
    async def main() -> None:
        task = Task(id="3")
        async with Pools({"webshop": PoolLimits(cap=1)}) as pools:
            async with Context.open(task=task, pools=pools) as buyer:
                shop = await buyer.environment("webshop", "global")
                results = await shop.step("search[hair serum roller]")
                item = re.search(r"B0[0-9A-Z]{8}", results.text)
                assert item is not None
                await shop.step(f"click[{item[0].lower()}]")
                await shop.step("click[buy now]")
                paid = await score_async(
                    "webshop_reward", final_response="", context=buyer, task_id=3
                )
                assert paid["reward"] > 0
                assert paid["output"] == item[0]
            async with Context.open(task=task, pools=pools) as idler:
                assert await idler.acquire_resource("webshop", "global") is shop
                unpaid = await score_async(
                    "webshop_reward", final_response="", context=idler, task_id=3
                )
                assert unpaid["abstained"] == "not_reset"

    asyncio.run(main())


@pytest.mark.parametrize("value", [20.9, -0.1, "1", math.nan, math.inf, 10**400, True])
def test_a_score_that_the_environment_never_gives_is_no_score(value: Any) -> None:
    step = Step.model_construct(
        index=0, action="go", evidence=WorldEvidence("webshop", "7", value, done=True)
    )
    trajectory = Trajectory.model_construct(messages=(), steps=(step,), stop_reason="finished")
    episode = Episode.model_construct(
        task=Task(id="7"), trajectory=trajectory, failure=None, metadata={}, attempt=0
    )
    result = score_of("webshop_reward", Context.recorded(episode))
    assert result["abstained"] == "bad_evidence"
    assert len(result.because) < 300
