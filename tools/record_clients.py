"""Records what the official `openai` and `anthropic` clients send to the scripted server.

    .venv-peers/clients/bin/python -m tools.record_clients            # writes tests/data/clients
    .venv-peers/clients/bin/python -m tools.record_clients --check    # compares instead

A question with tools, two parallel calls with reasoning before them, their results, and the answer,
whole and as a stream. What is sent, and what the clients read in the answers, is kept with the
clients' versions; the tests hold our own client to both. Every answer of the scripted server also
has to pass the clients' own models, strictly.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.agents.chat_server import ChatServer
from tests.agents.scripted_model import Call, Turn, prepared, serving_turns

FOLDER = Path(__file__).parents[1] / "tests/data/clients"
KEY = "sk-recorded-0123456789"
SYSTEM = "Use the tools."
QUESTION = "What are 1 + 2 and 3 + 4?"
PARAMETERS = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
FUNCTION = {"name": "add", "description": "The sum of two numbers.", "parameters": PARAMETERS}
TURNS = (
    Turn(
        "Let me see.",
        (Call("add", '{"a": 1, "b": 2}'), Call("add", '{"a": 3, "b": 4}')),
        reasoning="Two sums.",
    ),
    Turn("3 and 7", reasoning="Both are known."),
)
RESULTS = ("3", "error: out of order")
"""What the two calls return; the second one fails."""
HEADERS = ("content-type", "accept", "authorization", "x-api-key", "anthropic-version")
MAX_TOKENS = 500

Record = dict[str, Any]


def openai_conversation(server: ChatServer, *, stream: bool) -> list[Record]:
    """What the official client reads in the two replies."""
    client: Any = import_module("openai").OpenAI(
        base_url=f"{server.url}/v1", api_key=KEY, max_retries=0
    )
    messages: list[Any] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": QUESTION},
    ]
    replies = []
    for _ in TURNS:
        options: Record = {
            "model": "m",
            "messages": messages,
            "tools": [{"type": "function", "function": FUNCTION}],
            "max_tokens": MAX_TOKENS,
        }
        if stream:
            options["stream_options"] = {"include_usage": True}
            with client.chat.completions.stream(**options) as events:
                completion: Any = events.get_final_completion()
        else:
            completion = client.chat.completions.create(**options)
        (choice,) = completion.choices
        calls = choice.message.tool_calls or []
        replies.append(
            {
                "text": choice.message.content,
                "calls": [[c.id, c.function.name, c.function.arguments] for c in calls],
                "reasoning": choice.message.reasoning_content,
                "stop": choice.finish_reason,
                "tokens": [completion.usage.prompt_tokens, completion.usage.completion_tokens],
            }
        )
        messages.append(choice.message)
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": result}
            for call, result in zip(calls, RESULTS, strict=False)
        ]
    return replies


def anthropic_conversation(server: ChatServer, *, stream: bool) -> list[Record]:
    """What the official client reads in the two replies."""
    client: Any = import_module("anthropic").Anthropic(
        base_url=server.url, api_key=KEY, max_retries=0
    )
    tool = {
        "name": FUNCTION["name"],
        "description": FUNCTION["description"],
        "input_schema": PARAMETERS,
    }
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    replies = []
    for _ in TURNS:
        options: Record = {
            "model": "m",
            "system": SYSTEM,
            "messages": messages,
            "tools": [tool],
            "max_tokens": MAX_TOKENS,
        }
        if stream:
            with client.messages.stream(**options) as events:
                message: Any = events.get_final_message()
        else:
            message = client.messages.create(**options)
        uses = [block for block in message.content if block.type == "tool_use"]
        replies.append(
            {
                "text": "".join(b.text for b in message.content if b.type == "text"),
                "calls": [[use.id, use.name, json.dumps(use.input)] for use in uses],
                "reasoning": "".join(b.thinking for b in message.content if b.type == "thinking"),
                "stop": message.stop_reason,
                "tokens": [message.usage.input_tokens, message.usage.output_tokens],
            }
        )
        messages.append({"role": "assistant", "content": message.content})
        results: list[Record] = [
            {"type": "tool_result", "tool_use_id": use.id, "content": result}
            for use, result in zip(uses, RESULTS, strict=False)
        ]
        if results:
            results[-1]["is_error"] = True
            messages.append({"role": "user", "content": results})
    return replies


Converse = Callable[..., list[Record]]
CONVERSATIONS: dict[str, Converse] = {
    "openai": openai_conversation,
    "anthropic": anthropic_conversation,
}


def record(client: str) -> Record:
    """What the client of that name sends and reads, whole and as a stream."""
    recording: Record = {"client": client, "version": version(client)}
    for name, stream in (("whole", False), ("stream", True)):
        with serving_turns(*TURNS) as server:
            replies = CONVERSATIONS[client](server, stream=stream)
        recording[name] = {
            "requests": [
                {
                    "path": path,
                    "headers": {name: headers[name] for name in HEADERS if name in headers},
                    "body": body,
                }
                for path, headers, body in zip(
                    server.paths, server.headers, server.requests, strict=True
                )
            ],
            "replies": replies,
        }
    return recording


def check_answers() -> int:
    """How many answers of the scripted server pass the clients' models; raises if one does not."""
    import pydantic

    anthropic_types: Any = import_module("anthropic.types")
    openai_types: Any = import_module("openai.types.chat")
    event: Any = pydantic.TypeAdapter(anthropic_types.RawMessageStreamEvent)
    turns = (*TURNS, Turn("", cut_off=True), Turn("", (Call("add", '{"a": 1}'),), cut_off=True))
    checked = 0
    for turn in turns:
        for anthropic, stream in ((False, False), (False, True), (True, False), (True, True)):
            answer = prepared(turn, 1, anthropic=anthropic, body={"stream": stream})
            if not stream:
                model: Any = anthropic_types.Message if anthropic else openai_types.ChatCompletion
                model.model_validate_json(answer.body, strict=True)
                checked += 1
                continue
            for data in _data(answer.body):
                if anthropic:
                    if json.loads(data)["type"] != "ping":  # not one of the client's models
                        event.validate_json(data, strict=True)
                else:
                    openai_types.ChatCompletionChunk.model_validate_json(data, strict=True)
                checked += 1
    return checked


def _data(body: bytes) -> list[bytes]:
    lines = [line for event in body.split(b"\n\n") for line in event.split(b"\n")]
    data = [line.removeprefix(b"data: ") for line in lines if line.startswith(b"data: ")]
    return [each for each in data if each != b"[DONE]"]


def main() -> None:
    """Write the recordings, or compare them with those that are there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    options = parser.parse_args()
    print(f"{check_answers()} answers of the scripted server pass the clients' models")
    differ = False
    for client in CONVERSATIONS:
        path = FOLDER / f"{client}.json"
        recording = record(client)
        text = json.dumps(recording, indent=1, sort_keys=True) + "\n"
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        elif json.loads(path.read_text()) != recording:
            differ = True
            print(f"{path} differs from what {client} {recording['version']} sends now")
        print(f"{client} {recording['version']}: 4 requests, 4 replies")
    sys.exit(differ)


if __name__ == "__main__":
    main()
