"""The conversation of an episode as it is recorded: chat messages with calls and their results.

A result is a message of the role "tool" that carries the id of the call it answers, so that a
reward which asks whether tools were used can tell from the record alone. An answer is a
plain message, not a call.
"""

from __future__ import annotations

from typing import Any

from assay.schema.action import ActionCall, parse_call, quote

Message = dict[str, Any]


class Transcript:
    """The messages of one episode, and those that the current turn has added."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._n_taken = 0
        self._pending: Message | None = None
        self._calls = 0

    def add_system(self, text: str) -> None:
        """Add the instructions that stand before everything else."""
        self.messages.append({"role": "system", "content": text})

    def add_observation(self, text: str, *, failed: bool = False) -> None:
        """Add what the agent observes: the result of its last call, or a plain user message."""
        call, self._pending = self._pending, None
        if call is None:
            self.messages.append({"role": "user", "content": text})
            return
        message = {
            "role": "tool",
            "tool_call_id": call["id"],
            "name": call["function"]["name"],
            "content": text,
        }
        self.messages.append({**message, "is_error": True} if failed else message)

    def add_reply(self, text: str) -> None:
        """Add an answer of the assistant, or a reply of it without an action."""
        self.messages.append({"role": "assistant", "content": text})

    def add_call(self, action: str, *, parameters: tuple[str, ...] = (), reply: str = "") -> None:
        """Add an action of the assistant; the next observation is its result."""
        call = parse_call(action)
        if call is None:
            self.add_tool_call("act", f'{{"action": {quote(action)}}}', reply=reply)
        else:
            self.add_tool_call(call.name, _arguments(call, parameters), reply=reply)

    def add_tool_call(self, name: str, arguments: str, *, reply: str) -> None:
        """Add the call of a tool, its arguments as JSON; the next observation is its result."""
        self._calls += 1
        function = {"name": name, "arguments": arguments}
        self._pending = {"id": f"call_{self._calls}", "type": "function", "function": function}
        self.messages.append({"role": "assistant", "content": reply, "tool_calls": [self._pending]})

    def take_new(self) -> tuple[Message, ...]:
        """The messages added since the last call of this method."""
        new = tuple(self.messages[self._n_taken :])
        self._n_taken = len(self.messages)
        return new


def _arguments(call: ActionCall, parameters: tuple[str, ...]) -> str:
    names = [*parameters, *(f"argument_{n}" for n in range(len(parameters), len(call.arguments)))]
    pairs = zip(names, call.arguments, strict=False)
    return "{" + ", ".join(f"{quote(name)}: {quote(value)}" for name, value in pairs) + "}"
