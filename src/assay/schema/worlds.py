"""Fixed phrases of text environments, such as the reply to an action without effect."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

NOTHING_HAPPENS: Final = "Nothing happens."
"""ALFWorld's answer to a command that does nothing."""
UNKNOWN_ACTION: Final = "No known action matches that input."
"""ScienceWorld's answer to an action that it cannot read; such an action costs nothing."""
NOTHING_HAPPENED: Final = "Nothing happened: "
"""How WebShop's answer to an action that the page does not have begins."""


class TextWorldTraits(NamedTuple):
    """The phrases and the full score of one text environment."""

    name: str
    idle: tuple[str, ...] = ()
    """How an observation begins after an action without an effect."""
    full_score: float = 1.0
    """The environment's own score of a goal that was reached."""
    admissible: re.Pattern[str] | None = None
    """Where an observation lists the actions that can be taken, as the group `actions`."""


TEXT_WORLDS: Final = {
    world.name: world
    for world in (
        TextWorldTraits("alfworld", (NOTHING_HAPPENS,)),
        TextWorldTraits("scienceworld", (UNKNOWN_ACTION,), full_score=100.0),
        TextWorldTraits(
            "webshop",
            (NOTHING_HAPPENED,),
            admissible=re.compile(r"^Clickables: (?P<actions>\[[^\n]{0,20000}\])$", re.MULTILINE),
        ),
    )
}
"""The text environments by the name that their evidence bears."""


def did_nothing(world: str, observation: str) -> bool:
    """Whether the observation says that the last action had no effect."""
    known = TEXT_WORLDS.get(world)
    return known is not None and observation.startswith(known.idle)
