"""The records of the town, generated from a seed."""
