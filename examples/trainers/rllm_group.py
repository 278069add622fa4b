"""rLLM's own episodes through our evaluator, and its GRPO advantages.

rLLM is not on PyPI: RLLM names a checkout (`make trainer-rllm RLLM=../rllm`).

    PYTHONPATH=src:../rllm python examples/trainers/rllm_group.py
"""

from __future__ import annotations

import sys
from pathlib import Path

from group_of_four import PROMPT, REFERENCE, RESPONSES, grade, report
from rllm.trainer.algorithms.advantage import collect_reward_and_advantage_from_trajectory_groups
from rllm.trainer.algorithms.config import AlgorithmConfig
from rllm.types import Episode, Step, Task, Trajectory, TrajectoryGroup

from assay.adapters import rllm


def episode(response: str) -> Episode:
    """An answer, and then a step that only called a tool."""
    steps = [Step(model_response=f"{response}<|im_end|>"), Step(model_response="")]
    return Episode(trajectories=[Trajectory(name="solver", steps=steps)])


def main() -> int:
    evaluator = rllm.Evaluator(grade)
    task = Task(
        id="1", instruction=PROMPT, metadata={"ground_truth": REFERENCE}, dataset_dir=Path()
    )
    trajectories = []
    for response in RESPONSES:
        played = episode(response)
        output = evaluator.evaluate(task, played)
        played.trajectories[0].reward = output.reward
        trajectories.append(played.trajectories[0])
    group = TrajectoryGroup(trajectories=trajectories, group_id="1:solver")
    collect_reward_and_advantage_from_trajectory_groups([group], AlgorithmConfig())
    rewards = [trajectory.reward for trajectory in trajectories]
    return report("rLLM", rewards, [each.steps[0].advantage for each in trajectories])


if __name__ == "__main__":
    sys.exit(main())
