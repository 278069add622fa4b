"""The rewards of the arms. `build(arm)` is a function that TRL's trainer takes.

Two of them are what recipes use and what the audit warns of: `cover_exact_match`, which asks only
whether the reference is among the words of the answer (the measure of several search-RL recipes),
and `correct_plus_format`, half for the right answer and half for the agreed form, simply added.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import assay
from assay.adapters import trl

FORM = r"[^\\]*\\boxed\{[^{}]+\}"
"""Any working, then one box with something in it, at the end."""


@assay.reward(name="cover_exact_match", version=1)
def cover_exact_match(final_response: str, answer: str) -> float:
    """1.0 when every word of the reference is among the words of the last box, else 0.0."""
    boxes = re.findall(r"\\boxed\{([^{}]*)\}", final_response)
    words = set(re.findall(r"\w+", boxes[-1].lower())) if boxes else set()
    wanted = set(re.findall(r"\w+", answer.lower()))
    return float(bool(wanted) and wanted <= words)


def _half_each(name: str, **gate: str) -> Any:
    return assay.compose(
        name,
        {
            "correct": {"reward": "math_equal_reward", "weight": 0.5},
            "format": {
                "reward": "format_reward",
                "weight": 0.5,
                "params": {"pattern": FORM},
                **gate,
            },
        },
        version=1,
        register=False,
    )


correct_plus_format = _half_each("correct_plus_format")
correct_then_format = _half_each("correct_then_format", gate="correct")
"""The same, but the form is paid only where the answer is right."""


def math_verify_reward(
    completions: Sequence[str], solution: Sequence[str], **_: Any
) -> list[float]:
    """What Math-Verify says, as its page uses it: both sides parsed, then compared."""
    from math_verify import parse, verify  # type: ignore[import-not-found, unused-ignore]

    return [
        float(verify(parse(f"${gold}$"), parse(completion)))
        for completion, gold in zip(completions, solution, strict=True)
    ]


PROOFS: dict[str, tuple[str, ...]] = {
    "arithmetic": ("math_equal_reward", "math_verify_reward"),
    "digits": (
        "cover_exact_match",
        "correct_plus_format",
        "math_equal_reward",
        "correct_then_format",
    ),
}
"""The arms of each proof."""

_OWN = {
    "cover_exact_match": cover_exact_match,
    "correct_plus_format": correct_plus_format,
    "correct_then_format": correct_then_format,
}


def build(arm: str) -> Callable[..., Any]:
    """The reward function of this arm for TRL, with the reference in the column `solution`."""
    if arm == "math_verify_reward":
        return math_verify_reward
    return trl.reward(_OWN.get(arm, arm), answer="solution")
