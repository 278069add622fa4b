"""A diagnosis names the cause, shows the evidence, and counts what was lost."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from assay.errors import UnknownName
from assay.ledger.layout import list_runs
from assay.ledger.run import Run
from assay.report import diagnose
from assay.report.causes import RULES, SUGGESTIONS, Cause
from assay.report.traces import AttemptTrace
from assay.schema.episode import Episode, Step, Trajectory
from assay.schema.message import Message
from assay.schema.score import Abstained, Scored
from assay.schema.task import Task
from perf.planted import PLANTS
from tests.report.ledgers import SCORER, Told, config, write_run, write_told

PLANTED = Path(__file__).parents[1] / "data/report/planted.tar.xz"
LONG = "word " * 200
CUT = "\n… 4,321 characters not shown; scroll or narrow down …"
LESS = "\n… 4,321 characters not shown; ask for less"
BLOCK = "url: http://a/\nnote: the page is blocked (captcha)\n\nAre you human?"
DEAD = "url: about:blank\nerror: net::ERR_CONNECTION_REFUSED at http://a/\n\n"

CASES: list[tuple[Cause, Told, int, str]] = [
    ("environment_error", Told(stop_reason="env_error", failure="Chromium ended"), 0, "Chromium"),
    (
        "scorer_error",
        Told("14.2", score=Abstained("grader_error", "it raised", scorer=SCORER)),
        0,
        "grader_error: it raised",
    ),
    ("scorer_error", Told("14.2", gold=""), 0, "the reference is hidden"),
    (
        "agent_error",
        Told(stop_reason="agent_error", failure="ModelError: no route", actions=["noop()"]),
        1,
        "ModelError",
    ),
    (
        "agent_error",
        Told(
            stop_reason="gave_up",
            actions=['click("90")', 'click("91")'],
            outcomes={1: {"error": "not_found"}, 2: {"error": "not_found"}},
        ),
        1,
        "not_found",
    ),
    (
        "unreadable_reply",
        Told(
            stop_reason="gave_up",
            actions=["noop()"] * 4,
            thinks={
                n: f"reply refused ({n} of 5 in a row): the reply names no action"
                for n in range(1, 5)
            },
        ),
        1,
        "names no action",
    ),
    ("not_recorded", Told(None, score=Scored(0.5, "", scorer=SCORER)), 0, "not in the record"),
    ("format_rejection", Told("The answer is 14.2, according to the archive."), 0, "1.000"),
    (
        "payload_truncated",
        Told("9.1", actions=["fetch_json()", "answer()"], pages=["a", "b"], shown=["a", LESS]),
        1,
        "4,321 characters of the result",
    ),
    (
        "observation_truncated",
        Told(
            "unknown",
            gold="Celia Ravenscroft",
            actions=["scroll()", "noop()", "noop()", 'answer("unknown")'],
            pages=["a", f"{LONG} Celia Ravenscroft", "c", "d"],
            shown=["a", LONG + CUT, "c", "d"],
        ),
        1,
        "the reference is on this page",
    ),
    (
        "observation_truncated",
        Told("9", actions=["goto()", 'answer("9")'], pages=["a", "b"], truncated=[1]),
        1,
        "whether the answer needs them is not known",
    ),
    (
        "blocked",
        Told("unknown", actions=["goto()", 'answer("unknown")'], pages=["a", BLOCK]),
        1,
        "captcha",
    ),
    (
        "blocked",
        Told(
            stop_reason="gave_up",
            actions=["noop()", "noop()"],
            thinks={1: "reply refused: zillow.com does not work here and was not opened"},
        ),
        1,
        "zillow.com",
    ),
    (
        "looping",
        Told(stop_reason="step_limit", actions=['scroll("down")'] * 6),
        2,
        "again, as at step 1",
    ),
    (
        "navigation_failure",
        Told(stop_reason="gave_up", actions=["noop()", "goto()"], pages=["a", "b", DEAD]),
        2,
        "ERR_CONNECTION_REFUSED",
    ),
    (
        "navigation_failure",
        Told(stop_reason="gave_up", actions=["goto()"], outcomes={1: {"error": "timeout"}}),
        1,
        "timeout",
    ),
    ("time_budget", Told(stop_reason="timeout", actions=["noop()"]), 1, "time limit"),
    ("step_budget", Told(stop_reason="step_limit", actions=["a()", "b()"]), 2, "all 2 steps"),
    (
        "stale_gold",
        Told(
            "Ada Finch",
            gold="Bert Crow",
            metadata={"time_dependency": "Unlikely"},
            actions=["goto()", "answer()"],
            pages=["a", "The mayor is Ada Finch."],
        ),
        1,
        "out of date",
    ),
    ("no_answer", Told(stop_reason="gave_up"), 0, "gave_up"),
    ("no_answer", Told("I could not find it.", gold="Ada Finch"), 0, "I could not"),
    ("no_answer", Told("NaN"), 0, "NaN"),
    ("partial_list", Told('["a b"]', gold="a b\nc d\ne f"), 0, "1 of 3 items"),
    ("near_miss", Told("14.3"), 0, "0.7% off"),
    ("near_miss", Told("Finch", gold="Ada Finch"), 0, "67% of the tokens"),
    ("wrong_answer", Told("Carl Wren", gold="Ada Finch"), 0, "differs from the reference"),
]


@pytest.mark.parametrize(("cause", "told", "step", "words"), CASES)
def test_the_cause_is_named_with_the_step_that_shows_it(
    tmp_path: Path, cause: Cause, told: Told, step: int, words: str
) -> None:
    (finding,) = diagnose(write_told(tmp_path, told)).findings
    assert finding.cause == cause
    assert finding.evidence[0].step == step
    assert words in finding.evidence[0].text
    assert finding.links()[0].endswith(f".jsonl:{step + 1}")


def test_every_cause_has_a_rule_a_docstring_and_a_suggestion() -> None:
    assert [*RULES, "wrong_answer"] == list(SUGGESTIONS)
    assert all(rule.__doc__ for rule in RULES.values())


def test_an_answer_that_came_late_is_a_matter_of_the_budget(tmp_path: Path) -> None:
    told = Told("9", actions=["a()", "b()", 'answer("9")'])
    run = write_told(tmp_path, told, config=config(steps=5, answer_margin=2))
    assert diagnose(run).findings[0].cause == "step_budget"


@pytest.mark.parametrize(
    ("answer", "gold", "form"),
    [
        ("$850,000", "850000", "bare number"),
        ("$850k", "850000", "bare number"),
        ("1.01M", "1010000", "bare number"),
        ("about 14.2 percent", "14.2", "bare number"),
        ("```\n14.2\n```", "14.2", "unfenced"),
        ("The answer is **Shanghai Villa** (123 Main St).", "Shanghai villa", ""),
        ("McDonald’s", "McDonald's", "quotes"),
        ("- a b\n- c d", "a b\nc d", "list"),
        ("a b, c d and e f", "a b\nc d\ne f", "list"),
        ("['a b', 'c d']", "a b\nc d", "list"),
        ('Sure: ["a b", "c d"].', "a b\nc d", "list"),
        ("{'k': 1}", '{"k": 1}', "objects"),
        ('Here:\n```json\n{"k": 1}\n```', '{"k": 1}', "objects"),
    ],
)
def test_the_reward_of_another_form_is_beside_the_reward(
    tmp_path: Path, answer: str, gold: str, form: str
) -> None:
    found = diagnose(write_told(tmp_path, Told(answer, gold=gold)))
    (finding,) = found.findings
    assert finding.cause == "format_rejection"
    assert finding.recovery is not None
    assert finding.recovery.reward == pytest.approx(1.0)
    assert form in finding.recovery.form or finding.recovery.form == "unfenced"
    assert finding.reward == found.mean != 1.0
    assert found.recoverable_mean == pytest.approx(1.0)
    assert finding.returns == pytest.approx(1.0 - (finding.reward or 0.0))


@pytest.mark.parametrize(
    "answer",
    [
        "NaN",
        "\x00\x1b[2J",
        "\ud800",
        "[" * 5_000,
        "9" * 5_000,
        "{" * 3_000 + "}" * 3_000,
        "a " * 9_999,
        "1,2,3," * 3_000,
        " and ".join(map(str, range(2_000))),
    ],
    ids=repr,
)
def test_hostile_answers_are_diagnosed_like_any_other(tmp_path: Path, answer: str) -> None:
    found = diagnose(write_told(tmp_path, Told(answer, gold="Ada Finch")))
    assert found.findings[0].cause in SUGGESTIONS
    json.dumps(found.to_record())


@pytest.mark.parametrize(
    "text", ["[, chars omitted", f"…{'9' * 5_000} chars truncated", "[12,3 characters not shown"]
)
def test_a_page_that_claims_to_be_cut_cannot_break_the_diagnosis(text: str) -> None:
    message = Message(role="user", content=text)
    episode = Episode(
        attempt="a.r0.a1", task=Task(id="a"), trajectory=Trajectory(messages=(message,))
    )
    cuts = AttemptTrace(episode, lambda _: "").cuts
    assert [cut.chars for cut in cuts] == ([123] if "12,3" in text else [])


def test_a_thought_without_end_is_searched_in_one_pass() -> None:
    # Read once it takes milliseconds; tried from each letter on, it would take an hour.
    step = Step(index=1, action="x", think="x" * 3_000_000)
    episode = Episode(attempt="a.r0.a1", task=Task(id="a"), trajectory=Trajectory(steps=(step,)))
    assert AttemptTrace(episode, lambda _: "").blocks == ()
    told = step.model_copy(update={"think": "evil.example does not work here and was not opened"})
    episode = Episode(attempt="a.r0.a1", task=Task(id="a"), trajectory=Trajectory(steps=(told,)))
    assert "evil.example" in AttemptTrace(episode, lambda _: "").blocks[0].text


def test_the_summary_ranks_causes_by_what_they_could_return(tmp_path: Path) -> None:
    run = write_run(tmp_path, "run-1", {"a": 0.0, "b": 0.6, "c": 1.0, "d": None})
    found = diagnose(run)
    assert (found.n, found.scored) == (4, 3)
    assert found.mean == pytest.approx(1.6 / 3)
    # Whatever the record says of them, the right answer was submitted to a gold of 14.2.
    assert [(row.cause, row.attempts, row.unscored) for row in found.causes] == [
        ("near_miss", 2, 0),
        ("scorer_error", 1, 1),
    ]
    assert found.causes[0].lost == pytest.approx(1.4 / 3)


def test_a_task_can_be_chosen_and_an_unknown_one_is_an_error(tmp_path: Path) -> None:
    run = write_run(tmp_path, "run-1", {"a": 0.0, "b": 0.0})
    assert [finding.task_id for finding in diagnose(run, task="a").findings] == ["a"]
    with pytest.raises(UnknownName, match="no attempt at a task 'z'"):
        diagnose(run, task="z")


def test_empty_and_all_abstained_runs_say_so(tmp_path: Path) -> None:
    assert diagnose(write_run(tmp_path, "run-1", {})).notes == ("the run has no finished attempt",)
    notes = diagnose(write_run(tmp_path, "run-2", {"a": None})).notes
    assert "no attempt has a reward" in notes[0]


def test_lost_steps_and_artifacts_leave_the_answer_to_judge_by(tmp_path: Path) -> None:
    run = write_told(tmp_path, Told("14.3", actions=["a()"], pages=["x", "y"]))
    for path in (run.path / "steps").iterdir():
        path.unlink()
    assert diagnose(run.path).findings[0].cause == "near_miss"


def test_a_damaged_line_is_left_out_and_noted(tmp_path: Path) -> None:
    run = write_run(tmp_path, "run-1", {"a": 0.0, "b": 0.0})
    path = run.path / "episodes.jsonl"
    path.write_bytes(b"{}\n" + path.read_bytes()[:-30])
    found = diagnose(run.path)
    assert [finding.task_id for finding in found.findings] == ["a"]
    assert "line 1" in found.notes[0]


def test_items_are_aligned_one_by_one(tmp_path: Path) -> None:
    told = Told('["c d", "x y"]', gold="a b\nc d")
    (finding,) = diagnose(write_told(tmp_path, told)).findings
    assert [(row.gold, row.answer) for row in finding.aligned] == [
        ("a b", None),
        ("c d", "c d"),
        (None, "x y"),
    ]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("planted")
    with tarfile.open(PLANTED) as archive:
        archive.extractall(folder, filter="data")
    return [Run(path) for path in list_runs(folder)]


def test_in_every_real_run_with_a_planted_cause_that_cause_is_the_first(
    planted: list[Run],
) -> None:
    causes = {plant.name: plant.cause for plant in PLANTS}
    assert {run.manifest.focus for run in planted} == set(causes)
    right: dict[str, list[bool]] = {}
    for run in planted:
        cause: Any = causes[run.manifest.focus]
        found = diagnose(run)
        assert max(found.causes, key=lambda row: row.attempts).cause == cause, run.manifest.focus
        right[run.manifest.focus] = [finding.cause == cause for finding in found.findings]
    attempts = [hit for hits in right.values() for hit in hits]
    assert sum(attempts) / len(attempts) >= 0.9
