"""Brindle Quay: a fictional town, its records drawn from a seed, and its web on a local server."""
