"""Whether what a program returned or wrote is what was expected, decided where it cannot reach."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

ListOrder: TypeAlias = Literal["kept", "free"]

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_LONGEST_NUMBER = 400
LISTS, ANY_ORDER = (list, tuple), (list, tuple, set, frozenset)
MOST_FREE = 2_000
"""Members of a list whose order is free, which are tried against each other."""


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
    if len(values) != len(expected) or len(values) > MOST_FREE:
        return False
    left = list(values)
    for other in expected:
        for place, one in enumerate(left):
            if _same(one, other, tolerance):
                del left[place]
                break
        else:
            return False
    return True


def same_output(output: str, expected: str, *, tolerance: float) -> bool:
    """Whether a program wrote what was expected.

    Line by line, without blank lines at the beginning and the end; words by words, whatever white
    space is between them; a word that is a decimal fraction in the expected output may differ
    within the tolerance.
    """
    lines, others = output.strip().splitlines(), expected.strip().splitlines()
    if len(lines) != len(others):
        return False
    return all(
        _same_line(line.split(), other.split(), tolerance)
        for line, other in zip(lines, others, strict=True)
    )


def _same_line(words: list[str], others: list[str], tolerance: float) -> bool:
    return words == others or (
        len(words) == len(others)
        and all(
            word == other or _same_decimal(word, other, tolerance)
            for word, other in zip(words, others, strict=True)
        )
    )


def _same_decimal(word: str, expected: str, tolerance: float) -> bool:
    if max(len(word), len(expected)) > _LONGEST_NUMBER or not set(".eE") & set(expected):
        return False
    if not (_NUMBER.fullmatch(word) and _NUMBER.fullmatch(expected)):
        return False
    return _same_number(float(word), float(expected), tolerance)
