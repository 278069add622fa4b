"""Read and write JSON exactly, with a limit on the number of values."""

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
    """Parse bytes as JSON; raise `BadRecord` if they are invalid or hold too many values."""
    marks = body.translate(DIGITS)
    # Texts may hold as many commas as they like, so only what is left without them counts.
    if marks.count(b",") > MAX_VALUES and _TEXT.sub(b"", marks).count(b",") > MAX_VALUES:
        raise BadRecord(f"holds more than {MAX_VALUES:,} values; send less data at a time")
    return load_exact(body, marks)


def write_json(value: Any, *, default: Callable[[Any], Any] | None = repr) -> bytes:
    """Write JSON bytes, including values that the fast writer refuses.

    What is not JSON goes through `default`; without one it is a `TypeError`.
    """
    try:
        return orjson.dumps(value, default=default)
    except (TypeError, orjson.JSONEncodeError):
        return json.dumps(value, default=default).encode()
