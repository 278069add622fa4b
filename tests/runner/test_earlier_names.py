"""A renamed reward: its earlier name is read everywhere, and only the new one is written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.errors import BadParameter, BadRecord, NameCollision
from assay.ledger.index import LedgerIndex
from assay.ledger.run import Run
from assay.ledger.summary import summarise
from assay.registry import RENAMED_REWARDS, REWARDS, find_reward
from assay.report.comparison import compare
from assay.resources.context import Context
from assay.runner.benchmark import read_benchmark
from assay.runner.rescore import rescore
from assay.schema.episode import Episode, Step, Trajectory
from assay.schema.score import score_to_record
from assay.schema.task import Task
from assay.scoring.scorer import Scorer
from tests.runner.corridor import BENCHMARK, Corridor

RECORDED = Path(__file__).parents[1] / "data" / "earlier_names"
RUN_ID = "20261115-125657-24e94e"
ACTIONS = {"a": ["north"] * 3, "b": ["x", 'answer("b")'], "*": ["north"]}
NEW = ("environment_reward@1", "qa_f1_reward@1")


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the run that was recorded under the earlier name."""
    monkeypatch.chdir(tmp_path)
    Corridor.deaths.clear()
    shutil.copytree(RECORDED / RUN_ID, tmp_path / "runs" / RUN_ID)
    return tmp_path / "runs" / RUN_ID


def run_now(old: Path) -> Run:
    """The same benchmark and agent, recorded under the new name."""
    path = old.parent.parent / "corridor.toml"
    path.write_text(BENCHMARK)
    return assay.run(path, agent="scripted", settings={"actions": ACTIONS}, runs_dir=old.parent)


def scores_of(run: Run) -> list[dict[str, Any]]:
    return [score_to_record(score) for episode in run.final() for score in episode.scores]


def test_the_files_have_the_earlier_name_and_no_other(old: Path) -> None:
    text = (old / "manifest.json").read_text() + (old / "episodes.jsonl").read_text()
    assert text.count("testimony_reward") == 5
    assert "environment_reward" not in text


def test_every_earlier_name_finds_a_reward_that_is_listed_once() -> None:
    for earlier, name in RENAMED_REWARDS.items():
        assert find_reward(earlier) is find_reward(name)
        assert find_reward(f"{earlier}@1").id == f"{name}@1"
        assert earlier not in REWARDS.names()
        assert name in REWARDS.names()


def test_a_score_under_the_earlier_name_is_signed_with_the_new_one() -> None:
    steps = tuple(Step(index=n, action="go", reward=paid) for n, paid in enumerate((0.0, 0.5, 1.0)))
    trajectory = Trajectory(messages=(), steps=steps, stop_reason="finished")
    context = Context.recorded(Episode(task=Task(id="1"), trajectory=trajectory))
    scores = [
        assay.score(name, context=context)
        for name in ("testimony_reward", "testimony_reward@1", "environment_reward")
    ]
    assert [score.scorer for score in scores] == ["environment_reward@1"] * 3
    assert [float(score) for score in scores] == [1.5] * 3


def test_an_earlier_name_cannot_be_given_to_another_reward() -> None:
    with pytest.raises(NameCollision, match="the earlier name of 'environment_reward'"):
        REWARDS.add("testimony_reward", lambda: 1.0)


def test_a_recorded_run_is_read_with_the_new_name(old: Path) -> None:
    run = Run(old)
    assert run.manifest.rewards == NEW
    names = run.manifest.config["benchmark"]["rewards"]["names"]
    assert names == ["environment_reward", "qa_f1_reward"]
    assert {episode.scores[0].scorer for episode in run.episodes()} == {"environment_reward@1"}
    assert summarise(run).scorer == "environment_reward@1"
    attempts = LedgerIndex(old.parent).attempts(run_id=RUN_ID)
    assert {attempt.scorer for attempt in attempts} == {"environment_reward@1"}


def test_a_recorded_run_resumes_where_it_was_stopped(old: Path) -> None:
    lines = (old / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    (old / "episodes.jsonl").write_bytes(b"".join(lines[:2]))
    before = scores_of(Run(RECORDED / RUN_ID))
    resumed = assay.run(resume=old, runs_dir=old.parent)
    assert (old / "episodes.jsonl").read_bytes().startswith(b"".join(lines[:2]))
    assert scores_of(resumed) == before


def test_a_run_resumes_with_a_benchmark_that_has_the_new_name_in_it(old: Path) -> None:
    path = old.parent.parent / "corridor.toml"
    path.write_text(BENCHMARK)
    lines = (old / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    (old / "episodes.jsonl").write_bytes(b"".join(lines[:2]))
    resumed = assay.run(path, resume=old, runs_dir=old.parent)
    assert len(list(resumed.final())) == 3


def test_a_recorded_run_scored_again_gives_the_same_scores_under_the_new_name(old: Path) -> None:
    run = Run(old)
    child = rescore(run, [Scorer(name) for name in ("testimony_reward", "qa_f1_reward")])
    assert child.manifest.rewards == NEW
    assert "testimony_reward" not in (child.path / "episodes.jsonl").read_text()
    for one, other in zip(run.episodes(), child.episodes(), strict=True):
        assert list(map(score_to_record, other.scores)) == list(map(score_to_record, one.scores))


def test_runs_under_both_names_compare_as_the_same_reward(old: Path) -> None:
    comparison = compare(old, run_now(old))
    assert comparison.verdict != "not comparable"
    assert comparison.obstacles == ()
    assert not any("rewards" in change for change in comparison.changes)
    assert comparison.reward is not None
    assert comparison.reward.difference == 0.0


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (["testimony_reward"], "a benchmark that was written for an older version"),
        (["environment_reward"], "one that was written for this one"),
    ],
)
def test_a_benchmark_may_use_either_name(names: list[str], why: str) -> None:
    table: dict[str, Any] = {
        "name": "corridor",
        "tasks": {"source": "corridor"},
        "environment": {"name": "corridor"},
        "rewards": {"names": names, "options": {names[0]: {}}},
    }
    benchmark = read_benchmark(table, where="here", settings={})
    assert [reward.name for reward in benchmark.rewards] == ["environment_reward"], why


def test_a_benchmark_with_both_names_has_one_reward_twice() -> None:
    table: dict[str, Any] = {
        "name": "corridor",
        "tasks": {"source": "corridor"},
        "environment": {"name": "corridor"},
        "rewards": {"names": ["testimony_reward", "environment_reward"]},
    }
    with pytest.raises(BadParameter, match="a list of different rewards"):
        read_benchmark(table, where="here", settings={})


@pytest.mark.parametrize("field", ["rewards", "config"])
def test_a_malformed_manifest_is_reported_and_nothing_worse(old: Path, field: str) -> None:
    manifest = json.loads((old / "manifest.json").read_text())
    (old / "manifest.json").write_text(json.dumps({**manifest, field: 7}))
    with pytest.raises(BadRecord, match=field):
        Run(old)
