"""slime's reward hub asks `assay.adapters.slime.rm`; its rollout manager computes the advantages.

slime is not on PyPI: SLIME names a checkout (`make trainer-slime SLIME=../slime`).

    PYTHONPATH=src:../slime python examples/trainers/slime_group.py
"""

# ruff: noqa: E402, SLF001, T201 - placeholders before the library; its own steps; a script prints
from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from types import SimpleNamespace
from typing import Any

from group_of_four import PROMPT, REFERENCE, RESPONSES, grade, report, without

without("sglang", "sglang_router", "megatron", "vllm", "wandb", "PIL", "pylatexenc")
from slime.ray.rollout import RolloutManager
from slime.rollout.rm_hub import async_rm, batched_async_rm
from slime.utils.types import Sample

ARGS = Namespace(
    custom_rm_path="assay.adapters.slime.rm",
    reward_key=None,
    assay_reward=grade,
    advantage_estimator="grpo",
    rewards_normalization=True,
    grpo_std_normalization=True,
    n_samples_per_prompt=len(RESPONSES),
    rollout_batch_size=1,
)


def samples() -> list[Sample]:
    return [
        Sample(
            group_index=0,
            index=index,
            prompt=PROMPT,
            response=f"{response}<|im_end|>",
            label=REFERENCE,
            response_length=2,
        )
        for index, response in enumerate(RESPONSES)
    ]


def advantages(group: list[Sample], rewards: list[Any]) -> list[float]:
    """As slime's rollout manager makes them; the rest of that class starts engines."""
    for sample, reward in zip(group, rewards, strict=True):
        sample.reward = reward
    manager_class = getattr(RolloutManager, "__ray_metadata__", None)
    post_process = (
        manager_class.modified_class if manager_class else RolloutManager
    )._post_process_rewards
    manager = SimpleNamespace(custom_reward_post_process_func=None, args=ARGS)
    return list(post_process(manager, group)[1])


async def one_by_one(group: list[Sample]) -> list[Any]:
    return [await async_rm(ARGS, sample) for sample in group]


def main() -> int:
    failures = 0
    for title, ask in (
        ("with --group-rm", lambda group: batched_async_rm(ARGS, group)),
        ("one by one", one_by_one),
    ):
        group = samples()
        rewards = asyncio.run(ask(group))
        failures += report(f"slime {title}", rewards, advantages(group, rewards))
        print("removed:", [sample.remove_sample for sample in group])
    return failures


if __name__ == "__main__":
    sys.exit(main())
