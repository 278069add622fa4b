"""The model's answer and messages, read from the shapes in which trainers pass them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple


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
    if not messages or read(messages[-1], "role") != "assistant":
        return ModelOutput(None, messages)
    return ModelOutput(text_of(read(messages[-1], "content")), messages)


def text_of(content: Any) -> str:
    """The text of a message's content; of a list of parts, all that are text, joined."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        texts = [part if isinstance(part, str) else read(part, "text") for part in content]
        return "".join(text for text in texts if isinstance(text, str))
    return str(content)


def read(record: Any, key: str) -> Any:
    """A field of a record, be it a mapping or an object; `None` where there is none."""
    if isinstance(record, Mapping):
        return record.get(key)
    return getattr(record, key, None)


def chat_message(message: Any, calls: Iterable[tuple[str, str, str]]) -> dict[str, Any]:
    """A library's message in the shape of a chat API; calls are (id, name, arguments as JSON)."""
    plain: dict[str, Any] = {"role": message.role, "content": text_of(message.content)}
    tool_calls = [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
        for id_, name, arguments in calls
    ]
    if tool_calls:
        plain["tool_calls"] = tool_calls
    if message.role == "tool":
        plain["tool_call_id"] = message.tool_call_id
    return plain
