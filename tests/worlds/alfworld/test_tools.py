"""What a model gets when it calls the tools, well or badly."""

from __future__ import annotations

import asyncio

from assay.resources.context import Context
from assay.worlds import AlfWorld, GameLoader
from assay.worlds.alfworld.tools import (
    TOOLS,
    alfworld_admissible_commands,
    alfworld_objective,
    alfworld_step,
)

TASK = GameLoader().tasks("valid_unseen")[0]
WALKTHROUGH = GameLoader().load(TASK.id).walkthrough


def test_the_schemas_are_what_a_chat_api_takes() -> None:
    names = [tool.schema()["function"]["name"] for tool in TOOLS]
    assert names == ["alfworld_step", "alfworld_admissible_commands", "alfworld_objective"]
    assert alfworld_step.schema()["function"]["parameters"]["required"] == ["action"]


def test_a_game_is_won_through_the_tools() -> None:
    async def scenario() -> None:
        async with Context.open(task=TASK) as context:
            assert await alfworld_objective(context) == TASK.goal
            for command in WALKTHROUGH:
                assert command in (await alfworld_admissible_commands(context)).splitlines()
                await alfworld_step(context, action=command)
            evidence = context.evidence("alfworld")
            assert evidence.won
            assert evidence.progress["steps"] == len(WALKTHROUGH)

    asyncio.run(scenario())


def test_the_first_step_resets_the_world_to_the_task_of_the_rollout() -> None:
    async def scenario() -> None:
        async with Context.open(task=TASK) as context:
            await alfworld_step(context, action="look")
            world = await context.acquire_resource("alfworld")
            assert isinstance(world, AlfWorld)
            assert world.evidence().task_id == TASK.id

    asyncio.run(scenario())


def test_a_command_that_does_nothing_is_answered_with_what_does() -> None:
    async def scenario() -> None:
        async with Context.open(task=TASK) as context:
            text = await alfworld_step(context, action="fly to the moon")
            assert text == (
                "Nothing happens. Commands that do something here begin with: "
                "go, help, inventory, look."
            )

    asyncio.run(scenario())


def test_a_call_that_does_not_fit_is_answered_and_does_not_step() -> None:
    async def scenario() -> None:
        async with Context.open(task=TASK) as context:
            await alfworld_objective(context)
            assert "was not called" in await alfworld_step(context)
            assert "was not called" in await alfworld_step(context, action=7)
            assert context.evidence("alfworld").progress["steps"] == 0

    asyncio.run(scenario())
