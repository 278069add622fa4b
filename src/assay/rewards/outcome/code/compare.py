"""Compare a program's results with the expected ones, outside the program's process."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

ListOrder: TypeAlias = Literal["kept", "free"]

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_LONGEST_NUMBER = 400
LISTS, ANY_ORDER = (list, tuple), (list, tuple, set, frozenset)
MOST_PAIRS = 2_000_000
"""Numbers and texts of members whose order is free that are tried against each other."""


def same_value(value: Any, expected: Any, *, tolerance: float, order: ListOrder) -> bool:
    """Whether two plain values are the same.

    Numbers by their value, floats within the tolerance, relative above 1; truth values only with
    truth values; lists and tuples alike, in order unless that is free; a map's keys as JSON writes
    them; sets with sets; text and bytes exactly.
    """
    if order == "free" and isinstance(value, ANY_ORDER) and isinstance(expected, ANY_ORDER):
        return _same_members(list(value), list(expected), tolerance)
    return _same(value, expected, tolerance)


def _same(value: Any, expected: Any, tolerance: float) -> bool:
    if isinstance(value, bool) or isinstance(expected, bool):
        return value is expected
    if isinstance(value, (int, float, complex)) and isinstance(expected, (int, float, complex)):
        return _same_number(value, expected, tolerance)
    if isinstance(value, LISTS) and isinstance(expected, LISTS):
        return len(value) == len(expected) and all(
            _same(one, other, tolerance) for one, other in zip(value, expected, strict=True)
        )
    if isinstance(value, Mapping) and isinstance(expected, Mapping):
        return _same_map(value, expected, tolerance)
    if isinstance(value, (set, frozenset)) and isinstance(expected, (set, frozenset)):
        return bool(value == expected)
    return type(value) is type(expected) and bool(value == expected)


def _same_number(value: Any, expected: Any, tolerance: float) -> bool:
    if isinstance(value, int) and isinstance(expected, int):
        return bool(value == expected)
    try:
        if isinstance(value, complex) or isinstance(expected, complex):
            return bool(abs(value - expected) <= tolerance * max(1.0, abs(expected)))
        one, other = float(value), float(expected)
    except OverflowError:
        return bool(value == expected)
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    if math.isinf(one) or math.isinf(other):
        return one == other
    return abs(one - other) <= tolerance * max(1.0, abs(other))


def _same_map(value: Mapping[Any, Any], expected: Mapping[Any, Any], tolerance: float) -> bool:
    if len(value) != len(expected):
        return False
    if all(isinstance(key, str) for key in expected):
        # JSON has no other keys.
        value = {_key(key): item for key, item in value.items()}
    return value.keys() == expected.keys() and all(
        _same(value[key], item, tolerance) for key, item in expected.items()
    )


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, bool) or key is None:
        return {True: "true", False: "false", None: "null"}[key]
    return str(key)


def _same_members(values: list[Any], expected: list[Any], tolerance: float) -> bool:
    """Whether two collections have the same members in any order.

    Those that are exactly equal are found first, by one pass. What is left is tried against each
    other, or where that takes long, compared in the order of its numbers.
    """
    if len(values) != len(expected):
        return False
    counts = Counter(map(_form, values))
    left = []
    for other in expected:
        form = _form(other)
        if counts[form]:
            counts[form] -= 1
        else:
            left.append(other)
    if not left:
        return True
    ours = [one for one in values if _take(counts, _form(one))]
    nodes = max(len(_leaves(one)) for one in (*ours, *left))
    if nodes * len(left) ** 2 > MOST_PAIRS:
        return _same(sorted(ours, key=_leaves), sorted(left, key=_leaves), tolerance)
    for other in left:
        place = next((at for at, one in enumerate(ours) if _same(one, other, tolerance)), None)
        if place is None:
            return False
        del ours[place]
    return True


def _take(counts: Counter[Any], form: Any) -> bool:
    """Remove one of these forms from the counts; false if none is left."""
    counts[form] -= 1
    return counts[form] >= 0


def _form(value: Any) -> Any:
    """A hashable form: equal for equal values only. Numbers become text to prevent hash attacks."""
    if isinstance(value, LISTS):
        return "list", tuple(map(_form, value))
    if isinstance(value, (set, frozenset)):
        return "set", frozenset(map(_form, value))
    if isinstance(value, Mapping):
        return "map", frozenset((_form(key), _form(item)) for key, item in value.items())
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return "number", hex(value)
    return type(value).__name__, repr(value) if isinstance(value, (float, complex)) else value


def _leaves(value: Any) -> list[tuple[int, Any]]:
    """List the numbers and texts inside a value from left to right, as a key for sorting."""
    leaves: list[tuple[int, Any]] = []
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, LISTS):
            waiting += reversed(item)
        elif isinstance(item, Mapping):
            pairs = sorted(item.items(), key=repr, reverse=True)
            waiting += [part for pair in pairs for part in pair]
        elif isinstance(item, (int, float)) and not isinstance(item, bool):
            leaves.append((0, item))
        else:
            leaves.append((1, repr(item)))
    return leaves


def same_output(output: str, expected: str, *, tolerance: float) -> bool:
    """Whether the output of a program equals the expected output.

    Line by line, without blank lines at the beginning and the end; words by words, whatever white
    space is between them; a word that is a decimal fraction in the expected output may differ
    within the tolerance.
    """
    lines, others = output.strip().splitlines(), expected.strip().splitlines()
    if len(lines) != len(others):
        return False
    for line, other_line in zip(lines, others, strict=True):
        words, other_words = line.split(), other_line.split()
        if len(words) != len(other_words) or not all(
            word == other or _same_decimal(word, other, tolerance)
            for word, other in zip(words, other_words, strict=True)
        ):
            return False
    return True


def _same_decimal(word: str, expected: str, tolerance: float) -> bool:
    if max(len(word), len(expected)) > _LONGEST_NUMBER or not set(".eE") & set(expected):
        return False
    are_numbers = _NUMBER.fullmatch(word) and _NUMBER.fullmatch(expected)
    return bool(are_numbers) and _same_number(float(word), float(expected), tolerance)
