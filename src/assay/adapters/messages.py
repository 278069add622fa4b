"""The model's answer and messages, read from the shapes in which trainers pass them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from assay.schema.message import field_of, text_of


class ModelOutput(NamedTuple):
    """One completion: the answer, and the messages that led to it; `_asdict()` gives columns."""

    final_response: Any
    """Text; `None` when the last message is not the model's: it never answered.

    What is neither text nor messages stays as it is, for the scoring boundary to abstain from.
    """
    trajectory: list[Any]


def read_completion(completion: Any) -> ModelOutput:
    """The answer and the messages of a completion, plain text or a list of chat messages.

    The prompt is not part of it: a tool message of a few-shot prompt is not the model's work. A
    completion that ends with a tool's result has no answer; the result is never taken for one.
    """
    if completion is None or isinstance(completion, str):
        return ModelOutput(completion, [{"role": "assistant", "content": completion or ""}])
    messages = [completion] if isinstance(completion, Mapping) else completion
    if not isinstance(messages, (list, tuple)) or not all(map(_is_message, messages)):
        return ModelOutput(completion, [])
    if not messages or field_of(messages[-1], "role") != "assistant":
        return ModelOutput(None, list(messages))
    content = field_of(messages[-1], "content")
    return ModelOutput(text_of(content) if _is_content(content) else content, list(messages))


def _is_content(content: Any) -> bool:
    """Whether it is what a message has: text, nothing, or parts, of which some may be pictures."""
    if not isinstance(content, (list, tuple)):
        return content is None or isinstance(content, str)
    return all(isinstance(part, (str, Mapping)) or hasattr(part, "type") for part in content)


def _is_message(message: Any) -> bool:
    return "role" in message if isinstance(message, Mapping) else hasattr(message, "role")
