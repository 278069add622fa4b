"""Models behind OpenAI's chat completions API: hosted, vLLM, SGLang, llama.cpp, Ollama."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from assay.agents.attempt import attempt_seed
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
from assay.agents.models.protocol import CallRequest, Reply
from assay.errors import ModelError
from assay.schema.message import tool_call
from assay.schema.tools import as_text

REASONING = ("reasoning_content", "reasoning", "reasoning_details")
"""Fields of an assistant's message that some servers demand to have back with its calls."""
MAX_CALLS = 64
"""Of one reply; what a model asks for beyond them is not read."""


@dataclass(kw_only=True, eq=False, repr=False)
class OpenAIModel(HostedModel):
    """A model behind `{base_url}/chat/completions`; `send_seed` sends the seed of the attempt."""

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
        roles = [message["role"] for message in messages]
        last_question = max((at for at, role in enumerate(roles) if role == "user"), default=-1)
        return {
            "messages": [
                _wire_message(message, with_reasoning=at > last_question)
                for at, message in enumerate(messages)
            ]
        }

    def _tool(self, function: Mapping[str, Any]) -> dict[str, Any]:
        return {"type": "function", "function": dict(function)}

    def _read(self, content: bytes) -> Reply:
        body = read_object(content, "the response")
        choice = _first_choice(body)
        message = choice.get("message")
        if not isinstance(message, dict):
            raise ModelError(f"the response holds no message: {excerpt(content)}")
        parts = _MessageParts()
        parts.add(message)
        return self._reply(parts, choice.get("finish_reason"), body.get("usage"))

    def _read_stream(self, content: bytes) -> Reply:
        parts = _MessageParts()
        usage: object = None
        finish: object = None
        finished = has_message = False
        for event in server_events(content):
            if event.strip() == "[DONE]":
                finished = True
                break
            body = read_event(event)
            usage = body.get("usage") or usage
            choice = _first_choice(body)
            delta = choice.get("delta")
            if isinstance(delta, dict):
                has_message = True
                parts.add(delta)
            finish = choice.get("finish_reason") or finish
        if not finished and not finish:
            raise cut_off(content)
        if not has_message:
            raise ModelError(f"the stream holds no message: {excerpt(content)}")
        return self._reply(parts, finish, usage)

    def _reply(self, parts: _MessageParts, finish: object, usage: object) -> Reply:
        counts = (token_count(usage, name) for name in ("prompt_tokens", "completion_tokens"))
        return Reply(
            "".join(parts.texts),
            self._prices.usage(*counts),
            calls=parts.requests(),
            cut_off=finish == "length",
            fields=parts.reasoning,
        )


@dataclass(slots=True)
class _MessageParts:
    """The parts of a message, which arrives at once or as deltas of a stream."""

    texts: list[str] = field(default_factory=list)
    calls: dict[int, dict[str, str]] = field(default_factory=dict)
    reasoning: dict[str, Any] = field(default_factory=dict)

    def add(self, delta: Mapping[str, Any]) -> None:
        """Add the parts of a message, or of a delta."""
        self.texts.append(_text(delta.get("content")))
        for name in REASONING:
            value = delta.get(name)
            if isinstance(value, (str, list)) and value:
                self.reasoning[name] = _continued(self.reasoning.get(name), value)
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                self._add_call(call)

    def _add_call(self, call: Mapping[str, Any]) -> None:
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        id_, name = string_in(call, "id"), string_in(function, "name")
        at = self._place(call.get("index"), id_, name)
        whole = self.calls.setdefault(at, {"id": "", "name": "", "arguments": ""})
        whole["id"] = whole["id"] or id_
        whole["name"] += name
        arguments = function.get("arguments")
        whole["arguments"] += as_text(arguments) if arguments is not None else ""

    def _place(self, index: object, id_: str, name: str) -> int:
        """Return the index of a tool call, or the next free index if another call has it.

        A server that numbers none of its calls, or all alike, sends each of them whole.
        """
        last = max(self.calls, default=-1)
        if not isinstance(index, int):
            return last + 1 if id_ or name else max(last, 0)
        is_other = id_ and index in self.calls and self.calls[index]["id"] not in ("", id_)
        return last + 1 if is_other else index

    def requests(self) -> tuple[CallRequest, ...]:
        """Return the tool calls in the order of their indices."""
        numbered = sorted(self.calls.items())[:MAX_CALLS]
        return tuple(CallRequest(**call) for _, call in numbered)


def _wire_message(message: Mapping[str, Any], *, with_reasoning: bool) -> dict[str, Any]:
    """Return a recorded message in the form of the API.

    Reasoning goes back with the calls that it led to, until the next question: there some servers
    demand it, and elsewhere some refuse it.
    """
    role, content = message["role"], message["content"]
    if role == "tool" and "tool_call_id" in message:
        return {"role": role, "tool_call_id": message["tool_call_id"], "content": content}
    if not message.get("tool_calls"):
        return {"role": role, "content": content}
    calls = [
        tool_call(call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in message["tool_calls"]
    ]
    back: Iterable[str] = REASONING if with_reasoning else ()
    reasoning = {name: message[name] for name in back if name in message}
    return {"role": role, "content": content or None, "tool_calls": calls, **reasoning}


def _first_choice(body: dict[str, Any]) -> dict[str, Any]:
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _continued(before: Any, more: str | list[Any]) -> str | list[Any]:
    """Return the old and the new value joined; if their types differ, the new value alone."""
    if isinstance(before, str) and isinstance(more, str):
        return before + more
    return [*before, *more] if isinstance(before, list) and isinstance(more, list) else more


def _text(content: object) -> str:
    """Return the text of a message's content, which is a string, a list of parts or nothing."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
