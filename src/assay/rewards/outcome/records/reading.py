"""JSON read strictly, from responses and references, within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from assay.schema.values import is_list, plain
from assay.text.calls import RepeatedKey, strict_json

JSON_CHARS: Final = 200_000
"""Of a JSON text; a longer one is not read."""
MOST_LEVELS: Final = 100


class BadJson(ValueError):
    """Why a value is not read: the end of a sentence that begins with what it is."""


def read_json(text: str) -> Any:
    """The value of a JSON text.

    Raises `BadJson` also for a key that stands twice, for NaN and Infinity, and for more than a
    hundred levels.
    """
    if len(text) > JSON_CHARS:
        raise BadJson(f"has over {JSON_CHARS:,} characters")
    try:
        value = strict_json(text)
    except RepeatedKey:
        raise BadJson("names a key twice in one object") from None
    except (ValueError, RecursionError):
        raise BadJson("is no JSON") from None
    if levels_of(value) > MOST_LEVELS:
        raise BadJson(f"has over {MOST_LEVELS} levels")
    return value


def levels_of(value: Any) -> int:
    """How many lists and objects are inside each other at most."""
    level, inner = 0, [value]
    while level <= MOST_LEVELS and (
        inner := [item for item in inner if isinstance(item, (list, dict))]
    ):
        level += 1
        inner = [
            below for item in inner for below in (item.values() if type(item) is dict else item)
        ]
    return level


def to_json(value: Any, levels: int = MOST_LEVELS) -> Any:
    """A value of a table or a data set as JSON's own. Raises `BadJson`."""
    value = plain(value)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if not levels:
        raise BadJson(f"has over {MOST_LEVELS} levels")
    if isinstance(value, Mapping):
        return {str(key): to_json(item, levels - 1) for key, item in value.items()}
    if is_list(value):
        return [to_json(item, levels - 1) for item in value]
    raise BadJson(f"holds a {type(value).__name__}, which JSON does not have")
