"""The recorded conversation of an episode: chat messages, tool calls and their results.

A result is a message of the role "tool" with the id of its call; an answer is a plain message; a
reply that could not be read has the reason as `unreadable`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.agents.models.protocol import CallRequest
from assay.schema.action import ActionCall, parse_call, quote
from assay.schema.message import tool_call

Message = dict[str, Any]

ID_CHARS = 200
"""A longer id of a call is replaced by one of ours."""


class Transcript:
    """The messages of one episode."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._n_taken = 0
        self._pending: Message | None = None
        self._calls = 0
        self._ids: set[str] = set()

    def add_system(self, text: str) -> None:
        """Add the system message."""
        self.messages.append({"role": "system", "content": text})

    def add_observation(self, text: str, *, failed: bool = False) -> None:
        """Add an observation, as the result of the last call or as a message of the user."""
        call, self._pending = self._pending, None
        if call is None:
            self.messages.append({"role": "user", "content": text})
        else:
            self.add_result(call, text, failed=failed)

    def add_result(self, call: Message, text: str, *, failed: bool = False) -> None:
        """Add the result of a tool call."""
        message = {
            "role": "tool",
            "tool_call_id": call["id"],
            "name": call["function"]["name"],
            "content": text,
        }
        self.messages.append({**message, "is_error": True} if failed else message)

    def add_reply(
        self, text: str, *, unreadable: str = "", fields: Mapping[str, Any] | None = None
    ) -> None:
        """Add a reply of the assistant; `unreadable` says why the reply is refused."""
        marks = {"unreadable": unreadable} if unreadable else {}
        self.messages.append({"role": "assistant", "content": text, **(fields or {}), **marks})

    def add_call(
        self,
        action: str,
        *,
        parameters: tuple[str, ...] = (),
        reply: str = "",
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        """Add an action of the assistant as a tool call; the next observation is its result."""
        call = parse_call(action)
        if call is None:
            call, parameters = ActionCall("act", (action,)), ("action",)
        self.add_tool_call(call.name, _arguments(call, parameters), reply=reply, fields=fields)

    def add_tool_call(
        self, name: str, arguments: str, *, reply: str, fields: Mapping[str, Any] | None = None
    ) -> None:
        """Add a tool call with arguments as JSON; the next observation is its result."""
        (call,) = self.add_calls(reply, [CallRequest("", name, arguments)], fields=fields)
        self.expect(call)

    def add_calls(
        self, reply: str, calls: Sequence[CallRequest], *, fields: Mapping[str, Any] | None = None
    ) -> list[Message]:
        """Add the tool calls of one reply, and return their records.

        A call without an id of its own gets a new id, since results name their calls by it.
        """
        records = [tool_call(self._new_id(call.id), call.name, call.arguments) for call in calls]
        message = {"role": "assistant", "content": reply, "tool_calls": records, **(fields or {})}
        self.messages.append(message)
        return records

    def expect(self, call: Message) -> None:
        """Record the next observation as the result of this call."""
        self._pending = call

    def take_new(self) -> tuple[Message, ...]:
        """Return the messages that were added since the last call of this method."""
        new = tuple(self.messages[self._n_taken :])
        self._n_taken = len(self.messages)
        return new

    def _new_id(self, id_: str) -> str:
        self._calls += 1
        number = self._calls
        while not id_ or len(id_) > ID_CHARS or id_ in self._ids:
            id_ = f"call_{number}"
            number += 1
        self._ids.add(id_)
        return id_


def _arguments(call: ActionCall, parameters: tuple[str, ...]) -> str:
    names = [*parameters, *(f"argument_{n}" for n in range(len(parameters), len(call.arguments)))]
    pairs = zip(names, call.arguments, strict=False)
    return "{" + ", ".join(f"{quote(name)}: {quote(value)}" for name, value in pairs) + "}"
