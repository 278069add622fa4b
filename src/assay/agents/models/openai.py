"""Any endpoint that speaks OpenAI's chat completions: hosted, vLLM, SGLang, llama.cpp, Ollama."""

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

BASE_URL = "https://api.openai.com/v1"


class OpenAIModel:
    """A model behind `{base_url}/chat/completions`.

    The key is read from the environment variable `api_key_env` when the model is made. A server
    that asks for none needs none: only OpenAI's own is refused without a key. `extra` is added to
    the body of every request, for what one server has and another does not.
    """

    name = "openai"

    def __init__(
        self,
        *,
        model: str,
        base_url: str = BASE_URL,
        api_key_env: str = "OPENAI_API_KEY",
        stream: bool = False,
        temperature: float | None = None,
        max_tokens: int | None = None,
        extra: Mapping[str, Any] | None = None,
        input_usd_per_mtok: float | None = None,
        output_usd_per_mtok: float | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        key = secret_from(api_key_env)
        if not key and base_url == BASE_URL:
            raise BadParameter(
                f"{base_url} needs a key; put it in the environment variable {api_key_env!r}, or "
                "set `base_url` to a server that needs none"
            )
        if urlsplit(base_url).scheme not in ("http", "https"):
            raise BadParameter(f"base_url is {base_url!r}; it begins with http:// or https://")
        self._body = {
            "model": model,
            **({} if temperature is None else {"temperature": temperature}),
            **({} if max_tokens is None else {"max_tokens": max_tokens}),
            **({"stream": True, "stream_options": {"include_usage": True}} if stream else {}),
            **(extra or {}),
        }
        self._stream = stream
        self._prices = Prices(input_usd_per_mtok, output_usd_per_mtok)
        self._endpoint = Endpoint(
            f"{base_url.rstrip('/')}/chat/completions",
            headers={"authorization": f"Bearer {key}"} if key else {},
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
        body = {**self._body, "messages": list(messages)}
        read = self._read_stream if self._stream else self._read
        return await self._endpoint.ask(body, read, timeout_s=timeout_s)

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    def _read(self, content: bytes) -> Reply:
        body = object_in(content, "the response")
        message = _first_choice(body).get("message")
        if not isinstance(message, dict):
            raise ModelError(f"the response holds no message: {shown(content)}")
        return self._reply(_text(message.get("content")), body.get("usage"))

    def _read_stream(self, content: bytes) -> Reply:
        pieces: list[str] = []
        usage: object = None
        finished = False
        for event in server_events(content):
            if event.strip() == "[DONE]":
                finished = True
                break
            body = object_in(event, "an event of the stream")
            usage = body.get("usage") or usage
            choice = _first_choice(body)
            delta = choice.get("delta")
            pieces.append(_text(delta.get("content")) if isinstance(delta, dict) else "")
            finished = finished or bool(choice.get("finish_reason"))
        if not finished:
            raise ModelError(f"the stream stops in the middle of a reply: {shown(content)}")
        return self._reply("".join(pieces), usage)

    def _reply(self, text: str, usage: object) -> Reply:
        sent, received = count_in(usage, "prompt_tokens"), count_in(usage, "completion_tokens")
        return Reply(text, self._prices.usage(sent, received))


def _first_choice(body: dict[str, Any]) -> dict[str, Any]:
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _text(content: object) -> str:
    """Content as text: a string, a list of parts of which some are text, or nothing."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
