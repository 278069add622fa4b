"""Which program a response offers, what tests are, and when a result is what was expected."""

import time
from typing import Any

import numpy as np
import pytest

from assay.errors import BadParameter
from assay.isolation import values
from assay.rewards.outcome.code.compare import same_output, same_value
from assay.rewards.outcome.code.read import (
    AssertTests,
    CallTests,
    StdioTests,
    find_program,
    read_tests,
)
from assay.schema.values import Unreadable

PROGRAMS = [
    ("```python\nx = 1\n```", "x = 1\n", "the one block"),
    ("```python\nx = 1\n```\nor\n```python\nx = 2\n```", "x = 2\n", "the last block"),
    ("```py\nx = 1\n```\nOutput:\n```text\n1\n```", "x = 1\n", "a block of something else"),
    ("```\nx = 1\n```", "x = 1\n", "a block without a name"),
    ("```\nx = 1\n```\n```python\nx = 2\n```\n```\n2\n```", "x = 2\n", "a named one goes first"),
    ("````python\nx = '''\n```\n'''\n````", "x = '''\n```\n'''\n", "a longer fence"),
    ("~~~python\nx = 1\n~~~", "x = 1\n", "tildes"),
    ("```python\nx = 1", "x = 1\n", "a fence that never closes"),
    ("<think>\n```python\nx = 1\n```\n</think>\n```python\nx = 2\n```", "x = 2\n", "a thought"),
    ("```python\nx = 1\n```\n</think>\nno program", "\nno program", "a thought of the prompt's"),
    ("<think>```python\nx = 1\n```", "", "a thought that never ends"),
    ("```python\ns = '<think>'\n```", "s = '<think>'\n", "a mark inside a program"),
    ("x = 1", "x = 1", "no fence at all"),
    ("```bash\nls\n```", "", "a block of another language alone"),
    ("", "", "nothing"),
]


@pytest.mark.parametrize(("response", "program"), [row[:2] for row in PROGRAMS])
def test_the_program_is_the_last_block_of_its_language(response: str, program: str) -> None:
    assert find_program(response, extraction="default", language="python").text == program


def test_a_policy_can_demand_a_block_or_the_whole_response() -> None:
    assert find_program("x = 1", extraction="fenced", language="python").text == ""
    fenced = "```python\nx\n```"
    assert find_program(fenced, extraction="whole", language="python").text == fenced
    assert find_program("```cpp\nint x;\n```", extraction="default", language="c++").text
    with pytest.raises(BadParameter, match="extraction is 'last'"):
        find_program("", extraction="last", language="python")  # type: ignore[arg-type]


def test_tests_are_read_in_every_shape_that_data_sets_have() -> None:
    calls = read_tests({"fn": "add", "calls": [{"args": [1, 2], "expected": 3}]})
    assert isinstance(calls, CallTests)
    assert calls.tests[0].args == [1, 2]
    apps = read_tests('{"fn_name": "add", "inputs": [[1, 2]], "outputs": [[3]]}')
    assert isinstance(apps, CallTests)
    assert apps.tests[0].expected == [[3], 3]
    bench = read_tests({"fn_name": "add", "inputs": ["1\n[2]"], "outputs": ["3"]})
    assert isinstance(bench, CallTests)
    assert (bench.tests[0].args, bench.tests[0].expected) == ([1, [2]], [3])
    stdio = read_tests({"inputs": np.array(["1"]), "outputs": ["2"]})
    assert isinstance(stdio, StdioTests)
    rows = read_tests([{"input": "1", "output": "2", "testtype": "stdin"}])
    assert rows == stdio
    assert isinstance(read_tests({"stdio": [{"input": "", "output": ""}]}), StdioTests)
    code = read_tests({"code": "assert candidate(1) == add(1)", "entry_point": "add"})
    assert isinstance(code, AssertTests)


@pytest.mark.parametrize(
    ("tests", "why"),
    [
        ("not JSON", "no JSON"),
        (7, "is int"),
        ({"fn": "f"}, "it needs"),
        ({"calls": [{"args": [1], "expected": 1}]}, "KeyError"),
        ({"fn": "f", "calls": [{"args": 1, "expected": 1}]}, "args must be a list"),
        ({"inputs": ["1"], "outputs": []}, "1 inputs and 0 outputs"),
        ({"code": "def check(:", "entry_point": "f"}, "no Python"),
        ({"code": "assert poly(1) == candidate(2)", "entry_point": "f"}, "uses poly"),
    ],
)
def test_tests_that_cannot_be_read_say_why(tests: Any, why: str) -> None:
    unreadable = read_tests(tests)
    assert isinstance(unreadable, Unreadable)
    assert why in unreadable.because


@pytest.mark.parametrize("tests", [None, "", float("nan"), {"stdio": []}, {"fn": "f", "calls": []}])
def test_no_tests_are_missing_tests(tests: Any) -> None:
    assert read_tests(tests) is None


