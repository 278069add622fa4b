"""A language model of random weights whose vocabulary has whole actions as tokens: no download.

It acts from its first token on, so a few steps of training on a CPU show something.
"""

# ruff: noqa: S106 - a token is no password
from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl.chat_template_utils import qwen3_chat_template

SILENT = ("<pad>", "<|im_end|>", "<unk>", "<|im_start|>")
"""What the policy never says."""


def build_tokenizer(actions: Sequence[str]) -> PreTrainedTokenizerFast:
    """A tokenizer with a token for each action; every other word is the unknown one."""
    vocabulary = {token: number for number, token in enumerate(SILENT)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.decoder = decoders.Fuse()
    tokenizer.add_tokens(list(actions))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<|im_end|>",
        unk_token="<unk>",
        additional_special_tokens=["<|im_start|>"],
        chat_template=qwen3_chat_template,
    )


def build_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """A two-layer Llama of about twenty thousand weights."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=2048,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config)
