"""Classify the errors that browser tools report.

Only the beginning of a message is read, because the rest may quote the page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, TypeAlias

from assay.schema.outcome import ErrorCode
from assay.text.word_tables import read_rows

LINE_LIMIT: Final = 400
"""Characters of an error message that are looked at."""

_LABELS: Final = re.compile(
    r"\A(?:(?:[\w.]{0,80}(?:error|exception)|message|mcp error -?\d{1,6}|call failed|\[error\]"
    r"|(?:locator|page|frame|framelocator|elementhandle|jshandle|browsercontext|browser|keyboard"
    r"|mouse|apirequestcontext|browserbackend|tracing|touchscreen)\.\w{1,60})\s{0,3}:\s{0,3}){1,5}",
    re.IGNORECASE,
)
_CDP: Final = re.compile(r"protocol error \([\w.]{1,60}\): ", re.IGNORECASE)
_WRAPPERS: Final = re.compile(
    r"(?:failed to [^:\n]{1,120}|error executing action [^:\n]{1,80}|failed to interact with[^.\n]"
    r"{1,120}\.|browser connection error|unable to navigate[^:\n]{0,60})[:.] ",
    re.IGNORECASE,
)
"""What a tool says before the message of another one, which says more."""


def classify_error(message: str) -> ErrorCode:
    """The error code of a browser tool's message, by the rules in `errors.toml`."""
    lines = (line.strip() for line in message[: 4 * LINE_LIMIT].splitlines())
    # Some tools put a Markdown heading over the message.
    line = next((line[:LINE_LIMIT] for line in lines if line and not line.startswith("#")), "")
    line = _LABELS.sub("", line)
    protocol = _CDP.match(line)
    if protocol is not None:
        line = line[protocol.end() :]
    wrapper = _WRAPPERS.match(line)
    inner = None if wrapper is None else _row_code(_LABELS.sub("", line[wrapper.end() :]))
    code = inner or _row_code(line)
    return code or ("other" if protocol is None else "protocol")


def _row_code(line: str) -> ErrorCode | None:
    return next((code for code, pattern in error_patterns() if pattern.match(line)), None)


def classify_mcp_result(result: Mapping[str, Any]) -> ErrorCode | None:
    """The error code of an MCP result; `None` if the result is not marked as an error."""
    if result.get("isError") is not True:
        return None
    content = result.get("content")
    for block in content[:20] if isinstance(content, list) else ():
        if isinstance(block, Mapping) and isinstance(block.get("text"), str):
            return classify_error(block["text"])
    return "other"


BrowserTool: TypeAlias = Literal[
    "playwright", "playwright-mcp", "chrome-devtools-mcp", "browser-use", "selenium", "puppeteer",
    "bidi", "cdp", "assay",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorMessageRule:
    """A rule of `errors.toml`: an error code, and the beginnings of its messages."""

    code: ErrorCode
    tools: tuple[BrowserTool, ...]
    beginnings: tuple[str, ...]
    """Regular expressions, with placeholders."""


_PLACEHOLDERS: Final = {"{mark}": r"[\"'`]?", "{value}": r"[^\n]{1,120}?"}
"""A quotation mark, and a value in a message: a number, a selector, an address."""


@cache
def error_rows() -> tuple[ErrorMessageRule, ...]:
    """The rules of `errors.toml`, in order; the first rule that fits a message counts.

    Patterns are bounded: a message may be hostile. `tools/error_texts.py` collects the messages.
    """
    return read_rows(ErrorMessageRule, "assay.browser.words", "errors.toml")


@cache
def error_patterns() -> tuple[tuple[ErrorCode, re.Pattern[str]], ...]:
    """The error code and the pattern of each rule."""
    return tuple((row.code, _pattern(row)) for row in error_rows())


def _pattern(row: ErrorMessageRule) -> re.Pattern[str]:
    text = "|".join(row.beginnings)
    for name, expression in _PLACEHOLDERS.items():
        text = text.replace(name, expression)
    return re.compile(text, re.IGNORECASE)
