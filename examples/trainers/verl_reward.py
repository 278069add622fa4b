"""verl loads our reward by configuration alone, and its own reward manager calls it.

`load_reward_manager` is the function that verl's trainers call; the manager decodes the response of
each sample and asks `compute_score`, once as a plain function and once as a coroutine. Then it
scores a group of four with one abstention, whose advantages are verl's own GRPO's.

    python examples/trainers/verl_reward.py
"""

# ruff: noqa: T201, S106 - a script prints, and a special token is no password
from __future__ import annotations

import asyncio
import sys
from typing import Any

import numpy as np
import torch
from group_of_four import REFERENCE, RESPONSES, grade, named, report
from omegaconf import DictConfig, OmegaConf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from verl import DataProto
from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage
from verl.trainer.ppo.reward import load_reward_manager

import assay

ROWS = [("so 12", "12"), ("so 13", "12"), ("so 12", None)]
GROUP = [(response, REFERENCE) for response in RESPONSES]


def build_tokenizer() -> PreTrainedTokenizerFast:
    """One token for every letter and digit that the rows use."""
    vocabulary = {
        token: number for number, token in enumerate(["<pad>", "<unk>", *"lsto 0123456789"])
    }
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>")


def configuration(function: str, reward: str, **options: Any) -> DictConfig:
    """What a user would put on verl's command line."""
    return OmegaConf.create(
        {
            "reward": {
                "custom_reward_function": {
                    "path": "pkg://assay.adapters.verl",
                    "name": function,
                    "reward_kwargs": {"reward": reward, **options},
                },
                "reward_manager": {"source": "register", "name": "naive"},
            }
        }
    )


def batch(tokenizer: PreTrainedTokenizerFast, rows: list[Any]) -> DataProto:
    texts = [text for text, _ in rows]
    encoded = tokenizer(texts, padding=True, padding_side="right", return_tensors="pt")
    return DataProto.from_dict(
        tensors={
            "responses": encoded["input_ids"],
            "attention_mask": torch.cat(
                [torch.ones(len(rows), 2, dtype=torch.long), encoded["attention_mask"]], dim=1
            ),
        },
        non_tensors={
            "data_source": np.array(["sums"] * len(rows), dtype=object),
            "reward_model": np.array([{"ground_truth": gold} for _, gold in rows], dtype=object),
            "extra_info": np.array([{"index": 0}] * len(rows), dtype=object),
        },
    )


async def score_samples(rows: list[Any], config: DictConfig) -> list[dict[str, Any]]:
    tokenizer = build_tokenizer()
    manager = load_reward_manager(config, tokenizer)
    data = batch(tokenizer, rows)
    return [await manager.run_single(data[number : number + 1]) for number in range(len(rows))]


def advantages_of(rewards: list[float]) -> Any:
    """verl's GRPO advantages of a group with these rewards."""
    responses = batch(build_tokenizer(), GROUP).batch["responses"]
    scores = torch.zeros_like(responses, dtype=torch.float)
    scores[:, 0] = torch.tensor(rewards)
    uid = np.array(["one prompt"] * len(GROUP), dtype=object)
    advantages, _ = compute_grpo_outcome_advantage(scores, (responses != 0).long(), uid)
    return advantages[:, 0]


def main() -> int:
    options = {"reward": "math_equal_reward", "params": {"tolerance": "exact"}}
    plain = asyncio.run(score_samples(ROWS, configuration("compute_score", **options)))
    for (text, gold), result in zip(ROWS, plain, strict=True):
        print(repr(text), repr(gold), result)
    again = asyncio.run(score_samples(ROWS, configuration("compute_score_async", **options)))
    print("the coroutine gives the same:", plain == again)
    assay.reward(name="grade")(grade)
    scored = asyncio.run(score_samples(GROUP, configuration("compute_score", "grade")))
    rewards = [each["reward_score"] for each in scored]
    failures = report(named("verl"), rewards, advantages_of(rewards))
    numbers = [each["reward_score"] for each in plain]
    return failures or (0 if plain == again and numbers == [1.0, 0.0, 0.5] else 1)


if __name__ == "__main__":
    sys.exit(main())
