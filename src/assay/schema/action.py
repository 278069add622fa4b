"""Write and read actions as text calls, such as `click("12")`, without running any code.

The grammar: a name, and in brackets quoted strings and bare words with commas between them. Either
kind of quotes takes JSON's escapes, and line breaks; a string with other escapes (a Windows path, a
regular expression) is taken as it stands. An `ActionDialect` holds what one reader accepts and
another does not. Reading takes time linear in the length of the text and never raises.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

_NAME: Final = re.compile(r"\s*([A-Za-z_][A-Za-z_0-9]{0,40})\s*+\(")
_STRING: Final = re.compile(r"""(["'])((?:[^"'\\]++|\\.|(?!\1)["'])*+)\1""", re.DOTALL)
_QUOTES: Final = re.compile(r'\\.|"', re.DOTALL)
_SPACE: Final = re.compile(r"\s*")
_CALL_HEAD: Final = re.compile(r"^[ \t`]*([A-Za-z_]\w{0,60})[ \t]*\(", re.MULTILINE | re.ASCII)
_KEYWORD: Final = re.compile(r"\s*([A-Za-z_]\w{0,60})\s*=\s*", re.ASCII)
_COMMA: Final = re.compile(r"\s*,\s*")
_DECODER: Final = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class ActionCall:
    """The name and the text arguments of one action."""

    name: str
    arguments: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The text of the call, as the environment reads it."""
        return f"{self.name}({', '.join(map(quote, self.arguments))})"


@dataclass(frozen=True, slots=True)
class BadAction:
    """A text that is not a valid action, with the reason in `problem`."""

    problem: str


@dataclass(frozen=True, slots=True)
class ActionDialect:
    """The rules by which a reader of action calls treats quotes and commas."""

    bare: re.Pattern[str]
    """Arguments without quotes."""
    trailing_comma: bool
    json_only: bool
    """Whether a string in double quotes with escapes that JSON does not have is refused."""
    max_arguments: int


REPLY: Final = ActionDialect(
    re.compile(r"[^\s,()\"']{1,200}"), trailing_comma=True, json_only=True, max_arguments=8
)
"""What a language model writes: also an address or a key without quotes."""


def quote(text: str) -> str:
    """The text as a JSON string that keeps non-ASCII characters."""
    return json.dumps(text, ensure_ascii=False)


def read_call(text: str, dialect: ActionDialect = REPLY) -> tuple[ActionCall, int] | None:
    """The call at the start of `text` with its end position, or `None` without a call."""
    head = _NAME.match(text)
    if head is None:
        return None
    arguments: list[str] = []
    at = _skip_space(text, head.end())
    while not text.startswith(")", at):
        argument = _read_argument(text, at, dialect)
        if argument is None or len(arguments) == dialect.max_arguments:
            return None
        arguments.append(argument[0])
        at = _skip_space(text, argument[1])
        if text.startswith(",", at):
            at = _skip_space(text, at + 1)
            if text.startswith(")", at) and not dialect.trailing_comma:
                return None
        elif not text.startswith(")", at):
            return None
    return ActionCall(head[1], tuple(arguments)), at + 1


def parse_call(text: str, dialect: ActionDialect = REPLY) -> ActionCall | None:
    """The call that the whole `text` consists of, or `None`."""
    call = read_call(text, dialect)
    return call[0] if call and not text[call[1] :].strip() else None


def answer_in(text: str) -> str | None:
    """The answer if the action's text is `answer("…")`, otherwise `None`."""
    call = parse_call(text)
    if call is None or call.name != "answer" or len(call.arguments) != 1:
        return None
    return call.arguments[0]


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A tool call that a model wrote as text: the tool's name and the text in brackets."""

    name: str
    inner: str


def tool_call_in(text: str, tools: Collection[str]) -> ToolRequest | None:
    """Find the tool call that ends the text and starts at the beginning of a line."""
    body = text.rstrip().rstrip("`").rstrip()
    if not body.endswith(")"):
        return None
    last: re.Match[str] | None = None
    for head in _CALL_HEAD.finditer(body):
        if head[1] in tools:
            last = head
    return None if last is None else ToolRequest(last[1], body[last.end() : -1].strip())


def read_arguments(inner: str) -> tuple[list[Any], dict[str, Any]] | None:
    """The positional and the named arguments of a call, or `None` if they are unreadable.

    They are one JSON object, JSON values with commas between them, or `name=value` pairs.
    """
    at, positional, named = 0, [], {}
    try:
        if inner.startswith("{"):
            value, at = _DECODER.raw_decode(inner)
            named = value
        while at < len(inner):
            name = _KEYWORD.match(inner, at)
            value, at = _DECODER.raw_decode(inner, name.end() if name else at)
            if name:
                named[name[1]] = value
            else:
                positional.append(value)
            comma = _COMMA.match(inner, at)
            if comma is None and inner[at:].strip():
                return None
            at = comma.end() if comma else len(inner)
    except (ValueError, RecursionError):
        return None
    return positional, named


def arguments_json(inner: str) -> str:
    """The arguments of a tool call as JSON; unreadable arguments stay unchanged."""
    arguments = read_arguments(inner)
    if arguments is None:
        return inner
    positional, named = arguments
    numbered = {f"argument_{index}": value for index, value in enumerate(positional)}
    return json.dumps({**numbered, **named}, ensure_ascii=False)


def _skip_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _read_argument(text: str, at: int, dialect: ActionDialect) -> tuple[str, int] | None:
    literal = _STRING.match(text, at)
    if literal is None:
        bare = dialect.bare.match(text, at)
        return (bare[0], bare.end()) if bare else None
    mark, body = literal.groups()
    json_body = body if mark == '"' else _QUOTES.sub(_to_json, body)
    try:
        return str(json.loads(f'"{json_body}"', strict=False)), literal.end()
    except ValueError:
        if mark == '"' and dialect.json_only:
            return None
        return (body if mark == '"' else body.replace("\\'", "'")), literal.end()


def _to_json(match: re.Match[str]) -> str:
    return {"\\'": "'", '"': '\\"'}.get(match[0], match[0])
