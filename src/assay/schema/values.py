"""Read the values of a row as text or numbers, and recognise unreadable values.

Rows come from JSON, CSV, Parquet, pandas, NumPy and trainers, and a model's or a data set's
mistake is in some of them. The rule of what can be read is here, once, for every reward and every
way in:

- A response is text. `None` says that there was none. Everything else, the gap of a table (NaN)
  and a list of chat messages included, is unreadable.
- A reference is a text, a finite number, or a list of these; `None`, NaN and the like are no
  reference. Mappings, bytes and lists of lists are unreadable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

LeafValue: TypeAlias = str | bool | int | float | Decimal | Fraction
"""One reference answer."""

MAX_DIGITS = 4_300
"""An integer of more digits is neither read nor written by Python."""
_MAX_BITS = 14_284
"""Every integer of that many bits has at most 4,300 digits."""

_PLAIN = frozenset({str, int, float, bool, list, tuple, dict, bytes, bytearray, memoryview})
_LISTS = frozenset({list, tuple})
_NEVER_MISSING = _PLAIN - {float}
_GAPS = frozenset({"NAType", "NaTType"})
"""The classes of pandas' values for "no value"; pandas itself is not imported to ask."""


class Unreadable(NamedTuple):
    """A value that cannot be read; `because` completes a sentence about its column."""

    because: str


@dataclass(frozen=True, slots=True)
class OversizedInteger:
    """Stands for a JSON integer that has too many digits for Python."""

    digits: int

    def __repr__(self) -> str:
        return f"<an integer of {self.digits:,} digits>"


def plain(value: Any) -> Any:
    """Convert a value of NumPy or Arrow, or of a `str` subclass, to a plain Python value.

    Everything else is returned as it is. May raise whatever a strange object raises.
    """
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    for name in ("tolist", "as_py"):
        convert = getattr(value, name, None)
        if callable(convert):
            return convert()
    return value


def is_missing(value: Any) -> bool:
    """Whether a plain value means a missing value: `None`, NaN, NaT or NA."""
    if value is None:
        return True
    if type(value) in _NEVER_MISSING:
        return False
    if isinstance(value, Decimal):
        # A signalling NaN raises when it is compared.
        return value.is_nan()
    if isinstance(value, float):
        return bool(value != value)
    return type(value).__name__ in _GAPS


def read_response(value: Any) -> str | Unreadable | None:
    """The model's response as text, or `None` if there is no response."""
    response = plain(value)
    if response is None and value is not None:
        return Unreadable("is no value of its table, not text")
    if response is None or isinstance(response, str):
        return response
    hint = "pass the text of the last message" if _is_chat(response) else "pass the answer's text"
    return Unreadable(f"is {describe(response)}, not text; {hint}")


def read_references(
    value: Any, *, spans: bool = False
) -> list[LeafValue | tuple[LeafValue, ...]] | Unreadable:
    """The list of acceptable answers in a reference; empty if the reference is missing.

    Missing ones among several are left out. One that cannot be read makes the whole unreadable:
    it might have been the one that is equal. With `spans`, a list inside the list is one answer of
    several spans.
    """
    value = plain(value)
    if is_missing(value):
        return []
    if not is_list(value):
        leaf = _leaf(value)
        return leaf if isinstance(leaf, Unreadable) else [leaf]
    answers: list[LeafValue | tuple[LeafValue, ...]] = []
    for item in map(plain, value):
        if is_missing(item):
            continue
        answer = _spans(item) if spans and is_list(item) else _leaf(item)
        if isinstance(answer, Unreadable):
            return Unreadable(f"holds {answer.because.removeprefix('is ')}")
        answers.append(answer)
    return answers


def _spans(items: Any) -> tuple[LeafValue, ...] | Unreadable:
    leaves: list[LeafValue] = []
    for item in map(plain, items):
        leaf = _leaf(item)
        if isinstance(leaf, Unreadable):
            return leaf
        leaves.append(leaf)
    return tuple(leaves) or Unreadable("is an empty list; give a text, a number or a list of these")


def _leaf(value: Any) -> LeafValue | Unreadable:
    if isinstance(value, str):
        return value
    is_number = isinstance(value, (int, float, Decimal, Fraction))
    if is_number and not _is_finite(value):
        return Unreadable(f"is {describe(value)}, not a finite number")
    if is_number and not _is_writable(value):
        return Unreadable(f"is a number of over {MAX_DIGITS:,} digits")
    if is_number:
        leaf: LeafValue = value
        return leaf
    if isinstance(value, OversizedInteger):
        return Unreadable(f"is {describe(value)}; more than {MAX_DIGITS:,} are not read")
    return Unreadable(f"is {describe(value)}; give a text, a number or a list of these")


def _is_finite(value: float | Decimal | Fraction) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite()
    return not isinstance(value, float) or isfinite(value)


def _is_writable(value: float | Decimal | Fraction) -> bool:
    if isinstance(value, Fraction):
        return max(value.numerator.bit_length(), value.denominator.bit_length()) <= _MAX_BITS
    return not isinstance(value, int) or value.bit_length() <= _MAX_BITS


def is_list(value: Any) -> bool:
    """Whether a plain value is a list of values; text and bytes are not lists."""
    if type(value) in _LISTS:
        return True
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        return False
    return isinstance(value, (Sequence, AbstractSet))


def _is_chat(value: Any) -> bool:
    last = value[-1] if isinstance(value, (list, tuple)) and value else value
    return isinstance(last, Mapping) and "content" in last


def describe(value: Any) -> str:
    """Describe the type of a value without showing its content."""
    if value is None:
        return "None"
    if isinstance(value, OversizedInteger):
        return f"an integer of {value.digits:,} digits"
    if isinstance(value, (float, Decimal)) and not _is_finite(value):
        return "NaN" if is_missing(value) else "infinite"
    if isinstance(value, (list, tuple)) and _is_chat(value):
        return f"a list of {len(value)} messages"
    name = type(value).__name__
    if name in _GAPS:
        return "no value of its table"
    if isinstance(value, (bytes, bytearray)):
        return name
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
