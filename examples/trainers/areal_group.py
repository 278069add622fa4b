"""AReaL's RLVR workflow asks our `reward_fn` in its process pool, and its norm gives advantages.

python examples/trainers/areal_group.py
"""

# ruff: noqa: E402, SLF001 - placeholders come before the library; its own inner step is what counts
from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace
from typing import Any

from group_of_four import PROMPT, REFERENCE, RESPONSES, grade, named, report, without

without("PIL", "agents", "aiofiles", "anthropic", "claude_agent_sdk", "flash_attn", "flask", "lark")
without("mbridge", "megatron", "numba", "openai", "peft", "sglang", "swanlab", "trackio", "uvloop")
without("vllm", "wandb", "werkzeug")
import torch
from areal.api.cli_args import NormConfig
from areal.api.reward_api import AsyncRewardWrapper
from areal.utils.data import Normalization
from areal.workflow.rlvr import RLVRWorkflow

from assay.adapters import areal

reward_fn = areal.reward(grade)


def workflow() -> RLVRWorkflow:
    """The workflow, without the parts that talk to an inference engine."""
    made = object.__new__(RLVRWorkflow)
    made.tokenizer = SimpleNamespace(decode=lambda tokens: "".join(tokens))
    # One worker sees the whole group; with several, each knows the rewards that it gave.
    made.async_reward_fn = AsyncRewardWrapper(reward_fn, max_workers=1)
    return made


async def ask() -> list[float]:
    rlvr = workflow()
    row: dict[str, Any] = {"answer": REFERENCE}
    rewards = []
    for response in RESPONSES:
        output = SimpleNamespace(input_tokens=[PROMPT], output_tokens=[response, "<|im_end|>"])
        rewards.append(await rlvr._compute_rewards(output, PROMPT, row))
    return rewards


def main() -> int:
    rewards = asyncio.run(ask())
    config = NormConfig(mean_level="group", std_level="group", group_size=len(RESPONSES))
    advantages = Normalization(config)(torch.tensor(rewards).unsqueeze(1))
    return report(named("areal"), rewards, advantages.flatten())


if __name__ == "__main__":
    sys.exit(main())
