"""Read tool calls: calls recorded in a trajectory, and calls written in a response's text.

Recorded calls are read in each of the usual shapes: OpenAI's `tool_calls` and the older
`function_call`, and Anthropic's `tool_use` blocks. There only the structure counts, never the
prose. `read_calls` reads the `<tool_call>` elements of a text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from assay.schema.values import Unreadable
from assay.text.tags import insides

ARGUMENTS_CHARS: Final = 200_000
"""Of the arguments of one call; longer ones are not read."""
CALL_TAGS: Final = ("<tool_call>", "</tool_call>")
_THOUGHT_END: Final = "</think>"


@dataclass(frozen=True, slots=True)
class BadTrajectory:
    """The trajectory is not a list of messages, so it cannot be read."""

    because: str


class RecordedCall(NamedTuple):
    """One tool call that a message records; its values may have any type."""

    id: Any
    name: Any
    arguments: Any


@dataclass(frozen=True, slots=True)
class TextCall:
    """One tool call that a response writes as text, with its position."""

    name: str
    """Empty where none is given."""
    arguments: dict[str, Any] | Unreadable
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TextCalls:
    """The tool calls that a response writes as text, in order."""

    calls: tuple[TextCall, ...]
    because: str
    """How many there are; where there is none, why."""


def read_calls(response: str) -> TextCalls:
    """Read the tool calls that a response writes in `<tool_call>` tags.

    What stands before the last `</think>` is thought. A call whose JSON cannot be read has no name,
    and says in its `arguments` why.
    """
    first = len(response) - len(response.rpartition(_THOUGHT_END)[2])
    opening, closing = map(len, CALL_TAGS)
    calls: list[TextCall] = []
    for start, end in insides(response[first:], *CALL_TAGS):
        record = read_arguments(response[first + start : first + end].strip())
        name: object = None
        if isinstance(record, dict):
            name = record.get("name")
            record = read_arguments(record.get("arguments", record.get("parameters")))
        place = first + start - opening, first + end + closing
        calls.append(TextCall(name if isinstance(name, str) else "", record, *place))
    because = f"{len(calls)} call{'' if len(calls) == 1 else 's'}" if calls else "no <tool_call>"
    return TextCalls(tuple(calls), because)


def read_segments(trajectory: object) -> list[list[tuple[str, object]]] | BadTrajectory:
    """The messages with their roles, as one segment, or as several of a folded context."""
    items = as_list(trajectory)
    if items is None:
        return BadTrajectory(f"the trajectory is {_kind(trajectory)}, not a list of messages")
    segments: list[list[tuple[str, object]]] = [[]]
    position = 0
    for item in items:
        inner = as_list(item)
        if inner is not None:
            segments.append([])
        for message in [item] if inner is None else inner:
            role = get_field(message, "role")
            if not isinstance(role, str):
                return BadTrajectory(
                    f"message {position} of the trajectory is {_kind(message)} without a role; a "
                    "message has at least `role` and `content`"
                )
            segments[-1].append((role, message))
            position += 1
        if inner is not None:
            segments.append([])
    return segments


def calls_of(message: object) -> Iterator[RecordedCall]:
    """The tool calls of an assistant's message, in order."""
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
    """Convert a sequence or an array to a list; `None` for other values, also for text."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, Sequence):
        return None if isinstance(value, (str, bytes, bytearray, memoryview)) else list(value)
    to_list = getattr(value, "tolist", None)
    items = to_list() if callable(to_list) else None
    return items if isinstance(items, list) else None


def items_of(value: object) -> list[object]:
    """The items of a sequence or an array; an empty list for other values."""
    if value is None or type(value) is str:
        return []
    return as_list(value) or []


def get_field(record: Any, name: str) -> Any:
    """The field of a record, by key or by attribute; `None` if it has neither."""
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


class RepeatedKey(ValueError):
    """A JSON object has the same key twice."""


def to_record(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Make a record from pairs. Raises `RepeatedKey` if a key occurs twice."""
    items = list(pairs)
    record = dict(items)
    if len(record) != len(items):
        raise RepeatedKey("a key stands twice")
    return record


def refuse_constant(name: str) -> Any:
    """Raise `ValueError`, since NaN and Infinity are not valid JSON."""
    raise ValueError(f"{name} is no JSON")


strict_json = json.JSONDecoder(object_pairs_hook=to_record, parse_constant=refuse_constant).decode
"""The value of a JSON text. Raises `ValueError`, `RepeatedKey` or `RecursionError`."""


def read_arguments(arguments: Any) -> dict[str, Any] | Unreadable:
    """Read the arguments of a call from a mapping or its JSON text; no key may occur twice."""
    if isinstance(arguments, str):
        if len(arguments) > ARGUMENTS_CHARS:
            return Unreadable(f"have over {ARGUMENTS_CHARS:,} characters")
        try:
            values = strict_json(arguments) if arguments else {}
        except RepeatedKey:
            return Unreadable("name an argument twice")
        except (ValueError, RecursionError):
            return Unreadable("are no JSON")
    else:
        values = {} if arguments is None else arguments
    if not isinstance(values, dict):
        return Unreadable("are no JSON object")
    return values
