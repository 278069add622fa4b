"""The rewards of the text environments: what they pay, when they abstain, live and recorded."""

from __future__ import annotations

import asyncio
import inspect
import math
import random
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import DeadResource, NotReset, ResourceError
from assay.registry import find_reward
from assay.resources.context import Context
from assay.resources.pool import PoolLimits, Pools
from assay.schema.episode import Episode, Failure, Step, Trajectory
from assay.schema.evidence import WorldEvidence
from assay.schema.message import Message
from assay.schema.observation import Observation
from assay.schema.score import Score
from assay.schema.task import Task
from assay.scoring.scorer import score, score_async
from assay.worlds.alfworld.environment import AlfWorld
from perf.world_contexts import check

REWARDS = ("webshop_reward", "alfworld_episode_reward", "scienceworld_reward")
WORLD_OF = dict(zip(REWARDS, ("webshop", "alfworld", "scienceworld"), strict=True))


def recorded(*evidence: WorldEvidence, messages: int = 6, **more: Any) -> Context:
    episode = Episode(
        task=Task(id="7"),
        trajectory=Trajectory(
            messages=tuple(Message(role="user", content="go") for _ in range(messages)),
            steps=tuple(
                Step(index=number, action="go", evidence=one) for number, one in enumerate(evidence)
            ),
            stop_reason=more.pop("stop_reason", "finished"),
        ),
        **more,
    )
    return Context.recorded(Episode.model_validate_json(episode.model_dump_json()))


def score_of(name: str, context: Context, task_id: object = "7", **params: Any) -> Score:
    return score(name, params=params, final_response="done", context=context, task_id=task_id)


def lab(score: float, highest: float, *, completed: bool = False) -> WorldEvidence:
    progress = {"max_score": highest, "completed": completed, "moves": 9}
    return WorldEvidence("scienceworld", "7", score, score < 0 or completed, completed, progress)


def test_the_signatures_are_the_ones_people_know() -> None:
    signatures = {
        "webshop_reward": ("final_response", "context", "task_id"),
        "alfworld_episode_reward": ("context",),
        "scienceworld_reward": ("final_response", "context"),
    }
    for name, parameters in signatures.items():
        spec = find_reward(name)
        assert spec.required == parameters
        assert inspect.iscoroutinefunction(spec.function)


@pytest.mark.parametrize(
    ("evidence", "params", "messages", "value", "why"),
    [
        (lab(100, 100, completed=True), {}, 6, 1.0, "completed"),
        (lab(42, 42), {}, 6, 0.42, "a part of the way"),
        (lab(0, 0), {}, 6, 0.0, "nothing reached"),
        (lab(-100, 75), {}, 6, -1.0, "a fatal mistake erases what was reached"),
        (lab(42, 42), {}, 1, 0.42, "few messages are no reason by themselves"),
        (lab(100, 100, completed=True), {"agentfly": True}, 6, 10.0, "ten times success"),
        (lab(42, 42), {"agentfly": True}, 6, 0.0, "a part of the way is nothing there"),
        (lab(-100, 100), {"agentfly": True}, 6, 10.0, "the highest score stands there"),
        (lab(100, 100, completed=True), {"agentfly": True}, 3, 0.0, "under four messages"),
    ],
)
def test_scienceworld_pays(
    evidence: WorldEvidence, params: dict[str, Any], messages: int, value: float, why: str
) -> None:
    context = recorded(evidence, messages=messages)
    result = score_of("scienceworld_reward", context, **params)
    assert result["reward"] == value, why
    assert tuple(result.parts) == ("score", "max_score", "completed", "acc")
    assert result["output"] in (
        "Task completed",
        "Task not completed",
        "Not enough steps to get reward",
    )


def test_scienceworld_parts_say_what_was_reached() -> None:
    ours = score_of("scienceworld_reward", recorded(lab(-100, 75)))
    assert dict(ours.parts) == {"score": -1.0, "max_score": 0.75, "completed": 0.0, "acc": 0.0}
    theirs = score_of("scienceworld_reward", recorded(lab(-100, 75)), agentfly=True)
    assert theirs["score"] == 0.75


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


@pytest.mark.parametrize(("won", "value"), [(True, 1.0), (False, 0.0), (None, 0.0)])
def test_alfworld_pays_for_winning(won: bool | None, value: float) -> None:
    evidence = WorldEvidence("alfworld", "7", score=value, done=bool(won), won=won)
    result = score_of("alfworld_episode_reward", recorded(evidence))
    assert dict(result) == {"reward": value, "won": value, "done": value}


@pytest.mark.parametrize("name", REWARDS)
def test_without_an_episode_of_its_own_a_rollout_is_not_scored(name: str) -> None:
    elsewhere = WorldEvidence("another-world", "7", 1.0, done=True, won=True)
    for context in (recorded(), recorded(elsewhere), Context(task=Task(id="7"))):
        result = score_of(name, context)
        assert result["abstained"] == "not_reset"
        assert result["reward"] is None
        assert tuple(result.parts) == find_reward(name).parts


