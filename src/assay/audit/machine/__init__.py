"""Checks that need processes of their own, and look at more than what the target pays."""
