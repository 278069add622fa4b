"""The reward of ScienceWorld: what it pays, and what AgentFly's code pays."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.schema.evidence import WorldEvidence
from tests.worlds.recordings import recorded, score_of


def lab(score: float, highest: float, *, completed: bool = False) -> WorldEvidence:
    progress = {"max_score": highest, "completed": completed, "moves": 9}
    return WorldEvidence("scienceworld", "7", score, score < 0 or completed, completed, progress)


@pytest.mark.parametrize(
    ("evidence", "params", "messages", "value", "why"),
    [
        (lab(100, 100, completed=True), {}, 6, 1.0, "completed"),
        (lab(42, 42), {}, 6, 0.42, "a part of the way"),
        (lab(0, 0), {}, 6, 0.0, "nothing reached"),
        (lab(-100, 75), {}, 6, -1.0, "a fatal mistake erases what was reached"),
        (lab(42, 42), {}, 1, 0.42, "few messages are no reason by themselves"),
        (lab(100, 100, completed=True), {"agentfly": True}, 6, 10.0, "ten times success"),
        (lab(42, 42), {"agentfly": True}, 6, 0.0, "a part of the way is nothing there"),
        (lab(-100, 100), {"agentfly": True}, 6, 10.0, "the highest score stands there"),
        (lab(100, 100, completed=True), {"agentfly": True}, 3, 0.0, "under four messages"),
    ],
)
def test_scienceworld_pays(
    evidence: WorldEvidence, params: dict[str, Any], messages: int, value: float, why: str
) -> None:
    context = recorded(evidence, messages=messages)
    result = score_of("scienceworld_reward", context, **params)
    assert result["reward"] == value, why
    assert tuple(result.parts) == ("score", "max_score", "completed", "acc")
    assert result["output"] in (
        "Task completed",
        "Task not completed",
        "Not enough steps to get reward",
    )


def test_scienceworld_parts_say_what_was_reached() -> None:
    ours = score_of("scienceworld_reward", recorded(lab(-100, 75)))
    assert dict(ours.parts) == {"score": -1.0, "max_score": 0.75, "completed": 0.0, "acc": 0.0}
    theirs = score_of("scienceworld_reward", recorded(lab(-100, 75)), agentfly=True)
    assert theirs["score"] == 0.75


@settings(deadline=None)
@given(
    st.floats(-100, 100),
    st.floats(0, 100),
    st.booleans(),
    st.dictionaries(st.text(max_size=8), st.none() | st.integers() | st.text(max_size=5)),
)
def test_whatever_a_recording_holds_the_score_is_in_range_or_abstained(
    final: float, highest: float, completed: bool, extra: dict[str, Any]
) -> None:
    progress = {**extra, "max_score": highest, "completed": completed}
    evidence = WorldEvidence("scienceworld", "7", final, completed, completed, progress)
    result = score_of("scienceworld_reward", recorded(evidence))
    assert -1.0 <= float(result) <= 1.0


def test_under_four_messages_agentfly_says_no_accuracy_either() -> None:
    won = lab(100, 100, completed=True)
    for context in (recorded(won, messages=3), recorded(messages=3)):
        result = score_of("scienceworld_reward", context, agentfly=True)
        assert (result["reward"], result["acc"]) == (0.0, 0.0)
