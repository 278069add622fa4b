"""ALFWorld, played from its official game files; start reading at `game.py`."""
