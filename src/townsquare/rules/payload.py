"""Numbers by day out of JSON, whole or cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

import orjson

from townsquare.rules.terms import day_in

_MARK = re.compile(r"\n… [\d,]+ characters not shown")
_KEY = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?\Z")


def dated_numbers(payload: str) -> dict[date, float]:
    """The numbers that stand under a day, or under a month and its day."""
    text = _MARK.split(payload)[0]
    try:
        value = orjson.loads(text or "null")
    except ValueError:
        value = _repair(text)
    return dict(_walk(value, ()))


def _walk(value: object, path: tuple[str, ...]) -> Iterator[tuple[date, float]]:
    stack: list[tuple[object, tuple[str, ...]]] = [(value, path)]
    while stack:
        item, keys = stack.pop()
        if isinstance(item, dict):
            stack += [(inner, (*keys, str(key))[-2:]) for key, inner in item.items()]
        elif isinstance(item, list):
            stack += [(inner, keys) for inner in item]
        elif isinstance(item, (int, float)):
            day = _day(keys)
            if day is not None:
                yield day, float(item)


def _day(keys: tuple[str, ...]) -> date | None:
    """The day that the last two keys name: `2020-05-03`, or `2020-05` and `03`."""
    for count in (1, 2):
        match = _KEY.match("-".join(keys[-count:]))
        if match and match[3]:
            return day_in(match[1], int(match[2]), match[3])
    return None


def _repair(text: str) -> object:
    """What a JSON text that was cut off says for certain: everything before its last comma."""
    closers: list[str] = []
    safe: tuple[int, str] = (0, "")
    in_string = escaped = False
    for position, char in enumerate(text):
        if in_string:
            in_string = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            in_string = True
        elif char in "{[":
            closers.append("}" if char == "{" else "]")
        elif char in "}]" and closers:
            closers.pop()
        elif char == ",":
            safe = position, "".join(reversed(closers))
    try:
        return orjson.loads(text[: safe[0]] + safe[1])
    except ValueError:
        return None
