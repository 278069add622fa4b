"""A step is one bounded line, without secrets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.browser.step_records import StepLog
from assay.browser.steps import ToolOutcome
from assay.browser.steps.redaction import redact
from assay.formats.lines import dump_line
from assay.schema.episode import Step
from assay.schema.evidence import PageEvidence
from assay.schema.observation import Observation
from assay.schema.step_score import step_score_from_record

LIMIT_BYTES = 4_096
ODD = "\ud83d\ud83d ünï" * 50
FULL = PageEvidence(ODD, ODD, ODD, ODD, ODD, 10**18, 2**60, schema=ODD[:40])
OTHER = PageEvidence("b", "b", "b", "b", "b", 3, 0, schema=ODD[:40])
WORST = ToolOutcome(ODD, ODD, ODD, ok=True, items=10**18, info=ODD)


def worst_step(arguments: dict[str, Any]) -> Step:
    """The second step of a page with texts and numbers of no use to anybody."""
    log = StepLog()
    log.record("", Observation("", FULL))
    step = log.record(ODD, Observation(ODD, OTHER, outcome=WORST), arguments=arguments)
    assert step_score_from_record(step.scores[0]) == log.score
    return step


def test_the_largest_record_is_small_and_its_score_can_be_read_back() -> None:
    step = worst_step({f"k{n}": "v" * 500 for n in range(99)})
    assert len(dump_line({"schema_id": "x", **step.model_dump()})) <= LIMIT_BYTES


SECRETS: list[tuple[str, dict[str, Any]]] = [
    ("named so", {"password": "hunter2"}),
    ("named so inside", {"headers": {"Authorization": "Bearer hunter2"}}),
    ("in a list", {"steps": [{"api_key": "hunter2"}]}),
    ("typed into the page", {"ref": "e1", "text": "hunter2"}),
    ("form values", {"fields": ["hunter2"]}),
    ("in an address", {"url": "https://user:hunter2@x.test/a?token=hunter2"}),
    ("in a query", {"url": "https://x.test/a?q=hunter2#hunter2"}),
    ("too deep", {"a": {"b": {"c": {"d": {"e": "hunter2"}}}}}),
]


@pytest.mark.parametrize(("why", "arguments"), SECRETS, ids=[row[0] for row in SECRETS])
def test_secrets_are_not_written(why: str, arguments: dict[str, Any]) -> None:
    assert "hunter2" not in json.dumps(redact(arguments))


def test_harmless_arguments_are_kept() -> None:
    kept = {"ref": "e1", "x": 3, "ratio": 0.5, "force": True, "none": None}
    assert redact(kept) == kept
    assert redact({"url": "https://x.test/a"}) == {"url": "https://x.test/a"}
    assert redact({"n": 10**400, "f": float("nan"), "o": object()}) == {
        "n": "[large number]",
        "f": "[large number]",
        "o": "[object]",
    }


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=300) | st.binary(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=50), inner),
    max_leaves=20,
)


@settings(max_examples=25)
@given(st.dictionaries(st.text(max_size=300), values, max_size=30))
def test_any_arguments_make_a_small_line_of_valid_json(arguments: dict[str, Any]) -> None:
    line = dump_line({"schema_id": "x", **worst_step(arguments).model_dump()})
    assert len(line) <= LIMIT_BYTES
    json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
