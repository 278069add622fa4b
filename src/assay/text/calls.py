"""The tool calls that a trajectory records, whichever of the usual shapes its messages have.

OpenAI's `tool_calls` and the older `function_call`, and Anthropic's `tool_use` blocks. Only the
structure is read, never the prose: text that looks like a call is text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class BadTrajectory:
    """The trajectory is not a list of messages, so nothing can be read of it."""

    because: str


class RecordedCall(NamedTuple):
    """One call as a message holds it; any of its values may be of any type."""

    id: Any
    name: Any
    arguments: Any


def segments_of(trajectory: object) -> list[Iterable[object]] | BadTrajectory:
    """The trajectory's runs of messages: one, or as many as its context was folded into."""
    items = as_list(trajectory)
    if items is None:
        return BadTrajectory(f"the trajectory is {_kind(trajectory)}, not a list of messages")
    segments: list[Iterable[object]] = []
    ungrouped: list[object] = []
    for item in items:
        inner = as_list(item)
        if inner is None:
            ungrouped.append(item)
            continue
        segments.append(ungrouped)
        segments.append(inner)
        ungrouped = []
    segments.append(ungrouped)
    return segments


def role_of(message: object, position: int) -> str | BadTrajectory:
    """The role of the message at this place of a trajectory."""
    role = get_field(message, "role")
    if isinstance(role, str):
        return role
    return BadTrajectory(
        f"message {position} of the trajectory is {_kind(message)} without a role; a message has "
        "at least `role` and `content`"
    )


def calls_of(message: object) -> Iterator[RecordedCall]:
    """The calls of an assistant's message, in their order."""
    for call in items_of(get_field(message, "tool_calls")):
        function = get_field(call, "function")
        yield RecordedCall(
            get_field(call, "id"), get_field(function, "name"), get_field(function, "arguments")
        )
    legacy = get_field(message, "function_call")
    if legacy is not None:
        yield RecordedCall(None, get_field(legacy, "name"), get_field(legacy, "arguments"))
    for block in items_of(get_field(message, "content")):
        if get_field(block, "type") == "tool_use":
            yield RecordedCall(
                get_field(block, "id"), get_field(block, "name"), get_field(block, "input")
            )


def as_list(value: object) -> list[object] | None:
    """A sequence or array as a list; `None` for everything else, text included."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, Sequence):
        return None if isinstance(value, (str, bytes, bytearray, memoryview)) else list(value)
    to_list = getattr(value, "tolist", None)
    items = to_list() if callable(to_list) else None
    return items if isinstance(items, list) else None


def items_of(value: object) -> list[object]:
    """The items of a sequence or array; none of anything else."""
    if value is None or type(value) is str:
        return []
    return as_list(value) or []


def get_field(record: Any, name: str) -> Any:
    """`record[name]` or `record.name`, whichever the message offers; `None` without either."""
    # Nearly every record is a dictionary, and asking whether it is a mapping takes longer.
    if type(record) is dict or isinstance(record, Mapping):
        return record.get(name)
    if record is None:
        return None
    try:
        return record[name]
    except (AttributeError, IndexError, KeyError, TypeError):
        return getattr(record, name, None)


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"
