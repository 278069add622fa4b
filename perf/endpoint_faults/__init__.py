"""The parts of `perf/endpoints.py` that run in processes of their own: the server, the agent."""
