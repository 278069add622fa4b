"""Tool calls are right when all of them are, with right arguments, and no other was made."""

from __future__ import annotations

import json
from typing import Any

import pytest

import assay
from assay.errors import BadParameter
from assay.rewards.outcome.calls.values import normal_text
from assay.schema.score import Abstained, Score

WEATHER = {
    "name": "weather.get",
    "parameters": {
        "type": "dict",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "default": 1},
            "unit": {"type": "string", "default": "celsius"},
            "exact": {"type": "boolean", "default": "False"},
            "area": {"type": "dict", "properties": {"km": {"type": "float"}}},
        },
        "required": ["city"],
    },
}
MOVE = {
    "type": "function",
    "function": {
        "name": "move",
        "parameters": {
            "type": "object",
            "properties": {"to": {"type": "array"}, "by": {"type": "number"}},
            "required": ["to"],
        },
    },
}
TOOLS = [WEATHER, MOVE]
ACCEPTED = [
    {"weather.get": {"city": ["Paris", "Paris, France"], "days": [2], "unit": ["", "celsius"]}}
]
TWO = [*ACCEPTED, {"move": {"to": [[1, 2.5]], "by": [""]}}]


def call(name: str, arguments: Any, id_: str = "") -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": text}}


def made(*calls: dict[str, Any], text: str = "") -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": text, "tool_calls": list(calls)},
    ]


def score(trajectory: Any, answer: Any = ACCEPTED, tools: Any = TOOLS, **params: Any) -> Score:
    return assay.score(
        "tool_call_reward", trajectory=trajectory, answer=answer, tools=tools, params=params
    )


def number(*args: Any, **params: Any) -> float | str:
    result = score(*args, **params)
    return result.reason if isinstance(result, Abstained) else float(result)


RIGHT = {"city": "Paris", "days": 2}


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (RIGHT, 1.0), ({"days": 2, "city": "paris, FRANCE"}, 1.0),
        ({**RIGHT, "unit": "Celsius"}, 1.0), ({**RIGHT, "days": 2.0}, 1.0),
        ({**RIGHT, "unit": "fahrenheit"}, 0.0), ({**RIGHT, "unit": ""}, 0.0),
        ({**RIGHT, "days": "2"}, 0.0), ({**RIGHT, "days": True}, 0.0),
        ({**RIGHT, "days": [2]}, 0.0), ({"city": "Paris"}, 0.0), ({"days": 2}, 0.0),
        ({**RIGHT, "city": None}, 0.0), ({**RIGHT, "exact": False}, 0.0),
        ({**RIGHT, "exact": "False"}, 0.0), ({**RIGHT, "country": "France"}, 0.0), ("", 0.0),
        ("not json", 0.0), ('["Paris", 2]', 0.0),
        ('{"city": "Lyon", "city": "Paris", "days": 2}', 0.0),
        ('{"city": "Paris", "days": NaN}', 0.0),
        ('{"a":' * 50_000, 0.0),
        ("x" * 300_000, 0.0),
    ],
)  # fmt: skip
def test_arguments_are_compared_by_type_and_value(arguments: Any, value: float) -> None:
    assert number(made(call("weather_get", arguments))) == value


def test_a_default_may_be_left_out_or_given() -> None:
    accepted = [{"weather.get": {"city": ["Rome"], "days": [1], "unit": [""]}}]
    for arguments in ({"city": "Rome"}, {"city": "Rome", "days": 1, "unit": "celsius"}):
        assert number(made(call("weather.get", arguments)), accepted) == 1.0
    plain = [{"name": "weather.get", "arguments": {"city": "Rome"}}]
    assert number(made(call("weather.get", {"city": "Rome", "days": 1})), plain) == 1.0
    assert number(made(call("weather.get", {"city": "Rome", "days": 2})), plain) == 0.0


