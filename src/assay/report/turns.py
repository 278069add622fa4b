"""Which messages of a conversation belong to which step.

A record keeps an episode's messages in one list and its steps in another. Every turn of an agent
begins with what it is shown, and ends with one action, so the beginnings can be counted. Where
their number is not that of the actions, nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from assay.report.traces import PAGE
from assay.schema.message import Message, text_of

Turn: TypeAlias = tuple[Message, ...]
REFUSED = "error: "
"""How the result of a call begins that the agent did not do: it comes in the same turn."""
NOTE = "Note: "
"""How a word of the agent to its model begins; it comes in the same turn."""


def turns_of(messages: Sequence[Message], n_actions: int) -> tuple[Turn, ...] | None:
    """The messages of each turn: number `i` is of step `i + 1`; `None` where that is not told.

    There is one more turn than actions where the agent gave up, or was shown what its last action
    led to.
    """
    for find in (_pages, _results, _replies):
        starts = find(messages)
        if starts and len(starts) in (n_actions, n_actions + 1):
            ends = [*starts[1:], len(messages)]
            pieces = zip([0, *starts[1:]], ends, strict=True)
            return tuple(tuple(messages[first:last]) for first, last in pieces)
    return None


def _pages(messages: Sequence[Message]) -> list[int]:
    """Where the research agent shows a page: once a turn."""
    return [
        i
        for i, message in enumerate(messages)
        if message.role in ("user", "tool") and PAGE in text_of(message.content)
    ]


def _results(messages: Sequence[Message]) -> list[int]:
    """Where the result of a call is, or a word of the other side after a reply without one."""
    starts: list[int] = []
    waiting: set[str] = set()
    replied = True
    for i, message in enumerate(messages):
        if message.role == "assistant":
            waiting |= {call.id for call in message.tool_calls}
            replied = True
        elif message.tool_call_id in waiting:
            waiting.discard(message.tool_call_id)
            refused = text_of(message.content).startswith(REFUSED)
            if not (message.get("is_error") and refused):
                starts.append(i)
            replied = False
        elif message.role == "user":
            if replied and not text_of(message.content).startswith(NOTE):
                starts.append(i)
            replied = False
    return starts


def _replies(messages: Sequence[Message]) -> list[int]:
    """Where a turn begins if each ends with a reply."""
    ends = [i + 1 for i, message in enumerate(messages) if message.role == "assistant"]
    return [0, *(end for end in ends if end < len(messages))] if ends else []
