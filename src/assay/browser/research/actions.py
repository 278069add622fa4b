"""The actions of the research agent, and the reader of a model's replies.

A reply names its action in one of two ways, the last one counting:

    ACTION: click                       some thoughts
    PARAMS: {"id": "12"}                click("12")
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from assay.schema.action import ActionCall, read_call
from assay.schema.tools import ANSWER, ActionTool, as_text, text_tool

THINK_CHARS = 20_000
"""Longer thoughts are cut; the whole reply is in the messages."""
_CANDIDATES = 8
"""Lines that may begin the last call: more are not tried, so that reading stays linear."""


@dataclass(frozen=True, slots=True)
class ActionKind:
    """One action: its parameters, and its description and example for the prompt."""

    parameters: tuple[str, ...]
    description: str
    example: str


PROMPT: Mapping[str, Any] = MappingProxyType(
    tomllib.loads(files(__package__).joinpath("prompt.toml").read_text("utf-8"))
)
ACTIONS: Mapping[str, ActionKind] = MappingProxyType(
    {
        name: ActionKind(tuple(json.loads(example)), description, example)
        for name, (description, example) in PROMPT["actions"].items()
    }
)


def _as_tool(name: str, kind: ActionKind) -> ActionTool:
    parameters = {key: f"such as {value}" for key, value in json.loads(kind.example).items()}
    return text_tool(name, f"{kind.description.capitalize()}.", parameters)


TOOLS: Mapping[str, ActionTool] = MappingProxyType(
    {name: ANSWER if name == "answer" else _as_tool(name, kind) for name, kind in ACTIONS.items()}
)
"""The actions as a model's native calls take them."""


def call_of(name: str, arguments: Mapping[str, Any]) -> ActionCall:
    """The action of a native tool call with named arguments."""
    return ActionCall(name, tuple(as_text(arguments[each]) for each in ACTIONS[name].parameters))


@dataclass(frozen=True, slots=True)
class Decision:
    """A reply of the model that names one action."""

    call: ActionCall
    think: str


@dataclass(frozen=True, slots=True)
class UnreadableReply:
    """A reply that names no action; `because` is the explanation for the model."""

    because: str


_ACTION_LINE = re.compile(r"^[ \t>*`_#-]*ACTION[*`_ \t]*:[*`_ \t]*([A-Za-z_]{1,40})", re.MULTILINE)
_PARAMS_LINE = re.compile(r"^[ \t>*`_#-]*PARAMS[*`_ \t]*:[*`_ \t]*", re.MULTILINE)
_FENCE = re.compile(r"[\s`]*(?:json)?[\s`]*")
_CALL_LINE = re.compile(r"^[ \t`]*(?=(?:" + "|".join(ACTIONS) + r")[ \t]*\()", re.MULTILINE)
_AFTER = re.compile(r"[\s`.;]*\Z")
_DECODER = json.JSONDecoder(strict=False)


def read_reply(text: str) -> Decision | UnreadableReply:
    """Read the action from a reply, or explain why the reply has none."""
    last = deque(_ACTION_LINE.finditer(text), maxlen=1)
    if last:
        call, start = _call_from_lines(text, last[0]), last[0].start()
    else:
        call, start = _last_call(text)
    if isinstance(call, UnreadableReply):
        return call
    return Decision(call, text[:start].strip().strip("`").strip()[:THINK_CHARS])


def _call_from_lines(text: str, action: re.Match[str]) -> ActionCall | UnreadableReply:
    name = action[1].lower()
    kind = ACTIONS.get(name)
    if kind is None:
        return UnreadableReply(f"there is no action {name!r}; the actions are {', '.join(ACTIONS)}")
    head = _PARAMS_LINE.search(text, action.end())
    if head is None:
        if not kind.parameters:
            return ActionCall(name)
        return UnreadableReply(f"the line `PARAMS: {kind.example}` is missing after ACTION: {name}")
    fence = _FENCE.match(text, head.end())
    try:
        values, _ = _DECODER.raw_decode(text, fence.end() if fence else head.end())
    except (ValueError, RecursionError):
        return UnreadableReply(f"PARAMS is not valid JSON; it looks like {kind.example}")
    if isinstance(values, dict) and set(values) == set(kind.parameters):
        values = [values[parameter] for parameter in kind.parameters]
    if isinstance(values, list) and len(values) == len(kind.parameters):
        return ActionCall(name, tuple(map(as_text, values)))
    return UnreadableReply(f"the PARAMS of {name} look like {kind.example}")


def _last_call(text: str) -> tuple[ActionCall | UnreadableReply, int]:
    starts = [match.end() for match in _CALL_LINE.finditer(text)][-_CANDIDATES:]
    for start in reversed(starts):
        parsed = read_call(text[start:])
        if parsed is None or not _AFTER.match(text, start + parsed[1]):
            continue
        call = parsed[0]
        kind = ACTIONS[call.name]
        if len(call.arguments) == len(kind.parameters):
            return call, start
        parameters = ", ".join(kind.parameters) or "no parameters"
        return UnreadableReply(f"{call.name} takes {parameters}"), start
    if starts:
        return UnreadableReply(
            "the action is not the last thing in the reply, or it is incomplete"
        ), 0
    return UnreadableReply("the reply names no action"), 0
