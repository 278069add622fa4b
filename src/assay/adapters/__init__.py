"""Rewards for RL trainers and evaluation frameworks, one module for each."""
