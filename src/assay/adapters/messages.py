"""The model's answer and messages, read from the shapes in which trainers pass them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from assay.schema.message import field_of, text_of


class ModelOutput(NamedTuple):
    """One completion: the answer, and the messages that led to it; `_asdict()` gives columns."""

    final_response: str | None
    """`None` when the last message is not the model's: it never answered."""
    trajectory: list[Any]


def read_completion(completion: Any) -> ModelOutput:
    """The answer and the messages of a completion, plain text or a list of chat messages.

    The prompt is not part of it: a tool message of a few-shot prompt is not the model's work. A
    completion that ends with a tool's result has no answer; the result is never taken for one.
    """
    if completion is None or isinstance(completion, str):
        return ModelOutput(completion, [{"role": "assistant", "content": completion or ""}])
    messages = [completion] if isinstance(completion, Mapping) else list(completion)
    if not messages or field_of(messages[-1], "role") != "assistant":
        return ModelOutput(None, messages)
    return ModelOutput(text_of(field_of(messages[-1], "content")), messages)
