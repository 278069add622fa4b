"""The actions of the research agent, and how a model's reply is read as one of them.

A reply names its action in one of two ways, the last one counting:

    ACTION: click                       some thoughts
    PARAMS: {"id": "12"}                click("12")

Reading takes time linear in the reply, evaluates nothing and never raises.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from assay.schema.action import ActionCall, read_call

THINK_CHARS = 20_000
"""Longer thoughts are cut; the whole reply is in the messages."""
_CANDIDATES = 8
"""Lines that may begin the last call: more are not tried, so that reading stays linear."""


@dataclass(frozen=True, slots=True)
class ActionKind:
    """One action: what it takes, and what it does, as the prompt says it."""

    parameters: tuple[str, ...]
    says: str
    example: str


ACTIONS: Mapping[str, ActionKind] = MappingProxyType(
    {
        "click": ActionKind(("id",), "click the element with this number", '{"id": "12"}'),
        "fill": ActionKind(
            ("id", "text"), "put text into a field", '{"id": "5", "text": "fresh bread"}'
        ),
        "select": ActionKind(
            ("id", "option"), "choose an option of a list", '{"id": "7", "option": "May"}'
        ),
        "press": ActionKind(("key",), "press a key", '{"key": "Enter"}'),
        "scroll": ActionKind(("direction",), "scroll down or up", '{"direction": "down"}'),
        "goto": ActionKind(("url",), "open a page", '{"url": "http://example.org/"}'),
        "back": ActionKind((), "go back one page", "{}"),
        "search": ActionKind(("words",), "ask the search engine", '{"words": "red shoes"}'),
        "fetch_json": ActionKind(
            ("url",),
            "get JSON from an API without opening a page",
            '{"url": "http://example.org/api?year=2020"}',
        ),
        "noop": ActionKind((), "wait a moment", "{}"),
        "answer": ActionKind(("text",), "give the answer; this ends the work", '{"text": "…"}'),
    }
)


@dataclass(frozen=True, slots=True)
class Decision:
    """A reply that names one action."""

    call: ActionCall
    think: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A reply that names none; `because` tells the model what is wrong with it."""

    because: str


_NAMED = re.compile(r"^[ \t>*`_#-]*ACTION[*`_ \t]*:[*`_ \t]*([A-Za-z_]{1,40})", re.MULTILINE)
_PARAMS = re.compile(r"^[ \t>*`_#-]*PARAMS[*`_ \t]*:[*`_ \t]*", re.MULTILINE)
_FENCE = re.compile(r"[\s`]*(?:json)?[\s`]*")
_CALL_LINE = re.compile(r"^[ \t`]*(?=(?:" + "|".join(ACTIONS) + r")[ \t]*\()", re.MULTILINE)
_AFTER = re.compile(r"[\s`.;]*\Z")
_DECODER = json.JSONDecoder(strict=False)


def read_reply(text: str) -> Decision | Unreadable:
    """The action that the reply names, or what is wrong with it."""
    named = deque(_NAMED.finditer(text), maxlen=1)
    if named:
        call, start = _named_call(text, named[0]), named[0].start()
    else:
        call, start = _last_call(text)
    if isinstance(call, Unreadable):
        return call
    return Decision(call, text[:start].strip().strip("`").strip()[:THINK_CHARS])


def _named_call(text: str, named: re.Match[str]) -> ActionCall | Unreadable:
    name = named[1].lower()
    kind = ACTIONS.get(name)
    if kind is None:
        return Unreadable(f"there is no action {name!r}; the actions are {', '.join(ACTIONS)}")
    head = _PARAMS.search(text, named.end())
    if head is None:
        if not kind.parameters:
            return ActionCall(name)
        return Unreadable(f"the line `PARAMS: {kind.example}` is missing after ACTION: {name}")
    fence = _FENCE.match(text, head.end())
    try:
        given, _ = _DECODER.raw_decode(text, fence.end() if fence else head.end())
    except (ValueError, RecursionError):
        return Unreadable(f"PARAMS is not valid JSON; it looks like {kind.example}")
    return _with_parameters(name, kind, given)


def _with_parameters(name: str, kind: ActionKind, given: object) -> ActionCall | Unreadable:
    if isinstance(given, dict) and set(given) == set(kind.parameters):
        return ActionCall(name, tuple(_as_text(given[parameter]) for parameter in kind.parameters))
    if isinstance(given, list) and len(given) == len(kind.parameters):
        return ActionCall(name, tuple(map(_as_text, given)))
    return Unreadable(f"the PARAMS of {name} look like {kind.example}")


def _as_text(value: Any) -> str:
    """A parameter as text: an answer may be given as a number, a list or an object."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""


def _last_call(text: str) -> tuple[ActionCall | Unreadable, int]:
    starts = [found.end() for found in _CALL_LINE.finditer(text)][-_CANDIDATES:]
    for start in reversed(starts):
        found = read_call(text[start:])
        if found is None or not _AFTER.match(text, start + found[1]):
            continue
        call = found[0]
        kind = ACTIONS[call.name]
        if len(call.arguments) == len(kind.parameters):
            return call, start
        return Unreadable(f"{call.name} takes {_counted(kind.parameters)}"), start
    if starts:
        return Unreadable("the action is not the last thing in the reply, or it is incomplete"), 0
    return Unreadable("the reply names no action"), 0


def _counted(parameters: Sequence[str]) -> str:
    return ", ".join(parameters) if parameters else "no parameters"
