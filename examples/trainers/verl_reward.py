"""verl loads our reward by configuration alone, and its own reward manager calls it.

`load_reward_manager` is the function that verl's trainers call; the manager decodes the response of
each sample and asks `compute_score`, once as a plain function and once as a coroutine.

    python examples/trainers/verl_reward.py
"""

# ruff: noqa: T201, S106 - a script prints, and a special token is no password
from __future__ import annotations

import asyncio
import sys
from typing import Any

import numpy as np
import torch
from omegaconf import DictConfig, OmegaConf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from verl import DataProto
from verl.trainer.ppo.reward import load_reward_manager

ROWS = [("so 12", "12"), ("so 13", "12"), ("so 12", None)]


def build_tokenizer() -> PreTrainedTokenizerFast:
    """One token for every letter and digit that the rows use."""
    vocabulary = {
        token: number for number, token in enumerate(["<pad>", "<unk>", *"so 0123456789"])
    }
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>")


def configuration(function: str) -> DictConfig:
    """What a user would put on verl's command line."""
    return OmegaConf.create(
        {
            "reward": {
                "custom_reward_function": {
                    "path": "pkg://assay.adapters.verl",
                    "name": function,
                    "reward_kwargs": {
                        "reward": "math_equal_reward",
                        "params": {"tolerance": "exact"},
                        "abstained": -1.0,
                    },
                },
                "reward_manager": {"source": "register", "name": "naive"},
            }
        }
    )


def batch(tokenizer: PreTrainedTokenizerFast) -> DataProto:
    texts = [text for text, _ in ROWS]
    encoded = tokenizer(texts, padding=True, padding_side="right", return_tensors="pt")
    return DataProto.from_dict(
        tensors={
            "responses": encoded["input_ids"],
            "attention_mask": torch.cat(
                [torch.ones(len(ROWS), 2, dtype=torch.long), encoded["attention_mask"]], dim=1
            ),
        },
        non_tensors={
            "data_source": np.array(["sums"] * len(ROWS), dtype=object),
            "reward_model": np.array([{"ground_truth": gold} for _, gold in ROWS], dtype=object),
            "extra_info": np.array(
                [{"index": number} for number in range(len(ROWS))], dtype=object
            ),
        },
    )


async def score_samples(function: str) -> list[dict[str, Any]]:
    tokenizer = build_tokenizer()
    manager = load_reward_manager(configuration(function), tokenizer)
    data = batch(tokenizer)
    return [await manager.run_single(data[number : number + 1]) for number in range(len(ROWS))]


def main() -> int:
    plain = asyncio.run(score_samples("compute_score"))
    for (text, gold), result in zip(ROWS, plain, strict=True):
        print(repr(text), repr(gold), result)
    same = plain == asyncio.run(score_samples("compute_score_async"))
    print("the coroutine gives the same:", same)
    return 0 if same and [each["reward_score"] for each in plain] == [1.0, 0.0, -1.0] else 1


if __name__ == "__main__":
    sys.exit(main())
