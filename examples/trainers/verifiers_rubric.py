"""The older verifiers API (before 0.2): a `Rubric` scores three finished rollouts with our reward.

python examples/trainers/verifiers_rubric.py
"""

# ruff: noqa: T201 - a script prints
from __future__ import annotations

import asyncio
import math
import sys
from typing import Any

import verifiers as vf

from assay.adapters import verifiers

ROLLOUTS = [(r"so \boxed{\tfrac12}", "0.5"), ("the answer is 7", "6"), ("three", "")]


def state(response: str, answer: str) -> dict[str, Any]:
    return {
        "prompt": [{"role": "user", "content": "?"}],
        "completion": [{"role": "assistant", "content": response}],
        "answer": answer,
        "task": "sums",
        "info": {},
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
    return 0 if rewards[:2] == [1.0, 0.0] and math.isnan(rewards[2]) else 1


if __name__ == "__main__":
    sys.exit(main())