@pytest.mark.parametrize("name", REWARDS)
def test_an_episode_of_another_task_is_not_scored(name: str) -> None:
    evidence = WorldEvidence(WORLD_OF[name], "8", 1.0, done=True, won=True)
    assert score_of(name, recorded(evidence))["abstained"] == "wrong_task"


def test_webshop_is_not_scored_for_another_task_id() -> None:
    evidence = WorldEvidence("webshop", "7", 1.0, done=True, won=True)
    result = score_of("webshop_reward", recorded(evidence), task_id=8)
    assert result["abstained"] == "wrong_task"
    assert "'7'" in result.because


@pytest.mark.parametrize("name", REWARDS)
def test_an_environment_that_failed_is_not_scored(name: str) -> None:
    evidence = WorldEvidence(WORLD_OF[name], "7", 0.0)
    failure = Failure(kind="env_error", message="the process was killed")
    result = score_of(name, recorded(evidence, stop_reason="env_error", failure=failure))
    assert result["abstained"] == "env_error"
    assert "the process was killed" in result.because


def test_agentfly_pays_nothing_where_no_world_was_entered() -> None:
    shop = score_of("webshop_reward", recorded(), agentfly=True)
    assert (shop["reward"], shop["bought"]) == (0.0, 0.0)
    brief = score_of("scienceworld_reward", recorded(messages=2), agentfly=True)
    assert (brief["reward"], brief["output"]) == (0.0, "Not enough steps to get reward")
    long = score_of("scienceworld_reward", recorded(messages=6), agentfly=True)
    assert long["abstained"] == "not_reset"


class Foreign:
    """A context of another framework: it has nothing but acquire_resource."""

    def __init__(self, evidence: WorldEvidence | ResourceError) -> None:
        self._evidence = evidence

    async def acquire_resource(self, spec: str) -> Foreign:
        return self

    def evidence(self) -> WorldEvidence:
        if isinstance(self._evidence, ResourceError):
            raise self._evidence
        return self._evidence

    async def step(self, action: str) -> Observation:
        raise AssertionError("a reward steps nothing")


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (WorldEvidence("alfworld", "7", 1.0, done=True, won=True), 1.0),
        (NotReset("no episode"), "not_reset"),
        (DeadResource("gone"), "env_error"),
    ],
)
def test_a_context_with_only_acquire_resource_is_read_too(
    evidence: WorldEvidence | ResourceError, expected: float | str
) -> None:
    async def main() -> None:
        result = await score_async("alfworld_episode_reward", context=_Only(Foreign(evidence)))
        assert (result["abstained"] if result.abstained else result["reward"]) == expected

    class _Only:
        def __init__(self, environment: Foreign) -> None:
            self.acquire_resource = environment.acquire_resource

    asyncio.run(main())


def test_a_played_episode_and_its_recording_score_alike() -> None:
    async def main() -> None:
        task = AlfWorld().tasks()[0]
        steps: list[Step] = []
        async with Context.open(task=task) as context:
            environment = await context.acquire_resource("alfworld")
            await environment.reset(task)
            for number, action in enumerate(("look", "inventory", "fly")):
                seen = await environment.step(action)
                steps.append(Step(index=number, action=action, evidence=seen.evidence))
            live = await score_async("alfworld_episode_reward", context=context)
            before = environment.evidence()
            await score_async("alfworld_episode_reward", context=context)
            assert environment.evidence() == before
        episode = Episode(task=task, trajectory=Trajectory(steps=tuple(steps)))
        context = Context.recorded(Episode.model_validate_json(episode.model_dump_json()))
        assert await score_async("alfworld_episode_reward", context=context) == live

    asyncio.run(main())


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


@settings(deadline=None)
@given(
    st.floats(-100, 100),
    st.floats(0, 100),
    st.booleans(),
    st.dictionaries(st.text(max_size=8), st.none() | st.integers() | st.text(max_size=5)),
)
def test_whatever_a_recording_holds_the_score_is_in_range_or_abstained(
    final: float, highest: float, completed: bool, extra: dict[str, Any]
) -> None:
    progress = {**extra, "max_score": highest, "completed": completed}
    evidence = WorldEvidence("scienceworld", "7", final, completed, completed, progress)
    result = score_of("scienceworld_reward", recorded(evidence))
    assert -1.0 <= float(result) <= 1.0


def test_under_four_messages_agentfly_says_no_accuracy_either() -> None:
    won = lab(100, 100, completed=True)
    for context in (recorded(won, messages=3), recorded(messages=3)):
        result = score_of("scienceworld_reward", context, agentfly=True)
        assert (result["reward"], result["acc"]) == (0.0, 0.0)


@pytest.mark.parametrize("name", REWARDS)
def test_no_recorded_context_makes_a_reward_raise_or_pay_what_it_cannot(name: str) -> None:
    tally = check(name, 300, random.Random(name))
    assert tally.faults == []
    assert tally.endings["scored"]


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
