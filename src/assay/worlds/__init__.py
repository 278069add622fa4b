"""Text environments and chats with tools, each with its tools, tasks and reward."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.lazy import lazy_names

if TYPE_CHECKING:
    from assay.worlds.alfworld.environment import AlfWorld as AlfWorld
    from assay.worlds.alfworld.game import AlfWorldGame as AlfWorldGame
    from assay.worlds.alfworld.house import HouseLayout as HouseLayout
    from assay.worlds.alfworld.tasks import GameLoader as GameLoader
    from assay.worlds.alfworld.tools import alfworld_objective as alfworld_objective
    from assay.worlds.alfworld.tools import alfworld_step as alfworld_step
    from assay.worlds.chat.environment import Chat as Chat
    from assay.worlds.scienceworld.environment import ScienceWorld as ScienceWorld
    from assay.worlds.scienceworld.gold import gold_path as gold_path
    from assay.worlds.scienceworld.gold import gold_paths as gold_paths
    from assay.worlds.scienceworld.tools import scienceworld_step as scienceworld_step
    from assay.worlds.webshop.environment import WebShop as WebShop
    from assay.worlds.webshop.tools import webshop_action as webshop_action

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "assay.worlds.alfworld.tasks": "GameLoader",
        "assay.worlds.alfworld.environment": "AlfWorld",
        "assay.worlds.alfworld.game": "AlfWorldGame",
        "assay.worlds.alfworld.house": "HouseLayout",
        "assay.worlds.alfworld.tools": "alfworld_objective alfworld_step",
        "assay.worlds.chat.environment": "Chat",
        "assay.worlds.scienceworld.environment": "ScienceWorld",
        "assay.worlds.scienceworld.gold": "gold_path gold_paths",
        "assay.worlds.scienceworld.tools": "scienceworld_step",
        "assay.worlds.webshop.environment": "WebShop",
        "assay.worlds.webshop.tools": "webshop_action",
    },
)
