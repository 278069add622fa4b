"""The JSON of requests and answers: bounded in the number of its values, and read exactly."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import orjson

from assay.errors import BadRecord
from assay.formats.lines import DIGITS, load_exact

MAX_VALUES = 500_000
"""Separators in a body: a few megabytes of `{},{},…` would become gigabytes of objects."""

_TEXT = re.compile(rb'"(?:[^"\\]++|\\.?)*+(?:"|\Z)', re.DOTALL)
"""A text, to its end or that of the body: whatever it holds, it is gone through once."""


def read_json(body: bytes) -> Any:
    """The value that the bytes hold; raises `BadRecord` if they are not JSON, or hold too much."""
    marks = body.translate(DIGITS)
    # Texts may hold as many commas as they like, so only what is left without them counts.
    if marks.count(b",") > MAX_VALUES and _TEXT.sub(b"", marks).count(b",") > MAX_VALUES:
        raise BadRecord(f"holds more than {MAX_VALUES:,} values; send less at a time")
    return load_exact(body, marks)


def write_json(value: Any, *, default: Callable[[Any], Any] | None = repr) -> bytes:
    """JSON bytes; what the fast writer refuses (half of a surrogate pair, a long integer) too.

    What is not JSON goes through `default`; without one it is a `TypeError`.
    """
    try:
        return orjson.dumps(value, default=default)
    except (TypeError, orjson.JSONEncodeError):
        return json.dumps(value, default=default).encode()
