"""What a browser understands of any text; `tests/schema/test_action.py` has the grammar."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from assay.browser.drive.actions import arguments_by_name, parse_action
from assay.schema.action import ActionCall


@given(st.text(max_size=200))
def test_any_text_is_a_call_with_its_arguments_or_a_problem(text: str) -> None:
    for action in (text, f"click({text})", f'fill("1", {text})'):
        call = parse_action(action)
        if isinstance(call, ActionCall):
            assert list(arguments_by_name(call).values()) == list(call.arguments)


@given(st.text(max_size=200))
def test_a_text_comes_through_as_it_was_written(text: str) -> None:
    assert parse_action(f'fill("1", {json.dumps(text)})') == ActionCall("fill", ("1", text))
