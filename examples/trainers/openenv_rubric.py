"""OpenEnv's rubrics with our reward as one of them: alone, and in a weighted sum.

python examples/trainers/openenv_rubric.py
"""

# ruff: noqa: E402, T201 - placeholders come before the library; a script prints
from __future__ import annotations

import sys
from statistics import fmean, stdev

from group_of_four import REFERENCE, RESPONSES, grade, named, report, without

without("fastmcp", "mcp", "gradio", "openai")
from openenv.core.env_server.types import Action, Observation
from openenv.core.rubrics.containers import WeightedSum

from assay.adapters import openenv


class Say(Action):
    text: str


def main() -> int:
    columns = {"final_response": "action.text", "answer": "observation.metadata.answer"}
    seen = Observation(metadata={"answer": REFERENCE})
    alone = openenv.RewardRubric(grade, **columns)
    print("alone:", [alone(Say(text=response), seen) for response in RESPONSES])
    rubric = WeightedSum([openenv.RewardRubric(grade, abstained="mean", **columns)], [1.0])
    rewards = [rubric(Say(text=response), seen) for response in RESPONSES]
    advantages = [(reward - fmean(rewards)) / stdev(rewards) for reward in rewards]
    return report(named("openenv-core"), rewards, advantages)


if __name__ == "__main__":
    sys.exit(main())
