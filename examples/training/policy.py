"""A small Llama with random weights, taught by demonstrations, and how it is sampled."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from examples.training.tasks import BOX, OR, Task, split

SIGNS = ("<pad>", "<eos>", "<unk>", *"0123456789+*=;,-}", BOX, OR)
LONGEST_DEMONSTRATION = 48
BATCH = 256


@dataclass(frozen=True, slots=True)
class Size:
    """The shape of the model."""

    width: int = 384
    layers: int = 6
    heads: int = 6
    inner: int = 1024


TINY = Size(width=64, layers=2, heads=4, inner=128)


def build_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer of single characters; the start of a box and ` or ` are one token each."""
    vocabulary = {sign: number for number, sign in enumerate(SIGNS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))  # noqa: S106 - no secret
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\\boxed\{| or |."), behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",  # noqa: S106
        eos_token="<eos>",  # noqa: S106
        unk_token="<unk>",  # noqa: S106
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )


def build_model(size: Size, tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """A Llama with random weights, 10.6 million at the usual size."""
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=size.width,
            intermediate_size=size.inner,
            num_hidden_layers=size.layers,
            num_attention_heads=size.heads,
            num_key_value_heads=size.heads,
            max_position_embeddings=128,
            tie_word_embeddings=False,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=None,
        )
    )


def pick_device() -> torch.device:
    """The GPU if there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def teach(
    task: Task,
    *,
    seed: int,
    steps: int,
    size: Size,
    rate: float = 1e-3,
    on_step: Callable[[int, float], None],
) -> LlamaForCausalLM:
    """A model that imitates the demonstrations of the task, faults included.

    `on_step` hears the number of the step and its loss, every 100 steps; what it raises ends it.
    """
    torch.manual_seed(seed)
    rng = Random(f"demonstrations {seed}")
    tokenizer = build_tokenizer()
    device = pick_device()
    model = build_model(size, tokenizer).to(device)
    model.train()
    optimizer = torch.optim.AdamW(
        model.parameters(),
        lr=rate,
        betas=(0.9, 0.98),
        weight_decay=0.01,
        fused=device.type == "cuda",
    )
    warmup = min(100, steps // 10 + 1)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / warmup, 0.5 + 0.5 * math.cos(math.pi * step / steps)),
    )
    questions = split(task, seed).train
    for step in range(1, steps + 1):
        chosen = rng.choices(questions, k=BATCH)
        pairs = [(question.prompt, task.demonstrate(question, rng)) for question in chosen]
        tokens, labels = _batch(pairs, tokenizer)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            loss = model(input_ids=tokens.to(device), labels=labels.to(device)).loss
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 0 or step == steps:
            on_step(step, loss.item())
    return model


def _batch(
    pairs: Sequence[tuple[str, str]], tokenizer: PreTrainedTokenizerFast
) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and labels, padded on the right; the prompt and the padding are not learned."""
    prompts = tokenizer([prompt for prompt, _ in pairs], add_special_tokens=False)["input_ids"]
    answers = tokenizer([answer for _, answer in pairs], add_special_tokens=False)["input_ids"]
    rows, targets = [], []
    for prompt, answer in zip(prompts, answers, strict=True):
        ending = [*answer, tokenizer.eos_token_id][:LONGEST_DEMONSTRATION]
        rows.append([*prompt, *ending])
        targets.append([-100] * len(prompt) + ending)
    width = max(map(len, rows))
    tokens = [row + [tokenizer.pad_token_id] * (width - len(row)) for row in rows]
    labels = [target + [-100] * (width - len(target)) for target in targets]
    return torch.tensor(tokens), torch.tensor(labels)


@torch.no_grad()
def sample(
    model: Any,
    tokenizer: PreTrainedTokenizerFast,
    prompts: Sequence[str],
    *,
    max_tokens: int,
    seed: int,
) -> tuple[list[str], float]:
    """One completion of each prompt at temperature 1, and their mean length in tokens.

    The caller's random numbers are left as they were.
    """
    device = next(model.parameters()).device
    was_training = model.training
    model.eval()
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        batch = tokenizer(list(prompts), padding=True, return_tensors="pt", padding_side="left")
        tokens = model.generate(
            input_ids=batch["input_ids"].to(device),
            attention_mask=batch["attention_mask"].to(device),
            max_new_tokens=max_tokens,
            do_sample=True,
            temperature=1.0,
            top_k=0,
            top_p=1.0,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )[:, batch["input_ids"].shape[1] :]
    model.train(was_training)
    texts = tokenizer.batch_decode(tokens, skip_special_tokens=True)
    return texts, float((tokens != tokenizer.pad_token_id).sum(dim=1).float().mean())
