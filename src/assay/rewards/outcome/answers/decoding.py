"""How AssistantBench's scorer reads a text: as JSON where it is, as a number where it can be.

Restates the rules of BrowserGym's AssistantBench evaluator (Apache-2.0); the code is ours.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

MAX_NESTING = 100
"""Deepest brackets in an answer that are read as JSON."""

NOT_JSON: Final = object()
_COMPOUND_STARTS = frozenset('{["')
_SCALAR_STARTS = frozenset("-0123456789tfnNI")
_SCALAR = re.compile(
    r"[ \t\n\r]*(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
    r"|true|false|null|NaN|-?Infinity)[ \t\n\r]*"
)


class BeyondLimitError(Exception):
    """The text is longer, deeper or more numerous than this grader reads."""


def decode(text: str) -> Any:
    """The JSON value that the text spells, or `NOT_JSON`."""
    start = text.lstrip(" \t\n\r")[:1]
    if start in _SCALAR_STARTS:
        # A failing parser composes a message at length; most answers are not JSON.
        if not _SCALAR.fullmatch(text):
            return NOT_JSON
    elif start not in _COMPOUND_STARTS:
        return NOT_JSON
    elif _nesting(text) > MAX_NESTING:
        raise BeyondLimitError(f"the JSON is nested deeper than {MAX_NESTING}")
    try:
        return json.loads(text)
    except ValueError:
        return NOT_JSON
    except RecursionError:
        raise BeyondLimitError("the JSON is nested deeper than the stack") from None


def _nesting(text: str) -> int:
    """How deep brackets open, those inside strings included: an upper bound for JSON."""
    if text.count("[") + text.count("{") <= MAX_NESTING:
        return 0
    depth = deepest = 0
    for char in text:
        if char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth -= 1
    return deepest


def with_json_quotes(line: str) -> str:
    """The line with the quotes of a printed Python dictionary turned into those of JSON."""
    if "'" not in line:
        return line
    for python, standard in (("{'", '{"'), ("', '", '", "'), ("': '", '": "'), ("'}", '"}')):
        line = line.replace(python, standard)
    return line.replace("': ", '": ')


def to_number(text: str) -> float | None:
    """The number that a text spells; a comma is a decimal point, even between thousands."""
    start = text[:1]
    # Most answers are words: a failed `float` costs more than looking at the first character.
    if start.isalpha() and start not in "nNiIs":
        return None
    try:
        return float(text)
    except ValueError:
        bare = text.replace("$", " ").replace("%", " ").replace("sqft", " ").strip()
        bare = bare.replace(",", ".").replace(" square kilometers", "")
    if bare == text:
        return None
    try:
        return float(bare)
    except ValueError:
        return None
