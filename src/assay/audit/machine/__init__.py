"""Checks that need their own processes, and measure more than the pay of an answer."""
