"""Native tool calls over real sockets: both protocols, whole and as streams, in real runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.agents.models.anthropic import AnthropicModel
from assay.agents.models.hosted import HostedModel
from assay.agents.models.openai import OpenAIModel
from assay.agents.models.protocol import CallRequest, Reply
from assay.agents.models.retries import RetryPolicy
from assay.agents.protocol import Action, EpisodeLimits
from assay.browser.drive.actions import BROWSER_ACTIONS, PARAMETERS, parse_action
from assay.browser.research.agent import WebResearchAgent
from assay.errors import BadParameter, ModelError, PromptTooLong, RunStopped
from assay.report import diagnose
from assay.resources.backoff import Backoff
from assay.schema.action import ActionCall
from assay.schema.episode import Episode
from assay.schema.observation import Observation
from assay.schema.outcome import ToolOutcome
from assay.schema.task import Task
from assay.worlds.chat.environment import Chat
from tests.agents.chat_server import ChatServer, Prepared, as_events, as_json, serving
from tests.agents.scripted_model import Call, Turn, serving_turns
from tests.runner.corridor import Corridor

KEY = "sk-test-0123456789"
MODELS: dict[str, type[HostedModel]] = {"openai": OpenAIModel, "anthropic": AnthropicModel}
BOTH = pytest.mark.parametrize("kind", ["openai", "anthropic"])
STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
ADD = Call("add", '{"a": 1, "b": 2}')


def add(a: int, b: int) -> int:
    """The sum of two numbers."""
    return a + b


def fail(text: str = "no") -> str:
    """Fail, always."""
    raise ValueError(text)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def run_one(
    server: ChatServer, kind: str, *, environment: Any = None, stream: bool = False, **settings: Any
) -> tuple[Episode, assay.Run]:
    """The episode of one question, with tools, in a run."""
    run = assay.run(
        tasks=[{"id": "t", "question": "What is 1 + 2?", "answer": "3"}],
        environment=environment or Chat(tools=[add, fail]),
        agent="chat",
        model=f"{kind}:m",
        settings={
            "model_options.base_url": server.url,
            "model_options.stream": stream,
            **settings,
        },
        rewards=["qa_f1_reward", "qa_f1_reward_tool"],
        runs_dir="runs",
    )
    (episode,) = run.final(full=True)
    return episode, run


def results_sent(kind: str, body: dict[str, Any]) -> dict[str, str]:
    """The results of calls that a request holds, by the ids of the calls."""
    if kind == "openai":
        tools = [m for m in body["messages"] if m["role"] == "tool"]
        return {message["tool_call_id"]: message["content"] for message in tools}
    blocks = [b for m in body["messages"] if isinstance(m["content"], list) for b in m["content"]]
    return {b["tool_use_id"]: b["content"] for b in blocks if b["type"] == "tool_result"}


@BOTH
@STREAMED
def test_parallel_calls_are_done_in_their_order_and_answered_by_their_ids(
    kind: str, stream: bool
) -> None:
    calls = (ADD, Call("add", '{"a": 3, "b": 4}'), Call("fail", '{"text": "on purpose"}'))
    with serving_turns(Turn("Let me see.", calls, reasoning="hm"), Turn("3")) as server:
        episode, _ = run_one(server, kind, stream=stream)
    assert (episode.stop_reason, episode.final_response) == ("answered", "3")
    assert [float(score) for score in episode.scores] == [1.0, 1.0]
    assert [step.action for step in episode.trajectory.steps[1:]] == [
        'add({"a": 1, "b": 2})',
        'add({"a": 3, "b": 4})',
        'fail({"text": "on purpose"})',
        'answer("3")',
    ]
    assert len(server.requests) == 2, "the model is asked again when every call has its result"
    prefix = "call_" if kind == "openai" else "toolu_"
    first, second, third = results_sent(kind, server.requests[1]).items()
    assert (first, second) == ((f"{prefix}1_0", "3"), (f"{prefix}1_1", "7"))
    assert third[1].startswith("error: ValueError: on purpose")
    roles = [message.role for message in episode.trajectory.messages]
    assert roles == ["user", "assistant", "tool", "tool", "tool", "assistant"]
    recorded = episode.trajectory.messages[1].tool_calls
    assert [call.id for call in recorded] == [f"{prefix}1_{n}" for n in range(3)]
    assert [m.tool_call_id for m in episode.trajectory.messages[2:5]] == [c.id for c in recorded]
    assert episode.usage.calls == 2


@BOTH
def test_the_tools_are_sent_with_their_schemas_and_the_question_without_the_text_form(
    kind: str,
) -> None:
    with serving_turns(Turn("3")) as server:
        run_one(server, kind)
    (request,) = server.requests
    assert request["messages"] == [{"role": "user", "content": "What is 1 + 2?"}]
    tool = request["tools"][0]
    function = tool["function"] if kind == "openai" else tool
    schema = function["parameters" if kind == "openai" else "input_schema"]
    assert (function["name"], function["description"]) == ("add", "The sum of two numbers.")
    assert schema["properties"] == {"a": {"type": "integer"}, "b": {"type": "integer"}}
    assert schema["required"] == ["a", "b"]


@BOTH
@STREAMED
def test_the_reasoning_of_a_turn_goes_back_with_its_calls(kind: str, stream: bool) -> None:
    turns = (Turn("", (ADD,), reasoning="one and two"), Turn("3", reasoning="so three"))
    with serving_turns(*turns) as server:
        episode, _ = run_one(server, kind, stream=stream)
    sent = server.requests[1]["messages"][1]
    if kind == "openai":
        assert (sent["reasoning_content"], sent["content"]) == ("one and two", None)
    else:
        block = {"type": "thinking", "thinking": "one and two", "signature": "sig1"}
        assert sent["content"][0] == block
        assert sent["content"][1]["input"] == {"a": 1, "b": 2}
    last = episode.trajectory.messages[-1]
    name = "reasoning_content" if kind == "openai" else "thinking_blocks"
    assert "so three" in str(last[name])


MISTAKES = [
    (Turn("", (Call("add", '{"a": 1, '),)), "no valid JSON"),
    (Turn("", (Call("add", "[1, 2]"),)), "no JSON object"),
    (Turn("", (Call("sub", '{"a": 1}'),)), "there is no tool 'sub'; the tools are add, fail"),
    (Turn("", (Call("add", '{"a": 1}'),)), "the argument 'b' is missing"),
    (Turn("", (Call("add", '{"a": 1, "b": 2, "c": 3}'),)), "no argument 'c'"),
    (Turn("", (ADD,), cut_off=True), "cut off at the limit of tokens"),
    (Turn("I would say that", cut_off=True), "cut off at the limit of tokens"),
    (Turn(""), "the reply is empty"),
]
KINDS = ["no JSON", "a list", "unknown", "missing", "too many", "cut call", "cut text", "empty"]


@BOTH
@STREAMED
@pytest.mark.parametrize(("turn", "says"), MISTAKES, ids=KINDS)
def test_what_cannot_be_done_is_told_to_the_model_and_recorded(
    kind: str, stream: bool, turn: Turn, says: str
) -> None:
    if kind == "anthropic" and not stream and says == "no valid JSON":
        says = "the argument 'a' is missing"  # the API itself parses, and leaves nothing
    with serving_turns(turn, Turn("", (ADD,)), Turn("3")) as server:
        episode, _ = run_one(server, kind, stream=stream)
    assert (episode.stop_reason, episode.final_response) == ("answered", "3")
    assert says in json.dumps(server.requests[1]["messages"])
    assert len(server.requests) == 3
    refused = next(m for m in episode.trajectory.messages if m.role == "assistant")
    assert says in refused["unreadable"]
    assert "reply refused (1 in a row)" in episode.trajectory.steps[1].think
    if turn.calls:
        (result, *_) = [m for m in episode.trajectory.messages if m.role == "tool"]
        assert says in str(result.content)
        assert result["is_error"] is True


@BOTH
@pytest.mark.parametrize(("turn", "says"), MISTAKES, ids=KINDS)
def test_a_model_that_makes_no_readable_reply_is_given_up_and_diagnosed_so(
    kind: str, turn: Turn, says: str
) -> None:
    with serving_turns(turn) as server:
        episode, run = run_one(server, kind, bad_replies=2)
    assert (episode.stop_reason, len(server.requests)) == ("gave_up", 2)
    assert [float(score) for score in episode.scores] == [0.0, 0.0]
    (finding,) = diagnose(run).findings
    assert finding.cause == "unreadable_reply"
    if kind == "openai":
        assert says in finding.evidence[0].text


def test_a_bad_call_among_good_ones_has_its_reason_as_its_result() -> None:
    with serving_turns(Turn("", (Call("sub"), ADD)), Turn("3")) as server:
        episode, _ = run_one(server, "openai")
    assert episode.final_response == "3"
    results = results_sent("openai", server.requests[1])
    assert results["call_1_0"].startswith("error: there is no tool 'sub'")
    assert results["call_1_1"] == "3"
    assert "unreadable" not in episode.trajectory.messages[1]


@pytest.mark.parametrize("id_", ["", "same", "x" * 5_000], ids=["none", "twice", "endless"])
def test_every_call_has_an_id_of_its_own_whatever_the_server_sends(id_: str) -> None:
    call = Call("add", '{"a": 1, "b": 2}', id=id_)
    with serving_turns(Turn("", (call, call)), Turn("", (call,)), Turn("3")) as server:
        episode, _ = run_one(server, "openai")
    assert episode.final_response == "3"
    sent = [call for m in server.requests[2]["messages"] for call in m.get("tool_calls", ())]
    ids = [call["id"] for call in sent]
    assert len(set(ids)) == 3
    assert list(results_sent("openai", server.requests[2])) == ids


def test_a_reply_that_was_cut_off_without_tools_is_the_answer_and_marked() -> None:
    with serving_turns(Turn("It is th", cut_off=True)) as server:
        episode, run = run_one(server, "openai", environment=Chat())
    assert (episode.final_response, len(server.requests)) == ("It is th", 1)
    assert "tools" not in server.requests[0]
    (finding,) = diagnose(run).findings
    assert (finding.cause, "max_tokens" in finding.evidence[0].text) == ("unreadable_reply", True)


def test_a_call_where_no_tool_was_offered_is_an_unreadable_reply() -> None:
    with serving_turns(Turn("", (ADD,))) as server:
        episode, run = run_one(server, "openai", environment=Chat())
    assert episode.final_response == ""
    (finding,) = diagnose(run).findings
    assert "calls add, and no tool was offered" in finding.evidence[0].text


@BOTH
def test_the_text_protocol_is_a_choice(kind: str) -> None:
    with serving_turns(Turn("add(1, 2)"), Turn("3")) as server:
        episode, _ = run_one(server, kind, tool_calls="text")
    assert (episode.final_response, episode.n_steps) == ("3", 2)
    assert not any("tools" in request for request in server.requests)
    assert "There are tools." in server.requests[0]["messages"][0]["content"]
    assert server.requests[1]["messages"][-1] == {"role": "user", "content": "3"}


def test_a_call_in_text_is_read_where_native_ones_are_offered() -> None:
    with serving_turns(Turn("add(1, 2)"), Turn("3")) as server:
        episode, _ = run_one(server, "openai")
    assert (episode.final_response, episode.n_steps) == ("3", 2)


class Silent:
    """A model without native calls."""

    name = "silent"

    async def complete(self, messages: Any, *, timeout_s: float, session: Any = None) -> Reply:
        return Reply("3")

    async def close(self) -> None: ...


def test_a_model_without_native_calls_is_asked_in_text_or_refused() -> None:
    tasks = [{"question": "1 + 2", "answer": "3"}]
    options: dict[str, Any] = {"tasks": tasks, "model": Silent(), "rewards": ["qa_f1_reward"]}
    assert assay.run(environment=Chat(tools=[add]), **options).mean == 1.0
    with pytest.raises(BadParameter, match="'silent' has no native tool calls"):
        assay.run(settings={"tool_calls": "native"}, **options)
    with pytest.raises(BadParameter, match="tool_calls is 'json'; choose one of 'auto'"):
        assay.run(settings={"tool_calls": "json"}, **options)


def test_a_server_that_takes_no_tools_is_a_model_error_that_names_the_way() -> None:
    refusal = {"error": {"message": '"auto" tool choice requires --enable-auto-tool-choice'}}
    says = pytest.raises(RunStopped, match="--set tool_calls=text")
    with serving(as_json(refusal, status=400)) as server, says:
        run_one(server, "openai")


def test_a_world_offers_its_actions_and_the_answer() -> None:
    look = Turn("", (Call("act", '{"action": "north"}'),))
    with serving_turns(look, Turn("I give up."), Turn("", (Call("answer", '{"text": 7}'),))) as at:
        episode, _ = run_one(at, "openai", environment=Corridor(length=3))
    assert (episode.stop_reason, episode.final_response) == ("answered", "7")
    assert [step.action for step in episode.trajectory.steps[1:]] == ["north", 'answer("7")']
    names = [tool["function"]["name"] for tool in at.requests[0]["tools"]]
    assert names == ["act", "answer"]
    assert "calls no tool; call one of act, answer" in at.requests[2]["messages"][-1]["content"]
    last = episode.trajectory.messages[-1]
    assert (last.content, last.tool_calls) == ("7", ()), "an answer is no use of a tool"


@pytest.mark.parametrize(
    ("name", "task", "call", "action"),
    [
        ("webshop", "0", Call("search", '{"keywords": "red\\nshirt"}'), "search[red shirt]"),
        (
            "alfworld",
            "look_at_obj_in_light-Book*020029*",
            Call("act", '{"action": "look"}'),
            "look",
        ),
    ],
)
def test_text_worlds_are_played_by_native_calls(
    name: str, task: str, call: Call, action: str
) -> None:
    with serving_turns(Turn("", (call,)), Turn("", (Call("answer", '{"text": "x"}'),))) as server:
        run = assay.run(
            name,
            agent="chat",
            model="anthropic:m",
            settings={"model_options.base_url": server.url},
            tasks=task,
            runs_dir="runs",
        )
    episode = next(iter(run.final(full=True)))
    assert episode.trajectory.steps[1].action == action
    assert episode.stop_reason == "answered"


def test_the_browsers_tools_are_its_actions() -> None:
    assert PARAMETERS["fill"] == ("ref", "text")
    assert {t.name: tuple(t.parameters["required"]) for t in BROWSER_ACTIONS} == PARAMETERS
    for tool in BROWSER_ACTIONS:
        arguments = dict.fromkeys(tool.parameters["properties"], 'a "b"\n\\c')
        call = parse_action(tool.write(arguments))
        assert call == ActionCall(tool.name, tuple(arguments.values()))


def browse(server: ChatServer, kind: str, *shown: Observation, **options: Any) -> list[Action]:
    """The research agent's actions, with a native model."""

    async def episode() -> list[Action]:
        where = {"model": "m", "base_url": server.url}
        agent = WebResearchAgent(model=kind, model_options=where, **options)
        await agent.start(Task(id="t", goal="How many?"), limits=EpisodeLimits())
        actions: list[Action] = []
        try:
            for step, observation in enumerate(shown, 1):
                actions.append(await agent.act(observation, step=step))
                if actions[-1].answer is not None or actions[-1].gave_up:
                    break
        finally:
            await agent.close()
        return actions

    return asyncio.run(episode())


