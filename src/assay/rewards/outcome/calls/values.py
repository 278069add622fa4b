"""Compare the values of arguments with the accepted values, by type.

A number equals a number whatever its point (5 and 5.0), and nothing else; `true` is no number and
"5" is no 5. Texts are equal when their letters and digits are: case, spaces and the marks between
words do not count, but a sign, a decimal point and what parts two numbers do, as do all other
signs. So "New York, NY" is "new york NY", "GPT-4" is "gpt 4", and "-5", "1.5", "x - 1" and "x**2"
are not "5", "15", "x 1" and "x2".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

TextRule: TypeAlias = Literal["normal", "exact"]

CACHED_CHARS: Final = 200
OMITTED: Final = ""
"""What says, among accepted values, that an argument may be left out."""

_QUOTES: Final = str.maketrans("’‘`´“”„«»", "''''" + '"' * 5)
_MINUS: Final = re.compile(r"(?<=\w)\s*-\s*(?=\d)")
_PARTED: Final = re.compile(r"(?<=\d)[\s,/_-]+(?=\d)")
_DROPPED: Final = re.compile(
    r"[\s,/_]+|(?<!\d)\.|\.(?!\d)|(?<=\w)-(?=[^\W\d])|(?<!\w)-(?!\d)|(?<=[^\W\d_]{2})-(?=\d)"
)


def normal_text(text: str) -> str:
    """The normal form of a text, by which texts are compared."""
    return _cached_normal(text) if len(text) <= CACHED_CHARS else _normal(text)


def _normal(text: str) -> str:
    folded = text.strip().translate(_QUOTES).replace("'", '"').casefold()
    return _DROPPED.sub("", _PARTED.sub("|", _MINUS.sub("-", folded)))


_cached_normal = lru_cache(maxsize=8192)(_normal)


def equals(value: Any, expected: Any, texts: TextRule) -> bool:
    """Whether a value equals the expected value."""
    if isinstance(expected, list):
        return _same_lists(value, expected, texts, equals)
    if isinstance(expected, dict):
        return (
            isinstance(value, dict)
            and value.keys() == expected.keys()
            and all(equals(value[key], other, texts) for key, other in expected.items())
        )
    return _is_same_leaf(value, expected, texts)


def is_accepted(value: Any, accepted: Sequence[Any], texts: TextRule) -> bool:
    """Whether a value equals one of the accepted values.

    An accepted record lists accepted values for each of its keys; a key may be left out where
    `OMITTED` is one of them.
    """
    return any(_fits(value, one, texts) for one in accepted)


def _fits(value: Any, accepted: Any, texts: TextRule) -> bool:
    if isinstance(accepted, list):
        return _same_lists(value, accepted, texts, _fits)
    if not isinstance(accepted, dict):
        return _is_same_leaf(value, accepted, texts)
    if not isinstance(value, dict) or not value.keys() <= accepted.keys():
        return False
    for key, choices in accepted.items():
        options = choices if isinstance(choices, list) else [choices]
        right = is_accepted(value[key], options, texts) if key in value else OMITTED in options
        if not right:
            return False
    return True


def _same_lists(
    value: Any, expected: list[Any], texts: TextRule, same: Callable[[Any, Any, TextRule], bool]
) -> bool:
    return (
        isinstance(value, list)
        and len(value) == len(expected)
        and all(same(one, other, texts) for one, other in zip(value, expected, strict=True))
    )


def _is_same_leaf(value: Any, expected: Any, texts: TextRule) -> bool:
    if isinstance(expected, str):
        if not isinstance(value, str) or value == expected or texts == "exact":
            return isinstance(value, str) and value == expected
        form = normal_text(value)
        # A text of nothing but separators, such as one to join words with, is itself alone.
        return bool(form) and form == normal_text(expected)
    if expected is None or isinstance(expected, bool):
        return value is expected
    number = type(value) in (int, float) and type(expected) in (int, float)
    return number and bool(value == expected)
