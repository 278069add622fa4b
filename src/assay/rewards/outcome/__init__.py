"""Rewards for a finished episode, read off its answer, its messages or its environment."""
