"""JSON read without losing anything: what the fast reader would round or refuse takes a slower way.

An integer beyond 64 bits keeps all its digits; one of more digits than Python reads stands as a
`LongInteger`. Half of a surrogate pair, which model output does contain, is kept as it is. NaN,
Infinity and numbers that no float holds, which are not JSON and which Python writes all the same,
are read as floats. None of these is a reason to refuse the values around it: a reward that cannot
use one abstains from its row.
"""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from assay.errors import BadRecord
from assay.schema.values import MAX_DIGITS, LongInteger

DIGITS = bytes.maketrans(b"123456789[{", b"0" * 9 + b",,")
"""Digits become zeros, and what begins another value becomes a comma."""
_LONG = b"0" * 19
_LONG_INTEGER = re.compile(rb"(?:(?<=[\[:,\s])|(?<=[\[:,\s]-)|(?<=^-)|^)[0-9]{19,}(?=[,\]}\s]|$)")
_ZEROS = re.compile(rb"0*")
_RUNS = 1000
"""Runs of digits that are looked at; data with more of them is taken to hold an integer."""


def load_exact(data: bytes, marks: bytes | None = None) -> Any:
    """The value that the bytes hold; raises `BadRecord` if they are not JSON.

    `marks` are the bytes translated by `DIGITS`, where the caller has them already.
    """
    if not holds_long_integer(data, marks):
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError as error:
            return _load_slowly(data, str(error))
    return _load_slowly(data)


def holds_long_integer(data: bytes, marks: bytes | None = None) -> bool:
    """Whether an integer beyond 64 bits might be there; one in a text may be taken for one.

    Most data is done with at the speed of memory, which a search by pattern has not.
    """
    marks = data.translate(DIGITS) if marks is None else marks
    at = marks.find(_LONG)
    for _ in range(_RUNS):
        if at < 0:
            return False
        if _LONG_INTEGER.match(data, at) is not None:
            return True
        run = _ZEROS.match(marks, at)
        at = marks.find(_LONG, at if run is None else run.end())
    return True


def _load_slowly(data: bytes, problem: str = "") -> Any:
    try:
        return json.loads(data.decode("utf-8"), parse_int=_integer)
    except RecursionError as error:
        raise BadRecord("is not JSON: nested too deeply") from error
    except ValueError as error:
        raise BadRecord(f"is not JSON: {problem or error!s:.200}") from error


def _integer(digits: str) -> int | LongInteger:
    count = len(digits.removeprefix("-"))
    return int(digits) if count <= MAX_DIGITS else LongInteger(count)
