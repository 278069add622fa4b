"""Anthropic's messages API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import orjson

from assay.agents.models.endpoint import (
    cut_off,
    excerpt,
    read_event,
    read_object,
    server_events,
    string_in,
    token_count,
)
from assay.agents.models.hosted import HostedModel
from assay.agents.models.openai import MAX_CALLS
from assay.agents.models.protocol import CallRequest, Reply
from assay.errors import ModelError
from assay.schema.tools import as_text

THINKING = ("thinking", "redacted_thinking")
"""Blocks that the API demands to have back, with their signatures, before the calls of a turn."""
STOPPED = ("max_tokens", "model_context_window_exceeded")
_DELTAS: Mapping[str, tuple[str, str]] = {
    "text_delta": ("text", "text"),
    "input_json_delta": ("partial_json", "arguments"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
}
"""By the type of a delta: where its text is, and which text of the block it continues."""

Block: TypeAlias = dict[str, Any]


@dataclass(kw_only=True, eq=False, repr=False)
class AnthropicModel(HostedModel):
    """A model behind `{base_url}/v1/messages`."""

    name = "anthropic"
    path = "/messages"
    own_url = "https://api.anthropic.com"
    base_url: str = own_url
    api_key_env: str = "ANTHROPIC_API_KEY"
    max_tokens: int | None = 4096
    api_version: str = "2026-10-21"
    """The header `anthropic-version`: by default that of the official client which the tests hold
    the requests to."""

    def _headers(self, key: str) -> dict[str, str]:
        version = {"anthropic-version": self.api_version}
        # The official client sends a bearer token; servers of others may know the older header.
        return {**version, **({"authorization": f"Bearer {key}", "x-api-key": key} if key else {})}

    def _url(self) -> str:
        base = self.base_url.rstrip("/")
        if base.endswith(self.path):
            return base
        # Where chat completions have their version in the base URL, this API never has.
        return base.removesuffix("/v1") + "/v1" + self.path

    def _conversation(self, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
        system, turns = split_system(messages)
        return {**({"system": system} if system else {}), "messages": turns}

    def _tool(self, function: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "name": function["name"],
            "description": function["description"],
            "input_schema": function["parameters"],
        }

    def _read(self, content: bytes) -> Reply:
        body = read_object(content, "the response")
        blocks = body.get("content")
        if not isinstance(blocks, list):
            raise ModelError(f"the response holds no content: {excerpt(content)}")
        whole = [block for block in blocks if isinstance(block, dict)]
        return self._reply(whole, body.get("stop_reason"), _counts(body.get("usage"), {}))

    def _read_stream(self, content: bytes) -> Reply:
        blocks: dict[int, Block] = {}
        counts: dict[str, int] = {}
        stop_reason: object = None
        finished = False
        for event in server_events(content):
            body = read_event(event)
            message, delta = body.get("message"), body.get("delta")
            counts = _counts(message.get("usage") if isinstance(message, dict) else None, counts)
            counts = _counts(body.get("usage"), counts)
            _add_event(blocks, body)
            stop_reason = string_in(delta, "stop_reason") or stop_reason
            finished = finished or body.get("type") == "message_stop"
        if not finished:
            raise cut_off(content)
        return self._reply([block for _, block in sorted(blocks.items())], stop_reason, counts)

    def _reply(
        self, blocks: Sequence[Block], stop_reason: object, counts: Mapping[str, int]
    ) -> Reply:
        prompt = sum(count for name, count in counts.items() if name != "output_tokens")
        calls = [
            CallRequest(string_in(block, "id"), string_in(block, "name"), _arguments(block))
            for block in blocks
            if block.get("type") == "tool_use"
        ]
        thinking = [block for block in blocks if block.get("type") in THINKING]
        return Reply(
            "".join(string_in(block, "text") for block in blocks),
            self._prices.usage(prompt, counts.get("output_tokens", 0)),
            calls=tuple(calls[:MAX_CALLS]),
            cut_off=stop_reason in STOPPED,
            fields={"thinking_blocks": thinking} if thinking else {},
        )


def _add_event(blocks: dict[int, Block], event: Mapping[str, Any]) -> None:
    """Add the event's part of a content block: its start, or more of its text."""
    index = event.get("index")
    at = index if isinstance(index, int) else 0
    start, delta = event.get("content_block"), event.get("delta")
    if event.get("type") == "content_block_start" and isinstance(start, dict):
        blocks[at] = dict(start)
    elif event.get("type") == "content_block_delta" and isinstance(delta, dict):
        source, target = _DELTAS.get(string_in(delta, "type"), ("", ""))
        block = blocks.setdefault(at, {"type": "text"})
        if target:
            block[target] = string_in(block, target) + string_in(delta, source)


def _arguments(block: Block) -> str:
    """Return the arguments of a tool call as JSON text, from a stream or a whole response."""
    text = string_in(block, "arguments")
    return text or as_text(block.get("input", {}))


def split_system(messages: Sequence[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """Return the system messages, and the other messages with neighbours of one role joined."""
    system: list[str] = []
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "system":
            system.append(str(message["content"]))
            continue
        role = "assistant" if message["role"] == "assistant" else "user"
        content = _content(message)
        if not content:
            # An empty message is refused; it says nothing either.
            continue
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] = _joined(turns[-1]["content"], content)
        else:
            turns.append({"role": role, "content": content})
    return "\n\n".join(system), turns


def _content(message: Mapping[str, Any]) -> str | list[Block]:
    text = str(message["content"] or "")
    if message["role"] == "tool" and "tool_call_id" in message:
        result = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": text}
        return [{**result, "is_error": True} if message.get("is_error") else result]
    calls, thinking = message.get("tool_calls") or (), message.get("thinking_blocks") or ()
    if not calls and not thinking:
        return text
    uses = [
        {
            "type": "tool_use",
            "id": call["id"],
            "name": call["function"]["name"],
            "input": _input(call["function"]["arguments"]),
        }
        for call in calls
    ]
    return [*thinking, *_text_blocks(text), *uses]


def _input(arguments: str) -> dict[str, Any]:
    """Return the arguments as an object, as the API requires; empty if they are no object."""
    try:
        value = orjson.loads(arguments)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {}


def _joined(first: str | list[Block], second: str | list[Block]) -> str | list[Block]:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_text_blocks(first), *_text_blocks(second)]


def _text_blocks(content: str | list[Block]) -> list[Block]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content.strip() else []


def _counts(usage: object, before: Mapping[str, int]) -> dict[str, int]:
    """Return the newest value of each token count; a stream reports running totals."""
    cached = ("cache_creation_input_tokens", "cache_read_input_tokens")
    names = ("input_tokens", *cached, "output_tokens")
    reported = usage if isinstance(usage, dict) else {}
    return {**before, **{name: token_count(usage, name) for name in names if name in reported}}
