"""A benchmark run by an agent: planned, executed, kept, and the same every time."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.agents.protocol import Action
from assay.agents.scripted import ScriptedAgent
from assay.errors import BadParameter, MissingExtra, UnknownName
from assay.ledger.run import Run
from assay.ledger.summary import summarise
from assay.resources.pool import PoolLimits
from assay.runner.agents import choose_agent
from assay.runner.benchmark import find_benchmark
from assay.runner.cluster_actor import RemoteRecorder
from assay.runner.plan import make_plan
from assay.runner.progress import RunProgress
from assay.runner.run import open_run_resources
from assay.schema.observation import Observation
from assay.schema.score import score_to_record
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


def test_room_for_every_worker_leaves_the_environments_other_limits_alone(
    corridor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = PoolLimits(cap=2, idle_limit_s=1.0, acquire_timeout_s=2.0, close_timeout_s=3.0)
    monkeypatch.setattr(Corridor, "limits", own, raising=False)
    plan = make_plan(find_benchmark(corridor), choose_agent("scripted", WALK))

    async def limits_of(workers: int) -> PoolLimits:
        writer = RemoteRecorder()
        async with open_run_resources(plan, writer, workers, {}) as resources:
            return resources.pools.pool(resources.environment).limits

    assert asyncio.run(limits_of(2)) == own
    assert asyncio.run(limits_of(5)) == dataclasses.replace(own, cap=5)


def run(corridor: Path, agent: Any = "scripted", **arguments: Any) -> Run:
    arguments.setdefault("settings", WALK)
    return assay.run(corridor, agent=agent, runs_dir=corridor.parent / "runs", **arguments)


def test_every_task_and_repeat_is_in_the_ledger_with_its_scores(corridor: Path) -> None:
    done = run(corridor, repeats=2, workers=3, focus="three steps are enough")
    summary = summarise(done)
    assert (summary.counts.n, summary.counts.mean, summary.endings) == (6, 1.0, {"finished": 6})
    assert done.manifest.rewards == ("environment_reward@1", "qa_f1_reward@1")
    assert done.manifest.focus == "three steps are enough"
    assert (done.manifest.n_tasks, done.manifest.repeats) == (3, 2)
    episode = next(done.episodes(full=True))
    assert episode.scores[0].parts == {"raw_reward": None, "last_reward": 1.0, "paid_steps": 4.0}
    assert done.text(episode.trajectory.steps[0].observation) == "You are in a corridor."


def test_the_focus_is_on_the_disk_before_anything_runs(corridor: Path) -> None:
    seen: list[str] = []

    class Reader(ScriptedAgent):
        async def act(self, observation: Observation, *, step: int) -> Action:
            (manifest,) = (corridor.parent / "runs").glob("*/manifest.json")
            seen.append(manifest.read_text())
            return await super().act(observation, step=step)

    run(corridor, Reader, focus="to see it", tasks="a", expect={"up": ["a"]})
    assert all('"to see it"' in text for text in seen)
    assert len(seen) == 3


def test_a_world_that_dies_is_tried_again_and_every_try_stays(corridor: Path) -> None:
    done = run(corridor, settings={**WALK, "tasks.names": ["x", "y"], "tasks.dies": 1})
    attempts = [(episode.attempt[-2:], episode.stop_reason) for episode in done.episodes()]
    assert sorted(attempts) == [("a1", "env_error")] * 2 + [("a2", "finished")] * 2
    assert summarise(done).counts.mean == 1.0
    assert summarise(done).retried == 2


def test_a_world_that_keeps_dying_is_given_up_and_left_out_of_the_mean(corridor: Path) -> None:
    settings = {**WALK, "tasks.names": ["x"], "tasks.dies": 99, "limits.attempts": 2}
    summary = summarise(run(corridor, settings=settings))
    assert summary.attempts == 2
    assert (summary.counts.mean, summary.counts.env_errors) == (None, 1)


def test_an_agent_that_crashes_everywhere_does_not_end_the_run(corridor: Path) -> None:
    summary = summarise(run(corridor, settings={"actions": {"nobody": []}}))
    assert summary.endings == {"agent_error": 3}
    assert summary.counts.mean == 0.0


def test_what_is_missing_on_the_machine_is_said_once(corridor: Path) -> None:
    class Needy(ScriptedAgent):
        async def act(self, observation: Observation, *, step: int) -> Action:
            raise MissingExtra("install it first")

    with pytest.raises(MissingExtra, match="install it first"):
        run(corridor, Needy)


def test_progress_counts_to_the_end(corridor: Path) -> None:
    reports: list[RunProgress] = []
    run(corridor, progress=reports.append)
    assert [progress.done for progress in reports] == [0, 1, 2, 3]
    assert (reports[0].mean, reports[0].left_s) == (None, None)
    assert (reports[-1].mean, reports[-1].left_s, reports[-1].errors) == (1.0, 0.0, 0)


def test_a_run_can_be_started_where_an_event_loop_runs(corridor: Path) -> None:
    async def notebook() -> Run:
        return run(corridor)

    assert summarise(asyncio.run(notebook())).counts.n == 3


def test_two_runs_give_the_same_answers_and_scores_byte_for_byte(tmp_path: Path) -> None:
    settings = {"actions": ["go to desk 1", "examine desk 1", 'answer("red \\u00e9")']}
    tasks = "look_at_obj_in_light-Book*"
    both = [
        assay.run(
            "alfworld",
            agent="scripted",
            settings=settings,
            tasks=tasks,
            workers=workers,
            runs_dir=tmp_path / str(workers),
        )
        for workers in (1, 3)
    ]
    first, second = ({episode.task.id: episode for episode in done.final()} for done in both)
    assert first.keys() == second.keys()
    for task, episode in first.items():
        again = second[task]
        assert episode.final_response == again.final_response
        assert episode.scores == again.scores
        assert list(map(score_to_record, episode.scores)) == list(
            map(score_to_record, again.scores)
        )
    assert both[0].manifest.task_set == both[1].manifest.task_set


def test_a_recorded_run_is_re_enacted_by_the_replay_agent(corridor: Path) -> None:
    first = run(corridor, settings={"actions": ["north", "south", 'answer("b")']})
    again = run(corridor, "replay", settings={"episodes": first.id})
    for one, other in zip(first.final(full=True), again.final(full=True), strict=True):
        assert other.scores == one.scores
        assert [step.action for step in other.trajectory.steps] == [
            step.action for step in one.trajectory.steps
        ]
        assert other.trajectory.steps[1].think == "as recorded"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"agent": "scriptd"}, "did you mean 'scripted'"),
        ({"agent": None}, "the agent is missing"),
        ({"workers": 0}, "workers is 0"),
        ({"repeats": 0}, "repeats is 0"),
        ({"tasks": "nothing"}, "no task 'nothing'"),
        ({"settings": {"actions": "north"}}, "a list of action texts"),  # the agent's own check
        ({"settings": {"limits.stepz": 1}}, r"\[limits\] there is no key 'stepz'"),
    ],
)
def test_a_call_that_makes_no_sense_leaves_no_run_behind(
    corridor: Path, arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises((BadParameter, UnknownName), match=words):
        run(corridor, **{"agent": "scripted", **arguments})
    assert list((corridor.parent / "runs").glob("*/episodes.jsonl")) == []


@pytest.mark.parametrize(
    "answer",
    [
        "\x1b[2J\x00\r\n\u202e",  # would drive a terminal
        "\ud800 alone",  # has no UTF-8 form
        "x" * 10_000_000,
        "",
    ],
    ids=["control", "surrogate", "long", "empty"],
)
def test_whatever_an_agent_answers_is_kept_verbatim_and_judged(corridor: Path, answer: str) -> None:
    class Shouting(ScriptedAgent):
        async def act(self, observation: Observation, *, step: int) -> Action:
            return Action("answer", answer=answer, think=answer[:1000])

    done = run(corridor, Shouting, settings={}, tasks="b")
    (episode,) = done.final(full=True)
    assert episode.final_response == answer
    ending = "answered" if answer else "gave_up"
    assert (episode.stop_reason, float(episode.scores[1])) == (ending, 0.0)
