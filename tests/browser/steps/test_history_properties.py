"""What holds of every history: loops do not pay, and it stays small, exact and the same."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.browser.steps import (
    StepHistory,
    StepInput,
    ToolOutcome,
    history_from_json,
    history_to_json,
    observe,
)
from assay.browser.steps.inputs import failure_code
from assay.schema.evidence import PageEvidence
from tests.browser.steps.strategies import cycle_step, maybe, scorer


@settings(max_examples=60)
@given(st.lists(cycle_step, min_size=1, max_size=20))
def test_going_in_circles_costs_more_with_every_lap_in_the_end(cycle: list[StepInput]) -> None:
    history = StepHistory()
    laps = []
    for _ in range(10):
        lap = 0
        for step in cycle:
            history, score = scorer.advance(history, step)
            lap += score.milli
        laps.append(lap)
    assert all(lap < 0 for lap in laps[6:]), laps


@settings(max_examples=15)
@given(st.integers(21, 48))
def test_a_long_loop_over_pages_does_not_pay_either(length: int) -> None:
    pages_of_loop = [PageEvidence(url=f"u{i}", dom=f"d{i}") for i in range(length)]
    history, laps = StepHistory(), []
    for _ in range(8):
        lap = 0
        for index in range(length):
            outcome = ToolOutcome("click", f"c{index}", ok=True)
            step = StepInput(outcome, pages_of_loop[index - 1], pages_of_loop[index])
            history, score = scorer.advance(history, step)
            lap += score.milli
        laps.append(lap)
    assert all(lap < 0 for lap in laps[6:])


@settings(max_examples=40)
@given(st.lists(cycle_step, max_size=40))
def test_a_history_is_small_and_survives_being_written_at_any_point(run: list[StepInput]) -> None:
    history, resumed = StepHistory(), StepHistory()
    for step in run:
        history, recent = observe(history, step)
        resumed, same = observe(history_from_json(history_to_json(resumed)), step)
        assert recent == same
        assert len(history_to_json(history)) <= 1024
    assert history_to_json(history) == history_to_json(resumed)


def recount(run: list[StepInput], last: StepInput) -> tuple[int, int]:
    """Repeats of the last call and of its failure, counted over the whole run."""

    def state(found: PageEvidence | None) -> object:
        if found is None or (found.url, found.dom, found.text) == (None, None, None):
            return None
        return found.schema, found.url, found.dom, found.text, bool(found.dialog)

    def key(index: int, step: StepInput) -> object:
        every = [*run, last]
        here = state(step.before)
        if step.before is None and index:
            here = state(every[index - 1].after)
        call = step.outcome.call or step.outcome.tool
        return call, here if here is not None else ("info", step.outcome.info)

    def failed(step: StepInput) -> bool:
        return failure_code(step) is not None

    call = last.outcome.call or last.outcome.tool
    same = sum(key(i, step) == key(len(run), last) for i, step in enumerate(run))
    errors = sum(failed(s) and (s.outcome.call or s.outcome.tool) == call for s in run)
    return min(same, 15), min(errors, 15)


plain_page = st.builds(
    PageEvidence, url=maybe(st.sampled_from("ab")), text=maybe(st.sampled_from("xy"))
)


@settings(max_examples=60)
@given(st.lists(cycle_step, min_size=1, max_size=25), plain_page)
def test_folding_a_history_counts_as_a_recount_of_the_whole_run(
    run: list[StepInput], last_page: PageEvidence
) -> None:
    filled = [s._replace(before=s.before and replace(s.before, url="a")) for s in run]
    history = StepHistory()
    for step in filled[:-1]:
        history, _ = observe(history, step)
    last = filled[-1]._replace(before=last_page)
    _, recent = observe(history, last)
    same, errors = recount(filled[:-1], last)
    assert recent.same_call == same
    if failure_code(last) is not None:
        assert recent.same_error == errors
