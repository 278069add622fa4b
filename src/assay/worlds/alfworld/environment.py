"""ALFWorld as an environment: an episode ends when the goal of its game is reached."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from assay.errors import BadParameter, DeadResource, NotReset
from assay.resources.pool import PoolLimits
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task
from assay.schema.tools import action_tool
from assay.worlds.alfworld.game import AlfWorldGame
from assay.worlds.alfworld.tasks import GameLoader

HOUSEHOLD_ACTIONS = (
    action_tool(
        "Carry out one command in the household and see what happens.",
        "one command, for example 'go to desk 1' or 'take mug 2 from desk 1'",
    ),
)
"""The actions as a model's native calls take them."""


@dataclass(slots=True)
class _Episode:
    task_id: str
    game: AlfWorldGame
    step_limit: int | None
    last: Observation = field(default_factory=lambda: Observation(""))
    steps: int = 0


class AlfWorld:
    """A household described in text, in which an agent finds, heats, cleans and moves objects.

    `folder` is an official data folder, by default that of the variable ALFWORLD_DATA; two splits
    need none. The episode ends at the goal, or after `step_limit` steps.
    """

    name: str = "alfworld"
    limits: ClassVar[PoolLimits] = PoolLimits(cap=1024)

    def __init__(self, folder: str | Path | None = None, *, step_limit: int | None = None) -> None:
        if step_limit is not None and (type(step_limit) is not int or step_limit < 1):
            raise BadParameter(
                f"step_limit of ALFWorld must be a whole number >= 1, or None, not {step_limit!r}"
            )
        self._step_limit = step_limit
        self._library = GameLoader(folder)
        self._episode: _Episode | None = None
        self._closed = False

    def tasks(self, split: str = "valid_unseen") -> list[Task]:
        """Return the tasks of a split, such as `valid_seen` or `valid_unseen`."""
        return self._library.tasks(split)

    async def reset(self, task: Task) -> Observation:
        """Start the game of the task's id; raise BadParameter if there is no such game."""
        if self._closed:
            raise DeadResource("this ALFWorld environment was closed; open another environment")
        self._episode = None
        game = AlfWorldGame(self._library.house(task.id))
        episode = _Episode(task.id, game, self._step_limit)
        episode.last = _observe(episode, game.opening)
        self._episode = episode
        return episode.last

    async def step(self, action: str) -> Observation:
        """Carry out an action; after the end of the episode actions have no effect.

        The end is frozen, as in the reference's batch environment: each further step returns the
        last observation again, its reward included.
        """
        episode = self._current()
        if not episode.last.done:
            episode.steps += 1
            episode.last = _observe(episode, episode.game.step(action).feedback)
        return episode.last

    def evidence(self) -> WorldEvidence:
        evidence = self._current().last.evidence
        assert isinstance(evidence, WorldEvidence)
        return evidence

    def admissible_commands(self) -> list[str]:
        """Return the commands that are possible now, in alphabetical order."""
        return self._current().game.admissible_commands

    def objective(self) -> str:
        """The goal in words."""
        return self._current().game.house.task

    def forget(self) -> None:
        self._episode = None

    def alive(self) -> bool:
        return not self._closed

    async def close(self) -> None:
        self._closed = True
        self._episode = None

    def _current(self) -> _Episode:
        if self._closed:
            raise DeadResource("this ALFWorld environment was closed; open another environment")
        if self._episode is None:
            raise NotReset("this ALFWorld has no episode; call `await world.reset(task)` first")
        return self._episode


def _observe(episode: _Episode, text: str) -> Observation:
    won = episode.game.won
    done = won or (episode.step_limit is not None and episode.steps >= episode.step_limit)
    met, total = episode.game.goal_conditions()
    evidence = WorldEvidence(
        world=AlfWorld.name,
        task_id=episode.task_id,
        score=float(won),
        done=done,
        won=won,
        progress={
            "goal_conditions": met / total if total else float(won),
            "goal_conditions_met": met,
            "goal_conditions_total": total,
            "steps": episode.steps,
        },
    )
    return Observation(
        text,
        evidence=evidence,
        reward=float(won),
        raw_reward=float(won),
        done=done,
        actions=HOUSEHOLD_ACTIONS,
    )
