"""One meaning of "a tool was used", whatever shape the trajectory has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import BadParameter
from assay.rewards.outcome.tool_use import BadTrajectory, ToolPolicy, ToolUse, to_policy, tool_use
from assay.schema.message import Message, ToolCall, ToolFunction


def user(content: Any = "question") -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: Any = "", **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def call(call_id: str | None = "c1", name: str = "search", arguments: Any = "{}") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return assistant(None, tool_calls=[{"id": call_id, "type": "function", "function": function}])


def result(call_id: str | None = "c1", content: Any = "found", **more: Any) -> dict[str, Any]:
    with_id = {} if call_id is None else {"tool_call_id": call_id}
    return {"role": "tool", "content": content, **with_id, **more}


def claude_call(call_id: str = "t1", name: str = "search") -> dict[str, Any]:
    block = {"type": "tool_use", "id": call_id, "name": name, "input": {"q": "x"}}
    return assistant([{"type": "text", "text": "Let me look."}, block])


def claude_result(call_id: str = "t1", **more: Any) -> dict[str, Any]:
    return user([{"type": "tool_result", "tool_use_id": call_id, "content": "found", **more}])


class Row:
    """A message that is no dictionary and still reads as `row["role"]`."""

    def __init__(self, **fields: Any) -> None:
        self._fields = fields

    def __getitem__(self, key: str) -> Any:
        return self._fields[key]


def count(trajectory: object, policy: Any = "default") -> int:
    use = tool_use(trajectory, to_policy(policy))
    assert isinstance(use, ToolUse), use
    return use.count


LEGACY = assistant(None, function_call={"name": "search", "arguments": "{}"})
SCHEMA_CALL = Message(
    role="assistant", tool_calls=(ToolCall(id="c1", function=ToolFunction(name="search")),)
)

# Each row: trajectory; then the uses under the default policy, and why.
SHAPES: list[tuple[Any, int, str]] = [
    ([], 0, "an empty trajectory used no tool"),
    ([user(), assistant("Paris")], 0, "nothing but talk"),
    ([user(), call(), result(), assistant("Paris")], 1, "OpenAI's call and result"),
    ([call(), result()], 1, "the last answer may be kept elsewhere"),
    ([result(None), result(None)], 2, "bare results count where no call is recorded"),
    ([LEGACY, {"role": "function", "name": "search", "content": "found"}], 1, "the older shape"),
    ([claude_call(), claude_result()], 1, "Anthropic's blocks"),
    (
        [claude_call("t1"), claude_call("t2"), claude_result("t2"), claude_result("t1")],
        2,
        "any order",
    ),
    ((call(), result()), 1, "a tuple"),
    (np.array([call(), result()], dtype=object), 1, "an array, as parquet gives"),
    ([[user(), call()], [result(), assistant("Paris")]], 1, "segments of a folded context"),
    (
        [[user(), call(), result()], [user(), call(), result(), call("c2"), result("c2")]],
        2,
        "a copy",
    ),
    ([[]], 0, "an empty segment"),
    ([SCHEMA_CALL, Message(role="tool", tool_call_id="c1", content="found")], 1, "our own records"),
    ([Row(role="user"), Row(role="tool")], 1, "objects readable as m['role']"),
    ([call(), result(None)], 1, "a result without an id answers the waiting call"),
    ([call(None), result(None, name="search")], 1, "or the waiting call of its name"),
    ([call(None), result(None, name="other")], 0, "but not one of another name"),
    ([call("x"), result("x"), call("x"), result("x")], 2, "ids that a harness uses again"),
    ([call()], 0, "a call without a result"),
    ([result(), call()], 0, "a result before its call"),
    ([call("c1"), result("c2")], 0, "a forged id answers nothing"),
    ([call(), result(), result()], 1, "a call is answered once"),
    ([call(), result(is_error=True)], 0, "marked as an error"),
    ([call(), result(status="error")], 0, "marked as an error by status"),
    ([call(), result(error="timed out")], 0, "with an error beside the content"),
    ([call(), result(error=None, is_error=False, status="success")], 1, "marked as fine"),
    ([claude_call(), claude_result(is_error=True)], 0, "Anthropic's error mark"),
    ([call(), result(content="Error: page not found")], 1, "text is never scanned"),
    ([call(), result(content='{"error": "no such page"}')], 1, "nor JSON, unless asked for"),
    ([call(), result(content="")], 1, "an empty result is a result"),
    ([call(), result(content=None)], 1, "so is a null one"),
    ([user("Tool: 42"), assistant("tool: 42")], 0, "text that looks like a tool message"),
    ([assistant('{"tool_calls": [{"id": "c1"}]}')], 0, "text that looks like a call"),
    (
        [assistant("<tool_call>{}</tool_call>"), user("<tool_response>")],
        0,
        "template marks in text",
    ),
    ([assistant([{"type": "tool_result", "tool_use_id": "t1"}])], 0, "the agent writes no results"),
    ([user([{"type": "tool_use", "id": "t1"}])], 0, "the user makes no calls"),
    ([{"role": "Tool", "content": "x"}, {"role": "ipython"}], 0, "other roles, unless named"),
    ([assistant(tool_calls=None), assistant(tool_calls="c1")], 0, "malformed calls are no calls"),
    ([assistant(tool_calls=[None, 1, {}, {"function": "f"}])], 0, "nor are their malformed parts"),
]


@pytest.mark.parametrize(("trajectory", "uses", "why"), SHAPES, ids=[row[-1] for row in SHAPES])
def test_the_default_policy_counts_results_that_answer_a_call(
    trajectory: object, uses: int, why: str
) -> None:
    assert count(trajectory) == uses, why


FAILED = [call("c1"), result("c1", is_error=True), call("c2"), result("c2")]
TWICE = [
    call("c1"),
    result("c1"),
    call("c2"),
    result("c2"),
    call("c3", arguments="{1}"),
    result("c3"),
]
FINISH = [call("c1"), result("c1"), call("c2", name="finish"), result("c2")]
REORDERED = [call("c1", arguments={"a": 1, "b": 2}), call("c2", arguments={"b": 2, "a": 1})]
JSON_ERROR = [call(), result(content='{"error": "no such page"}')]
NO_JSON_ERROR = [call(), result(content='{"error": null, "page": "error"}')]
PART_ERROR = [call(), result(content=[{"type": "text", "text": '{"error": 1}'}])]

# Each row: policy, trajectory; then the uses, and why.
POLICY_CASES: list[tuple[Any, Any, int, str]] = [
    (
        "agentfly",
        [result(is_error=True), result()],
        2,
        "AgentFly counts messages, whatever they say",
    ),
    ("agentfly", [call("c1"), result("c9"), result("c9")], 2, "and whomever they answer"),
    ("agentfly", [{"role": "function"}, claude_call(), claude_result()], 0, "of one role only"),
    ("any", [call()], 1, "a call alone"),
    ("any", [result("c9")], 1, "a result alone"),
    ("any", [call(), result(), result("c9")], 2, "a pair is one use"),
    ({"failed_counts": True}, FAILED, 2, "failed results may count"),
    ({}, FAILED, 1, "and do not by default"),
    ({"distinct": True}, TWICE, 2, "the same call twice is one"),
    ({"distinct": True, "count": "calls"}, REORDERED, 1, "in whatever order its keys are"),
    (
        {"distinct": True},
        [result(None), result(None), result(None, "b")],
        2,
        "by text without calls",
    ),
    ({"count": "calls"}, [call(), call("c2"), result("c2", is_error=True)], 1, "calls, not failed"),
    ({"count": "calls"}, [result(None)], 0, "a result is no call"),
    ({"before_answer": True}, FINISH, 1, "the call that delivers the answer comes too late"),
    ({"before_answer": True}, [*FINISH, assistant("so: Paris")], 2, "unless the agent spoke again"),
    ({"before_answer": True}, [result(None)], 0, "no assistant, no answer"),
    ({"exclude": ["finish"]}, FINISH, 1, "a named tool never counts"),
    ({"json_errors": True}, JSON_ERROR, 0, "a JSON body that reports an error"),
    ({"json_errors": True}, PART_ERROR, 0, "also as a content part"),
    ({"json_errors": True}, NO_JSON_ERROR, 1, "a null error is none, a value is no key"),
    ({"json_errors": True}, [call(), result(content='[{"error": 1}]')], 1, "the top level only"),
    ({"json_errors": True}, [call(), result(content='{"error": ' * 9_000)], 1, "not JSON at all"),
    ({"roles": ["ipython"]}, [{"role": "ipython"}, {"role": "tool"}], 1, "roles by name"),
    ({"unmatched_counts": True}, [call("c1"), result("c2")], 1, "forged ids, if you must"),
    ({"preset": "agentfly", "failed_counts": False}, FAILED, 1, "a preset with one change"),
]


@pytest.mark.parametrize(
    ("policy", "trajectory", "uses", "why"), POLICY_CASES, ids=[row[-1] for row in POLICY_CASES]
)
def test_a_policy_counts_what_it_says(policy: Any, trajectory: object, uses: int, why: str) -> None:
    assert count(trajectory, policy) == uses, why


# Each row: what was passed as a trajectory, and what the sentence names.
BROKEN: list[tuple[Any, str]] = [
    (None, "None"), ("role: tool", "str"), (b"x", "bytes"), (7, "int"), ({"role": "tool"}, "dict"),
    (["tool"], "message 0"), ([user(), None], "message 1"),
    ([{"content": "no role"}], "without a role"), ([{"role": None}], "without a role"),
    ([{"role": 3}], "without a role"), ([[[user()]]], "message 0"), (np.array("tool"), "ndarray"),
]  # fmt: skip


@pytest.mark.parametrize(("trajectory", "names"), BROKEN)
def test_what_is_no_list_of_messages_gives_a_bad_trajectory(trajectory: object, names: str) -> None:
    use = tool_use(trajectory, to_policy("any"))
    assert isinstance(use, BadTrajectory)
    assert names in use.because


def test_enough_is_the_minimum_of_the_policy() -> None:
    trajectory = [call(), result(), assistant("Paris")]
    one, two = (tool_use(trajectory, ToolPolicy(minimum=minimum)) for minimum in (1, 2))
    assert one == ToolUse(1, enough=True, because="1 tool result, 1 needed")
    assert two == ToolUse(1, enough=False, because="1 tool result, 2 needed")


def test_the_reason_says_how_many_uses_did_not_count() -> None:
    use = tool_use(FAILED, ToolPolicy())
    assert use.because == "1 tool result, 1 needed; 1 more did not count"


def test_the_agentfly_preset_asks_for_two_where_the_last_call_is_the_answer() -> None:
    assert to_policy("agentfly").minimum == 1
    assert to_policy("agentfly", agentfly_minimum=2).minimum == 2
    assert to_policy({"preset": "agentfly", "minimum": 3}, agentfly_minimum=2).minimum == 3
    assert to_policy("default", agentfly_minimum=2).minimum == 1


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("strict", "no tool policy named 'strict'"),
        ({"preset": ["any"]}, "no tool policy named"),
        (3, "pass a name"),
        (None, "pass a name"),
        ({"min": 2}, "no field 'min'"),
        ({"minimum": 0}, "minimum is 0"),
        ({"minimum": True}, "minimum is True"),
        ({"minimum": "2"}, "minimum is '2'"),
        ({"count": "messages"}, "count is 'messages'"),
        ({"distinct": 1}, "distinct is 1"),
        ({"roles": "tool"}, "roles is 'tool'"),
        ({"exclude": [1]}, "exclude is"),
    ],
)
def test_a_policy_that_cannot_mean_anything_is_a_usage_error(value: Any, message: str) -> None:
    with pytest.raises(BadParameter, match=message.replace("[", r"\[")):
        to_policy(value)


def test_a_policy_given_as_one_stays_as_it_is() -> None:
    policy = ToolPolicy(minimum=4)
    assert to_policy(policy) is policy


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "tool_calls", "id", "function", "type", "error"]),
            inner | st.sampled_from(["assistant", "tool", "user", "tool_use", "tool_result"]),
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=300, deadline=None)
@given(JSON, st.sampled_from(["default", "agentfly", "any"]))
def test_no_trajectory_whatsoever_raises(trajectory: object, name: str) -> None:
    assert isinstance(tool_use(trajectory, to_policy(name)), (ToolUse, BadTrajectory))


def test_a_hundred_thousand_messages_are_read_once() -> None:
    many = [
        message
        for _ in range(25_000)
        for message in (call(None), call("c1"), result(), result(None))
    ]
    assert count(many) == 50_000
