"""A scripted model behind both chat protocols, in the shapes that the official clients read.

    with serving_turns(Turn(calls=(Call("add", '{"a": 1, "b": 2}'),)), Turn("3")) as server:
        OpenAIModel(model="m", base_url=server.url)

Standard library only: the official clients talk to it from an environment of their own. The
request decides the protocol, and whether the reply is a stream of events.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.agents.chat_server import ChatServer, Prepared, as_events, as_json, serving


@dataclass(frozen=True)
class Call:
    """A call that the model makes; the id is made of its number unless given."""

    name: str
    arguments: str = "{}"
    id: str | None = None


@dataclass(frozen=True)
class Turn:
    """One reply of the model."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    cut_off: bool = False
    reasoning: str = ""
    """`reasoning_content` in one protocol, a signed thinking block in the other."""


@contextmanager
def serving_turns(*turns: Turn) -> Iterator[ChatServer]:
    """A running server; the last turn is repeated for every further request."""

    def answer(number: int, path: str, body: dict[str, Any]) -> Prepared:
        turn = turns[min(number, len(turns)) - 1]
        return prepared(turn, number, anthropic=path.endswith("/messages"), body=body)

    with serving(choose=answer) as server:
        yield server


def prepared(turn: Turn, number: int, *, anthropic: bool, body: dict[str, Any]) -> Prepared:
    """The turn as a response to this request."""
    if not body.get("stream"):
        return as_json(_message(turn, number) if anthropic else _completion(turn, number))
    if anthropic:
        events = (f"event: {e['type']}\ndata: {json.dumps(e)}" for e in _events(turn, number))
        return as_events(*events)
    return as_events(*_chunks(turn, number), "data: [DONE]")


def _id(call: Call, number: int, at: int, prefix: str) -> str:
    return f"{prefix}{number}_{at}" if call.id is None else call.id


def _finish(turn: Turn) -> str:
    return "length" if turn.cut_off else "tool_calls" if turn.calls else "stop"


def _completion(turn: Turn, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": _id(call, number, at, "call_"),
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for at, call in enumerate(turn.calls)
        ]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(turn)}
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "m",
        "choices": [choice],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
    }


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def _chunks(turn: Turn, number: int) -> Iterator[dict[str, Any]]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": half} for half in _halves(turn.reasoning) if half]
    deltas += [{"content": half} for half in _halves(turn.text) if half]
    for at, call in enumerate(turn.calls):
        head = {"name": call.name, "arguments": ""}
        id_ = _id(call, number, at, "call_")
        deltas.append(
            {"tool_calls": [{"index": at, "id": id_, "type": "function", "function": head}]}
        )
        deltas += [
            {"tool_calls": [{"index": at, "function": {"arguments": half}}]}
            for half in _halves(call.arguments)
        ]
    frame = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "m",
    }
    for delta in deltas:
        yield {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": _finish(turn)}]}
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    yield {**frame, "choices": [], "usage": usage}


def _stop_reason(turn: Turn) -> str:
    return "max_tokens" if turn.cut_off else "tool_use" if turn.calls else "end_turn"


def _blocks(turn: Turn, number: int) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if turn.reasoning:
        blocks.append({"type": "thinking", "thinking": turn.reasoning, "signature": f"sig{number}"})
    if turn.text:
        blocks.append({"type": "text", "text": turn.text})
    for at, call in enumerate(turn.calls):
        use = {"type": "tool_use", "id": _id(call, number, at, "toolu_"), "name": call.name}
        blocks.append({**use, "input": call.arguments})
    return blocks


def _message(turn: Turn, number: int) -> dict[str, Any]:
    blocks = _blocks(turn, number)
    for block in blocks:
        if block["type"] == "tool_use":
            # The API parses what the model wrote; what it cannot parse it leaves empty.
            try:
                block["input"] = json.loads(block["input"])
            except ValueError:
                block["input"] = {}
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": blocks,
        "stop_reason": _stop_reason(turn),
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 2},
    }


def _events(turn: Turn, number: int) -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": 10, "output_tokens": 1}
    head = {**_message(turn, number), "content": [], "stop_reason": None, "usage": usage}
    yield {"type": "message_start", "message": head}
    yield {"type": "ping"}
    for index, block in enumerate(_blocks(turn, number)):
        start, deltas = _deltas(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    delta = {"stop_reason": _stop_reason(turn), "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 2}}
    yield {"type": "message_stop"}


def _deltas(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block's beginning, and the deltas that complete it."""
    if block["type"] == "text":
        halves = [{"type": "text_delta", "text": half} for half in _halves(block["text"])]
        return {"type": "text", "text": ""}, halves
    if block["type"] == "thinking":
        thoughts = [
            {"type": "thinking_delta", "thinking": half} for half in _halves(block["thinking"])
        ]
        signature = {"type": "signature_delta", "signature": block["signature"]}
        return {"type": "thinking", "thinking": "", "signature": ""}, [*thoughts, signature]
    parts = [{"type": "input_json_delta", "partial_json": half} for half in _halves(block["input"])]
    return {**block, "input": {}}, parts
