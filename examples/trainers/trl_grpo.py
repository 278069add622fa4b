"""TRL's GRPOTrainer takes a few optimisation steps on an Assay reward, on a CPU, with no download.

The model is a two-layer Llama with random weights and a vocabulary of digits, so it learns
nothing; what counts is that the trainer calls the reward, trains on it and logs it. One row has no
reference: the reward abstains there, and the trainer leaves the row out. Then a group of four with
one abstention, and a reward with a typo, which stops the training and says why.

    python examples/trainers/trl_grpo.py
"""

# ruff: noqa: T201, S106, SLF001 - a script prints; a token is no password; TRL keeps its log there
from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from itertools import cycle
from typing import Any

import torch
from datasets import Dataset
from group_of_four import REFERENCE, RESPONSES, grade, named, report
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import GRPOConfig, GRPOTrainer

from assay.adapters import trl
from assay.errors import NoScore

STEPS = 4
TEMPLATE = (
    "{% for message in messages %}{{ message['role'][0] }}{{ message['content'] }}{% endfor %}"
    "{% if add_generation_prompt %}a{% endif %}"
)


def build_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer that knows the ten digits, a few signs and three special tokens."""
    vocabulary = {token: number for number, token in enumerate(["<pad>", "<eos>", "<unk>"])}
    for sign in "0123456789+=? uas":
        vocabulary[sign] = len(vocabulary)
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<eos>",
        unk_token="<unk>",
        chat_template=TEMPLATE,
    )


def build_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """A model of about twenty thousand random weights."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config)


def build_rows() -> Dataset:
    """Sums of two digits, asked as a chat; the last one has no solution."""
    rows = [
        {"prompt": [{"role": "user", "content": f"{a}+{b}=?"}], "solution": str(a + b)}
        for a, b in [(1, 2), (2, 2), (3, 4), (4, 5), (1, 1), (0, 3), (5, 0)]
    ]
    return Dataset.from_list([*rows, {**rows[0], "solution": None}])


def build_trainer(
    folder: str, rewards: list[Callable[..., Any]], *, steps: int, batch: int, group: int
) -> GRPOTrainer:
    set_seed(7)
    tokenizer = build_tokenizer()
    return GRPOTrainer(
        model=build_model(tokenizer),
        processing_class=tokenizer,
        train_dataset=build_rows(),
        reward_funcs=rewards,
        args=GRPOConfig(
            output_dir=folder,
            max_steps=steps,
            per_device_train_batch_size=batch,
            num_generations=group,
            max_completion_length=2,
            temperature=1.0,
            learning_rate=1e-3,
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            bf16=False,
            disable_tqdm=True,
            seed=7,
        ),
    )


def train_group_of_four() -> int:
    """One step over one group, whose completions are graded as if they were the four responses."""
    responses = cycle(RESPONSES)

    def grade_next(final_response: str) -> float:  # noqa: ARG001 - any text will do
        return grade(next(responses), REFERENCE)

    with tempfile.TemporaryDirectory() as folder:
        trainer = build_trainer(folder, [trl.reward(grade_next)], steps=1, batch=4, group=4)
        trainer.train()
    rewards = list(trainer._logs["rewards"]["grade_next"])
    shown = [None if reward is None or reward != reward else reward for reward in rewards]
    return report(named("trl"), shown, list(trainer._logs["advantages"]))


def train_with_a_typo() -> int:
    def mine(final_response: str, solution: str) -> float:  # noqa: ARG001 - the typo below
        return float(final_respnse == solution)  # noqa: F821 - the typo

    with tempfile.TemporaryDirectory() as folder:
        trainer = build_trainer(folder, [trl.reward(mine)], steps=99, batch=16, group=8)
        try:
            trainer.train()
        except NoScore as error:
            print(f"stopped in step {trainer.state.global_step + 1}: {str(error)[:160]}")
            return 0
    return 1


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        rewards = [
            trl.reward("math_equal_reward", answer="solution"),
            trl.reward("qa_f1_reward", answer="solution", asynchronous=True),
        ]
        trainer = build_trainer(folder, rewards, steps=STEPS, batch=16, group=8)
        before = torch.cat(
            [weight.detach().flatten().clone() for weight in trainer.model.parameters()]
        )
        trainer.train()
        after = torch.cat([weight.detach().flatten() for weight in trainer.model.parameters()])
    for entry in trainer.state.log_history:
        if "reward" in entry:
            metrics = {
                key: entry.get(key)
                for key in (
                    "step",
                    "reward",
                    "rewards/math_equal_reward/mean",
                    "rewards/qa_f1_reward/mean",
                    "math_equal_reward/acc",
                    "math_equal_reward/abstained",
                    "grad_norm",
                )
            }
            print(metrics)
    change = float((after - before).abs().max())
    print(f"steps {trainer.state.global_step}, largest change of a weight {change:.2e}")
    failures = train_group_of_four() + train_with_a_typo()
    return 0 if trainer.state.global_step == STEPS and change > 0 and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
