"""The tools with which a model plays ScienceWorld."""

from __future__ import annotations

from typing import Annotated

from assay.errors import ResourceError
from assay.resources.context import Context
from assay.schema.observation import Observation
from assay.worlds.scienceworld.environment import ScienceWorld
from assay.worlds.tool import tool

ACTIONS_SHOWN = 300
"""Valid actions that one observation lists; a furnished room has thousands."""


@tool
async def scienceworld_step(
    context: Context,
    action: Annotated[str, "One action in words, such as 'open door to kitchen' or 'look around'."],
) -> Observation:
    """Carry out one action in the science world and see what happens.

    'task' repeats the goal, 'look around' and 'inventory' are free, 'wait1' lets time pass.
    """
    return await (await context.environment("scienceworld")).step(action)


@tool
async def scienceworld_valid_actions(
    context: Context,
    containing: Annotated[str, "List only actions that contain this text; empty for all."] = "",
) -> str:
    """List actions that are possible now in the science world."""
    environment = await context.environment("scienceworld")
    if not isinstance(environment, ScienceWorld):
        raise ResourceError("valid actions can be listed only in a live ScienceWorld environment")
    actions = [action for action in await environment.valid_actions() if containing in action]
    text = "\n".join(actions[:ACTIONS_SHOWN])
    rest = len(actions) - ACTIONS_SHOWN
    return f"{text}\n… and {rest} more; narrow them with 'containing'" if rest > 0 else text
