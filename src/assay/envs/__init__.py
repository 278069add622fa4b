"""Worlds and the tools beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.lazy import lazy_names

if TYPE_CHECKING:
    from assay.envs.browser.digest import call_signature as call_signature
    from assay.envs.browser.digest import page_evidence as page_evidence
    from assay.envs.browser.environment import BrowserEnvironment as BrowserEnvironment
    from assay.envs.browser.outcomes import classify_error as classify_error
    from assay.envs.chat import Chat as Chat
    from assay.envs.contract import check_environment as check_environment
    from assay.envs.text.alfworld.data import GameLibrary as GameLibrary
    from assay.envs.text.alfworld.environment import AlfWorld as AlfWorld
    from assay.envs.text.alfworld.game import AlfWorldGame as AlfWorldGame
    from assay.envs.text.alfworld.house import HouseLayout as HouseLayout
    from assay.envs.text.alfworld.tools import alfworld_objective as alfworld_objective
    from assay.envs.text.alfworld.tools import alfworld_step as alfworld_step
    from assay.envs.text.scienceworld.environment import ScienceWorld as ScienceWorld
    from assay.envs.text.scienceworld.gold import gold_path as gold_path
    from assay.envs.text.scienceworld.gold import gold_paths as gold_paths
    from assay.envs.text.scienceworld.tools import scienceworld_step as scienceworld_step
    from assay.envs.text.webshop.environment import WebShop as WebShop
    from assay.envs.text.webshop.tools import webshop_action as webshop_action

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "assay.envs.browser.digest": "call_signature page_evidence",
        "assay.envs.browser.environment": "BrowserEnvironment",
        "assay.envs.browser.outcomes": "classify_error",
        "assay.envs.chat": "Chat",
        "assay.envs.contract": "check_environment",
        "assay.envs.text.alfworld.data": "GameLibrary",
        "assay.envs.text.alfworld.environment": "AlfWorld",
        "assay.envs.text.alfworld.game": "AlfWorldGame",
        "assay.envs.text.alfworld.house": "HouseLayout",
        "assay.envs.text.alfworld.tools": "alfworld_objective alfworld_step",
        "assay.envs.text.scienceworld.environment": "ScienceWorld",
        "assay.envs.text.scienceworld.gold": "gold_path gold_paths",
        "assay.envs.text.scienceworld.tools": "scienceworld_step",
        "assay.envs.text.webshop.environment": "WebShop",
        "assay.envs.text.webshop.tools": "webshop_action",
    },
)
