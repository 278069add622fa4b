"""TRL's `accuracy_reward`, with the reference in dollar signs: bare LaTeX is read in part only."""

from __future__ import annotations

from typing import Any

from trl.rewards import accuracy_reward  # type: ignore[import-not-found]


def reward(prompts: Any, completions: Any, answer: list[str]) -> list[float | None]:
    """What TRL pays."""
    del prompts
    paid: list[float | None] = accuracy_reward(completions, [f"${gold}$" for gold in answer])
    return paid
