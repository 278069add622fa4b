"""The episode: what the environment records, when it stops, and what cannot hurt it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import BadParameter, DeadResource, NotReset
from assay.resources.protocol import Environment
from assay.schema.observation import Observation
from assay.schema.task import Task
from assay.schema.worlds import NOTHING_HAPPENS
from assay.worlds import AlfWorld, GameLoader

TASK = GameLoader().tasks("valid_unseen")[0]
OTHER = GameLoader().tasks("valid_seen")[0]
WALKTHROUGH = GameLoader().load(TASK.id).walkthrough


async def win(world: AlfWorld) -> Observation:
    observation = await world.reset(TASK)
    for command in WALKTHROUGH:
        assert not observation.done
        observation = await world.step(command)
    return observation


def test_it_is_an_environment() -> None:
    world: Environment = AlfWorld()
    assert world.name == "alfworld"
    assert world.alive()


def test_an_episode_is_won_by_its_walkthrough_and_testifies_so() -> None:
    world = AlfWorld()
    observation = asyncio.run(win(world))
    evidence = world.evidence()
    assert (observation.reward, observation.raw_reward, observation.done) == (1.0, 1.0, True)
    assert observation.evidence is evidence
    assert (evidence.world, evidence.task_id) == ("alfworld", TASK.id)
    assert (evidence.score, evidence.done, evidence.won) == (1.0, True, True)
    assert evidence.progress["goal_conditions"] == 1.0
    assert evidence.progress["steps"] == len(WALKTHROUGH)
    assert json.loads(json.dumps(evidence.progress)) == evidence.progress


def test_after_the_end_nothing_changes_any_more() -> None:
    async def scenario() -> None:
        world = AlfWorld()
        last = await win(world)
        commands = world.admissible_commands()
        for action in ["", "look", *commands]:
            assert await world.step(action) is last
        assert world.admissible_commands() == commands
        assert world.evidence() is last.evidence

    asyncio.run(scenario())


def test_a_step_that_does_nothing_is_still_a_step() -> None:
    async def scenario() -> None:
        world = AlfWorld()
        await world.reset(TASK)
        observation = await world.step("")
        assert (observation.text, observation.reward) == (NOTHING_HAPPENS, 0.0)
        assert world.evidence().progress["steps"] == 1

    asyncio.run(scenario())


def test_a_reset_leaves_nothing_of_the_episode_before() -> None:
    async def scenario() -> None:
        used, fresh = AlfWorld(), AlfWorld()
        await win(used)
        assert await used.reset(OTHER) == await fresh.reset(OTHER)
        assert used.admissible_commands() == fresh.admissible_commands()
        assert used.objective() == OTHER.goal

    asyncio.run(scenario())


def test_a_reset_to_an_unknown_task_leaves_no_episode() -> None:
    async def scenario() -> None:
        world = AlfWorld()
        await win(world)
        with pytest.raises(BadParameter):
            await world.reset(Task(id="unknown"))
        with pytest.raises(NotReset):
            world.evidence()
        assert world.alive()

    asyncio.run(scenario())


def test_before_a_reset_and_after_forgetting_there_is_no_episode() -> None:
    async def scenario() -> None:
        world = AlfWorld()
        for _ in range(2):
            with pytest.raises(NotReset):
                world.evidence()
            with pytest.raises(NotReset):
                await world.step("look")
            with pytest.raises(NotReset):
                world.admissible_commands()
            await win(world)
            world.forget()

    asyncio.run(scenario())


def test_a_closed_world_is_dead() -> None:
    async def scenario() -> None:
        world = AlfWorld()
        await world.reset(TASK)
        await world.close()
        await world.close()
        assert not world.alive()
        calls: list[Callable[[], Awaitable[object]]] = [
            lambda: world.reset(TASK),
            lambda: world.step("look"),
        ]
        for call in calls:
            with pytest.raises(DeadResource):
                await call()

    asyncio.run(scenario())


HOSTILE = st.one_of(
    st.text(max_size=300),
    st.text(alphabet=st.characters(categories=["Cc", "Cf", "Cs", "Zl"]), max_size=50),
    st.sampled_from(
        ["look" * 25_000, "\x00" * 100_000, "look\nlook", "go to desk 1; look", "lоok"]
    ),
)


@settings(max_examples=100, deadline=None)
@given(action=HOSTILE)
def test_no_text_of_an_action_hurts(action: str) -> None:
    async def scenario() -> None:
        world = AlfWorld()
        await world.reset(TASK)
        before = world.admissible_commands()
        if action.strip() not in before:
            assert (await world.step(action)).text == NOTHING_HAPPENS
            assert world.admissible_commands() == before

    asyncio.run(scenario())


def test_a_step_limit_ends_the_episode_without_winning_it() -> None:
    async def scenario() -> None:
        world = AlfWorld(step_limit=3)
        await world.reset(TASK)
        ends = [(await world.step("look")).done for _ in range(3)]
        assert ends == [False, False, True]
        evidence = world.evidence()
        assert (evidence.done, evidence.won, evidence.score) == (True, False, 0.0)
        last = await world.step(WALKTHROUGH[0])
        assert world.evidence().progress["steps"] == 3
        assert (last.done, last.reward) == (True, 0.0)

    asyncio.run(scenario())


def test_a_goal_reached_with_the_last_step_is_won() -> None:
    world = AlfWorld(step_limit=len(WALKTHROUGH))
    assert asyncio.run(win(world)).reward == 1.0


@pytest.mark.parametrize("limit", [0, -1, True, 2.5, "50"])
def test_a_step_limit_that_is_none_is_refused(limit: object) -> None:
    with pytest.raises(BadParameter, match="step_limit"):
        AlfWorld(step_limit=limit)  # type: ignore[arg-type]  # as a TOML file might have it


def test_white_space_around_a_command_is_no_part_of_it_as_in_the_reference() -> None:
    async def scenario() -> None:
        world = AlfWorld()
        for action in (" go to desk 1\n", "\tgo to desk 1\r\n"):
            await world.reset(TASK)
            assert (await world.step(action)).text != NOTHING_HAPPENS
        await world.reset(TASK)
        assert (await world.step("go to  desk 1")).text == NOTHING_HAPPENS

    asyncio.run(scenario())
