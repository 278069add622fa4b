"""A world as an episode recorded it: the same testimony, and nothing that can change it."""

from __future__ import annotations

from typing import NoReturn

from assay.errors import DeadResource, NotReset, ResourceError
from assay.schema.episode import Episode
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task


class RecordedEnvironment:
    """A read-only `Environment`: it testifies as the live one did after the last recorded step."""

    def __init__(self, name: str, episode: Episode) -> None:
        self.name = name
        self._episode = episode
        self._evidence = _last_evidence(name, episode)

    def evidence(self) -> WorldEvidence:
        """The last recorded evidence of this world.

        Raises `DeadResource` for an episode that the world's failure cut short, `NotReset` when
        the episode holds no evidence of this world.
        """
        evidence = self._evidence
        if self._episode.trajectory.stop_reason == "env_error" and not (evidence and evidence.done):
            failure = self._episode.failure
            cause = failure.message if failure else "no cause was recorded"
            raise DeadResource(f"the recorded episode ended in an env_error: {cause}")
        if evidence is None:
            raise NotReset(
                f"episode of task {self._episode.task.id!r} holds no evidence of {self.name!r}"
            )
        return evidence

    async def reset(self, task: Task) -> Observation:
        self._refuse(f"reset to task {task.id!r}")

    async def step(self, action: str) -> Observation:
        self._refuse(f"take the action {action[:80]!r}")

    def forget(self) -> None:
        self._refuse("forget its episode")

    def alive(self) -> bool:
        return True

    async def close(self) -> None:
        """Nothing: a record holds nothing open."""

    def _refuse(self, wish: str) -> NoReturn:
        raise ResourceError(
            f"{self.name!r} is a recording here and cannot {wish}; open a live Context for that"
        )


def _last_evidence(name: str, episode: Episode) -> WorldEvidence | None:
    for step in reversed(episode.trajectory.steps):
        if isinstance(step.evidence, WorldEvidence) and step.evidence.world == name:
            return step.evidence
    return None
