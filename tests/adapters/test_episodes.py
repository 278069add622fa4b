"""Live episodes: what a trainer resets and steps, and the record that is left of it."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import assay
from assay.adapters.episodes import Episodes, LiveEpisode, LiveTurn, turn_rewards
from assay.errors import BadParameter, DeadResource, NotReset, UnknownName
from assay.registry import Registry
from assay.resources.context import Context
from assay.rewards import credit
from assay.schema.episode import Episode
from assay.schema.observation import Observation
from assay.schema.score import Score
from assay.schema.task import Task
from assay.worlds.alfworld.environment import AlfWorld
from assay.worlds.alfworld.tasks import GameLoader
from assay.worlds.chat.environment import Chat

HOUSEHOLD = AlfWorld().tasks()[0]
WALKTHROUGH = GameLoader().load(HOUSEHOLD.id).walkthrough
SHOPPING = ("search[B09PY89B1S organic hair serum roller]", "click[B09PY89B1S]", "click[1pcs]")


def lookup(word: str) -> str:
    """What the word is worth."""
    return {"tea": "17"}.get(word, "unknown")


SUMS = [{"id": "tea", "question": "How much is tea, and three?", "answer": "20"}]


def chat(**options: Any) -> Episodes:
    return Episodes(
        partial(Chat, tools=[lookup]), "math_equal_reward_tool", tasks=SUMS, step_limit=3, **options
    )


def household(**options: Any) -> Episodes:
    return Episodes("alfworld", "alfworld_episode_reward", **options)


def play(live: LiveEpisode, actions: Any, task: str | None = None, **options: Any) -> Episode:
    live.reset(task, **options)
    for action in actions:
        live.step(action)
    return live.finish()


def scored_again(reward: str, episode: Episode) -> Score:
    return assay.score(reward, **episode.columns(), context=Context.recorded(episode))


@pytest.mark.parametrize(
    ("episodes", "task", "actions", "outcome"),
    [
        (household(), HOUSEHOLD.id, WALKTHROUGH, 1.0),
        (household(), HOUSEHOLD.id, WALKTHROUGH[:-1], 0.0),
        (Episodes("webshop", "webshop_reward"), "3", (*SHOPPING, "click[buy now]"), 1.0),
        (Episodes("webshop", "webshop_reward"), "3", SHOPPING, 0.0),
        (chat(), "tea", ('lookup({"word": "tea"})', r"so \boxed{20}"), 1.0),
        (chat(), "tea", ("20",), 0.0),
    ],
)
def test_the_outcome_is_what_assay_scores_the_record(
    episodes: Episodes, task: str, actions: Any, outcome: float
) -> None:
    with episodes:
        live = episodes.new()
        episode = play(live, actions, task)
        assert live.outcome == outcome
        assert scored_again(episodes.resources.scorers[0].spec.name, episode) == episode.scores[0]
        if episodes.spec.name != "chat":
            assert sum(turn_rewards(episode)) == outcome


def test_a_group_has_one_start_and_its_record_says_which_and_with_what_seed() -> None:
    finished: list[Episode] = []
    with household(on_episode=finished.append, step_limit=2) as episodes:
        members = [episodes.new() for _ in range(8)]
        turns = episodes.all(
            live.reset_async(HOUSEHOLD.id, seed=7, group="g", member=number)
            for number, live in enumerate(members)
        )
        assert len({turn.text for turn in turns}) == 1
        assert {live.start.text if live.start else "" for live in members} == {turns[0].text}
        for _ in range(2):
            turns = episodes.all(live.step_async("look") for live in members)
    assert {turn.stop_reason for turn in turns} == {"step_limit"}
    assert len(finished) == 8
    records = sorted(finished, key=lambda episode: episode.repeat)
    assert [episode.metadata["member"] for episode in records] == list(range(8))
    assert {(episode.metadata["group"], episode.metadata["seed"]) for episode in records} == {
        ("g", 7)
    }
    assert len({episode.trajectory.steps[0].observation for episode in records}) == 1
    assert records[0].trajectory.messages[0]["content"] == members[0].start.text  # type: ignore[union-attr]


def test_sixty_four_environments_live_in_one_process() -> None:
    with household(step_limit=3) as episodes:
        members = [episodes.new() for _ in range(64)]
        episodes.all(live.reset_async(HOUSEHOLD.id) for live in members)
        pool = episodes.resources.pools.status()
        assert [status.leased for status in pool.values()] == [64]
        for _ in range(3):
            turns = episodes.all(live.step_async("inventory") for live in members)
        assert all(turn.done for turn in turns)
        assert [status.leased for status in episodes.resources.pools.status().values()] == [0]


def test_one_thread_of_the_process_serves_them_all() -> None:
    def count() -> int:
        return sum(thread.name == "assay-episodes" for thread in threading.enumerate())

    with household() as first, household() as second:
        first.new().reset(HOUSEHOLD.id)
        second.new().reset(HOUSEHOLD.id)
        assert count() == 1


def test_an_event_loop_drives_them_too() -> None:
    async def drive() -> LiveTurn:
        live = episodes.new()
        await live.reset_async("tea")
        turn = await live.step_async("20")
        await live.close_async()
        return turn

    with chat() as episodes:
        assert asyncio.run(drive()) == LiveTurn("", done=True, stop_reason="answered")


class Fragile:
    """An environment that breaks when it is told to."""

    name = "fragile"

    def __init__(self) -> None:
        self.task = ""

    async def reset(self, task: Task) -> Observation:
        if task.id == "unknown":
            raise BadParameter("no such task")
        if task.id == "dead":
            raise DeadResource("it was dead before")
        return Observation("ready")

    async def step(self, action: str) -> Observation:
        if action == "break":
            raise DeadResource("it broke")
        if action == "hang":
            await asyncio.sleep(60)
        return Observation("done", reward=1.0, done=True)

    def evidence(self) -> Any:
        raise NotReset("nothing is recorded")

    def forget(self) -> None: ...

    def alive(self) -> bool:
        return True

    async def close(self) -> None: ...


def pay(final_response: str | None) -> float:
    return 1.0


@pytest.mark.parametrize(("task", "action"), [("dead", ""), ("well", "break"), ("well", "hang")])
def test_a_failure_of_the_environment_is_never_a_score(task: str, action: str) -> None:
    tasks = [Task(id=name) for name in ("dead", "well", "unknown")]
    with Episodes(Fragile, pay, tasks=tasks, step_s=0.05) as episodes:
        live = episodes.new()
        turn = live.reset(task)
        turn = live.step(action) if not turn.done else turn
        assert turn == LiveTurn("", done=True, stop_reason="env_error")
        assert live.outcome is None
        assert live.finish().failure is not None
        assert live.finish().scores[0]["abstained"] == "env_error"
        # The next episode has an instance that works.
        live.reset("well")
        assert live.step("go") == LiveTurn("done", 1.0, done=True, stop_reason="finished")
        assert live.outcome == 1.0


def test_a_task_that_there_is_not_is_an_error_and_no_episode() -> None:
    with Episodes(Fragile, tasks=[Task(id="unknown")]) as episodes:
        live = episodes.new()
        with pytest.raises(BadParameter, match="no such task"):
            live.reset("unknown")
        with pytest.raises(BadParameter, match="no task 'wel' among the 1 tasks"):
            live.reset("wel")
        with pytest.raises(NotReset):
            live.step("go")


def test_after_the_end_nothing_is_paid_again() -> None:
    with Episodes(Fragile, tasks=[Task(id="well")]) as episodes:
        live = episodes.new()
        live.reset()
        assert live.step("go").reward == 1.0
        assert live.step("go") == LiveTurn("done", 0.0, done=True, stop_reason="finished")
        assert turn_rewards(live.finish()) == [1.0]
        assert live.outcome is None, "no reward was asked for"


def test_a_seed_draws_the_same_task_each_time() -> None:
    tasks = [Task(id=str(number)) for number in range(100)]
    with Episodes(Fragile, tasks=tasks) as episodes:
        assert episodes.task(seed=3) == episodes.task(seed=3)
        assert len({episodes.task(seed=seed).id for seed in range(50)}) > 20
        live = episodes.new()
        live.reset(seed=3)
        episode = live.finish()
        assert (episode.task.id, episode.stop_reason) == (episodes.task(seed=3).id, "gave_up")
        assert episode.metadata["group"] == f"{episode.task.id}#3"


def test_end_tokens_are_no_part_of_an_action() -> None:
    with household() as episodes:
        live = episodes.new()
        episode = play(live, [f" {action}<|im_end|>\n" for action in WALKTHROUGH], HOUSEHOLD.id)
        assert (live.outcome, episode.n_steps) == (1.0, len(WALKTHROUGH))


def test_credit_compares_the_episodes_of_a_group() -> None:
    with household() as episodes:
        live = episodes.new()
        records = [
            play(live, WALKTHROUGH[:2], HOUSEHOLD.id, group=group) for group in ("a", "a", "b")
        ]
    turns = credit.turns_of(records, lambda _: 0.0)
    assert [row.group for row in turns] == ["a", "a", "b"]
    assert turns[0].states == turns[1].states
    assert len(set(turns[0].states)) == 2


@pytest.mark.slow
def test_a_simulator_that_is_killed_is_no_score_and_the_next_episode_has_another() -> None:
    path = ("open door to outside", "go to outside", "wait1", "focus on crocodile")
    tasks = [Task(id="lifespan-longest-lived/93")]
    with Episodes("scienceworld", "scienceworld_reward", tasks=tasks, at_once=1) as episodes:
        live = episodes.new()
        start = live.reset().text
        context = live._context
        assert context is not None
        instance: Any = episodes.wait(context.acquire_resource(episodes.spec))
        os.kill(instance.pid, signal.SIGKILL)
        assert live.step(path[0]).stop_reason == "env_error"
        assert live.finish().scores[0].abstained
        episode = play(live, path)
        assert live.start is not None
        assert live.start.text == start
        assert live.outcome == 1.0
        assert sum(turn_rewards(episode)) == pytest.approx(1.0)
        assert scored_again("scienceworld_reward", episode) == episode.scores[0]


def test_an_environment_without_a_list_and_an_unknown_one_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Silent:
        pass

    registry: Registry[Callable[..., Any]] = Registry("environment", {})
    registry.add("silent", Silent)
    monkeypatch.setattr("assay.resources.spec.ENVIRONMENTS", registry)
    with pytest.raises(BadParameter, match="'silent' has no list of tasks"):
        _ = Episodes("silent").tasks
    with pytest.raises(UnknownName, match="no environment named 'nowhere'"):
        _ = Episodes("nowhere").tasks
