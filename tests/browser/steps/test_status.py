"""Where an agent stands: stuck and since when, blocked, recovered, done."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from assay.browser.steps import (
    ContractStatus,
    RecoveryRewardScorer,
    StepHistory,
    StepInput,
    ToolOutcome,
    history_from_json,
    history_to_json,
    status,
)
from assay.schema.evidence import PageEvidence

scorer = RecoveryRewardScorer()


def page(name: str) -> PageEvidence:
    return PageEvidence(url=name, text=name)


def move(call: str, before: str, after: str) -> StepInput:
    return StepInput(ToolOutcome("click", call, ok=True), page(before), page(after))


def walk(steps: Iterable[StepInput]) -> StepHistory:
    history = StepHistory()
    for step in steps:
        history, _ = scorer.advance(history, step)
    return history


def test_an_agent_that_sees_new_pages_runs() -> None:
    assert status(StepHistory()).state == "running"
    assert status(walk(move("next", str(n), str(n + 1)) for n in range(50))).state == "running"


@pytest.mark.parametrize("cycle", [1, 2, 3, 5])
def test_a_loop_is_known_at_its_third_lap_with_its_length_and_its_beginning(cycle: int) -> None:
    arrival = [move("go", "x", "y"), move("go", "y", "0")]
    lap = [move("go", str(n), str((n + 1) % cycle)) for n in range(cycle)]
    before = walk([*arrival, *lap, *lap])
    assert status(before).state == "running"
    stuck = status(walk([*arrival, *lap, *lap, lap[0]]))
    assert (stuck.state, stuck.since, stuck.cycle) == ("stuck", 3, cycle)


def test_eight_different_calls_that_lead_nowhere_are_stuck_since_the_first() -> None:
    arrival = [move("open", "x", "a")]
    useless = [move(f"try {n}", "a", "a") for n in range(8)]
    assert status(walk([*arrival, *useless[:-1]])).state == "running"
    stuck = status(walk([*arrival, *useless]))
    assert (stuck.state, stuck.since, stuck.cycle) == ("stuck", 2, None)


def test_something_new_ends_the_standstill() -> None:
    useless = [move("again", "a", "a") for _ in range(9)]
    assert status(walk([*useless, move("again", "a", "b")])).state == "recovered"


def test_blocked_recovered_and_done_say_since_when() -> None:
    blocked = move("go", "a", "b")
    blocked = blocked._replace(outcome=blocked.outcome._replace(block="captcha"))
    history = walk([move("go", "x", "a"), blocked, blocked])
    assert status(history)[:2] == ("blocked", 2)

    failed = StepInput(ToolOutcome("click", "save", ok=False, error="stale_ref"), page("a"))
    mended = move("save", "a", "saved")
    assert status(walk([failed, mended]))[:2] == ("recovered", 2)
    assert status(walk([failed, mended, move("on", "saved", "next")])).state == "running"

    passed = move("go", "a", "b")._replace(contract=ContractStatus("pass", 1, 1, id="c"))
    assert status(walk([move("go", "x", "a"), passed]))[:2] == ("done", 2)


def test_a_history_that_was_written_and_read_has_the_same_status() -> None:
    history = walk(move("go", "a", "a") for _ in range(40))
    written = history_to_json(history)
    assert status(history_from_json(written)) == status(history)
    assert status(history).state == "stuck"
    assert len(written) < 1024
