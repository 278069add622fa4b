"""Whatever stops a run, resuming it does exactly what is missing."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.agents.protocol import Action
from assay.agents.scripted import ScriptedAgent
from assay.errors import BadParameter, BadRecord
from assay.ledger.run import Run
from assay.registry import TASKS
from assay.runner.progress import RunProgress
from assay.runner.rescore import rescore
from assay.schema.observation import Observation
from assay.schema.task import Task
from assay.scoring.scorer import Scorer
from perf.kills import prove
from tests.runner.corridor import BENCHMARK, Corridor

WALK = {"actions": ["north", "north", "north"]}


@pytest.fixture
def corridor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "corridor.toml"
    path.write_text(BENCHMARK)
    return path


@pytest.fixture(autouse=True)
def mended() -> None:
    Corridor.deaths.clear()


def stop_after(n: int) -> Any:
    def tell(progress: RunProgress) -> None:
        if progress.done == n:
            signal.raise_signal(signal.SIGINT)

    return tell


def interrupted(corridor: Path, n: int = 1, **arguments: Any) -> Run:
    runs = corridor.parent / "runs"
    arguments = {"settings": WALK, "workers": 1, **arguments}
    with pytest.raises(KeyboardInterrupt):
        assay.run(corridor, agent="scripted", runs_dir=runs, progress=stop_after(n), **arguments)
    (manifest,) = runs.glob("*/manifest.json")
    return Run(manifest.parent)


def keys(run: Run) -> list[tuple[str, int]]:
    return sorted((episode.task.id, episode.repeat) for episode in run.episodes())


def test_an_interrupted_run_keeps_what_was_finished_and_does_the_rest(corridor: Path) -> None:
    run = interrupted(corridor, 2, repeats=2, workers=1)
    assert len(keys(run)) == 2
    resumed = assay.run(resume=run.path, runs_dir=run.path.parent)
    assert resumed.id == run.id
    assert keys(resumed) == [(task, repeat) for task in "abc" for repeat in (0, 1)]


def test_a_finished_run_owes_nothing(corridor: Path) -> None:
    runs = corridor.parent / "runs"
    done = assay.run(corridor, agent="scripted", settings=WALK, runs_dir=runs)
    before = (done.path / "episodes.jsonl").read_bytes()
    reports: list[RunProgress] = []
    assay.run(resume=done.id[:13], runs_dir=runs, progress=reports.append)
    assert (done.path / "episodes.jsonl").read_bytes() == before
    assert [progress.done for progress in reports] == [3]


def test_attempts_of_a_dying_world_are_counted_over_a_resume(corridor: Path) -> None:
    settings = {**WALK, "tasks.names": ["x"], "tasks.dies": 99, "limits.attempts": 3}
    runs = corridor.parent / "runs"
    done = assay.run(corridor, agent="scripted", settings=settings, runs_dir=runs)
    again = assay.run(resume=done.path, runs_dir=runs)
    assert [episode.attempt[-2:] for episode in again.episodes()] == ["a1", "a2", "a3"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"settings": {"limits.steps": 9}}, "benchmark.limits.steps was 5 and is 9 now"),
        ({"settings": {"actions": ["south"]}}, r"agent.options.actions was \['north'.*\['south'\]"),
        ({"repeats": 4}, "repeats was 1 and is 4 now"),
        ({"tasks": "a"}, "tasks was '' and is 'a' now"),
        ({"focus": "another"}, "focus was '' and is 'another' now"),
        ({"agent": "replay", "settings": {"steps": []}}, "agent.name was 'scripted'"),
        ({"settings": {"tasks.colour": "red"}}, "benchmark.tasks.colour was None and is 'red'"),
    ],
)
def test_another_configuration_is_refused_by_name(
    corridor: Path, changes: dict[str, Any], words: str
) -> None:
    run = interrupted(corridor)
    with pytest.raises(BadParameter, match=words):
        assay.run(resume=run.path, runs_dir=run.path.parent, **changes)
    assert len(keys(run)) == 1


def test_the_same_call_with_resume_is_welcome(corridor: Path) -> None:
    run = interrupted(corridor)
    resumed = assay.run(
        corridor, agent="scripted", settings=WALK, resume=run.path, runs_dir=run.path.parent
    )
    assert len(keys(resumed)) == 3


def test_a_manifest_that_names_a_default_option_can_be_resumed(corridor: Path) -> None:
    option = '[rewards.options.qa_f1_reward]\nmode = "squad2"\n[limits]'
    corridor.write_text(corridor.read_text().replace("[limits]", option))
    run = interrupted(corridor)
    path = run.path / "manifest.json"
    manifest = json.loads(path.read_text())
    options = manifest["config"]["benchmark"]["rewards"]["options"]
    assert options == {}
    options["qa_f1_reward"] = {"mode": "squad2"}
    path.write_text(json.dumps(manifest))
    assert len(keys(assay.run(resume=run.path, runs_dir=run.path.parent))) == 3


def test_tasks_with_other_contents_are_refused(
    corridor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = interrupted(corridor)
    names = TASKS.get("corridor").__globals__
    monkeypatch.setitem(names, "Task", lambda **fields: Task(**{**fields, "answer": "another"}))
    with pytest.raises(BadParameter, match="the tasks have other contents now"):
        assay.run(resume=run.path, runs_dir=run.path.parent)


def test_code_that_changed_in_between_is_noted_on_the_episodes(corridor: Path) -> None:
    run = interrupted(corridor, repository=Path(__file__).parent)
    resumed = assay.run(resume=run.path, runs_dir=run.path.parent, repository=corridor.parent)
    notes = [sorted(episode.metadata) for episode in resumed.episodes()]
    assert notes == [[], *[["resumed_at_commit", "resumed_with_dirty"]] * 2]


def test_a_run_that_was_only_scored_again_cannot_be_resumed_as_another(corridor: Path) -> None:
    run = interrupted(corridor)
    child = rescore(run, [Scorer("qa_f1_reward")])
    with pytest.raises((BadParameter, BadRecord)):
        assay.run(resume=child.path, runs_dir=run.path.parent)


def test_ctrl_c_in_the_middle_of_an_episode_leaves_its_steps(corridor: Path) -> None:
    class Impatient(ScriptedAgent):
        async def act(self, observation: Observation, *, step: int) -> Action:
            if step == 2:
                signal.raise_signal(signal.SIGINT)
                await asyncio.Event().wait()
            return await super().act(observation, step=step)

    runs = corridor.parent / "runs"
    with pytest.raises(KeyboardInterrupt):
        assay.run(corridor, agent=Impatient, settings=WALK, workers=1, runs_dir=runs)
    (manifest,) = runs.glob("*/manifest.json")
    run = Run(manifest.parent)
    (attempt,) = run.unfinished()
    assert [step.action for step in run.steps(attempt)] == ["", "north"]


def test_kills_lose_nothing_repeat_nothing_and_change_nothing(tmp_path: Path) -> None:
    outcome = prove(tmp_path, kills=2, repeats=2, seed=3, pause_ms=0)
    assert outcome.kills == 2
    assert (outcome.lost, outcome.duplicated, outcome.different) == (0, 0, 0)


def test_a_secret_option_is_not_kept_and_has_to_be_given_again(corridor: Path) -> None:
    secret = {**WALK, "model_options": {"environment": {"lab": "the key of the lab"}}}
    run = interrupted(corridor, settings=WALK)
    path = run.path / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["config"]["agent"]["options"] = secret
    path.write_text(json.dumps(manifest))
    with pytest.raises(BadParameter, match=r"option 'model_options', which is not recorded"):
        assay.run(resume=run.path, runs_dir=run.path.parent)
