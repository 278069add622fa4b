"""Observations in, scored step records out, and the same scores from the records alone."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay.browser.steps
from assay.browser.step_records import StepLog, outcome_from_record, rescore
from assay.browser.steps import contract_from_toml
from assay.errors import BadRecord
from assay.formats.lines import dump_line
from assay.ledger.steps import StepsWriter, read_steps
from assay.schema.evidence import PageEvidence, PageFacts, WorldEvidence
from assay.schema.observation import Observation
from assay.schema.outcome import Effect, ToolOutcome
from tests.browser.steps.strategies import outcomes, pages

LIMIT_BYTES = 4_096
CONTRACT = contract_from_toml('id = "c"\nall = [{ url = { suffix = "/b" } }, { no_dialog = true }]')


def seen(name: str, step: int = 0, **outcome: Any) -> Observation:
    """A page called `name` after an action."""
    evidence = PageEvidence(url=name, dom=name, text=name, refs=name, n_refs=1)
    facts = PageFacts(step=step, url=f"https://x.test/{name}", dialog=False)
    given: dict[str, Any] = {"tool": "click", "call": f"click {step}", "ok": True, **outcome}
    return Observation(name, evidence, outcome=ToolOutcome(**given), facts=facts)


def test_the_reset_is_recorded_and_not_scored() -> None:
    scoring = StepLog()
    step = scoring.record("", seen("a"))
    assert (step.index, step.action, step.scores) == (0, "", ())
    assert scoring.score is None


def test_a_step_is_scored_against_the_page_before_it() -> None:
    scoring = StepLog()
    scoring.record("", seen("a"))
    step = scoring.record('click("1")', seen("b", 1))
    assert scoring.score is not None
    assert scoring.score.classification == "progress"
    [written] = step.scores
    assert written["classification"] == "progress"
    assert written["arguments"] == {"ref": "1"}
    assert step.outcome is not None
    assert step.outcome["effect"] == "browser"


def test_a_contract_that_held_from_the_start_is_not_paid() -> None:
    scoring = StepLog(CONTRACT)
    scoring.record("", seen("b"))
    scoring.record("noop()", seen("b", 1))
    assert scoring.score is not None
    assert scoring.score.classification != "contract_pass"
    assert scoring.contract_progress is not None
    assert scoring.contract_progress.value == 1.0


def test_a_contract_is_paid_when_it_comes_true_and_failed_only_when_due() -> None:
    scoring = StepLog(CONTRACT)
    scoring.record("", seen("a"))
    kinds = []
    for step, (name, due) in enumerate([("c", False), ("d", True), ("b", False)], 1):
        scoring.record(f'click("{step}")', seen(name, step), due=due)
        assert scoring.score is not None
        kinds.append(scoring.score.classification)
    assert kinds == ["progress", "contract_fail", "contract_pass"]


def test_a_world_without_tool_outcomes_is_recorded_without_scores() -> None:
    evidence = WorldEvidence("alfworld", "t", 0.0)
    scoring = StepLog()
    step = scoring.record("look", Observation("a room", evidence, reward=0.5))
    assert (step.evidence, step.outcome, step.scores, step.reward) == (evidence, None, (), 0.5)


SECRETS = [
    ('fill("5", "hunter2")', "hunter2", 'fill("5", "[7 characters]")'),
    ('goto("https://x.test/a?token=abc")', "abc", 'goto("https://x.test/a?[query]")'),
]


@pytest.mark.parametrize(("action", "secret", "shown"), SECRETS)
def test_what_was_typed_is_not_in_the_record(action: str, secret: str, shown: str) -> None:
    scoring = StepLog()
    scoring.record("", seen("a"))
    step = scoring.record(action, seen("b", 1))
    assert step.action == shown
    assert secret not in step.model_dump_json()
    verbatim = StepLog(verbatim=True)
    assert verbatim.record(action, seen("a")).action == action


def test_the_file_alone_gives_the_same_scores(tmp_path: Path) -> None:
    path = tmp_path / "steps.jsonl"
    scoring = StepLog(CONTRACT)
    scores = []
    walk = [
        ("", seen("a"), "unknown"),
        ('click("1")', seen("a", 1, ok=False, error="stale_ref", target="t"), "unknown"),
        ("noop()", seen("c", 2, tool="noop", effect=Effect.READ, info="i"), "stalling"),
        ('click("2")', seen("b", 3, target="t"), "unknown"),
        ("noop()", seen("b", 4, tool="noop", effect=Effect.READ, info="i"), "stuck"),
        ('click("9")', seen("b", 5, effect=Effect.IRREVERSIBLE, gate="missing"), "unknown"),
    ]
    with StepsWriter(path) as steps:
        for action, observation, progress in walk:
            steps.write(scoring.record(action, observation, progress=progress))  # type: ignore[arg-type]  # from a table
            scores.append(scoring.score)
    again = list(rescore(read_steps(path)))
    assert [row.score for row in again] == scores
    assert not any(row.differs for row in again)
    kinds = [score.classification for score in scores if score is not None]
    expected = ["failure", "progress", "contract_pass", "no_progress", "destructive_ungated"]
    assert kinds == expected


def test_a_score_of_other_rules_is_noticed() -> None:
    scoring = StepLog()
    steps = [scoring.record("", seen("a")), scoring.record('click("1")', seen("b", 1))]
    old = {**steps[1].scores[0], "scorer": "recovery@0", "score": 0.9}
    changed = [steps[0], steps[1].model_copy(update={"scores": (old,)})]
    row = list(rescore(changed))[1]
    assert row.differs
    assert row.scorer == "recovery@0"
    unreadable = steps[1].model_copy(update={"scores": ({**old, "classification": "superb"},)})
    assert list(rescore([steps[0], unreadable]))[1].stored is None


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"tool": "x", "effect": "terrible"},
        {"tool": None},
        {"tool": "x", "call": 5},
        {"tool": "x", "error": ["stale_ref"]},
        {"tool": "x", "items": "3"},
    ],
)
def test_an_outcome_that_is_none_is_a_bad_record(record: dict[str, Any]) -> None:
    with pytest.raises(BadRecord):
        outcome_from_record(record)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=300), outcomes, pages, st.text()), max_size=5))
def test_any_step_is_a_line_of_at_most_4_kib_and_scores_the_same_again(steps: list[Any]) -> None:
    scoring = StepLog(CONTRACT)
    records, scores = [], []
    for action, outcome, page, text in steps:
        observation = Observation(text, page, outcome=outcome)
        arguments = {"text": text, "query": action * 50, "deep": [{"a": text}] * 30}
        records.append(scoring.record(action, observation, arguments=arguments))
        scores.append(scoring.score)
    lines = [dump_line({"schema_id": "x", **record.model_dump()}) for record in records]
    assert all(len(line) <= LIMIT_BYTES for line in lines)
    assert [row.score for row in rescore(records)] == scores


def test_nothing_that_scores_a_step_can_reach_a_model_a_network_or_a_browser() -> None:
    """Scoring starts no recovery and calls no model: there is nothing in it to do so with."""
    allowed = {
        "__future__", "base64", "collections", "dataclasses", "difflib", "enum", "hashlib",
        "itertools", "json", "math", "operator", "re", "tomllib", "types", "typing", "urllib",
    }  # fmt: skip
    folder = Path(str(assay.browser.steps.__file__)).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            else:
                continue
            for name in names:
                own = name.startswith(("assay.browser.steps", "assay.schema", "assay.errors"))
                assert own or name.partition(".")[0] in allowed, f"{path.name} imports {name}"
                assert not name.startswith("urllib.") or name == "urllib.parse"
