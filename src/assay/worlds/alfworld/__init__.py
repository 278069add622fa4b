"""ALFWorld, played from its official game files; `game.py` is where to start reading."""
