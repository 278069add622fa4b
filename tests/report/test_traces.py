"""Messages fall to the steps that they belong to, or to none."""

from __future__ import annotations

from typing import Any

import pytest

from assay.report.traces import messages_by_turn
from assay.schema.message import Message


def said(role: str, content: str = "x", *calls: str, **more: Any) -> dict[str, Any]:
    records = [{"id": id_, "function": {"name": "f"}} for id_ in calls]
    return {"role": role, "content": content, "tool_calls": records, **more}


def result(of: str, content: str = "y", **more: Any) -> dict[str, Any]:
    return said("tool", content, tool_call_id=of, **more)


PAGES = [
    said("system"),
    said("user", "Question: q\nPage:\na"),
    said("assistant", "", "1"),
    result("1", "Page:\nb"),
    said("assistant", "done"),
]
SEVERAL = [
    said("user"),
    said("assistant", "", "1", "2", "3"),
    result("1"),
    result("2", "error: no such tool", is_error=True),
    result("3"),
    said("assistant", "done"),
]
NOTED = [
    said("user"),
    said("assistant", ""),
    said("user", "Note: the reply is empty."),
    said("assistant", "", "1"),
    result("1"),
    said("assistant", "done"),
]
PLAIN = [said("user"), said("assistant"), said("user"), said("assistant"), said("user")]


@pytest.mark.parametrize(
    ("messages", "n_actions", "sizes"),
    [
        (PAGES, 2, [3, 2]),
        (SEVERAL, 3, [2, 2, 2]),
        (NOTED, 2, [4, 2]),
        (PLAIN, 2, [2, 2, 1]),
        (PLAIN, 3, [2, 2, 1]),
        ([said("user"), said("assistant")], 1, [2]),
        ([said("user")], 0, [1]),
        ([said("assistant"), said("assistant")], 2, [1, 1]),
        (PLAIN, 7, None),
        ([], 3, None),
        ([], 0, None),
    ],
)
def test_a_turn_has_what_was_shown_and_what_was_replied(
    messages: list[dict[str, Any]], n_actions: int, sizes: list[int] | None
) -> None:
    records = [Message.model_validate(message) for message in messages]
    turns = messages_by_turn(records, n_actions)
    assert (None if turns is None else [len(turn) for turn in turns]) == sizes
    if turns is not None:
        assert [message for turn in turns for message in turn] == records
