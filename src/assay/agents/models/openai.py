"""Any endpoint that speaks OpenAI's chat completions: hosted, vLLM, SGLang, llama.cpp, Ollama."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from assay.agents.attempt import attempt_seed
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
class OpenAIModel(HostedModel):
    """A model behind `{base_url}/chat/completions`.

    With `send_seed`, each request has the seed of its attempt, where the run has one.
    """

    name = "openai"
    path = "/chat/completions"
    own_url = "https://api.openai.com/v1"
    base_url: str = own_url
    api_key_env: str = "OPENAI_API_KEY"
    send_seed: bool = False
    stream_body = MappingProxyType({"stream": True, "stream_options": {"include_usage": True}})

    def _seed(self) -> dict[str, Any]:
        seed = attempt_seed() if self.send_seed else None
        return {} if seed is None else {"seed": seed}

    def _headers(self, key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"} if key else {}

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
        finished = has_message = False
        for event in server_events(content):
            if event.strip() == "[DONE]":
                finished = True
                break
            body = read_event(event)
            usage = body.get("usage") or usage
            choice = _first_choice(body)
            delta = choice.get("delta")
            has_message = has_message or isinstance(delta, dict)
            texts.append(_text(delta.get("content")) if isinstance(delta, dict) else "")
            finished = finished or bool(choice.get("finish_reason"))
        if not finished:
            raise cut_off(content)
        if not has_message:
            raise ModelError(f"the stream holds no message: {excerpt(content)}")
        return self._reply("".join(texts), usage)

    def _reply(self, text: str, usage: object) -> Reply:
        counts = (token_count(usage, name) for name in ("prompt_tokens", "completion_tokens"))
        return Reply(text, self._prices.usage(*counts))


def _first_choice(body: dict[str, Any]) -> dict[str, Any]:
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _text(content: object) -> str:
    """Content as text: a string, a list of parts of which some are text, or nothing."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
