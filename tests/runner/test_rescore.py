"""A recorded run scored again: nothing is executed, and the same reward says the same."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay.ledger.run import Run
from assay.runner.rescore import rescore
from assay.schema.score import score_to_record
from assay.scoring.scorer import Scorer
from tests.runner.corridor import BENCHMARK, Corridor


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "corridor.toml"
    path.write_text(BENCHMARK)
    Corridor.deaths.clear()
    settings = {
        "actions": {"a": ["north"] * 3, "b": ["x", 'answer("b")'], "*": ["north"]},
        "tasks.dies": 1,
    }
    return assay.run(path, agent="scripted", settings=settings, runs_dir=tmp_path / "runs")


def test_the_same_rewards_give_the_same_scores_byte_for_byte(recorded: Run) -> None:
    child = rescore(recorded, [Scorer("environment_reward"), Scorer("qa_f1_reward")])
    assert child.manifest.parent == recorded.id
    assert child.manifest.task_set == recorded.manifest.task_set
    for one, other in zip(recorded.episodes(full=True), child.episodes(full=True), strict=True):
        assert list(map(score_to_record, other.scores)) == list(map(score_to_record, one.scores))
        assert other == one


@pytest.mark.parametrize("environment", ["webshop", "alfworld"])
def test_a_world_is_judged_from_its_recorded_testimony_as_it_was_alive(
    environment: str, tmp_path: Path
) -> None:
    actions = {
        "webshop": ["search[red shoes]", "click[b09qpx97vw]", "click[buy now]"],
        "alfworld": ["look", "go to desk 1", 'answer("done")'],
    }[environment]
    tasks = {"webshop": "0,1,8", "alfworld": "look_at_obj*222917*"}[environment]
    run = assay.run(
        environment, agent="scripted", settings={"actions": actions}, tasks=tasks, runs_dir=tmp_path
    )
    child = rescore(run, [Scorer(name.partition("@")[0]) for name in run.manifest.rewards])
    for one, other in zip(run.final(), child.final(), strict=True):
        assert not one.scores[0].abstained
        assert list(map(score_to_record, other.scores)) == list(map(score_to_record, one.scores))


def test_another_reward_judges_the_recorded_answers(recorded: Run) -> None:
    child = rescore(recorded, [Scorer("fuzzy_answer_reward")], focus="a kinder reward")
    scores = {episode.task.id: episode.scores for episode in child.final()}
    assert {task: len(given) for task, given in scores.items()} == {"a": 1, "b": 1, "c": 1}
    assert float(scores["b"][0]) == 1.0
    assert child.manifest.rewards == ("fuzzy_answer_reward@1",)
    assert child.manifest.focus == "a kinder reward"


def test_attempts_that_the_world_ended_stay_unjudged(recorded: Run) -> None:
    child = rescore(recorded, [Scorer("qa_f1_reward")])
    ended = [episode for episode in child.episodes() if episode.stop_reason == "env_error"]
    assert len(ended) == 3
    assert {episode.scores[0]["abstained"] for episode in ended} == {"env_error"}


def test_the_childs_steps_and_texts_can_be_read(recorded: Run) -> None:
    child = rescore(recorded, [Scorer("qa_f1_reward")])
    episode = next(child.episodes(full=True))
    assert child.text(episode.trajectory.steps[0].observation) == "You are in a corridor."


def test_the_recorded_run_is_left_as_it_was(recorded: Run) -> None:
    before = {path: path.read_bytes() for path in recorded.path.rglob("*") if path.is_file()}
    rescore(recorded, [Scorer("qa_f1_reward")])
    assert {path: path.read_bytes() for path in before} == before