def test_records_and_lists_are_read_to_the_bottom() -> None:
    accepted = [
        {
            "weather.get": {
                "city": ["Rome"],
                "days": [1],
                "area": [{"km": [5, 5.5], "of": ["", "x"]}],
            }
        }
    ]
    for area, value in (({"km": 5.5}, 1.0), ({"km": 5, "of": "X"}, 1.0), ({"of": "x"}, 0.0)):
        assert number(made(call("weather.get", {"city": "Rome", "area": area})), accepted) == value
    assert number(made(call("move", {"to": [1, 2.5]})), TWO[1:]) == 1.0
    for to in ([2.5, 1], [1], [1, 2.5, 3], [1, "2.5"], [[1, 2.5]], "1, 2.5"):
        assert number(made(call("move", {"to": to})), TWO[1:]) == 0.0


def test_parallel_calls_are_matched_one_to_one() -> None:
    weather, move = call("weather_get", RIGHT), call("move", {"to": [1, 2.5]})
    assert number(made(weather, move), TWO) == 1.0
    assert number(made(move, weather), TWO) == 1.0
    assert number(made(move, weather), TWO, order="same") == 0.0
    assert number(made(weather, move), [[TWO[0]], [TWO[1]]]) == 1.0
    assert number(made(move, weather), [[TWO[0]], [TWO[1]]]) == 0.0
    for calls in ([weather], [weather, weather], [weather, move, move], [weather, move, weather]):
        assert number(made(*calls), TWO) == 0.0


def test_a_match_is_found_where_taking_the_first_would_miss_it() -> None:
    accepted = [{"move": {"to": [[1], [2]]}}, {"move": {"to": [[1]]}}]
    assert number(made(call("move", {"to": [1]}), call("move", {"to": [2]})), accepted) == 1.0


def test_parts_name_what_differs() -> None:
    result = score(made(call("weather_get", {**RIGHT, "days": 3, "x": 1})))
    because = "weather.get: 'days' is 3; weather.get: 'x' is no argument of weather.get"
    assert result.because == because
    assert dict(result.parts) == {
        "right_calls": 0.0,
        "right_names": 1.0,
        "right_arguments": 0.5,
        "missing_calls": 0.0,
        "extra_calls": 0.0,
    }
    assert score(made(call("move", {})), TWO)["missing_calls"] == 1.0
    assert score(made(call("other", {}), call("move", {"to": [1, 2.5]})), TWO)["extra_calls"] == 1.0


def test_where_no_call_is_right_words_are() -> None:
    assert number(made(text="There is no tool for that."), []) == 1.0
    assert number([{"role": "assistant", "content": ""}], []) == 0.0
    assert number(made(call("move", {"to": []}), text="I try."), []) == 0.0
    assert number(made(text="move([1, 2.5])"), TWO[1:]) == 0.0
    thought = "<think>Which tool is it?</think>"
    assert number(made(text=f"{thought} None of them."), []) == 1.0
    for silent in (thought, "<think>Which", '<tool_call>{"name": "move"}</tool_call>'):
        assert number(made(text=silent), []) == 0.0


def test_calls_of_the_last_turn_count() -> None:
    right, wrong = call("weather_get", RIGHT), call("weather_get", {"city": "Rome"})
    assert number([*made(wrong), *made(right)]) == 1.0
    assert number([*made(right), *made(wrong)]) == 0.0
    assert number([*made(wrong), *made(right)], turn="all") == 0.0
    result = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "1", "content": "x"}],
    }
    block = {"type": "tool_use", "id": "1", "name": "weather_get", "input": RIGHT}
    turn = [{"role": "user", "content": "?"}, {"role": "assistant", "content": [block]}, result]
    assert number([*turn, {"role": "assistant", "content": "Sunny."}]) == 1.0


def test_segments_that_repeat_a_call_hold_it_once() -> None:
    first = made(call("weather_get", RIGHT, "call_1"))
    second = [
        *first,
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [call("move", {"to": [1, 2.5]}, "call_2")],
        },
    ]
    assert number([first, second], TWO) == 1.0


