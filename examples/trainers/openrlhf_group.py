"""OpenRLHF's own executor asks our `reward_func`, and its experience maker computes the advantages.

python examples/trainers/openrlhf_group.py
"""

# ruff: noqa: E402, SLF001, T201 - placeholders before the library; its own steps; a script prints
from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from group_of_four import PROMPT, REFERENCE, RESPONSES, named, report, without

without("vllm", "deepspeed", "flash_attn", "peft", "torchdata")
import torch
from openrlhf.trainer.ppo_utils.experience_maker import RemoteExperienceMaker
from openrlhf.trainer.ppo_utils.samples_generator import SamplesGenerator
from openrlhf.utils.agent import SingleTurnAgentExecutor

REWARD_FILE = """
from assay.adapters import openrlhf
from group_of_four import grade

reward_func = openrlhf.reward(grade)
"""


class Words:
    """A tokenizer of one token for each text."""

    texts = (PROMPT, *(f"{response}<|im_end|>" for response in RESPONSES))

    def __call__(self, text: str, **_: Any) -> dict[str, Any]:
        return {"input_ids": torch.tensor([[self.texts.index(text)]])}

    def decode(self, tokens: list[int], **_: Any) -> str:
        return "".join(self.texts[token] for token in tokens)


class Engine:
    """Answers with one of the responses."""

    def __init__(self, number: int) -> None:
        self.number = number

    async def generate(self, prompt: Any, *_: Any, **__: Any) -> Any:  # noqa: ARG002
        output = SimpleNamespace(token_ids=[self.number + 1], finish_reason="stop", logprobs=None)
        return SimpleNamespace(outputs=[output])


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "reward_func.py")
        path.write_text(REWARD_FILE)
        executor = SingleTurnAgentExecutor(str(path))
    sampling = SimpleNamespace(max_tokens=8, logprobs=None)
    outputs = [
        asyncio.run(executor.execute(PROMPT, REFERENCE, sampling, 64, Words(), Engine(number)))
        for number in range(len(RESPONSES))
    ]
    args = SimpleNamespace(
        rollout=SimpleNamespace(n_samples_per_prompt=len(RESPONSES)),
        reward=SimpleNamespace(
            clip_range=None, overlong_buffer_len=None, stop_properly_penalty_coef=None
        ),
        algo=SimpleNamespace(advantage=SimpleNamespace(estimator="group_norm", gamma=1.0)),
    )
    strategy = SimpleNamespace(args=args)
    generator = SamplesGenerator(strategy, None, None, Words(), [])
    experiences = [generator._process_response_into_experience(output) for output in outputs]
    for index, experience in enumerate(experiences):
        experience.index = [index]
        experience.kl = torch.zeros_like(experience.action_mask, dtype=torch.float)
    maker = RemoteExperienceMaker(
        None, None, None, None, SimpleNamespace(value=0.0), strategy, Words()
    )
    made = maker.compute_advantages_and_returns(experiences)
    print("abstained:", [float(experience.info["abstained"]) for experience in made])
    return report(
        named("openrlhf"),
        [output["reward"][0] for output in outputs],
        [experience.advantages.flatten()[-1] for experience in made],
    )


if __name__ == "__main__":
    sys.exit(main())
