"""ALFWorld, played from its official game files; `game.py` is where to start reading."""

from assay.envs.text.alfworld.data import Library
from assay.envs.text.alfworld.environment import AlfWorld
from assay.envs.text.alfworld.game import AlfWorldGame, AlfWorldTurn
from assay.envs.text.alfworld.house import House

__all__ = ["AlfWorld", "AlfWorldGame", "AlfWorldTurn", "House", "Library"]
