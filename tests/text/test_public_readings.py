"""Each public reading says what a response holds, where it stands, and why there is nothing."""

from __future__ import annotations

import string
from collections.abc import Callable
from dataclasses import FrozenInstanceError, is_dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay import text
from assay.errors import BadParameter
from assay.schema.values import Unreadable
from perf.gil import HOLD_LIMIT_S, longest_hold
from perf.slopes import PUBLIC_READINGS
from perf.text_rows.texts import PIECES

PLACED = (
    text.final_text,
    text.find_answer,
    text.read_quantity,
    text.read_date,
    text.read_option,
)
RESPONSES = st.lists(
    st.sampled_from([*PIECES, "```\n", "\n```\n", "~~41~~", "<b>", "</b>", "B", "July 4, 1776"]),
    max_size=12,
).map("".join)


def test_the_list_that_is_measured_is_the_list_that_is_public() -> None:
    functions = {name for name in text.__all__ if name[0] in string.ascii_lowercase}
    assert functions == {reading.__name__ for reading in PUBLIC_READINGS}
    assert text.find_answer is assay.text.find_answer


@pytest.mark.parametrize("read", PUBLIC_READINGS)
def test_a_response_without_anything_gets_a_reason(read: Callable[[str], Any]) -> None:
    for response in ("", " ", "<think>never ends"):
        record: Any = read(response)
        assert is_dataclass(type(record))
        assert record.because
        with pytest.raises(FrozenInstanceError):
            record.because = ""


@given(RESPONSES)
def test_every_place_is_within_the_response(response: str) -> None:
    for read in PLACED:
        record: Any = read(response)
        assert 0 <= record.start <= record.end <= len(response), read.__name__
    for block in text.code_blocks(response).blocks:
        assert block.text.rstrip("\n") in response[block.start : block.end]
    for call in text.read_calls(response).calls:
        element = response[call.start : call.end]
        assert element.startswith("<tool_call>")
        assert element.endswith("</tool_call>")


@pytest.mark.parametrize(
    ("response", "place"),
    [
        (r"so \boxed{42}", "42"),
        ("<think>The answer is 42.</think>The answer is 42.<|im_end|>", "42"),
        ("<b>The answer</b> is <!-- 41 --> 42. It is.", "42"),
        ('```json\n{"thought": "42", "answer": "42"}\n```', "42"),
        ("<answer>The answer is 42.</answer>", "42"),
        (r"So far \boxed{200}. Final answer: 455", "455"),
        (r"\boxed{1}, \boxed{2}", r"\boxed{1}, \boxed{2}"),
        (r"x<sup>2</sup> is \boxed{x<sup>2</sup>}", "x<sup>2</sup>"),
    ],
)
def test_an_answer_stands_where_it_was_written_last(response: str, place: str) -> None:
    answer = text.find_answer(response)
    assert response[answer.start : answer.end] == place
    assert answer.start == response.rfind(place)


def test_the_final_text_goes_from_its_first_to_its_last_piece() -> None:
    response = "<think>a</think>One <tool_call>{}</tool_call>two<|im_end|>"
    final = text.final_text(response)
    assert final.text == "One two"
    assert response[final.start : final.end] == "One <tool_call>{}</tool_call>two"
    assert text.final_text("as it is").because == "the whole response"


def test_blocks_are_those_of_a_language_and_may_lack_their_end() -> None:
    response = "<think>```py\n0\n```</think>\n```py\n1\n```\n~~~js\n2\n~~~\n````\n```\n3"
    blocks = text.code_blocks(response).blocks
    assert [(block.language, block.text, block.closed) for block in blocks] == [
        ("py", "1\n", True),
        ("js", "2\n", True),
        ("", "```\n3\n", False),
    ]
    assert response[blocks[0].start : blocks[0].end] == "```py\n1\n```"
    assert text.code_blocks(response, ["js"]).because == "1 fenced block of js"
    assert text.code_blocks("none").because == "no fenced blocks"


@pytest.mark.parametrize(
    ("response", "value", "unit", "place"),
    [
        (" $1,010,000 ", Fraction(1_010_000), "USD", "$1,010,000"),
        ("The answer is 850k.", Fraction(850_000), "", "850k"),
        (r"so \boxed{14.2\%}", Fraction("14.2"), "%", r"14.2\%"),
        ("The answer is 1,148 sq ft.", Fraction(1148), "sqft", "1,148 sq ft"),
    ],
)
def test_a_quantity_is_the_response_or_its_answer(
    response: str, value: Fraction, unit: str, place: str
) -> None:
    quantity = text.read_quantity(response)
    assert (quantity.value, quantity.unit) == (value, unit)
    assert response[quantity.start : quantity.end] == place


def test_what_is_no_quantity_is_said_with_the_answer() -> None:
    blue = text.read_quantity("The answer is blue.")
    assert blue.value is None
    assert blue.because == "'blue' by phrase, which is not a quantity"


def test_a_date_needs_a_convention_where_two_read_it_differently() -> None:
    assert text.read_date("The answer is July 4, 1776.").value == (1776, 7, 4)
    assert text.read_date("2024-02-29").value == (2024, 2, 29)
    assert text.read_date("04/07/2024").value is None
    assert text.read_date("04/07/2024", "day first").value == (2024, 7, 4)
    assert text.read_date("04/07/2024", "month first").value == (2024, 4, 7)


def test_an_option_is_a_letter_or_the_text_of_one() -> None:
    response = "The answer is green."
    chosen = text.read_option(response, ["red", "green"])
    assert (chosen.letter, response[chosen.start : chosen.end]) == ("B", "green")
    assert text.read_option("A or B").letter == ""
    assert text.read_option("I do not know.").text is None
    with pytest.raises(BadParameter, match="'choices' is neither"):
        text.read_option("A", 7)


def test_calls_after_the_thoughts_are_read_with_their_place() -> None:
    response = (
        '<think><tool_call>{"name": "a"}</tool_call></think>'
        '<tool_call>{"name": "b", "arguments": "{\\"x\\": 1}"}</tool_call>'
        '<tool_call>{"name": "b", "name": "c"}</tool_call>'
    )
    first, second = text.read_calls(response).calls
    assert (first.name, first.arguments) == ("b", {"x": 1})
    assert response[first.start :].startswith('<tool_call>{"name": "b", "arg')
    assert (second.name, second.arguments) == ("", Unreadable("name an argument twice"))


@pytest.mark.parametrize("read", PUBLIC_READINGS)
def test_a_megabyte_is_read_in_bounded_time(read: Callable[[str], Any]) -> None:
    for piece in ["```\n", "<tool_call>", "<think>", "<b></b>", "\n>", "(B) "]:
        response = piece * (300_000 // len(piece)) + "42"
        assert longest_hold(partial(read, response), doubtful_s=HOLD_LIMIT_S) <= HOLD_LIMIT_S, piece
