"""Rewards: named, versioned functions from what happened in an episode to a score."""
