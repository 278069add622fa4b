"""Calls of tools as models write them: read, or refused with a reason, never raised."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.schema.tools import (
    ANSWER,
    ANY_ACTION,
    BadCall,
    describe_tools,
    read_tool_call,
    text_tool,
)

FILL = text_tool("fill", "Put text into a field.", {"ref": "its number", "text": "the words"})
TOOLS = {tool.name: tool for tool in (FILL, ANY_ACTION, ANSWER)}


@given(st.sampled_from(["fill", "act", "answer", "", "nobody"]), st.text())
def test_reading_never_raises(name: str, text: str) -> None:
    for arguments in (text, f'{{"action": {text}', f'{{"text": "{text}"}}'):
        values = read_tool_call(name, arguments, TOOLS)
        if isinstance(values, dict):
            assert isinstance(TOOLS[name].write(values), str)
        else:
            assert values.because


@pytest.mark.parametrize(
    ("name", "arguments", "action"),
    [
        ("fill", '{"ref": 5, "text": "a \\"b\\"\\nc"}', 'fill("5", "a \\"b\\"\\nc")'),
        ("answer", '{"text": ["a", 1]}', 'answer("[\\"a\\", 1]")'),
        ("act", '{"action": "go to desk 1"}', "go to desk 1"),
    ],
)
def test_a_call_is_written_as_the_environment_reads_it(
    name: str, arguments: str, action: str
) -> None:
    values = read_tool_call(name, arguments, TOOLS)
    assert isinstance(values, dict)
    assert TOOLS[name].write(values) == action


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("[" * 100_000, "no valid JSON"),
        ('{"ref": ' + "9" * 10_000 + "}", "no valid JSON"),
        ('"' + "a" * 300_000 + '"', "longer than 200,000 characters"),
        ('{"ref": "1", "text": "x", "id": 2}', "it has no argument 'id'"),
        ("null", "no JSON object"),
        ("", "the argument 'ref' is missing; its arguments are ref, text"),
    ],
    ids=["nested", "a long number", "long", "too many", "null", "nothing"],
)
def test_arguments_that_do_not_fit_are_refused(arguments: str, says: str) -> None:
    call = read_tool_call("fill", arguments, TOOLS)
    assert isinstance(call, BadCall)
    assert says in call.because


def test_tools_are_described_in_text_for_those_who_call_in_text() -> None:
    assert describe_tools(()) == ""
    assert '- fill({"ref": …, "text": …}): Put text into a field.' in describe_tools((FILL,))
