"""The waits of the browser as one record, which an environment takes as a table."""

from __future__ import annotations

from typing import Any

import pytest

from assay.browser.drive.environment import BrowserEnvironment
from assay.browser.drive.miniwob.environment import MiniWob
from assay.browser.drive.page import PageOptions
from assay.browser.observe.patience import Patience
from assay.errors import BadParameter
from tests.browser.drive import Driver
from tests.browser.site import Site


def test_a_table_changes_the_waits_that_it_names_and_no_other() -> None:
    patience = Patience.of({"arrives_s": 20, "quiet_s": 0.2})
    assert (patience.arrives_s, patience.quiet_s) == (20, 0.2)
    assert patience.requests_s == Patience().requests_s
    assert Patience.of(None) == Patience()
    assert Patience.of(patience) is patience
    assert patience.milliseconds()["quiet"] == 200


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"patient_s": 1}, "patience has no wait named patient_s; the waits are answer_s"),
        ({"quiet_s": "long"}, "quiet_s must be a number of seconds, not 'long'"),
        ({"quiet_s": True}, "quiet_s must be a number"),
        ({"quiet_s": float("nan")}, "quiet_s must be a number"),
        ({"quiet_s": -1}, "from 0 to 3600"),
        (3, "a table of seconds"),
    ],
)
def test_a_wait_that_there_is_not_is_refused_in_words(table: Any, says: str) -> None:
    for kind in (BrowserEnvironment, MiniWob):
        with pytest.raises(BadParameter, match=says):
            kind(patience=table)


def test_no_wait_of_an_action_goes_beyond_its_own_limit() -> None:
    waits = PageOptions(timeout_s=1.5).waits()
    assert waits.answer_s == 1.5
    assert waits.arrives_s > 1.5


def test_an_environment_waits_as_long_as_it_is_told(site: Site) -> None:
    hasty = Driver(site, patience={"effect_s": 0.0, "requests_s": 0.0, "provisional_s": 0.0})
    hasty.open("/later")
    assert "Worth the wait" in hasty.click("Slow page").text, "documents are waited for as before"
    hasty.close()
