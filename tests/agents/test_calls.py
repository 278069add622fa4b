"""Actions as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.calls import Call, answer_in, parse_call


@given(
    st.from_regex(r"[a-z_]{1,12}", fullmatch=True),
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=8),
)
def test_a_call_reads_back_as_it_was_written(name: str, arguments: list[str]) -> None:
    call = Call(name, tuple(arguments))
    assert parse_call(call.text) == call


@given(st.text())
def test_reading_any_text_never_raises(text: str) -> None:
    parse_call(text)
    parse_call(f"click({text})")


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ('click("12")', Call("click", ("12",))),
        ("click('12')", Call("click", ("12",))),
        ("click(12)", Call("click", ("12",))),
        (r"fill('5', 'it\'s \"here\"')", Call("fill", ("5", 'it\'s "here"'))),
        (' select ( "7" , "May" ) ', Call("select", ("7", "May"))),
        ('answer("two\nlines")', Call("answer", ("two\nlines",))),
        ("back()", Call("back")),
        ("search[red shoes]", None),
        ('click("12") and more', None),
        ('click("12"', None),
        ("click('12)", None),
        ('click("a" "b")', None),
        ("f(" + "1," * 20 + "1)", None),
        ("", None),
    ],
)
def test_what_a_text_calls(text: str, call: Call | None) -> None:
    assert parse_call(text) == call


@pytest.mark.parametrize(
    "text",
    ["click(" * 300_000, "f('" + "\\" * 1_000_000, 'f("' + "\\u" * 500_000, "f(" + " " * 1_000_000],
    ids=["brackets", "backslashes", "bad escapes", "spaces"],
)
def test_a_megabyte_of_nonsense_is_no_call(text: str) -> None:
    assert parse_call(text) is None


def test_only_answer_with_one_argument_is_an_answer() -> None:
    assert answer_in('answer("42")') == "42"
    assert answer_in('answer("42", "43")') is None
    assert answer_in('click("42")') is None