def page(text: str = "word " * 100, *, error: Any = None) -> Observation:
    outcome = ToolOutcome("click", ok=False, error=error) if error else None
    return Observation(f"url: http://a.example/x\n\n{text}", outcome=outcome)


@BOTH
@STREAMED
def test_the_research_agent_calls_its_actions_natively(kind: str, stream: bool) -> None:
    calls = (Call("click", '{"id": 3}'), Call("goto", '{"url": "/y"}'))
    answer = Turn("Here.", (Call("answer", '{"text": "42"}'),))
    with serving_turns(Turn("Two at once.", calls), answer) as server:
        actions = browse(server, kind, page(), page(error="stale_ref"), page())
    texts = [action.text for action in actions]
    assert texts == ['click("3")', 'goto("http://a.example/y")', 'answer("42")']
    assert (actions[-1].answer, actions[-1].think) == ("42", "Here.")
    assert [action.usage.calls for action in actions] == [1, 0, 1]
    assert "ACTION:" not in json.dumps(server.requests[0])
    first, second = results_sent(kind, server.requests[1]).values()
    assert "Step 2 of 15." in first
    assert "Step 3 of 15." in second
    if kind == "anthropic":
        assert server.requests[1]["messages"][-1]["content"][0]["is_error"] is True
    assert actions[-1].messages[-1]["content"] == "Here.\n\n42"


