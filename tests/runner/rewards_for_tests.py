"""Rewards that worker processes can import."""

from __future__ import annotations


def length(final_response: str, answer: str = "") -> dict[str, float]:
    """How long the answer is."""
    if final_response == "raise":
        raise ValueError("told to")
    return {"reward": float(len(final_response)), "gold": float(len(answer))}
