"""End-of-turn tokens of chat templates: one table for trainers and for rewards."""

from __future__ import annotations

from collections.abc import Sequence

END_TOKENS = (
    "<|im_end|>",  # ChatML: Qwen, Yi, InternLM, MiMo
    "<|endoftext|>",  # GPT-2's; Qwen's padding; Phi, GLM, OLMo
    "<|end_of_text|>",  # Llama 3 (base), Granite
    "<|finetune_right_pad_id|>",  # Llama 3.1's padding
    "<|eot_id|>",  # Llama 3
    "<|eom_id|>",
    "<|eot|>",  # Llama 4
    "<|eom|>",
    "<|end|>",  # Phi-3 and later, gpt-oss
    "<|return|>",  # gpt-oss
    "<|call|>",
    "<end_of_turn>",  # Gemma
    "<turn|>",  # Gemma 4
    "<eos>",
    "<pad>",
    "<|pad|>",
    "</s>",  # Llama 2, Mistral, T5
    "[EOS]",
    "[PAD]",
    "<｜end▁of▁sentence｜>",
    "<|END_OF_TURN_TOKEN|>",  # Command R
    "<|user|>",  # GLM ends a turn with the name of the next speaker
    "<|observation|>",
    "<|role_end|>",  # Ling
    "[e~[",  # MiniMax
)
"""What a decoded response may end with, where the trainer keeps special tokens. A closed table."""


def strip_end_tokens(response: str, tokens: Sequence[str] = END_TOKENS) -> str:
    """The response without the end tokens, and the white space around them, at its end.

    A response that ends with none of them is returned unchanged, white space included. Tokens in
    the middle stay: they are what the model wrote. The time is linear in the length.
    """
    end = text_end = _before_space(response, len(response))
    element_end = _element_end(response)
    while token := next((token for token in tokens if response.endswith(token, 0, end)), ""):
        if end == element_end:
            break
        end = _before_space(response, end - len(token))
    return response if end == text_end else response[:end]


def _before_space(text: str, end: int) -> int:
    while end > 0 and text[end - 1].isspace():
        end -= 1
    return end


def _element_end(text: str) -> int:
    """Where the last `<s>…</s>`, text that is struck out, ends: that `</s>` is no token. Or -1."""
    start = text.rfind("<s>")
    end = -1 if start < 0 else text.find("</s>", start)
    return end if end < 0 else end + len("</s>")
