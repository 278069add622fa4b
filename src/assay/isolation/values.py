"""Encode plain data as JSON with exact types, for exchange with untrusted programs.

`encode` runs next to the program, which may have changed anything there; `decode` runs where the
value is judged, and believes nothing. What crosses is `None`, truth values, numbers, text, bytes,
and lists, tuples, sets and maps of these. A subclass crosses as the value of its base, so that its
own `__eq__`, `__hash__` or `__class__` stays behind; every other object does not cross.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

MOST_DEPTH = 60
MOST_NODES = 1_000_000
SAFE_INTEGER = 1 << 62
MOST_OF_ONE_HASH = 64
_COLLECTIONS = {"t": tuple, "s": set, "z": frozenset}


class NotPlain(Exception):
    """An object cannot be sent as a plain value; the message is the name of its type."""


class UndecodableValue(Exception):
    """The bytes received are not an encoded value."""


def encode(value: Any) -> Any:
    """Encode the value as JSON types; raise `NotPlain` if that is impossible."""
    return _Encoder().encode(value, 0)


class _Encoder:
    def __init__(self) -> None:
        self._nodes = 0

    def encode(self, value: Any, depth: int) -> Any:
        self._nodes += 1
        if depth > MOST_DEPTH or self._nodes > MOST_NODES:
            raise NotPlain("data that is too large or too deeply nested")
        if value is None or value is True or value is False:
            return value
        mro = type(value).__mro__
        for base, write in _SCALARS:
            if base in mro:
                return write(value)
        return self._collection(value, depth + 1)

    def _collection(self, value: Any, depth: int) -> Any:
        mro = type(value).__mro__
        if list in mro:
            return [self.encode(item, depth) for item in list.__iter__(value)]
        if tuple in mro:
            return {"t": [self.encode(item, depth) for item in tuple.__iter__(value)]}
        if dict in mro:
            return {
                "d": [
                    [self.encode(key, depth), self.encode(item, depth)]
                    for key, item in dict.items(value)
                ]
            }
        for tag, base in (("s", set), ("z", frozenset)):
            if base in mro:
                # Its members in one order, whatever the order in memory.
                members = [self.encode(item, depth) for item in base.__iter__(value)]
                return {tag: sorted(members, key=repr)}
        numpy: Any = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, (numpy.generic, numpy.ndarray)):
            return self.encode(value.tolist(), depth)
        raise NotPlain(type(value).__name__)


def _integer(value: int) -> Any:
    number = int.__add__(value, 0)
    return number if -SAFE_INTEGER < number < SAFE_INTEGER else {"i": format(number, "x")}


def _float(value: float) -> Any:
    number = float.__add__(value, 0.0) or float.__mul__(value, 1.0)
    return number if math.isfinite(number) else {"f": repr(number)}


def _complex(value: complex) -> Any:
    number = complex.__add__(value, 0)
    return {"c": [_float(number.real), _float(number.imag)]}


def _bytes(value: bytes | bytearray) -> Any:
    return {"b": bytes(value).hex()}


_SCALARS: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (int, _integer), (float, _float), (str, str.__str__), (complex, _complex), (bytes, _bytes),
    (bytearray, _bytes),
)  # fmt: skip


def decode(value: Any) -> Any:
    """Decode an encoded value; raise `UndecodableValue` for anything else."""
    try:
        return _decode(value, 0)
    except UndecodableValue:
        raise
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise UndecodableValue(f"not plain data: {error!s:.200}") from error


def _decode(value: Any, depth: int) -> Any:
    if depth > 2 * MOST_DEPTH:
        raise UndecodableValue("too deep")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list):
        return [_decode(item, depth + 1) for item in value]
    if not isinstance(value, dict) or len(value) != 1:
        raise UndecodableValue("the JSON is neither a plain value nor a tagged value")
    ((tag, content),) = value.items()
    if tag in _COLLECTIONS and isinstance(content, list):
        members = [_decode(item, depth + 1) for item in content]
        if tag != "t":
            _check_hashes(members)
        return _COLLECTIONS[tag](members)
    if tag == "d" and isinstance(content, list):
        pairs = [(_decode(key, depth + 1), _decode(item, depth + 1)) for key, item in content]
        _check_hashes([key for key, _ in pairs])
        return dict(pairs)
    return _decode_scalar(tag, content)


def _check_hashes(keys: list[Any]) -> None:
    """Raise `UndecodableValue` if many keys share one hash, which would make maps slow."""
    hashes = sorted(map(hash, keys))
    step = MOST_OF_ONE_HASH
    if any(one == other for one, other in zip(hashes, hashes[step:], strict=False)):
        raise UndecodableValue("many keys of one hash")


def _decode_scalar(tag: str, content: Any) -> Any:
    if tag == "c":
        real, imaginary = (float(_decode(part, 0)) for part in content)
        return complex(real, imaginary)
    if not isinstance(content, str):
        raise UndecodableValue(f"the tag {tag!r:.20} without text")
    if tag == "i":
        return int(content, 16)
    if tag == "f" and content in ("inf", "-inf", "nan"):
        return float(content)
    if tag == "b":
        return bytes.fromhex(content)
    raise UndecodableValue(f"no tag {tag!r:.20}")
