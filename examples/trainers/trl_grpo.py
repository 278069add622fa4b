"""TRL's GRPOTrainer takes a few optimisation steps on an Assay reward, on a CPU, with no download.

The model is a two-layer Llama with random weights and a vocabulary of digits, so it learns
nothing; what counts is that the trainer calls the reward, trains on it and logs it. One row has no
reference: the reward abstains there, and the trainer leaves the row out.

    python examples/trainers/trl_grpo.py
"""

# ruff: noqa: T201, S106 - a script prints, and a special token is no password
from __future__ import annotations

import sys
import tempfile

import torch
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import GRPOConfig, GRPOTrainer

from assay.adapters import trl

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


def main() -> int:
    set_seed(7)
    tokenizer = build_tokenizer()
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=build_model(tokenizer),
            processing_class=tokenizer,
            train_dataset=build_rows(),
            reward_funcs=[
                trl.reward("math_equal_reward", answer="solution"),
                trl.reward("qa_f1_reward", answer="solution", asynchronous=True),
            ],
            args=GRPOConfig(
                output_dir=folder,
                max_steps=STEPS,
                per_device_train_batch_size=16,
                num_generations=8,
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
    return 0 if trainer.state.global_step == STEPS and change > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
