"""Rewards for a finished episode, computed from its answer, messages or environment."""
