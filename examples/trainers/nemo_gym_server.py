"""A NeMo-Gym resources server with our reward: what its HTTP interface answers to four requests.

Neither NeMo-Gym nor NeMo-RL is on PyPI: NEMO_GYM and NEMO_RL name checkouts
(`make trainer-nemo NEMO_GYM=../Gym NEMO_RL=../RL`). The advantages are those over NeMo-RL's own
baseline, from which it leaves out what is masked.

    PYTHONPATH=src:../Gym:../RL python examples/trainers/nemo_gym_server.py
"""

# ruff: noqa: E402, T201 - placeholders come before the library; a script prints
from __future__ import annotations

import sys
from typing import Any
from unittest.mock import MagicMock

from group_of_four import LOST, PROMPT, REFERENCE, RESPONSES, grade, report, without

without("mlflow", "gradio", "wandb", "yappi", "gprof2dot", "pydot", "devtools", "mcp")
without("megatron", "PIL", "pynvml")
# Models and loggers, which the baseline does not touch.
sys.modules["nemo_rl.models.policy"] = sys.modules["nemo_rl.utils.logger"] = MagicMock()
import torch
from fastapi.testclient import TestClient
from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseVerifyRequest,
    BaseVerifyResponse,
    SimpleResourcesServer,
)
from nemo_rl.algorithms.utils import calculate_baseline_and_std_per_prompt

from assay.adapters import nemo_gym

score_response = nemo_gym.reward(grade)


class SumsVerifyRequest(BaseVerifyRequest):
    expected_answer: str


class Sums(SimpleResourcesServer):
    async def verify(self, body: SumsVerifyRequest) -> BaseVerifyResponse:
        return await score_response(body)


def request(response: str) -> dict[str, Any]:
    item = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": f"{response}<|im_end|>", "annotations": []}],
    }
    reply = {
        "id": "r",
        "created_at": 0,
        "model": "m",
        "object": "response",
        "output": [item],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    }
    return {
        "responses_create_params": {"input": PROMPT},
        "response": reply,
        "expected_answer": REFERENCE,
    }


def advantages_of(rewards: list[float], masks: list[bool]) -> Any:
    """NeMo-RL's, without its scaling: each reward over the mean of the others that count."""
    prompts = torch.zeros(len(rewards), 1, dtype=torch.long)
    valid = torch.tensor([not mask for mask in masks]).float()
    numbers = torch.tensor(rewards)
    baseline, _ = calculate_baseline_and_std_per_prompt(prompts, numbers, valid)
    return (numbers - baseline) * valid


def main() -> int:
    config = BaseResourcesServerConfig(
        name="sums", host="127.0.0.1", port=0, entrypoint="app.py", domain="math"
    )
    server = Sums.model_construct(config=config, server_client=MagicMock())
    with TestClient(server.setup_webserver()) as client:
        rows = [client.post("/verify", json=request(response)) for response in RESPONSES]
    answers = [row.raise_for_status().json() for row in rows]
    masks = [answer["instance_config"]["mask_sample"] for answer in answers]
    classes = [answer.get("_ng_failure_class") for answer in answers]
    print("masked:", masks, "to the failures file:", classes)
    rewards = [answer["reward"] for answer in answers]
    wrong = masks.index(True) != LOST or classes[LOST] != "judge_failed"
    return report("NeMo-Gym", rewards, advantages_of(rewards, masks)) or int(wrong)


if __name__ == "__main__":
    sys.exit(main())
