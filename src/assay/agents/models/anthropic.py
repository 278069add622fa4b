"""Anthropic's messages API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from assay.agents.models.endpoint import (
    Endpoint,
    RetryPolicy,
    count_in,
    object_in,
    secret_from,
    server_events,
    shown,
)
from assay.agents.models.protocol import Prices, Reply
from assay.errors import BadParameter, ModelError

BASE_URL = "https://api.anthropic.com"
VERSION = "2023-06-01"


class AnthropicModel:
    """A model behind `{base_url}/v1/messages`; the key is read from `api_key_env` when made."""

    name = "anthropic"

    def __init__(
        self,
        *,
        model: str,
        base_url: str = BASE_URL,
        api_key_env: str = "ANTHROPIC_API_KEY",
        stream: bool = False,
        temperature: float | None = None,
        max_tokens: int = 4096,
        extra: Mapping[str, Any] | None = None,
        input_usd_per_mtok: float | None = None,
        output_usd_per_mtok: float | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        key = secret_from(api_key_env)
        if not key and base_url == BASE_URL:
            raise BadParameter(
                f"{base_url} needs a key; put it in the environment variable {api_key_env!r}"
            )
        if urlsplit(base_url).scheme not in ("http", "https"):
            raise BadParameter(f"base_url is {base_url!r}; it begins with http:// or https://")
        self._body = {
            "model": model,
            "max_tokens": max_tokens,
            **({} if temperature is None else {"temperature": temperature}),
            **({"stream": True} if stream else {}),
            **(extra or {}),
        }
        self._stream = stream
        self._prices = Prices(input_usd_per_mtok, output_usd_per_mtok)
        self._endpoint = Endpoint(
            f"{base_url.rstrip('/')}/v1/messages",
            headers={"anthropic-version": VERSION, **({"x-api-key": key} if key else {})},
            secret=key,
            retry=retry,
        )

    async def complete(
        self,
        messages: Sequence[dict[str, Any]],
        *,
        timeout_s: float,
        session: str | None = None,  # noqa: ARG002 - the server keeps no conversation
    ) -> Reply:
        """The assistant's next message."""
        system, turns = split_system(messages)
        body = {**self._body, **({"system": system} if system else {}), "messages": turns}
        read = self._read_stream if self._stream else self._read
        return await self._endpoint.ask(body, read, timeout_s=timeout_s)

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    def _read(self, content: bytes) -> Reply:
        body = object_in(content, "the response")
        blocks = body.get("content")
        if not isinstance(blocks, list):
            raise ModelError(f"the response holds no content: {shown(content)}")
        text = "".join(_string(block, "text") for block in blocks)
        return self._reply(text, _counts(body.get("usage"), {}))

    def _read_stream(self, content: bytes) -> Reply:
        pieces: list[str] = []
        counts: dict[str, int] = {}
        finished = False
        for event in server_events(content):
            body = object_in(event, "an event of the stream")
            message = body.get("message")
            counts = _counts(message.get("usage") if isinstance(message, dict) else None, counts)
            counts = _counts(body.get("usage"), counts)
            if body.get("type") == "content_block_delta":
                pieces.append(_string(body.get("delta"), "text"))
            finished = finished or body.get("type") == "message_stop"
        if not finished:
            raise ModelError(f"the stream stops in the middle of a reply: {shown(content)}")
        return self._reply("".join(pieces), counts)

    def _reply(self, text: str, counts: Mapping[str, int]) -> Reply:
        sent = sum(count for name, count in counts.items() if name != "output_tokens")
        return Reply(text, self._prices.usage(sent, counts.get("output_tokens", 0)))


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
    return {**before, **{name: count_in(usage, name) for name in names if name in usage}}
