"""Rewards that worker processes can import."""

from __future__ import annotations


def length(final_response: str, answer: str = "") -> dict[str, float]:
    """How long the answer is."""
    if final_response == "raise":
        raise ValueError("told to")
    return {"reward": float(len(final_response)), "gold": float(len(answer))}


def exact(final_response: str, answer: str = "") -> float:
    """Whether the answer is the reference, to the letter."""
    return float(final_response == answer)


def lenient(final_response: str, answer: str = "") -> float:
    """Whether the answer is the reference, apart from case and white space."""
    return float(final_response.strip().lower() == answer)
