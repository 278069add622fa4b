"""How an episode can end, and what is kept of it whoever breaks it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.agents.protocol import Action, EpisodeLimits
from assay.errors import MissingExtra
from assay.ledger.writer import RunWriter
from assay.resources.pool import Pools
from assay.resources.spec import ResourceSpec
from assay.runner.limits import RunLimits
from assay.runner.plan import PlannedAttempt
from assay.runner.recorder import RunResources
from assay.runner.rollout import rollout
from assay.schema.episode import Episode
from assay.schema.manifest import RunManifest
from assay.schema.observation import Observation
from assay.schema.score import Abstained
from assay.schema.task import Task
from assay.schema.usage import Usage
from assay.scoring.scorer import Scorer
from tests.runner.corridor import Corridor

QUICK = RunLimits(steps=4, step_s=0.05, episode_s=10, reset_s=0.05, attempts=1)
PATIENT = RunLimits(steps=4)


class Doing:
    """An agent whose every turn is the function's."""

    name = "doing"

    def __init__(self, act: Callable[[int], Any]) -> None:
        self._act = act
        self.closed = False

    async def start(self, task: Task, *, limits: EpisodeLimits) -> None:
        pass

    async def act(self, observation: Observation, *, step: int) -> Action:
        result = self._act(step)
        if asyncio.iscoroutine(result):
            result = await result
        return result  # type: ignore[no-any-return]  # tests return nonsense on purpose

    async def close(self) -> None:
        self.closed = True


def play(
    folder: Path,
    agent: Any,
    *,
    limits: RunLimits = PATIENT,
    rewards: tuple[str, ...] = ("environment_reward", "qa_f1_reward"),
    **metadata: Any,
) -> Episode:
    planned_attempt = PlannedAttempt(Task(id=folder.name, answer="yes", metadata=metadata), 0)

    async def main() -> Episode:
        manifest = RunManifest(run_id="run", benchmark="corridor", agent="doing")
        with RunWriter.create(folder, manifest) as writer:
            async with Pools() as pools:
                resources = RunResources(
                    environment=ResourceSpec("corridor"),
                    limits=limits,
                    scorers=tuple(Scorer(name) for name in rewards),
                    new_agent=lambda base_url: agent,
                    pools=pools,
                    writer=writer,
                )
                attempt = writer.new_attempt(planned_attempt.task)
                episode = await rollout(attempt, planned_attempt, resources)
                await writer.finish(episode)
                return episode

    return asyncio.run(main())


def north(step: int) -> Action:
    return Action("north", think=f"step {step}", usage=Usage(10, 1, calls=1))


def answer_on_second(step: int) -> Action:
    return north(step) if step == 1 else Action('answer("yes")', answer="yes", usage=Usage(5, 1))


def explode(step: int) -> Action:
    raise ValueError("kaboom")


def hang(step: int) -> Any:
    return asyncio.Event().wait()


def leave(step: int) -> Action:
    sys.exit(3)


async def cancel_itself() -> Action:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("act", "metadata", "limits", "ending"),
    [
        (answer_on_second, {}, PATIENT, "answered"),
        (north, {}, PATIENT, "finished"),  # the corridor ends after three steps
        (lambda step: Action("south"), {}, PATIENT, "step_limit"),
        (lambda step: Action("", gave_up=True), {}, PATIENT, "gave_up"),
        (explode, {}, PATIENT, "agent_error"),
        (leave, {}, PATIENT, "agent_error"),  # an agent's exit is its own, not the run's
        (lambda step: cancel_itself(), {}, PATIENT, "agent_error"),
        (lambda step: None, {}, PATIENT, "agent_error"),
        (lambda step: Action(7), {}, PATIENT, "agent_error"),  # type: ignore[arg-type]
        (lambda step: Action("x", messages=({"no": "role"},)), {}, PATIENT, "agent_error"),
        (hang, {}, QUICK, "timeout"),
        (hang, {}, RunLimits(episode_s=0.05), "timeout"),
        (north, {"hangs": "step"}, QUICK, "env_error"),  # the agent could do nothing about it
        (north, {"hangs": "step"}, RunLimits(episode_s=0.05), "timeout"),
        (north, {"hangs": "reset"}, QUICK, "env_error"),
        (north, {"dies": 9}, PATIENT, "env_error"),
    ],
)
def test_every_way_to_end_has_its_name(
    tmp_path: Path,
    act: Callable[[int], Any],
    metadata: dict[str, Any],
    limits: RunLimits,
    ending: str,
) -> None:
    episode = play(tmp_path, Doing(act), limits=limits, **metadata)
    assert episode.stop_reason == ending
    failed = ending in ("agent_error", "env_error")
    assert (episode.failure is not None) == failed
    assert len(episode.scores) == 2


