"""JSON read strictly, from responses and references, within bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.schema.values import Unreadable, is_list, plain
from assay.text.calls import RepeatedKey, strict_json

JSON_CHARS: Final = 200_000
"""Of a JSON text; a longer one is not read."""
MOST_LEVELS: Final = 100


def read_json(text: str) -> Any:
    """The value of a JSON text, or `Unreadable`.

    A key that stands twice, NaN and Infinity, and more than a hundred levels are refused.
    """
    if len(text) > JSON_CHARS:
        return Unreadable(f"has over {JSON_CHARS:,} characters")
    try:
        value = strict_json(text)
    except RepeatedKey:
        return Unreadable("names a key twice in one object")
    except (ValueError, RecursionError):
        return Unreadable("is no JSON")
    if levels_of(value) > MOST_LEVELS:
        return Unreadable(f"has over {MOST_LEVELS} levels")
    return value


def levels_of(value: Any) -> int:
    """How many lists and objects are inside each other at most."""
    level, inner = 0, [value]
    while inner := [item for item in inner if isinstance(item, (list, dict))]:
        level += 1
        if level > MOST_LEVELS:
            break
        inner = [below for item in inner for below in _below(item)]
    return level


def _below(item: list[Any] | dict[str, Any]) -> Iterator[Any]:
    yield from item.values() if isinstance(item, dict) else item


def to_json(value: Any, levels: int = MOST_LEVELS) -> Any:
    """A value of a table or a data set as JSON's own, or `Unreadable`."""
    value = plain(value)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if not levels:
        return Unreadable(f"has over {MOST_LEVELS} levels")
    if isinstance(value, Mapping):
        record = {str(key): to_json(item, levels - 1) for key, item in value.items()}
        return _first_unreadable(record.values()) or record
    if is_list(value):
        items = [to_json(item, levels - 1) for item in value]
        return _first_unreadable(items) or items
    return Unreadable(f"holds a {type(value).__name__}, which JSON does not have")


def _first_unreadable(values: Any) -> Unreadable | None:
    return next((value for value in values if isinstance(value, Unreadable)), None)
