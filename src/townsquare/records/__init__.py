"""What is true in the town, drawn from a seed."""
