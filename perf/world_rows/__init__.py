"""What `perf/worlds.py` measures: one module for each world, and one for the pools."""
