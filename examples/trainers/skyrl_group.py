"""SkyRL's configuration, its generator's agent loop over our environment, and its GRPO advantages.

python examples/trainers/skyrl_group.py
"""

# ruff: noqa: E402, T201 - placeholders come before the library; a script prints
from __future__ import annotations

import asyncio
import sys
from typing import Any

from group_of_four import PROMPT, REFERENCE, RESPONSES, grade, named, report, without

without("vllm", "flash_attn", "peft", "jaxtyping", "sglang", "deepspeed")
import numpy as np
import skyrl_gym
import torch
from skyrl.backends.skyrl_train.utils.ppo_utils import compute_grpo_outcome_advantage
from skyrl.train.config import SkyRLTrainConfig
from skyrl.train.generators.skyrl_gym_generator import SkyRLGymGenerator


class Words:
    """A tokenizer of one token for each text."""

    eos_token_id = 0
    eos_token = "<|im_end|>"  # noqa: S105 - a special token is no password

    def apply_chat_template(self, *_: Any, **__: Any) -> list[int]:
        return [5]


class Engine:
    """Answers with the responses in turn."""

    weight_version = None

    def __init__(self) -> None:
        self._responses = iter(RESPONSES)

    async def generate(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {
            "responses": [f"{next(self._responses)}<|im_end|>"],
            "response_ids": [[7, 0]],
            "stop_reasons": ["stop"],
            "response_logprobs": None,
        }

    async def finish_session(self, *_: Any, **__: Any) -> None: ...


def main() -> int:
    skyrl_gym.register(
        id="assay", entry_point="assay.adapters.skyrl:RewardEnv", kwargs={"reward": grade}
    )
    config = SkyRLTrainConfig.from_cli_overrides(
        ["environment.env_class=assay", "generator.max_turns=1"]
    )
    generator = SkyRLGymGenerator(config.generator, config.environment.skyrl_gym, Engine(), Words())
    outputs = []
    for _ in RESPONSES:
        extras = {"reward_spec": {"ground_truth": REFERENCE}}
        prompt = [{"role": "user", "content": PROMPT}]
        outputs.append(
            asyncio.run(generator.agent_loop(prompt, config.environment.env_class, extras, 16, 64))
        )
    rewards = [float(np.sum(output.reward)) for output in outputs]
    print("metrics:", [output.env_metrics for output in outputs])
    mask = torch.ones(len(RESPONSES), 1)
    advantages, _ = compute_grpo_outcome_advantage(
        torch.tensor(rewards).unsqueeze(1), mask, np.zeros(len(RESPONSES), dtype=int)
    )
    library = f"{named('skyrl')}, {named('skyrl-gym')}"
    return report(library, rewards, advantages[:, 0])


if __name__ == "__main__":
    sys.exit(main())