SAME: list[tuple[Any, Any, bool, str]] = [
    (3, 3, True, "the same integer"),
    (3, 4, False, "another one"),
    (3.0, 3, True, "numbers by their value"),
    (0.1 + 0.2, 0.3, True, "floats within the tolerance"),
    (0.30001, 0.3, False, "floats beyond it"),
    (1e12 + 1, 1e12, True, "relative above one"),
    (10**30 + 1, 10**30, False, "integers exactly"),
    (True, 1, False, "a truth value is no number"),
    (True, True, True, "truth values"),
    (float("nan"), float("nan"), True, "no number is no number"),
    ((1, 2), [1, 2], True, "a tuple is a list to JSON"),
    ([1, [2.0000000001]], [1, [2]], True, "inside of lists"),
    ([2, 1], [1, 2], False, "order counts"),
    ({1, 2}, [1, 2], False, "a set has no order, a list has"),
    ({1: "a"}, {"1": "a"}, True, "JSON's keys are text"),
    ({1: "a", "1": "b"}, {"1": "a"}, False, "two keys that JSON cannot tell"),
    ("3", 3, False, "text is no number"),
    (None, 0, False, "nothing is no number"),
    (b"a", "a", False, "bytes are no text"),
]


@pytest.mark.parametrize(("value", "expected", "same"), [row[:3] for row in SAME])
def test_values_are_the_same_by_rules(value: Any, expected: Any, same: bool) -> None:
    assert same_value(value, expected, tolerance=1e-6, order="kept") is same


def test_the_order_of_a_list_can_be_free() -> None:
    assert same_value([2, 1, 2], [2, 2, 1], tolerance=0, order="free")
    assert same_value({1, 2}, [2, 1], tolerance=0, order="free")
    assert not same_value([1, 1, 2], [2, 2, 1], tolerance=0, order="free")


@pytest.mark.parametrize(
    ("output", "expected", "same"),
    [
        ("3\n", "3", True), ("1 2  3\n", "1 2 3", True), ("1\n2", "1 2", False),
        ("\n3\n\n", "3", True), ("0.3333333", "0.33333333", True), ("3", "3.0", True),
        ("3.0", "3", False), ("yes", "YES", False), ("nan", "1.0", False), ("", "", True),
    ],
)  # fmt: skip
def test_outputs_are_compared_line_by_line_and_word_by_word(
    output: str, expected: str, same: bool
) -> None:
    assert same_output(output, expected, tolerance=1e-6) is same


class Liar(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class Text(str):
    def __str__(self) -> str:
        return "another"


def test_plain_data_crosses_with_exact_types_and_subclasses_as_their_base() -> None:
    for value in (
        None, True, -1, 2**80, -(2**62), 0.5, float("inf"), "é\ud800", b"\x00", 1j, [1, (2, {3})],
        {1: frozenset({2})}, {"t": [1]}, -0.0,
    ):  # fmt: skip
        crossed = values.decode(values.encode(value))
        assert (crossed, type(crossed), repr(crossed)) == (value, type(value), repr(value))
    assert type(values.decode(values.encode(Liar(7)))) is int
    assert values.decode(values.encode(Text("own"))) == "own"
    assert values.decode(values.encode(np.arange(2))) == [0, 1]


@pytest.mark.parametrize("value", [object(), iter([]), range(3), lambda: 0, [print]])
def test_other_objects_do_not_cross(value: Any) -> None:
    with pytest.raises(values.NotPlain):
        values.encode(value)


def test_a_value_without_end_does_not_cross() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(values.NotPlain):
        values.encode(endless)


@pytest.mark.parametrize(
    "wire", [{"t": 1}, {"x": "1"}, {"i": "z"}, {"f": "1"}, {"d": [[1]]}, {}, {"s": [[1]]}, {"c": 1}]
)
def test_what_is_no_value_is_refused(wire: Any) -> None:
    with pytest.raises(values.UndecodableValue):
        values.decode(wire)


def test_long_lists_in_any_order_are_compared_in_time() -> None:
    start = time.process_time()
    numbers = list(range(20_000))
    assert same_value(numbers[::-1], numbers, tolerance=0, order="free")
    assert not same_value([*numbers[1:], 1], numbers, tolerance=0, order="free")
    rows = [[0] * 200 + [at] for at in range(1_500)]
    assert same_value(rows[::-1], rows, tolerance=0, order="free")
    assert not same_value([[0] * 201] * 1_500, rows, tolerance=0, order="free")
    floats: list[list[Any]] = [[at / 3, "x"] for at in range(5_000)]
    near = [[one + 1e-9, text] for one, text in reversed(floats)]
    assert same_value(near, floats, tolerance=1e-6, order="free")
    near[17][0] += 0.1
    assert not same_value(near, floats, tolerance=1e-6, order="free")
    same_hash = [at * (2**61 - 1) for at in range(20_000)]
    assert same_value(same_hash[::-1], same_hash, tolerance=0, order="free")
    assert time.process_time() - start < 10.0


def test_members_in_any_order_are_told_apart_by_type_and_value() -> None:
    for one, other, same in (
        ([1, True], [True, 1.0], True),
        ([1, 1], [True, 1], False),
        (["1", 1], [1, "1"], True),
        ([[1, 2], [2, 1]], [[2, 1], [1, 2]], True),
        ([[1, 2]], [[2, 1]], False),
        ([{1: "a"}, 2], [2, {"1": "a"}], True),
        ([0.1 + 0.2, 5], [5, 0.3], True),
        ([float("nan"), 1], [1, float("nan")], True),
        ([b"a", None], [None, b"a"], True),
        ([[], {}], [{}, []], True),
    ):
        assert same_value(one, other, tolerance=1e-9, order="free") is same, (one, other)
