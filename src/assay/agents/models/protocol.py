"""The protocol of language models, their replies and prices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from assay.schema.usage import Usage


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A tool call as the model wrote it."""

    id: str
    """What the result has to name; empty where the server gave none."""
    name: str
    arguments: str
    """JSON text, if the model keeps to it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply: its text, the tools that it calls, and what it cost."""

    text: str
    usage: Usage = field(default_factory=lambda: Usage(calls=1))
    session: str | None = None
    """Where the model keeps the conversation itself: what to pass with the next question."""
    calls: tuple[CallRequest, ...] = ()
    """In their order; of those that came with one reply none waits for another's result."""
    cut_off: bool = False
    """Whether the model had more to say and was stopped, by `max_tokens` or the server's limit."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """What else belongs to the assistant's message and is sent back with it, under the names of
    its API: `reasoning_content`, or `thinking_blocks` with their signatures."""


class Model(Protocol):
    """Anything that continues a conversation."""

    name: str
    # A model may have `timeout_s`, for how long a call of it may take; without, it is 120 s.
    # One with `native_tools = True` takes tools too: `complete(messages, tools=[…], …)`, in the
    # shape of chat completions, and messages of the role "tool" that hold what calls returned.

    async def complete(
        self, messages: Sequence[dict[str, Any]], *, timeout_s: float, session: str | None = None
    ) -> Reply:
        """Return the model's next message within `timeout_s` seconds, retries included.

        `messages` is always the whole conversation, with the roles system, user and assistant and
        plain text as content. A model that keeps conversations itself may use `session`, the one
        that its last reply named, and send only what is new.

        Raises `ModelError` when there is no reply, or none that can be read, and `PromptTooLong`
        when the conversation is longer than the model takes; the message never holds a key.
        """

    async def close(self) -> None:
        """Close connections and processes; a second call does nothing."""


@dataclass(frozen=True, slots=True)
class TokenPrices:
    """The price of a million input and output tokens in US dollars; `None` if unknown."""

    input_usd: float | None = None
    output_usd: float | None = None

    def usage(self, prompt_tokens: int, completion_tokens: int) -> Usage:
        """Return the usage of one call, with its cost if prices and token counts are known."""
        cost = None
        is_counted = bool(prompt_tokens or completion_tokens)
        if is_counted and self.input_usd is not None and self.output_usd is not None:
            total = prompt_tokens * self.input_usd + completion_tokens * self.output_usd
            cost = total / 1_000_000
        return Usage(prompt_tokens, completion_tokens, cost, calls=1)
