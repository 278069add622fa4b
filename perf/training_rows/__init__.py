"""Batches and steps for `perf/training_rewards.py`; each trainer's part runs in its own library."""
