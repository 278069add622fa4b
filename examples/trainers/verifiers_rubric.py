"""The older verifiers API (before 0.2): a `Rubric` scores rollouts, and a group, with our reward.

python examples/trainers/verifiers_rubric.py
"""

# ruff: noqa: T201 - a script prints
from __future__ import annotations

import asyncio
import sys
from typing import Any

import verifiers as vf
from group_of_four import PROMPT, REFERENCE, RESPONSES, grade, named, report

from assay.adapters import verifiers

ROLLOUTS = [(r"so \boxed{\tfrac12}", "0.5"), ("the answer is 7", "6"), ("three", "")]


def state(response: str, answer: str) -> dict[str, Any]:
    return {
        "prompt": [{"role": "user", "content": PROMPT}],
        "completion": [{"role": "assistant", "content": response}],
        "answer": answer,
        "task": "sums",
        "info": {},
        "trajectory": [],
        "timing": {"total_ms": 0.0},
    }


def main() -> int:
    rubric = vf.Rubric(funcs=[verifiers.rubric_function("math_equal_reward")], weights=[1.0])
    rewards = []
    for response, answer in ROLLOUTS:
        rollout = state(response, answer)
        asyncio.run(rubric.score_rollout(rollout))
        rewards.append(rollout["reward"])
        print(repr(response), rollout["metrics"], rollout.get("abstained", ""))
    failures = 0
    for title, function in (
        ("score_group, a group function", verifiers.group_function(grade)),
        ("score_group, one for a rollout", verifiers.rubric_function(grade)),
    ):
        group = [state(response, REFERENCE) for response in RESPONSES]
        asyncio.run(vf.Rubric(funcs=[function], weights=[1.0]).score_group(group))
        failures += report(
            f"{named('verifiers')}, {title}",
            [rollout["reward"] for rollout in group],
            [rollout["advantage"] for rollout in group],
        )
    return failures or (0 if rewards == [1.0, 0.0, 0.5] else 1)


if __name__ == "__main__":
    sys.exit(main())
