"""The reward from which an attempt passes."""

PERFECT = 0.99
