"""Read a model's answer and its messages from the formats of different trainers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from assay.schema.message import field_of, text_of


class ModelOutput(NamedTuple):
    """The model's answer, and the messages that led to the answer."""

    final_response: Any
    """Text; `None` when the last message is not the model's: it never answered.

    What is neither text nor messages stays as it is, for the scoring boundary to abstain from.
    """
    trajectory: list[Any]


def read_completion(completion: Any) -> ModelOutput:
    """Read the answer and the messages from a text or a list of chat messages.

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
    """Whether the value is valid message content: text, nothing or a list of parts."""
    if not isinstance(content, (list, tuple)):
        return content is None or isinstance(content, str)
    return all(isinstance(part, (str, Mapping)) or hasattr(part, "type") for part in content)


def _is_message(message: Any) -> bool:
    return "role" in message if isinstance(message, Mapping) else hasattr(message, "role")
