"""Rewards behind the doors of RL trainers and eval frameworks, one small file each.

Nothing is imported here: `from assay.adapters import trl` loads that door and no other, and only
the doors that build another library's objects import that library.
"""
