"""JSON read strictly: whatever cannot be read exactly is refused, with the reason.

NaN and Infinity are not JSON. An integer beyond 64 bits keeps all its digits, and half of a
surrogate pair, which model output does contain, is kept as it is; both take the slower reader of
the standard library.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn

import orjson

from assay.errors import BadRecord

MAX_VALUES = 500_000
"""Separators in a body: a few megabytes of `{},{},…` would become gigabytes of objects."""

_TEXT = re.compile(rb'"(?:[^"\\]++|\\.?)*+(?:"|\Z)', re.DOTALL)
"""A text, to its end or that of the body: whatever it holds, it is gone through once."""

_HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")
_MARKS = bytes.maketrans(b"123456789[{", b"0" * 9 + b",,")
"""Digits become zeros, and what begins another value becomes a comma."""
_LONG = b"0" * 19
_LONG_INTEGER = re.compile(rb"(?:(?<=[\[:,\s])|(?<=[\[:,\s]-)|(?<=^-)|^)[0-9]{19,}(?=[,\]}\s]|$)")
_ZEROS = re.compile(rb"0*")
_RUNS = 1000
"""Runs of digits that are looked at; a body with more of them is taken to hold an integer."""


def read_json(body: bytes) -> Any:
    """The value that the bytes hold; raises `BadRecord` for anything doubtful."""
    marks = body.translate(_MARKS)
    # Texts may hold as many commas as they like, so only what is left without them counts.
    if marks.count(b",") > MAX_VALUES and _TEXT.sub(b"", marks).count(b",") > MAX_VALUES:
        raise BadRecord(f"holds more than {MAX_VALUES:,} values; send less at a time")
    if not _holds_long_integer(body, marks):
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError as error:
            if _HALF_PAIR.search(body) is None:
                raise BadRecord(f"is not JSON: {error}") from error
    return _read_slowly(body)


def _holds_long_integer(body: bytes, marks: bytes) -> bool:
    """Whether an integer beyond 64 bits might be there; one in a text may be taken for one.

    Most bodies are done with at the speed of memory, which a search by pattern has not.
    """
    at = marks.find(_LONG)
    for _ in range(_RUNS):
        if at < 0:
            return False
        if _LONG_INTEGER.match(body, at) is not None:
            return True
        run = _ZEROS.match(marks, at)
        at = marks.find(_LONG, at if run is None else run.end())
    return True


def _read_slowly(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_refuse, parse_float=_finite)
    except RecursionError as error:
        raise BadRecord("is not JSON: nested too deeply") from error
    except ValueError as error:
        raise BadRecord(f"is not JSON: {error!s:.200}") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number is infinite when read as a double")
    return number


def write_json(value: Any, *, default: Callable[[Any], Any] | None = repr) -> bytes:
    """JSON bytes; what the fast writer refuses (half of a surrogate pair, a long integer) too.

    What is not JSON goes through `default`; without one it is a `TypeError`.
    """
    try:
        return orjson.dumps(value, default=default)
    except (TypeError, orjson.JSONEncodeError):
        return json.dumps(value, default=default).encode()
