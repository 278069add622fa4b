"""JSON is right when it equals the reference and is valid under the schema."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
import pytest

import assay
from assay.errors import BadParameter, MissingExtra
from assay.rewards.outcome.records import schemas
from assay.schema.score import Abstained, Score

RECORD = {"name": "Ann", "age": 34, "towns": ["Delm", "Brin"], "size": {"w": 1.5, "h": 2}}
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[A-Z][a-z]+$"},
        "tags": {"type": "array", "uniqueItems": True},
        "tree": {"$ref": "#/$defs/tree"},
    },
    "patternProperties": {"^x_": {"type": "integer"}},
    "required": ["name"],
    "$defs": {"tree": {"type": "object", "additionalProperties": {"$ref": "#/$defs/tree"}}},
}


def score(response: Any, answer: Any = None, schema: Any = None, **params: Any) -> Score:
    return assay.score(
        "json_reward", final_response=response, answer=answer, schema=schema, params=params
    )


def number(*args: Any, **params: Any) -> float | str:
    result = score(*args, **params)
    return result.reason if isinstance(result, Abstained) else float(result)


def changed(**fields: Any) -> str:
    return json.dumps({**RECORD, **fields})


@pytest.mark.parametrize(
    ("response", "value"),
    [
        (json.dumps(RECORD), 1.0),
        (json.dumps(RECORD, indent=2, sort_keys=True), 1.0),
        (f"Here it is:\n```json\n{json.dumps(RECORD)}\n```\nDone.", 1.0),
        (f"<think>{{}}</think>{json.dumps(RECORD)}", 1.0),
        (f"<answer>{json.dumps(RECORD)}</answer>", 1.0),
        (changed(age=34.0), 1.0),
        (changed(age="34"), 0.0),
        (changed(age=True), 0.0),
        (changed(age=35), 0.0),
        (changed(name="ann"), 0.0),
        (changed(towns=["Brin", "Delm"]), 0.0),
        (changed(towns=["Delm"]), 0.0),
        (changed(more=1), 0.0),
        (changed(size={"w": 1.5}), 0.0),
        (json.dumps([RECORD]), 0.0),
        (json.dumps(json.dumps(RECORD)), 0.0),
        (f"It is {json.dumps(RECORD)}", 0.0),
        (f"```json\n{{}}\n```\nor\n```json\n{json.dumps(RECORD)}\n```", 0.0),
        ('{"name": "Bo", ' + json.dumps(RECORD)[1:], 0.0),
        ("", 0.0), (None, 0.0), ("{" * 100_000, 0.0), ("[" * 500 + "]" * 500, 0.0),
        ("9" * 5_000, 0.0), ('{"a": 1e999}', 0.0), ("NaN", 0.0), ("\ud800", 0.0), ("\0", 0.0),
    ],
)  # fmt: skip
def test_a_response_equals_the_reference_or_not(response: Any, value: float) -> None:
    assert number(response, RECORD) == value
    assert number(response, json.dumps(RECORD)) == value


def test_the_parts_count_fields_and_name_what_differs() -> None:
    result = score(changed(age=35, more=[1, 2], towns=["Delm"]), RECORD)
    assert result.because == "$.age is 35, not 34; $.towns has 1 items, not 2; $.more is too much"
    assert {name: result[name] for name in ("equal", "wrong_fields", "extra_fields")} == {
        "equal": 0.0,
        "wrong_fields": 1.0,
        "extra_fields": 2.0,
    }
    assert (result["missing_fields"], result["right_fields"]) == (1.0, 0.5)
    assert float(score(changed(age=35, more=[1, 2], towns=["Delm"]), RECORD, partial=True)) == 0.5


def test_lists_and_texts_can_be_compared_more_freely() -> None:
    assert number(changed(towns=["Brin", "Delm"]), RECORD, lists="any") == 1.0
    assert number(changed(towns=["Brin", "Brin"]), RECORD, lists="any") == 0.0
    assert number(changed(name="ANN "), RECORD, texts="normal") == 1.0
    response = "```json\n{}\n```\n```json\n" + json.dumps(RECORD) + "\n```"
    assert number(response, RECORD, extract="last") == 1.0


def test_values_of_tables_are_references() -> None:
    assert number("[1, 2]", np.array([1, 2])) == 1.0
    assert number("7", 7) == 1.0
    assert number("null", "null") == 1.0
    assert number("false", answer=False) == 1.0
    assert number("{}", {}) == 1.0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"name": "Ann", "tags": [1, True, "1", [1], {"a": 1}], "x_1": 1}, 1.0),
        ({"name": "ann"}, 0.0),
        ({"name": "Ann", "tags": [1, 1.0]}, 0.0),
        ({"name": "Ann", "tags": [{"a": 1, "b": 2}, {"b": 2, "a": 1}]}, 0.0),
        ({"name": "Ann", "x_1": "1"}, 0.0),
        ({}, 0.0),
        ([], 0.0),
    ],
)
def test_a_schema_says_what_is_valid(value: Any, expected: float) -> None:
    assert number(json.dumps(value), schema=SCHEMA) == expected
    assert number(json.dumps(value), schema=json.dumps(SCHEMA)) == expected


def test_reference_and_schema_must_both_agree() -> None:
    assert number('{"name": "Ann"}', {"name": "Ann"}, SCHEMA) == 1.0
    assert number('{"name": "Bo"}', {"name": "Ann"}, SCHEMA) == 0.0
    assert number('{"name": "ann"}', {"name": "ann"}, SCHEMA) == 0.0


def test_hostile_values_stay_within_bounds() -> None:
    nested = '{"a":' * 90 + "{}" + "}" * 90
    assert number('{"name": "' + "A" + "a" * 100_000 + '!"}', schema=SCHEMA) == 0.0
    assert number('{"name": "Ann", "tags": ' + str([[]] * 30_000) + "}", schema=SCHEMA) == 0.0
    assert number(f'{{"name": "Ann", "tree": {nested}}}', schema=SCHEMA) in (0.0, 1.0)
    branch = {"properties": {"a": {"$ref": "#/$defs/t"}}, "required": ["no"]}
    doubling = {"$defs": {"t": {"anyOf": [branch, dict(branch)]}}, "$ref": "#/$defs/t"}
    assert number('{"a":' * 40 + "1" + "}" * 40, schema=doubling) == 0.0


@pytest.mark.parametrize(
    ("answer", "schema", "reason"),
    [
        (None, None, "missing_reference"),
        ("", None, "missing_reference"),
        (float("nan"), None, "missing_reference"),
        ("not json", None, "bad_reference"),
        (object(), None, "bad_reference"),
        ({"a": {1, 2}, "b": b"x"}, None, "bad_reference"),
        (None, "not json", "bad_reference"),
        (None, [1], "unparseable_reference"),
        (None, {"type": "nothing"}, "unparseable_reference"),
        (None, {"$ref": "http://127.0.0.1:9/schema.json"}, "unparseable_reference"),
        (None, {"$ref": "#/$defs/none"}, "unparseable_reference"),
        (None, {"$ref": "#"}, "unparseable_reference"),
        (None, {"pattern": "("}, "unparseable_reference"),
    ],
)
def test_a_reference_that_cannot_be_used_abstains(answer: Any, schema: Any, reason: str) -> None:
    assert number('{"a": 1}', answer, schema) == reason


@pytest.mark.parametrize("pattern", [r"(a)\1", "(?=a)a", "^a|b$"])
def test_a_pattern_that_may_take_for_ever_abstains(pattern: str) -> None:
    assert number('"a"', schema={"pattern": pattern}) == "unparseable_reference"


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("b", "abc", True),
        ("^b", "abc", False),
        ("^(a|b)c$", "bc", True),
        (r"\$$", "5$", True),
        (r"5\$", "a5$b", True),
        ("a|c", "xcx", True),
    ],
)
def test_a_pattern_is_searched_for(pattern: str, text: str, matches: bool) -> None:
    assert number(json.dumps(text), schema={"pattern": pattern}) == float(matches)


def test_an_option_that_is_none_is_refused() -> None:
    for params in ({"extract": "x"}, {"texts": "x"}, {"lists": "x"}):
        with pytest.raises(BadParameter):
            score("1", 1, **params)


def test_without_its_extra_a_schema_is_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    with pytest.raises(MissingExtra, match=r"assay\[schema\]"):
        schemas.check_value(1, {"title": "no other test has this schema"})


def test_items_are_told_apart_in_time_however_deep_they_are() -> None:
    schema = {"type": "array", "uniqueItems": True}
    deep = "[" * 90 + '"a"' + "]" * 90
    assert number(f"[{deep}, 1]", schema=schema) == 1.0
    assert number(f"[{deep}, {deep}]", schema=schema) == 0.0
    pairs = [('[1, 1.0]', 0.0), ('[1, true]', 1.0), ('[{"a": 1, "b": 2}, {"b": 2.0, "a": 1}]', 0.0),
             ('["[]", []]', 1.0), ('[["a"], "a"]', 1.0)]  # fmt: skip
    for text, expected in pairs:
        assert number(text, schema=schema) == expected, text


@pytest.mark.parametrize("text", ["1" + "0" * 400, "1e999", "-1e999"])
def test_a_number_too_large_for_its_schema_is_not_valid(text: str) -> None:
    for step in (0.01, 0.5, 3):
        assert number(text, schema={"type": "number", "multipleOf": step}) in (0.0, 1.0)


def test_lists_in_any_order_take_no_longer_than_in_their_own() -> None:
    table = [[(row * column) % 7 for row in range(60)] for column in range(60)]
    start = time.process_time()
    assert number(json.dumps(table[::-1]), table, lists="any") == 1.0
    table[3][4] = 8
    assert number(json.dumps(table), table[::-1], lists="any") == 1.0
    assert number(json.dumps([[9] * 60] * 60), table, lists="any") == 0.0
    deep: Any = 1
    for _ in range(60):
        deep = [deep]
    assert number(json.dumps(deep), deep, lists="any") == 1.0
    same_hash = [at * (2**61 - 1) for at in range(8_000)]
    assert number(json.dumps(same_hash), same_hash[::-1], lists="any") == 1.0
    assert time.process_time() - start < 5.0


def test_long_lists_are_compared_in_any_order_too() -> None:
    many: list[dict[str, Any]] = [{"n": at, "tags": ["a", str(at)]} for at in range(300)]
    turned = [{"tags": one["tags"][::-1], "n": float(one["n"])} for one in reversed(many)]
    assert number(json.dumps(turned), many, lists="any") == 1.0
    wrong = score(json.dumps([*turned[:-1], {"n": 1}]), many, lists="any")
    assert (float(wrong), wrong["missing_fields"], wrong["wrong_fields"]) == (0.0, 2.0, 1.0)
    assert number('["New York", "x"]', ["x", "new york"], lists="any", texts="normal") == 1.0
    assert number("[1, true]", [True, 1], lists="any") == 1.0
    assert number("[1, 1]", [True, 1], lists="any") == 0.0
