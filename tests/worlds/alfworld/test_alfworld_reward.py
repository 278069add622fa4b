"""The reward of ALFWorld: what it pays, live and recorded."""

from __future__ import annotations

import asyncio

import pytest

from assay.errors import DeadResource, NotReset, ResourceError
from assay.resources.context import Context
from assay.schema.episode import Episode, Step, Trajectory
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.scoring.scorer import score_async
from assay.worlds.alfworld.environment import AlfWorld
from tests.worlds.recordings import recorded, score_of


@pytest.mark.parametrize(("won", "value"), [(True, 1.0), (False, 0.0), (None, 0.0)])
def test_alfworld_pays_for_winning(won: bool | None, value: float) -> None:
    evidence = WorldEvidence("alfworld", "7", score=value, done=bool(won), won=won)
    result = score_of("alfworld_episode_reward", recorded(evidence))
    assert dict(result) == {"reward": value, "won": value, "done": value}


class Foreign:
    """A context of another framework: it has nothing but acquire_resource."""

    def __init__(self, evidence: WorldEvidence | ResourceError) -> None:
        self._evidence = evidence

    async def acquire_resource(self, spec: str) -> Foreign:
        return self

    def evidence(self) -> WorldEvidence:
        if isinstance(self._evidence, ResourceError):
            raise self._evidence
        return self._evidence

    async def step(self, action: str) -> Observation:
        raise AssertionError("a reward steps nothing")


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (WorldEvidence("alfworld", "7", 1.0, done=True, won=True), 1.0),
        (NotReset("no episode"), "not_reset"),
        (DeadResource("gone"), "env_error"),
    ],
)
def test_a_context_with_only_acquire_resource_is_read_too(
    evidence: WorldEvidence | ResourceError, expected: float | str
) -> None:
    async def main() -> None:
        result = await score_async("alfworld_episode_reward", context=_Only(Foreign(evidence)))
        assert (result["abstained"] if result.abstained else result["reward"]) == expected

    class _Only:
        def __init__(self, environment: Foreign) -> None:
            self.acquire_resource = environment.acquire_resource

    asyncio.run(main())


def test_a_played_episode_and_its_recording_score_alike() -> None:
    async def main() -> None:
        task = AlfWorld().tasks()[0]
        steps: list[Step] = []
        async with Context.open(task=task) as context:
            environment = await context.acquire_resource("alfworld")
            await environment.reset(task)
            for number, action in enumerate(("look", "inventory", "fly")):
                seen = await environment.step(action)
                steps.append(Step(index=number, action=action, evidence=seen.evidence))
            live = await score_async("alfworld_episode_reward", context=context)
            before = environment.evidence()
            await score_async("alfworld_episode_reward", context=context)
            assert environment.evidence() == before
        episode = Episode(task=task, trajectory=Trajectory(steps=tuple(steps)))
        context = Context.recorded(Episode.model_validate_json(episode.model_dump_json()))
        assert await score_async("alfworld_episode_reward", context=context) == live

    asyncio.run(main())
