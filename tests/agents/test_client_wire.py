"""Our client sends what the official clients send, and reads what they read.

`tools/record_clients.py` made the recordings, with the packages and versions that they name.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from assay.agents.models.anthropic import AnthropicModel
from assay.agents.models.hosted import HostedModel
from assay.agents.models.openai import OpenAIModel
from assay.agents.models.protocol import Reply
from assay.agents.transcript import Transcript
from assay.schema.message import Message
from tests.agents.chat_server import ChatServer
from tests.agents.scripted_model import serving_turns
from tools.record_clients import FOLDER, FUNCTION, KEY, MAX_TOKENS, QUESTION, RESULTS, SYSTEM, TURNS

MODELS: dict[str, type[HostedModel]] = {"openai": OpenAIModel, "anthropic": AnthropicModel}
CLIENTS = pytest.mark.parametrize("client", sorted(MODELS))
WAYS = pytest.mark.parametrize("way", ["whole", "stream"])
FOR_PARSING = {"index", "parsed", "parsed_arguments", "caller"}
"""What the official clients' helpers leave in a message that goes back."""


def recording(client: str, way: str) -> dict[str, Any]:
    path = Path(FOLDER, f"{client}.json")
    record: dict[str, Any] = json.loads(path.read_text())[way]
    return record


def converse(server: ChatServer, client: str, *, stream: bool) -> list[Reply]:
    """The same conversation with our client."""

    async def all_turns() -> list[Reply]:
        options: dict[str, Any] = {"stream": stream, "max_tokens": MAX_TOKENS}
        model = MODELS[client](model="m", base_url=server.url, **options)
        transcript = Transcript()
        transcript.add_system(SYSTEM)
        transcript.add_observation(QUESTION)
        tools = [{"type": "function", "function": FUNCTION}]
        replies = []
        for _ in TURNS:
            reply = await model.complete(transcript.messages, timeout_s=20, tools=tools)
            replies.append(reply)
            calls = transcript.add_calls(reply.text, reply.calls, fields=reply.fields)
            for call, result in zip(calls, RESULTS, strict=False):
                transcript.add_result(call, result, failed=result.startswith("error"))
        await model.close()
        for message in transcript.messages:
            Message.model_validate(message)
        return replies

    return asyncio.run(all_turns())


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


@CLIENTS
@WAYS
def test_our_requests_are_those_of_the_official_client(client: str, way: str) -> None:
    with serving_turns(*TURNS) as server:
        converse(server, client, stream=way == "stream")
    for at, sent in enumerate(recording(client, way)["requests"]):
        assert server.paths[at] == sent["path"]
        headers = server.headers[at]
        assert {name: headers.get(name) for name in sent["headers"]} == sent["headers"]
        assert _plain(server.requests[at]) == _plain(sent["body"])


@CLIENTS
@WAYS
def test_our_replies_are_those_that_the_official_client_reads(client: str, way: str) -> None:
    with serving_turns(*TURNS) as server:
        replies = converse(server, client, stream=way == "stream")
    for reply, read in zip(replies, recording(client, way)["replies"], strict=True):
        assert (reply.text, reply.cut_off) == (read["text"], False)
        calls = [[call.id, call.name, call.arguments] for call in reply.calls]
        assert calls == read["calls"]
        assert [reply.usage.prompt_tokens, reply.usage.completion_tokens] == read["tokens"]
        assert read["reasoning"] in json.dumps(reply.fields)


@CLIENTS
def test_a_recording_names_the_version_of_its_client(client: str) -> None:
    record = json.loads(Path(FOLDER, f"{client}.json").read_text())
    assert record["client"] == client
    assert record["version"].count(".") == 2


def _plain(value: Any) -> Any:
    """The value without what is null, and without what the helpers left."""
    if isinstance(value, dict):
        return {
            name: _plain(item)
            for name, item in value.items()
            if item is not None and name not in FOR_PARSING
        }
    return [_plain(item) for item in value] if isinstance(value, list) else value
