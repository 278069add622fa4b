"""What the rewards of all text environments share: when they abstain, and what they never pay."""

from __future__ import annotations

import inspect
import random

import pytest

from assay.registry import find_reward
from assay.resources.context import Context
from assay.schema.episode import Failure
from assay.schema.evidence import WorldEvidence
from assay.schema.task import Task
from perf.world_contexts import check
from tests.worlds.recordings import recorded, score_of

REWARDS = ("webshop_reward", "alfworld_episode_reward", "scienceworld_reward")
WORLD_OF = dict(zip(REWARDS, ("webshop", "alfworld", "scienceworld"), strict=True))


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


@pytest.mark.parametrize("name", REWARDS)
def test_no_recorded_context_makes_a_reward_raise_or_pay_what_it_cannot(name: str) -> None:
    tally = check(name, 300, random.Random(name))
    assert tally.faults == []
    assert tally.endings["scored"]
