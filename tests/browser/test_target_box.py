"""Where an action was aimed is recorded beside the pictures, for those who look at them later."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from assay.browser.step_records import StepLog, outcome_from_record
from assay.schema.observation import Observation
from tests.browser.drive import Driver, code
from tests.browser.site import Site


@pytest.fixture(scope="module")
def driven(site: Site) -> Iterator[Driver]:
    driver = Driver(site, screenshots=True)
    yield driver
    driver.close()


def box(seen: Observation) -> tuple[float, float, float, float] | None:
    assert seen.outcome is not None
    return seen.outcome.box


def test_the_box_is_the_element_on_the_picture_that_the_agent_saw(driven: Driver) -> None:
    driven.open("/form")
    name, month = box(driven.fill("Name", "Ada")), box(driven.do(_select(driven)))
    assert name is not None
    assert month is not None
    for x, y, width, height in (name, month):
        assert 0 <= x < x + width <= 1280
        assert 0 <= y < y + height <= 720
    assert name[0] + name[2] <= month[0] or name[1] < month[1], "one stands before the other"


def _select(driven: Driver) -> str:
    return f'select("{driven.ref("Month")}", "May")'


def test_an_action_without_a_target_has_no_box_and_a_stale_one_neither(driven: Driver) -> None:
    assert box(driven.open("/stale")) is None
    old = driven.ref("Save")
    driven.click("Refresh")
    failed = driven.do(f'click("{old}")')
    assert code(failed) == "stale_ref"
    assert box(failed) is None
    assert box(driven.do("noop()")) is None


def test_a_run_without_pictures_records_no_box(driver: Driver) -> None:
    driver.open("/recovery/progress-positive")
    assert box(driver.click("Add the lamp")) is None


def test_the_box_is_kept_in_the_step_and_no_score_reads_it(driven: Driver) -> None:
    first = driven.open("/recovery/progress-positive")
    seen = driven.click("Add the lamp")
    assert seen.outcome is not None
    with_box, without = StepLog(), StepLog()
    with_box.record("", first)
    without.record("", first)
    step = with_box.record("click", seen)
    bare = replace(seen, outcome=seen.outcome._replace(box=None))
    twin = without.record("click", bare)
    assert step.outcome is not None
    assert twin.outcome is not None
    assert step.outcome["box"] == seen.outcome.box
    assert "box" not in twin.outcome
    assert step.scores == twin.scores
    assert outcome_from_record(step.outcome).box == seen.outcome.box