def test_an_agents_crash_keeps_its_traceback_and_is_judged(tmp_path: Path) -> None:
    episode = play(tmp_path, Doing(lambda step: north(step) if step < 2 else explode(step)))
    assert episode.failure is not None
    assert episode.failure.message == "ValueError: kaboom"
    assert "in explode" in episode.failure.traceback
    assert [step.action for step in episode.trajectory.steps] == ["", "north"]
    assert [score["reward"] for score in episode.scores] == [0.0, 0.0]


def test_a_dead_world_is_nobodys_zero(tmp_path: Path) -> None:
    episode = play(tmp_path, Doing(north), dies=1)
    assert [score["abstained"] for score in episode.scores if score.abstained] == ["env_error"] * 2
    last = episode.trajectory.steps[-1]
    assert (last.action, last.error) == ("north", "DeadResource: the corridor collapsed")


def test_a_reward_that_breaks_abstains_and_the_others_judge(tmp_path: Path) -> None:
    import assay

    @assay.reward(name="broken_in_rollout", register=False)
    def broken(final_response: str) -> float:
        raise RuntimeError("no")

    episode = play(tmp_path, Doing(answer_on_second), rewards=(broken, "qa_f1_reward"))  # type: ignore[arg-type]
    first, second = episode.scores
    assert isinstance(first, Abstained)
    assert first.reason == "grader_error"
    assert float(second) == 1.0
    assert episode.stop_reason == "answered"


def test_a_reward_that_takes_for_ever_abstains(tmp_path: Path) -> None:
    import assay

    @assay.reward(name="slow_in_rollout", register=False)
    async def slow(final_response: str) -> float:
        await asyncio.Event().wait()
        return 1.0

    limits = RunLimits(score_s=0.05)
    episode = play(tmp_path, Doing(answer_on_second), limits=limits, rewards=(slow,))  # type: ignore[arg-type]
    assert episode.scores[0]["abstained"] == "grader_timeout"


def test_a_missing_dependency_ends_the_run_and_not_the_episode(tmp_path: Path) -> None:
    def ask(step: int) -> Action:
        raise MissingExtra("no Chromium was found")

    with pytest.raises(MissingExtra, match="no Chromium"):
        play(tmp_path, Doing(ask))


def test_steps_keep_what_was_said_thought_seen_and_paid(tmp_path: Path) -> None:
    agent = Doing(answer_on_second)
    episode = play(tmp_path, agent)
    reset, walk, answer = episode.trajectory.steps
    assert (reset.index, reset.action, reset.observation_chars) == (0, "", 22)
    assert (walk.action, walk.think, walk.reward) == ("north", "step 1", 0.0)
    assert (answer.action, answer.observation) == ('answer("yes")', "")
    assert episode.n_steps == 2
    assert (episode.usage.prompt_tokens, episode.usage.calls) == (15, 1)
    assert episode.final_response == "yes"
    assert agent.closed


def test_the_tokens_of_giving_up_are_counted_without_a_step(tmp_path: Path) -> None:
    def give_up(step: int) -> Action:
        return Action("", gave_up=True, usage=Usage(7, 1, calls=1))

    episode = play(tmp_path, Doing(give_up))
    assert (episode.n_steps, episode.usage.prompt_tokens) == (0, 7)


def test_an_agent_that_cannot_be_closed_does_not_lose_its_answer(tmp_path: Path) -> None:
    class Stuck(Doing):
        async def close(self) -> None:
            raise OSError("still open")

    episode = play(tmp_path, Stuck(answer_on_second))
    assert (episode.stop_reason, episode.final_response) == ("answered", "yes")
    assert episode.metadata == {"error_after_the_end": "OSError: still open"}


def test_a_world_that_was_interrupted_is_not_used_again(tmp_path: Path) -> None:
    closed: list[Corridor] = []

    class Watched(Corridor):
        async def close(self) -> None:
            closed.append(self)
            await super().close()

    from assay.registry import ENVIRONMENTS

    ENVIRONMENTS.add("corridor", Watched, version=2)
    try:
        play(tmp_path, Doing(hang), limits=QUICK)
        assert len(closed) >= 1
    finally:
        ENVIRONMENTS._objects["corridor"].pop(2)
