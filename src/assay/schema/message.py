"""One message of a conversation, in the format of chat APIs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ConfigDict

from assay.schema.record import FrozenRecord


class _Readable(FrozenRecord):
    """A record whose fields can also be read like dictionary items."""

    def __getitem__(self, key: str) -> Any:
        if key in type(self).model_fields:
            return getattr(self, key)
        return (self.model_extra or {})[key]


class ToolFunction(_Readable):
    """The function name of a tool call, and the arguments exactly as the model wrote them."""

    name: str
    arguments: str = ""
    """Verbatim text; it may not be valid JSON."""


class ToolCall(_Readable):
    """One tool call in an assistant message."""

    id: str = ""
    type: str = "function"
    function: ToolFunction


class Message(_Readable):
    """A message; readable as `message["role"]`.

    Keys that other frameworks add (`name`, `is_error`, `reasoning_content`) are kept.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    role: str
    content: str | list[dict[str, Any]] | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None

    def __contains__(self, key: object) -> bool:
        return key in type(self).model_fields or key in (self.model_extra or {})

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 - this is that method


def tool_call(id_: Any, name: Any, arguments: Any) -> dict[str, Any]:
    """A tool call in the format of chat APIs, with its arguments as JSON text."""
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def text_of(content: Any) -> str:
    """The text of a message's content; the text parts of a list are joined."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, Sequence):
        texts = (part if isinstance(part, str) else field_of(part, "text") for part in content)
        return "".join(text for text in texts if isinstance(text, str))
    return str(content)


def field_of(record: Any, key: str) -> Any:
    """A field of a mapping or an object, or `None` if the field is missing."""
    return record.get(key) if isinstance(record, Mapping) else getattr(record, key, None)
