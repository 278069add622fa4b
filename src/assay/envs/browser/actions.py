"""What an agent can tell a browser: one call a step, written as text.

    click("12")   fill("5", "words")   select("7", "May")   scroll("down")   press("Enter")
    goto("http://…")   back()   search("words")   fetch_json("http://…")   noop()

Arguments are JSON strings (single quotes are taken too) or bare numbers. Reading an action is
linear in its length and never executes anything.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, Literal, get_args

ActionName = Literal[
    "click", "fill", "select", "scroll", "press", "goto", "back", "search", "fetch_json", "noop"
]

PARAMETERS: Final[dict[ActionName, tuple[str, ...]]] = {
    "click": ("ref",),
    "fill": ("ref", "text"),
    "select": ("ref", "option"),
    "scroll": ("direction",),
    "press": ("key",),
    "goto": ("url",),
    "back": (),
    "search": ("words",),
    "fetch_json": ("url",),
    "noop": (),
}
USAGE: Final = (
    'one call such as click("12"), fill("5", "words"), select("7", "option"), scroll("down"), '
    'press("Enter"), goto("http://…"), back(), search("words"), fetch_json("http://…"), noop()'
)
ACTION_CHARS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Call:
    """One action, understood."""

    name: ActionName
    arguments: tuple[str, ...] = ()

    def named(self) -> dict[str, str]:
        """The arguments by name."""
        return dict(zip(PARAMETERS[self.name], self.arguments, strict=True))


@dataclass(frozen=True, slots=True)
class BadCall:
    """Why an action's text is no action."""

    problem: str


def parse_action(text: str) -> Call | BadCall:
    """The call that the text makes, or what is wrong with it."""
    action = text.strip()
    if len(action) > ACTION_CHARS:
        return BadCall(f"the action has {len(action):,} characters; {ACTION_CHARS:,} are allowed")
    name, bracket, rest = action.partition("(")
    name = name.strip()
    if name not in get_args(ActionName):
        return BadCall(f"there is no action {name[:40]!r}; say {USAGE}")
    if not bracket or not rest.endswith(")"):
        return BadCall(f"{action[:80]!r} is not a call; say {USAGE}")
    arguments = _arguments(rest[:-1])
    if arguments is None:
        return BadCall(f"the arguments of {action[:80]!r} are not quoted strings or numbers")
    known = PARAMETERS[name]  # type: ignore[index]  # membership was checked above
    if len(arguments) != len(known):
        return BadCall(f"{name} takes {len(known)} argument(s), got {len(arguments)}; say {USAGE}")
    return Call(name, arguments)  # type: ignore[arg-type]  # as above


def _arguments(text: str) -> tuple[str, ...] | None:
    """Comma-separated string literals or numbers; `None` when it is anything else."""
    found: list[str] = []
    position = 0
    while True:
        while position < len(text) and text[position].isspace():
            position += 1
        if position == len(text):
            return tuple(found) if not found else None
        value, position = _literal(text, position)
        if value is None:
            return None
        found.append(value)
        while position < len(text) and text[position].isspace():
            position += 1
        if position == len(text):
            return tuple(found)
        if text[position] != ",":
            return None
        position += 1


def _literal(text: str, start: int) -> tuple[str | None, int]:
    quote = text[start]
    if quote not in "\"'":
        end = start
        while end < len(text) and (text[end].isalnum() or text[end] in "-._"):
            end += 1
        return (text[start:end] or None), end
    end = start + 1
    while end < len(text) and text[end] != quote:
        end += 2 if text[end] == "\\" else 1
    if end >= len(text):
        return None, end
    return _unescape(text[start + 1 : end], quote), end + 1


def _unescape(body: str, quote: str) -> str:
    if quote == "'":
        body = body.replace("\\'", "'").replace('"', '\\"')
    try:
        return str(json.loads(f'"{body}"', strict=False))
    except ValueError:
        # Not valid JSON escapes: a Windows path, a regex. The text is meant as it stands.
        return body
