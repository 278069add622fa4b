"""TRL's GRPOTrainer trains over many turns in our environments, on a CPU, with no download.

For WebShop, ALFWorld, a chat with tools and ScienceWorld: two GRPO steps, each over one group of
eight rollouts of one task, first with `rollout_func` (a reply is an action), then with
`environment_factory` (actions are tool calls). The model is a two-layer Llama with random weights,
whose vocabulary has whole actions as tokens. Then a group in which an environment dies half-way.

    python examples/trainers/trl_worlds.py [webshop alfworld chat scienceworld]
"""

# ruff: noqa: T201, SLF001 - a script prints; TRL keeps its log there
from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"

import torch
from datasets import Dataset
from tiny_policy import SILENT, build_model, build_tokenizer
from transformers import PrinterCallback, set_seed
from trl import GRPOConfig, GRPOTrainer
from worlds import WORLDS, Fragile, check_groups, names

import assay
from assay.adapters.episodes import Episodes
from assay.adapters.trl_episodes import environment_factory, outcome, rollout_func, rows

GROUP, STEPS = 8, 2


def build_trainer(
    folder: str, episodes: Episodes, actions: Sequence[str], **options: Any
) -> GRPOTrainer:
    set_seed(7)
    tokenizer = build_tokenizer(actions)
    silent = tokenizer.convert_tokens_to_ids(list(SILENT))
    trainer = GRPOTrainer(
        model=build_model(tokenizer),
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(rows(episodes)),
        reward_funcs=[outcome],
        args=GRPOConfig(
            output_dir=folder,
            max_steps=STEPS,
            per_device_train_batch_size=GROUP,
            num_generations=GROUP,
            max_completion_length=1024,
            max_tool_calling_iterations=8,
            generation_kwargs={"suppress_tokens": silent, "max_new_tokens": 1},
            learning_rate=1e-3,
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            bf16=False,
            disable_tqdm=True,
            seed=7,
        ),
        **options,
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def train(name: str, *, with_tools: bool) -> None:
    start, records = time.perf_counter(), list[assay.Episode]()
    world = WORLDS[name]
    actions = [as_call(action) for action in world.actions] if with_tools else world.actions
    episodes = world.open(step_limit=8, at_once=GROUP, on_episode=records.append)
    with tempfile.TemporaryDirectory() as folder, episodes:
        options: dict[str, Any] = (
            {"environment_factory": environment_factory(episodes)}
            if with_tools
            else {"rollout_func": rollout_func(episodes, turn_tokens=1)}
        )
        trainer = build_trainer(folder, episodes, actions, **options)
        before = [weight.detach().clone() for weight in trainer.model.parameters()]
        trainer.train()
        pairs = zip(before, trainer.model.parameters(), strict=True)
        change = max(float((new.detach() - old).abs().max()) for old, new in pairs)
    figures = check_groups(records, GROUP)
    log = [entry for entry in trainer.state.log_history if "reward" in entry]
    logged = sorted(trainer._logs["rewards"]["outcome"])
    outcomes = sorted(float(episode.scores[0]) for episode in records[-len(logged) :])
    assert max(abs(a - b) for a, b in zip(logged, outcomes, strict=True)) < 1e-6
    print(f"{name}, {'environment_factory' if with_tools else 'rollout_func'}: {figures}")
    print(
        f"  {trainer.state.global_step} steps; TRL's mean reward "
        f"{[round(entry['reward'], 3) for entry in log]}, flat groups "
        f"{[entry['frac_reward_zero_std'] for entry in log]}, gradient "
        f"{[round(entry['grad_norm'], 3) for entry in log]}, largest change of a weight "
        f"{change:.1e}; {time.perf_counter() - start:.1f} s"
    )
    assert trainer.state.global_step == STEPS


def as_call(action: str) -> str:
    """The action as Qwen's template writes a tool call; an answer stays as it is."""
    if action.startswith("It is"):
        return action
    call: dict[str, Any] = {"name": "act", "arguments": {"action": action}}
    for name, argument in (("search", "keywords"), ("click", "target")):
        if action.startswith(f"{name}["):
            call = {"name": name, "arguments": {argument: action[len(name) + 1 : -1]}}
    if action.startswith("price("):
        call = {"name": "price", "arguments": json.loads(action[6:-1])}
    return f"<tool_call>\n{json.dumps(call)}\n</tool_call>"


def train_with_failures() -> None:
    """A failure is no reward: the rollouts that failed have no advantage and move no weight."""
    house, records = WORLDS["alfworld"], list[assay.Episode]()
    tasks = house.open().tasks
    with (
        tempfile.TemporaryDirectory() as folder,
        Episodes(
            Fragile,
            "alfworld_episode_reward",
            tasks=tasks,
            step_limit=8,
            on_episode=records.append,
        ) as episodes,
    ):
        rollouts = rollout_func(episodes, turn_tokens=1)
        trainer = build_trainer(folder, episodes, house.actions, rollout_func=rollouts)
        trainer.train()
    failures = [episode.stop_reason == "env_error" for episode in records]
    advantages = list(trainer._logs["advantages"])
    rewards = [value == value for value in trainer._logs["rewards"]["outcome"]]  # NaN is not itself
    print(
        f"alfworld with failures: {sum(failures)} of {len(failures)} rollouts failed, "
        f"{sum(rewards)} of the last {len(rewards)} have a reward, advantages "
        f"{[round(value, 2) for value in advantages]}"
    )
    assert any(failures)
    assert rewards.count(False) == sum(failures[-len(rewards) :])
    assert all(value == 0 for value, known in zip(advantages, rewards, strict=True) if not known)


def main(arguments: Sequence[str]) -> int:
    torch.set_num_threads(2)
    for name in names(arguments):
        train(name, with_tools=False)
        train(name, with_tools=True)
    train_with_failures()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
