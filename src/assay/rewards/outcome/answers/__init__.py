"""Rewards for short factual answers: AssistantBench's scoring rules, and a graded fuzzy match."""
