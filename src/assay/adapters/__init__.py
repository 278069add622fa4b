"""Rewards for RL trainers and evaluation frameworks, one module for each.

Nothing is imported here: `from assay.adapters import trl` loads that adapter and no other, and only
those that build another library's objects import that library.
"""
