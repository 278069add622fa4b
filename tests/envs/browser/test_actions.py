"""Actions as text: what is understood, and what is told about the rest."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.envs.browser.actions import PARAMETERS, BadCall, Call, parse_action

GOOD = [
    ('click("12")', Call("click", ("12",)), "a number in quotes"),
    ("click(12)", Call("click", ("12",)), "a bare number"),
    ("  fill('5' , \"it's\") ", Call("fill", ("5", "it's")), "both quotes and spaces"),
    ('fill("5", "a\\"b\\n")', Call("fill", ("5", 'a"b\n')), "JSON escapes"),
    ("fill('5', 'it\\'s')", Call("fill", ("5", "it's")), "an escaped single quote"),
    ('fill("5", "a, b) c(")', Call("fill", ("5", "a, b) c(")), "brackets and commas inside"),
    ('fill("5", "C:\\dir")', Call("fill", ("5", "C:\\dir")), "escapes that are none"),
    ("noop()", Call("noop"), "no arguments"),
]


@pytest.mark.parametrize(("text", "call", "why"), GOOD)
def test_a_call_is_read(text: str, call: Call, why: str) -> None:
    assert parse_action(text) == call, why


BAD = [
    ("", "there is no action", "nothing"),
    ("click", "is not a call", "no brackets"),
    ("click()", "takes 1 argument", "too few"),
    ('noop("x")', "takes 0 argument", "too many"),
    ("click(,)", "not quoted strings", "no value"),
    ('click("12"', "is not a call", "unclosed"),
    ("click(open('x'))", "not quoted strings", "code"),
    ('eval("1")', "there is no action", "unknown"),
    ("x" * 30_000, "20,000 are allowed", "too long"),
]


@pytest.mark.parametrize(("text", "words", "why"), BAD)
def test_anything_else_is_told_what_is_wrong(text: str, words: str, why: str) -> None:
    read = parse_action(text)
    assert isinstance(read, BadCall), why
    assert words in read.problem


@given(st.text(max_size=200))
def test_any_text_is_a_call_or_a_problem(text: str) -> None:
    for action in (text, f"click({text})", f'fill("1", {text})'):
        read = parse_action(action)
        if isinstance(read, Call):
            assert len(read.arguments) == len(PARAMETERS[read.name])


@given(st.text(max_size=200))
def test_a_text_comes_through_as_it_was_written(text: str) -> None:
    assert parse_action(f'fill("1", {json.dumps(text)})') == Call("fill", ("1", text))
