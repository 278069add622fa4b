"""Actions as text: one call such as `click("12")`, written and read without evaluating anything.

Reading is linear in the length of the text, never raises, and accepts what language models write:
JSON strings, Python strings in single quotes, line breaks inside strings, bare numbers and words.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

MAX_ARGUMENTS = 8

_NAME = re.compile(r"\s*([A-Za-z_][A-Za-z_0-9]{0,40})\s{0,8}\(")
_BARE = re.compile(r"[^\s,()\"']{1,200}")
_SINGLE = re.compile(r"'((?:[^'\\]++|\\.)*+)'", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder(strict=False)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True, slots=True)
class Call:
    """One action: its name and its arguments, all of them text."""

    name: str
    arguments: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The call as a world reads it."""
        return f"{self.name}({', '.join(map(quoted, self.arguments))})"


def quoted(text: str) -> str:
    """The text as a JSON string literal, readable by people."""
    return json.dumps(text, ensure_ascii=False)


def read_call(text: str) -> tuple[Call, int] | None:
    """The call that `text` begins with and the position after it; `None` when it is no call."""
    head = _NAME.match(text)
    if head is None:
        return None
    arguments: list[str] = []
    at = _skip(text, head.end())
    while not text.startswith(")", at):
        argument = _read_argument(text, at)
        if argument is None or len(arguments) == MAX_ARGUMENTS:
            return None
        arguments.append(argument[0])
        at = _skip(text, argument[1])
        if text.startswith(",", at):
            at = _skip(text, at + 1)
        elif not text.startswith(")", at):
            return None
    return Call(head[1], tuple(arguments)), at + 1


def parse_call(text: str) -> Call | None:
    """The call that `text` is, from its first to its last character."""
    found = read_call(text)
    return found[0] if found and not text[found[1] :].strip() else None


def answer_in(text: str) -> str | None:
    """The answer, when the action's text is `answer("…")`."""
    call = parse_call(text)
    if call is None or call.name != "answer" or len(call.arguments) != 1:
        return None
    return call.arguments[0]


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _read_argument(text: str, at: int) -> tuple[str, int] | None:
    if text.startswith("'", at):
        return _read_single_quoted(text, at)
    if text.startswith('"', at):
        try:
            value, end = _DECODER.raw_decode(text, at)
        except ValueError:
            return None
        return str(value), end
    bare = _BARE.match(text, at)
    return (bare[0], bare.end()) if bare else None


def _read_single_quoted(text: str, at: int) -> tuple[str, int] | None:
    literal = _SINGLE.match(text, at)
    if literal is None:
        return None
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), literal[1]), literal.end()
