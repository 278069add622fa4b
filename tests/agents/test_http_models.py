"""The HTTP models against a server on this machine that speaks the protocols."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from assay.agents.models.anthropic import AnthropicModel
from assay.agents.models.endpoint import server_events
from assay.agents.models.openai import OpenAIModel
from assay.agents.models.protocol import Model, Reply
from assay.agents.models.retries import RetryPolicy
from assay.agents.protocol import Action, EpisodeLimits
from assay.errors import BadParameter, ModelError
from assay.registry import AGENTS
from assay.resources.backoff import Backoff
from assay.schema.observation import Observation
from assay.schema.task import Task
from assay.schema.usage import Usage
from tests.agents.chat_server import ChatServer, Prepared, Time, as_events, as_json, serving
from tests.resources.test_backoff import Jitter

KEY = "sk-test-0123456789"
ASKED = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "2 + 2?"},
    {"role": "user", "content": "In digits."},
]
OPENAI = {
    "choices": [{"message": {"role": "assistant", "content": "4"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 11, "completion_tokens": 2},
}
OPENAI_EVENTS = (
    {"choices": [{"delta": {"role": "assistant", "content": ""}}]},
    ": keep-alive",
    {"choices": [{"delta": {"content": "4"}}]},
    {"choices": [{"delta": {"content": "2"}, "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 3}},
    "data: [DONE]",
)
ANTHROPIC = {
    "type": "message",
    "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "4"}],
    "usage": {"input_tokens": 9, "cache_read_input_tokens": 2, "output_tokens": 2},
}
ANTHROPIC_EVENTS = (
    {"type": "message_start", "message": {"usage": {"input_tokens": 11, "output_tokens": 1}}},
    'event: ping\ndata: {"type": "ping"}',
    {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "4"}},
    {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "2"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
    {"type": "message_stop"},
)

Make = Callable[..., Model]


def openai(server: ChatServer, **options: Any) -> Model:
    return OpenAIModel(model="m", base_url=f"{server.url}/v1", **options)


def anthropic(server: ChatServer, **options: Any) -> Model:
    return AnthropicModel(model="m", base_url=server.url, **options)


def ask(model: Model, *, timeout_s: float = 20.0) -> Reply:
    async def once() -> Reply:
        try:
            return await model.complete(ASKED, timeout_s=timeout_s)
        finally:
            await model.close()

    return asyncio.run(once())


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


@pytest.mark.parametrize(
    ("make", "answer", "options", "text", "usage"),
    [
        (openai, as_json(OPENAI), {}, "4", Usage(11, 2, None, 1)),
        (openai, as_events(*OPENAI_EVENTS), {"stream": True}, "42", Usage(11, 3, None, 1)),
        (anthropic, as_json(ANTHROPIC), {}, "4", Usage(11, 2, None, 1)),
        (anthropic, as_events(*ANTHROPIC_EVENTS), {"stream": True}, "42", Usage(11, 3, None, 1)),
    ],
    ids=["openai", "openai streaming", "anthropic", "anthropic streaming"],
)
def test_a_reply_is_read_with_its_usage(
    make: Make, answer: Prepared, options: dict[str, Any], text: str, usage: Usage
) -> None:
    with serving(answer) as server:
        reply = ask(make(server, **options))
    assert (reply.text, reply.usage) == (text, usage)
    assert server.requests[0].get("stream", False) is options.get("stream", False)


def test_openai_gets_the_conversation_as_it_is_and_the_key_as_a_bearer() -> None:
    with serving(as_json(OPENAI)) as server:
        ask(openai(server, temperature=0.0, max_tokens=50, extra={"seed": 1}))
    assert server.paths == ["/v1/chat/completions"]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert server.requests == [
        {"model": "m", "messages": ASKED, "temperature": 0.0, "max_tokens": 50, "seed": 1}
    ]


def test_anthropic_gets_the_instructions_apart_and_neighbours_of_one_role_joined() -> None:
    with serving(as_json(ANTHROPIC)) as server:
        ask(anthropic(server))
    assert server.paths == ["/v1/messages"]
    assert server.headers[0]["x-api-key"] == KEY
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert server.headers[0]["anthropic-version"] == "2026-10-21"
    assert server.requests[0]["system"] == "Be brief."
    assert server.requests[0]["messages"] == [{"role": "user", "content": "2 + 2?\n\nIn digits."}]


def test_a_known_price_gives_a_cost() -> None:
    with serving(as_json(OPENAI)) as server:
        reply = ask(openai(server, input_usd_per_mtok=2.0, output_usd_per_mtok=10.0))
    assert reply.usage.cost_usd == pytest.approx((11 * 2 + 2 * 10) / 1e6)


@pytest.mark.parametrize("make", [openai, anthropic])
def test_a_busy_server_is_asked_again_when_it_says(make: Make) -> None:
    time = Time()
    retry = RetryPolicy(clock=time.clock, sleep=time.sleep, rng=Jitter(1.0))
    good = as_json(OPENAI if make is openai else ANTHROPIC)
    busy = as_json({"error": "slow down"}, status=429, headers=(("Retry-After", "7"),))
    overloaded = as_json({"error": "overloaded"}, status=529)
    with serving(busy, overloaded, Prepared(status=503), good) as server:
        reply = ask(make(server, retry=retry))
    assert reply.text == "4"
    assert time.slept == [7.0, 1.0, 2.0], "the server's wait, then our own, doubled each time"


@pytest.mark.parametrize(
    ("answer", "attempts", "says"),
    [
        (as_json({}, status=429, headers=(("Retry-After", "60"),)), 1, "gave up; requests sent: 1"),
        (as_json({}, status=500), 3, "gave up; requests sent: 3"),
        (as_json({"error": {"message": "no such model"}}, status=404), 1, "status 404"),
        (as_json({"error": f"bad key {KEY}"}, status=401), 1, "bad key [secret]"),
        (Prepared(b"." * 292 + KEY.encode(), 400), 1, ".[sec"),
    ],
    ids=[
        "a wait beyond the deadline",
        "failing on",
        "not worth a retry",
        "echoing the key",
        "echoing the key where the message is cut",
    ],
)
def test_a_server_that_does_not_answer_is_a_model_error(
    answer: Prepared, attempts: int, says: str
) -> None:
    time = Time()
    retry = RetryPolicy(Backoff(attempts=3), clock=time.clock, sleep=time.sleep, rng=Jitter(0.0))
    with serving(answer) as server, pytest.raises(ModelError) as raised:
        ask(openai(server, retry=retry))
    assert says in str(raised.value)
    assert len(server.requests) == attempts
    assert KEY[:6] not in "".join(traceback.format_exception(raised.value))


ONCE = RetryPolicy(Backoff(attempts=1))


@pytest.mark.parametrize("make", [openai, anthropic])
@pytest.mark.parametrize(
    ("answer", "options", "says"),
    [
        (Prepared(b'{"choices": [{"mess'), {}, "not a JSON object"),
        (Prepared(b"[" * 100_000), {}, "not a JSON object"),
        (Prepared(b"<html>502</html>"), {}, "not a JSON object"),
        (as_json([1]), {}, "not a JSON object"),
        (as_json({"id": 1}), {}, "holds no"),
        (as_json({"type": "error", "error": {"message": "no"}}), {}, "reports an error"),
        (as_events("data: {nonsense"), {"stream": True}, "not a JSON object"),
        (as_events({"type": "error", "error": "full"}), {"stream": True}, "reports an error"),
        (as_events({"choices": []}), {"stream": True}, "in the middle of a reply"),
        (as_events({"choices": []}, breaks_off=True), {"stream": True}, "RemoteProtocolError"),
        (Prepared(b"{}", breaks_off=True), {}, "RemoteProtocolError"),
    ],
    ids=[
        "cut JSON",
        "nested JSON",
        "HTML",
        "a list",
        "another object",
        "an error with status 200",
        "a bad event",
        "an error event",
        "a stream without an end",
        "a disconnect in the stream",
        "a disconnect in the body",
    ],
)
def test_what_is_no_reply_is_a_model_error(
    make: Make, answer: Prepared, options: dict[str, Any], says: str
) -> None:
    with serving(answer) as server, pytest.raises(ModelError, match=says):
        ask(make(server, retry=ONCE, **options))


def test_a_stream_that_ends_without_a_message_is_a_model_error() -> None:
    empty = as_events({"choices": [], "usage": {"prompt_tokens": 3}}, "data: [DONE]")
    with serving(empty) as server, pytest.raises(ModelError, match="holds no message"):
        ask(openai(server, retry=ONCE, stream=True))


def test_a_broken_connection_is_tried_again() -> None:
    time = Time()
    with serving(Prepared(b"{}", breaks_off=True), as_json(OPENAI)) as server:
        reply = ask(openai(server, retry=RetryPolicy(clock=time.clock, sleep=time.sleep)))
    assert reply.text == "4"
    assert len(time.slept) == 1


def test_a_server_that_never_answers_is_left_when_time_is_up() -> None:
    with serving(Prepared(silent=True)) as server, pytest.raises(ModelError, match="within 1 s"):
        ask(openai(server), timeout_s=1.0)
    assert len(server.requests) == 1


def test_no_server_is_a_model_error_that_names_the_place() -> None:
    model = OpenAIModel(model="m", base_url="http://127.0.0.1:9/v1", retry=ONCE)
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:9/v1/chat/completions: ConnectError"):
        ask(model)


def test_a_missing_content_is_an_empty_reply() -> None:
    refusal = {"choices": [{"message": {"content": None, "refusal": "no"}}], "usage": None}
    with serving(as_json(refusal)) as server:
        assert ask(openai(server)).text == ""


@pytest.mark.parametrize("make", [OpenAIModel, AnthropicModel])
def test_the_public_endpoint_without_a_key_names_the_variable(
    make: Callable[..., Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(BadParameter, match=r"environment variable '.*_API_KEY'"):
        make(model="m")


def test_a_key_that_is_no_header_is_refused_without_showing_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-se\ncret")
    with pytest.raises(BadParameter) as raised:
        OpenAIModel(model="m")
    assert "cret" not in str(raised.value)


def test_events_are_read_whatever_the_line_ends_and_comments() -> None:
    stream = b": hello\r\n\r\nevent: x\r\ndata: one\r\ndata: two\r\n\r\ndata:three\n\ndata: cut"
    assert list(server_events(stream)) == ["one\ntwo", "three", "cut"]


def test_the_research_agent_asks_an_endpoint_by_name() -> None:
    message = {"role": "assistant", "content": 'ACTION: answer\nPARAMS: {"text": "42"}'}
    body = {"choices": [{"message": message}], "usage": OPENAI["usage"]}

    async def episode(url: str) -> Action:
        options = {"model": "m", "base_url": f"{url}/v1"}
        agent = AGENTS.get("web_research")(model="openai", model_options=options)
        await agent.start(Task(id="t", goal="How many?"), limits=EpisodeLimits())
        try:
            action: Action = await agent.act(Observation(f"url: x\n\n{'word ' * 100}"), step=1)
            return action
        finally:
            await agent.close()

    with serving(as_json(body)) as server:
        action = asyncio.run(episode(server.url))
    assert (action.answer, action.usage) == ("42", Usage(11, 2, None, 1))
    assert [sent["role"] for sent in server.requests[0]["messages"]] == ["system", "user"]
    assert KEY not in str(action)


def test_a_reply_that_escapes_the_key_does_not_hold_it() -> None:
    escaped = "".join(f"\\u{ord(char):04x}" for char in KEY)
    body = orjson.dumps(
        {**OPENAI, "choices": [{"message": {"content": "KEY!"}, "finish_reason": "stop"}]}
    )
    with serving(Prepared(body.replace(b"KEY", escaped.encode()), 200)) as server:
        assert ask(openai(server)).text == "[secret]!"
