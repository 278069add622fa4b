"""Any endpoint that speaks OpenAI's chat completions: hosted, vLLM, SGLang, llama.cpp, Ollama."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.agents.models.endpoint import (
    RetryPolicy,
    excerpt,
    read_object,
    server_events,
    token_count,
)
from assay.agents.models.hosted import HostedModel, key_for
from assay.agents.models.protocol import Prices, Reply
from assay.errors import ModelError

BASE_URL = "https://api.openai.com/v1"


class OpenAIModel(HostedModel):
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
        key = key_for(base_url, api_key_env, required_by=BASE_URL)
        super().__init__(
            f"{base_url.rstrip('/')}/chat/completions",
            headers={"authorization": f"Bearer {key}"} if key else {},
            key=key,
            body={
                "model": model,
                **({} if temperature is None else {"temperature": temperature}),
                **({} if max_tokens is None else {"max_tokens": max_tokens}),
                **({"stream": True, "stream_options": {"include_usage": True}} if stream else {}),
                **(extra or {}),
            },
            stream=stream,
            prices=Prices(input_usd_per_mtok, output_usd_per_mtok),
            retry=retry,
        )

    def _conversation(self, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
        return {"messages": list(messages)}

    def _read(self, content: bytes) -> Reply:
        body = read_object(content, "the response")
        message = _first_choice(body).get("message")
        if not isinstance(message, dict):
            raise ModelError(f"the response holds no message: {excerpt(content)}")
        return self._reply(_text(message.get("content")), body.get("usage"))

    def _read_stream(self, content: bytes) -> Reply:
        texts: list[str] = []
        usage: object = None
        finished = False
        for event in server_events(content):
            if event.strip() == "[DONE]":
                finished = True
                break
            body = read_object(event, "an event of the stream")
            usage = body.get("usage") or usage
            choice = _first_choice(body)
            delta = choice.get("delta")
            texts.append(_text(delta.get("content")) if isinstance(delta, dict) else "")
            finished = finished or bool(choice.get("finish_reason"))
        if not finished:
            raise ModelError(f"the stream stops in the middle of a reply: {excerpt(content)}")
        return self._reply("".join(texts), usage)

    def _reply(self, text: str, usage: object) -> Reply:
        prompt, completion = (
            token_count(usage, "prompt_tokens"),
            token_count(usage, "completion_tokens"),
        )
        return Reply(text, self._prices.usage(prompt, completion))


def _first_choice(body: dict[str, Any]) -> dict[str, Any]:
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _text(content: object) -> str:
    """Content as text: a string, a list of parts of which some are text, or nothing."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
