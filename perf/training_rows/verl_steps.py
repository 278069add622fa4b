"""Reward stages of verl over prepared completions: 64 samples at a time in its reward manager.

    PYTHONPATH=src:. python -m perf.training_rows.verl_steps DATA ROUNDS SEED SERVER [PACKAGES]

Run in verl's environment. `load_reward_manager` builds verl's `NaiveRewardManager` from a
configuration, and `run_single` scores each sample, as `RewardLoopWorker` does it: it decodes the
response in a thread and calls the reward function in one. There are 64 threads. `PACKAGES` is a
folder that has Math-Verify, and comes last on the path. Prints a line of JSON for each step.
"""

# The trainer's library is not in this environment, so it has no types.
# mypy: disable-error-code="import-not-found,no-any-return,misc"
from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from omegaconf import OmegaConf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from verl import DataProto
from verl.trainer.ppo.reward import load_reward_manager

from perf.training_rows.batches import Row, steps

WORKERS = 64
OWN = {"reward": "math_equal_reward"}
FUNCTIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "assay": ("pkg://assay.adapters.verl", "compute_score", OWN),
    "assay, coroutines": ("pkg://assay.adapters.verl", "compute_score_async", OWN),
    "assay serve": ("pkg://perf.training_rows.verl_functions", "ask_server", {}),
    "math-verify": ("pkg://perf.training_rows.verl_functions", "math_verify", {}),
}


def build_tokenizer() -> PreTrainedTokenizerFast:
    """One token for every printable sign."""
    signs = ["<pad>", "<unk>", "\n", *map(chr, range(32, 127))]
    vocabulary = {sign: number for number, sign in enumerate(signs)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>")


def build_batch(tokenizer: PreTrainedTokenizerFast, rows: tuple[Row, ...]) -> DataProto:
    texts = [row.response for row in rows]
    encoded = tokenizer(texts, padding=True, padding_side="right", return_tensors="pt")
    prompt = torch.ones(len(rows), 2, dtype=torch.long)
    references = [{"ground_truth": row.reference} for row in rows]
    return DataProto.from_dict(
        tensors={
            "responses": encoded["input_ids"],
            "attention_mask": torch.cat([prompt, encoded["attention_mask"]], dim=1),
        },
        non_tensors={
            "data_source": np.array(["maths"] * len(rows), dtype=object),
            "reward_model": np.array(references, dtype=object),
            "extra_info": np.array([{"index": n // 8} for n in range(len(rows))], dtype=object),
        },
    )


def build_manager(tokenizer: PreTrainedTokenizerFast, grader: str) -> Any:
    path, name, options = FUNCTIONS[grader]
    function = {"path": path, "name": name, "reward_kwargs": options}
    manager = {"source": "register", "name": "naive"}
    config = {"reward": {"custom_reward_function": function, "reward_manager": manager}}
    return load_reward_manager(OmegaConf.create(config), tokenizer)


async def run(data: Path, rounds: int, seed: int, graders: list[str]) -> None:
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(WORKERS))
    tokenizer = build_tokenizer()
    managers = {grader: build_manager(tokenizer, grader) for grader in graders}
    for step in steps(data, graders, rounds, seed):
        batch = build_batch(tokenizer, step.rows)
        samples = [batch[number : number + 1] for number in range(len(step.rows))]
        manager = managers[step.grader]
        manager.loop = loop
        begin, worked = time.perf_counter(), time.process_time()
        results = await asyncio.gather(*map(manager.run_single, samples))
        spent = time.perf_counter() - begin
        record = {
            "grader": step.grader,
            "batch": step.batch,
            "round": step.round,
            "hostile": step.hostile,
            "reward_s": spent,
            "reward_cpu_s": time.process_time() - worked,
            "step_s": None,
            "mean": sum(each["reward_score"] for each in results) / len(results),
        }
        print(json.dumps(record), flush=True)


def main(data: str, rounds: str, seed: str, server: str, packages: str = "") -> int:
    os.environ["ASSAY_URL"] = server
    graders = list(FUNCTIONS)
    if packages:
        sys.path.append(packages)
    else:
        graders.remove("math-verify")
    asyncio.run(run(Path(data), int(rounds), int(seed), graders))
    # verl's scorer leaves its processes to whatever they compute.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
