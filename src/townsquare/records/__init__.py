"""The records of the town, drawn from a seed."""
