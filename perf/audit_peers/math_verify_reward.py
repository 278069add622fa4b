"""math-verify as its README uses it: parse both sides, then verify.

The reference is given in dollar signs, as the README asks for LaTeX.
"""

from __future__ import annotations

from math_verify import parse, verify  # type: ignore[import-not-found]


def reward(final_response: str, answer: str) -> float:
    """1.0 when math-verify calls the two equal."""
    return float(verify(parse(f"${answer}$"), parse(final_response)))