def test_text_that_looks_like_a_call_is_one_only_where_that_is_asked_for() -> None:
    inner = json.dumps({"name": "weather_get", "arguments": RIGHT})
    thought = "<think><tool_call>{}</tool_call></think>"
    text = f"{thought}<tool_call>\n{inner}\n</tool_call>"
    assert number(made(text=text)) == 0.0
    assert number(made(text=text), text_calls="tags") == 1.0
    assert number(made(text=text + "<tool_call>broken</tool_call>"), text_calls="tags") == 0.0
    assert number(made(text="<tool_call>broken</tool_call>"), [], text_calls="tags") == 0.0


def test_references_and_tools_may_be_text() -> None:
    trajectory = made(call("weather_get", RIGHT))
    assert number(trajectory, json.dumps(ACCEPTED), json.dumps(TOOLS)) == 1.0
    assert number(trajectory, {"id": "simple_0", "ground_truth": ACCEPTED}) == 1.0
    assert number(trajectory, ACCEPTED, None) == 1.0
    assert (
        number(
            trajectory, ACCEPTED[0], {"name": "weather.get", "input_schema": WEATHER["parameters"]}
        )
        == 1.0
    )


@pytest.mark.parametrize(
    ("answer", "tools", "reason"),
    [
        (None, TOOLS, "missing_reference"),
        (float("nan"), TOOLS, "missing_reference"),
        ("not json", TOOLS, "bad_reference"),
        ([7], TOOLS, "bad_reference"),
        ([{"a": 1, "b": 2}], TOOLS, "bad_reference"),
        ([{"weather.get": "Paris"}], TOOLS, "bad_reference"),
        ([{"unknown": {}}], TOOLS, "bad_reference"),
        ([{"weather.get": {"days": [1]}}], TOOLS, "bad_reference"),
        ([{"weather.get": {"city": ["x"], "no": ["x"]}}], TOOLS, "bad_reference"),
        ([ACCEPTED, ACCEPTED[0]], TOOLS, "bad_reference"),
        (ACCEPTED * 65, TOOLS, "bad_reference"),
        (ACCEPTED, "not json", "bad_reference"),
        (ACCEPTED, [7], "bad_reference"),
        (ACCEPTED, [{"type": "function"}], "bad_reference"),
    ],
)
def test_a_reference_that_no_call_can_meet_abstains(answer: Any, tools: Any, reason: str) -> None:
    assert number(made(call("weather_get", RIGHT)), answer, tools) == reason


@pytest.mark.parametrize(
    "trajectory", [None, "text", 7, [7], [{"content": "?"}], {"role": "user"}, b"x"]
)
def test_a_trajectory_that_is_none_abstains(trajectory: Any) -> None:
    assert number(trajectory) == "bad_trajectory"


def test_hostile_messages_are_wrong_and_never_raise() -> None:
    strange: list[Any] = [
        call("weather_get", RIGHT) | {"function": None},
        call("weather_get", RIGHT) | {"function": {"name": 7, "arguments": 7}},
        {"id": {}, "function": {"name": "weather_get", "arguments": None}},
        "weather_get",
        None,
        [],
    ]
    for item in strange:
        assert number(made(item)) == 0.0
    assert number(made(*[call("weather_get", RIGHT)] * 5_000)) == 0.0
    assert number([{"role": "assistant", "content": {"a": 1}, "tool_calls": 7}]) == 0.0


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("New York, NY", "new york NY", True), ("April 1, 2024", "April 1,2024", True),
        ("2024-04-01", "2024/04/01", True), ("GPT-4", "gpt 4", True),
        ("3x**2 + 2x - 1", "3x**2+2x-1", True), ("O’Hare", "O'Hare", True), ("-5", "5", False),
        ("1.5", "15", False), ("x**2", "x2", False), ("x^2", "x2", False),
        ("2024-04-01", "20240401", False), ("C++", "C", False), ("A-", "A", False),
        ("2x - 1", "2x 1", False),
    ],
)  # fmt: skip
def test_texts_are_equal_when_their_letters_and_numbers_are(
    one: str, other: str, same: bool
) -> None:
    assert (normal_text(one) == normal_text(other)) is same


def test_an_option_that_is_none_is_refused() -> None:
    for params in ({"order": "x"}, {"turn": "x"}, {"texts": "x"}, {"text_calls": "x"}):
        with pytest.raises(BadParameter):
            score(made(), **params)
