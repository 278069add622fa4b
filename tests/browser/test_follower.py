"""Which actions make up a step that was only seen."""

from __future__ import annotations

import pytest

from assay.browser.connect.follower import SeenCall, merged

FIELD, BUTTON = "textbox Name", "button Send"


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        (["fill " + FIELD] * 5, ["fill " + FIELD]),
        (["click " + FIELD, "fill " + FIELD], ["fill " + FIELD]),
        (["click " + BUTTON, "press " + BUTTON], ["click " + BUTTON]),
        (["fill checkbox Yes", "click checkbox Yes"], ["fill checkbox Yes"]),
        (["click " + BUTTON, "click " + BUTTON], ["click " + BUTTON] * 2),
        (["fill " + FIELD, "press " + BUTTON], ["fill " + FIELD, "press " + BUTTON]),
        (["back "], ["back "]),
    ],
)
def test_parts_of_one_action_are_one_action(calls: list[str], expected: list[str]) -> None:
    def read(text: str) -> SeenCall:
        tool, _, target = text.partition(" ")
        return SeenCall(tool, target)

    assert list(merged([read(text) for text in calls])) == [read(text) for text in expected]


def test_an_action_is_written_as_a_call() -> None:
    assert SeenCall("click", 'link "A"').text == r'click("link \"A\"")'
    assert SeenCall("back").text == "back()"
