"""How the error messages of browser tools begin, with the code of each and the tools that write it.

The first row that fits counts, and its pattern is matched at the beginning of a message, without
regard to case. `tools/error_texts.py` collects the messages from the tools' own sources, and says
how many of them have a row. Patterns are bounded: a message may be hostile.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, TypeAlias

from assay.schema.outcome import ErrorCode
from assay.text.word_tables import read_rows

BrowserTool: TypeAlias = Literal[
    "playwright",
    "playwright-mcp",
    "chrome-devtools-mcp",
    "browser-use",
    "selenium",
    "puppeteer",
    "bidi",
    "cdp",
    "assay",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRow:
    """The beginnings of messages that mean the same."""

    code: ErrorCode
    tools: tuple[BrowserTool, ...]
    beginnings: tuple[str, ...]
    """Regular expressions, with placeholders."""


_PLACEHOLDERS: Final = {"{mark}": r"[\"'`]?", "{value}": r"[^\n]{1,120}?"}
"""A quotation mark, and a value in a message: a number, a selector, an address."""


@cache
def error_rows() -> tuple[ErrorRow, ...]:
    """The rows of `errors.toml`, in the order in which they are tried."""
    return read_rows(ErrorRow, "assay.browser.words", "errors.toml")


@cache
def error_patterns() -> tuple[tuple[ErrorCode, re.Pattern[str]], ...]:
    """The code of each row, and the pattern of its beginnings."""
    return tuple((row.code, _pattern(row)) for row in error_rows())


def _pattern(row: ErrorRow) -> re.Pattern[str]:
    text = "|".join(row.beginnings)
    for name, expression in _PLACEHOLDERS.items():
        text = text.replace(name, expression)
    return re.compile(text, re.IGNORECASE)
