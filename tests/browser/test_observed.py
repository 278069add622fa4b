"""`observe` scores a step of anything that can be looked at before and after."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.browser import page_evidence
from assay.browser.connect.observed import ObservedSteps, observe
from assay.browser.step_records import rescore
from assay.errors import BadParameter
from assay.ledger.steps import read_steps
from assay.schema import Observation
from assay.schema.evidence import StepEvents

FORM = {"url": "https://shop.test/form", "text": "Name", "refs": [("button", "Save")]}
DONE = {"url": "https://shop.test/done", "text": "Saved"}


def test_two_looks_make_a_score() -> None:
    assert observe(FORM, DONE, "tap", target="Save").classification == "progress"
    assert observe(FORM, FORM, "tap", target="Save").classification == "no_progress"
    assert observe("Name", "Name and more").classification == "progress"
    assert observe(None, None).classification == "unknown"
    same = page_evidence(**FORM)  # type: ignore[arg-type]
    assert observe(same, Observation("", evidence=same)).classification == "no_progress"


def test_errors_risk_and_events_count_as_everywhere() -> None:
    failed = observe(FORM, FORM, "tap", error="Timeout 5000ms exceeded.")
    assert failed.reasons[0].code == "error_timeout"
    risky = observe(FORM, DONE, "click", target="Delete account")
    assert risky.classification == "destructive_ungated"
    gated = observe(FORM, DONE, "click", target="Delete account", gate="satisfied")
    assert gated.classification == "progress"
    lost = observe(FORM, DONE, "tap", events=StepEvents(status=500))
    assert lost.reasons[0].code == "error_page_error"


def test_several_steps_have_a_history_and_score_again_to_the_same_bytes(tmp_path: Path) -> None:
    with ObservedSteps(steps=tmp_path / "steps.jsonl") as steps:
        for _ in range(3):
            score = steps.observe(FORM, FORM, "tap", target="Save")
        assert score.classification == "repeat"
        assert steps.status.state == "stuck"
        # Something happened in between, which is nobody's step.
        steps.observe({**FORM, "text": "Name and phone"}, DONE, "tap", target="Save")
        assert steps.score is not None
        assert steps.score.milli > 0
    rows = list(rescore(read_steps(tmp_path / "steps.jsonl")))
    assert sum(row.score is not None for row in rows) == 4
    assert not any(row.differs for row in rows)


def test_a_look_that_cannot_be_read_is_named() -> None:
    with pytest.raises(BadParameter, match=r"an observation has no part \['html'\]; give a text"):
        observe({"html": "<p>"}, "text")
    with pytest.raises(BadParameter, match="int"):
        observe(3, "text")  # type: ignore[arg-type]