def test_the_research_agent_refuses_calls_with_their_reasons_and_waits() -> None:
    bad = Turn("", (Call("goto", '{"url": "http://zillow.com/"}'), Call("fly")))
    with serving_turns(bad, Turn("ACTION: back"), Turn("", (Call("fly"),))) as server:
        actions = browse(
            server, "openai", *[page()] * 6, bad_replies=2, blocked_domains="zillow.com"
        )
    assert [action.text for action in actions[:2]] == ["noop()", "back()"], "text is read too"
    results = results_sent("openai", server.requests[1])
    assert "zillow.com does not work here" in results["call_1_0"]
    assert "there is no tool 'fly'" in results["call_1_1"]
    assert server.requests[1]["messages"][-1]["role"] == "user"
    assert actions[-1].gave_up
    assert "there is no tool 'fly'" in actions[-1].messages[-2]["unreadable"]


def test_what_the_agent_did_without_asking_is_told_and_not_the_models_call() -> None:
    with serving_turns(Turn("", (Call("answer", '{"text": "42"}'),))) as server:
        waited, _ = browse(server, "anthropic", page("Loading"), page())
    assert waited.messages[-1]["made_by"] == "agent"
    (turn,) = server.requests[0]["messages"]
    assert turn["role"] == "user"
    assert "waited without asking the model" in turn["content"]


