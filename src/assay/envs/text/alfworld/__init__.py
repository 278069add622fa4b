"""ALFWorld, played from its official game files; `game.py` is where to start reading."""

from assay.envs.text.alfworld.data import Library
from assay.envs.text.alfworld.game import Game, Turn
from assay.envs.text.alfworld.house import House
from assay.envs.text.alfworld.world import AlfWorld

__all__ = ["AlfWorld", "Game", "House", "Library", "Turn"]
