"""Anthropic's messages API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.agents.models.endpoint import (
    cut_off,
    excerpt,
    read_event,
    read_object,
    server_events,
    token_count,
)
from assay.agents.models.hosted import HostedModel
from assay.agents.models.protocol import Reply
from assay.errors import ModelError


@dataclass(kw_only=True, eq=False, repr=False)
class AnthropicModel(HostedModel):
    """A model behind `{base_url}/v1/messages`; the key is read from `api_key_env` when made."""

    name = "anthropic"
    path = "/v1/messages"
    own_url = "https://api.anthropic.com"
    base_url: str = own_url
    api_key_env: str = "ANTHROPIC_API_KEY"
    max_tokens: int | None = 4096

    def _headers(self, key: str) -> dict[str, str]:
        return {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}

    def _conversation(self, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
        system, turns = split_system(messages)
        return {**({"system": system} if system else {}), "messages": turns}

    def _read(self, content: bytes) -> Reply:
        body = read_object(content, "the response")
        blocks = body.get("content")
        if not isinstance(blocks, list):
            raise ModelError(f"the response holds no content: {excerpt(content)}")
        text = "".join(_string(block, "text") for block in blocks)
        return self._reply(text, _counts(body.get("usage"), {}))

    def _read_stream(self, content: bytes) -> Reply:
        texts: list[str] = []
        counts: dict[str, int] = {}
        finished = False
        for event in server_events(content):
            body = read_event(event)
            message = body.get("message")
            counts = _counts(message.get("usage") if isinstance(message, dict) else None, counts)
            counts = _counts(body.get("usage"), counts)
            if body.get("type") == "content_block_delta":
                texts.append(_string(body.get("delta"), "text"))
            finished = finished or body.get("type") == "message_stop"
        if not finished:
            raise cut_off(content)
        return self._reply("".join(texts), counts)

    def _reply(self, text: str, counts: Mapping[str, int]) -> Reply:
        prompt = sum(count for name, count in counts.items() if name != "output_tokens")
        return Reply(text, self._prices.usage(prompt, counts.get("output_tokens", 0)))


def split_system(messages: Sequence[dict[str, Any]]) -> tuple[str, list[dict[str, str]]]:
    """The instructions on their own, and the turns, with neighbours of one role joined."""
    system: list[str] = []
    turns: list[dict[str, str]] = []
    for message in messages:
        role, content = str(message["role"]), str(message["content"])
        if role == "system":
            system.append(content)
        elif turns and turns[-1]["role"] == role:
            turns[-1]["content"] += f"\n\n{content}"
        else:
            turns.append({"role": role, "content": content})
    return "\n\n".join(system), turns


def _string(record: object, name: str) -> str:
    value = record.get(name) if isinstance(record, dict) else None
    return value if isinstance(value, str) else ""


def _counts(usage: object, before: Mapping[str, int]) -> dict[str, int]:
    """The newest of each count: the stream reports running totals."""
    names = (
        "input_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
        "output_tokens",
    )
    if not isinstance(usage, dict):
        return dict(before)
    return {**before, **{name: token_count(usage, name) for name in names if name in usage}}