@pytest.mark.parametrize(
    ("kind", "base", "path"),
    [
        ("openai", "", "/v1/chat/completions"),
        ("openai", "/", "/v1/chat/completions"),
        ("openai", "/v1", "/v1/chat/completions"),
        ("openai", "/v1/", "/v1/chat/completions"),
        ("openai", "/api/v3", "/api/v3/chat/completions"),
        ("openai", "/chat/completions", "/chat/completions"),
        ("anthropic", "", "/v1/messages"),
        ("anthropic", "/v1", "/v1/messages"),
        ("anthropic", "/v1/", "/v1/messages"),
        ("anthropic", "/proxy", "/proxy/v1/messages"),
        ("anthropic", "/v1/messages", "/v1/messages"),
    ],
)
def test_the_base_url_is_taken_with_or_without_its_version(kind: str, base: str, path: str) -> None:
    with serving_turns(Turn("4")) as server:
        assert ask(server, kind, base_url=server.url + base).text == "4"
    assert server.paths == [path]


@pytest.mark.parametrize("base", ["https://api.openai.com", "https://api.openai.com/v1/"])
def test_the_public_endpoint_needs_a_key_however_it_is_written(
    base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(BadParameter, match="needs a key"):
        OpenAIModel(model="m", base_url=base)


def ask(
    server: ChatServer,
    kind: str,
    messages: Sequence[dict[str, Any]] = ({"role": "user", "content": "2 + 2?"},),
    tools: Sequence[dict[str, Any]] = (),
    **options: Any,
) -> Reply:
    async def once() -> Reply:
        model = MODELS[kind](**{"model": "m", "base_url": server.url, **options})
        try:
            return await model.complete(messages, timeout_s=20.0, tools=tools)
        finally:
            await model.close()

    return asyncio.run(once())


ERRORS: list[tuple[Any, type[Exception], bool]] = [
    ({"message": "no"}, ModelError, True),
    ("full", ModelError, True),
    ({"type": "overloaded_error", "message": "Overloaded"}, ModelError, False),
    ({"code": 429, "message": "slow down"}, ModelError, False),
    ({"code": "500", "message": "oh"}, ModelError, False),
    ({"code": "9" * 5_000, "message": "oh"}, ModelError, True),
    ({"type": "authentication_error", "message": "bad key"}, ModelError, True),
    ({"type": "invalid_request_error", "message": "internal name; try again"}, ModelError, True),
    ({"message": "The server is overloaded, try again"}, ModelError, False),
    ({"code": 429, "message": "insufficient_quota"}, ModelError, True),
    ({"code": 400, "message": "maximum context length is 8"}, PromptTooLong, True),
]


@BOTH
@pytest.mark.parametrize(("error", "kind_of_error", "fatal"), ERRORS)
def test_an_error_with_status_200_is_as_fatal_in_a_stream_as_in_a_body(
    kind: str, error: Any, kind_of_error: type[Exception], fatal: bool
) -> None:
    body = {"type": "error", "error": error}
    responses = [(as_json(body), False), (as_events(body), True), (as_json(body), True)]
    seen = []
    for response, stream in responses:
        with serving(response) as server, pytest.raises((ModelError, PromptTooLong)) as raised:
            ask(server, kind, stream=stream, retry=RetryPolicy(Backoff(attempts=1)))
        seen.append((type(raised.value), getattr(raised.value, "fatal", True)))
    assert seen == [(kind_of_error, fatal)] * 3


ODD = [
    {"tool_calls": "none"},
    {"tool_calls": [None, 3, {"function": None}, {"function": {"name": 4, "arguments": [1]}}]},
    {"tool_calls": [{"id": 7, "index": "x", "function": {"name": "f", "arguments": {"a": 1}}}]},
    {"tool_calls": [{"function": {"name": "f"}}] * 500},
    {"content": [{"text": "a"}, None, {"text": 4}], "reasoning_content": 3},
]


@pytest.mark.parametrize("message", ODD)
@STREAMED
def test_odd_tool_calls_are_read_as_far_as_they_go(message: dict[str, Any], stream: bool) -> None:
    choice = {"delta" if stream else "message": message, "finish_reason": "stop"}
    body = {"choices": [choice]}
    with serving(as_events(body) if stream else as_json(body)) as server:
        reply = ask(server, "openai", stream=stream)
    assert len(reply.calls) <= 64
    assert all(isinstance(call, CallRequest) for call in reply.calls)


def test_arguments_that_come_as_an_object_are_read() -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": {"a": 1}}}
    with serving(as_json({"choices": [{"message": {"tool_calls": [call]}}]})) as server:
        reply = ask(server, "openai")
    assert reply.calls == (CallRequest("c", "f", '{"a": 1}'),)


@pytest.mark.parametrize("numbers", [{}, {"index": 0}], ids=["no numbers", "all alike"])
def test_calls_that_a_stream_does_not_number_are_calls_of_their_own(
    numbers: dict[str, int],
) -> None:
    names = ("f", "g")
    calls = [{"id": name, "function": {"name": name, "arguments": "{}"}} for name in names]
    deltas = [{"tool_calls": [{**call, **numbers}]} for call in calls]
    events = [{"choices": [{"delta": delta}]} for delta in deltas]
    end = {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}
    with serving(as_events(*events, end)) as server:
        reply = ask(server, "openai", stream=True)
    assert reply.calls == tuple(CallRequest(name, name, "{}") for name in names)


def test_reasoning_that_changes_its_kind_is_no_failure() -> None:
    deltas: list[dict[str, Any]] = [{"reasoning": "a"}, {"reasoning": [{"b": 1}], "content": "4"}]
    events = [{"choices": [{"delta": delta, "finish_reason": "stop"}]} for delta in deltas]
    with serving(as_events(*events)) as server:
        assert ask(server, "openai", stream=True).text == "4"


@BOTH
@STREAMED
def test_a_key_in_arguments_or_thoughts_is_masked(kind: str, stream: bool) -> None:
    call = Call("add", json.dumps({"a": KEY}))
    with serving_turns(Turn(KEY, (call,), reasoning=f"I know {KEY}")) as server:
        reply = ask(server, kind, stream=stream)
    assert KEY not in repr(reply)
    assert "[secret]" in reply.calls[0].arguments


def test_a_stream_of_calls_that_breaks_off_is_a_model_error() -> None:
    delta = {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{"}}]}
    event = {"choices": [{"delta": delta, "finish_reason": None}]}
    with serving(as_events(event)) as server, pytest.raises(ModelError, match="in the middle"):
        ask(server, "openai", stream=True, retry=RetryPolicy(Backoff(attempts=1)))


def test_a_tool_without_names_for_its_parameters_is_called_by_position() -> None:
    import math

    with serving_turns(Turn("", (Call("pow", '{"x": 2, "y": 3}'),)), Turn("8")) as server:
        run_one(server, "openai", environment=Chat(tools=[math.pow]))
    assert results_sent("openai", server.requests[1]) == {"call_1_0": "8.0"}


def test_a_lone_surrogate_in_the_arguments_is_recorded_and_played() -> None:
    call = Call("fail", '{"text": "\\ud800"}')
    with serving_turns(Turn("", (call,)), Turn("3")) as server:
        episode, _ = run_one(server, "openai")
    assert episode.final_response == "3"


def test_a_prepared_answer_is_still_served() -> None:
    with serving(Prepared(b"{}")) as server, pytest.raises(ModelError, match="holds no message"):
        ask(server, "openai")
