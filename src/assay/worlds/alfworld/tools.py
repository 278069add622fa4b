"""The tools with which a model plays ALFWorld."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from assay.errors import BadParameter
from assay.resources.context import Context
from assay.schema.observation import Observation
from assay.schema.worlds import NOTHING_HAPPENS
from assay.worlds.alfworld.environment import AlfWorld
from assay.worlds.tool import tool


@tool
async def alfworld_step(
    context: Context,
    action: Annotated[str, "One command, for example 'go to desk 1' or 'take mug 2 from desk 1'"],
) -> Observation:
    """Carry out one command in the household and see what happens."""
    environment = await _household(context)
    observation = await environment.step(action)
    if observation.text != NOTHING_HAPPENS:
        return observation
    verbs = sorted({command.partition(" ")[0] for command in environment.admissible_commands()})
    hint = f"Commands that do something here begin with: {', '.join(verbs)}."
    return replace(observation, text=f"{NOTHING_HAPPENS} {hint}")


@tool
async def alfworld_admissible_commands(context: Context) -> str:
    """List every command that does something in the present situation."""
    return "\n".join((await _household(context)).admissible_commands())


@tool
async def alfworld_objective(context: Context) -> str:
    """Say again what the task is."""
    return (await _household(context)).objective()


TOOLS = (alfworld_step, alfworld_admissible_commands, alfworld_objective)


async def _household(context: Context) -> AlfWorld:
    environment = await context.environment(AlfWorld.name)
    if not isinstance(environment, AlfWorld):
        raise BadParameter(f"these tools need a live ALFWorld; this rollout has {environment!r}")
    return environment
