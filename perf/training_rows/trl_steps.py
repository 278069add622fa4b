"""Steps of TRL's GRPOTrainer over prepared completions: seconds of reward, and of the whole step.

    PYTHONPATH=src:. python -m perf.training_rows.trl_steps DATA ROUNDS SEED

Run in TRL's environment. `rollout_func` hands the prepared completions to the trainer, so that
nothing is generated; scoring, advantages, loss and update are the trainer's own, of a Llama with a
few thousand random weights. Prints a line of JSON for each step.
"""

# The trainer's library is not in this environment, so it has no types.
# mypy: disable-error-code="import-not-found,no-any-return,misc"
from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"

from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import GRPOConfig, GRPOTrainer
from trl.rewards import accuracy_reward

from assay.adapters import trl
from perf.training_rows.batches import BATCH, PROSE, Step, steps

GRADERS = {
    "assay": trl.reward("math_equal_reward", answer="solution"),
    "math-verify": accuracy_reward,
}
GROUP = 8
TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


class TimedTrainer(GRPOTrainer):
    """Times its steps; what each step scores, and with what, is in `plan`."""

    def __init__(self, plan: list[Step], **options: Any) -> None:
        self.plan = plan
        self.reward_s = self.reward_cpu_s = 0.0
        super().__init__(**options)

    @property
    def current(self) -> Step:
        return self.plan[self.state.global_step]

    def _calculate_rewards(self, *args: Any, **kwargs: Any) -> Any:
        begin, worked = time.perf_counter(), time.process_time()
        rewards = super()._calculate_rewards(*args, **kwargs)
        self.reward_s = time.perf_counter() - begin
        self.reward_cpu_s = time.process_time() - worked
        return rewards

    def training_step(self, *args: Any, **kwargs: Any) -> Any:
        step, begin = self.current, time.perf_counter()
        loss = super().training_step(*args, **kwargs)
        record = {
            "grader": step.grader,
            "batch": step.batch,
            "round": step.round,
            "hostile": step.hostile,
            "reward_s": self.reward_s,
            "reward_cpu_s": self.reward_cpu_s,
            "step_s": time.perf_counter() - begin,
        }
        print(json.dumps(record), flush=True)
        return loss


def build_tokenizer() -> PreTrainedTokenizerFast:
    """One token for every printable sign, and one for the beginning of all responses."""
    signs = ["<pad>", "<eos>", "<unk>", PROSE, *map(chr, range(32, 127))]
    vocabulary = {sign: number for number, sign in enumerate(signs)}
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
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=512,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=None,
        )
    )


def main(data: str, rounds: str, seed: str) -> int:
    logging.getLogger("trl").setLevel(logging.ERROR)
    logging.getLogger("math_verify").setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore")
    set_seed(int(seed))
    plan = list(steps(Path(data), list(GRADERS), int(rounds), int(seed)))
    tokenizer = build_tokenizer()
    begin = tokenizer.convert_tokens_to_ids(PROSE)

    def hand_over(prompts: list[Any], trainer: TimedTrainer) -> dict[str, list[Any]]:
        rows = trainer.current.rows
        texts = [row.response.removeprefix(PROSE) for row in rows]
        ids = [[begin, *each] for each in tokenizer(texts)["input_ids"]]
        return {
            "prompt_ids": [tokenizer("?")["input_ids"] for _ in prompts],
            "completion_ids": ids,
            "logprobs": [[-1.0] * len(each) for each in ids],
            "solution": [row.reference for row in rows],
        }

    def grade(**columns: Any) -> Any:
        return GRADERS[trainer.current.grader](**columns)

    with tempfile.TemporaryDirectory() as folder:
        trainer = TimedTrainer(
            plan,
            model=build_model(tokenizer),
            processing_class=tokenizer,
            train_dataset=Dataset.from_list(
                [{"prompt": [{"role": "user", "content": "?"}], "solution": ""}] * BATCH
            ),
            reward_funcs=[grade],
            rollout_func=hand_over,
            args=GRPOConfig(
                output_dir=folder,
                max_steps=len(plan),
                per_device_train_batch_size=BATCH,
                num_generations=GROUP,
                max_completion_length=512,
                logging_strategy="no",
                save_strategy="no",
                report_to=[],
                use_cpu=True,
                bf16=False,
                disable_tqdm=True,
                seed=int(seed),
            ),
        )
        trainer.train()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
