"""A tiny environment for the tests: walk `north` so many times; a task can make it misbehave."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

from assay.errors import DeadResource, NotReset
from assay.registry import ENVIRONMENTS, TASKS
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task


class Corridor:
    """`length` steps north are the end. `dies` (how often) and `hangs` are in the task."""

    name = "corridor"
    deaths: ClassVar[Counter[str]] = Counter()
    """How often each task has killed its environment; tests use a task id once."""

    def __init__(self, *, length: int = 3) -> None:
        self._length = length
        self._task: Task | None = None
        self._walked = 0
        self._closed = False

    async def reset(self, task: Task) -> Observation:
        if task.metadata.get("hangs") == "reset":
            await asyncio.Event().wait()
        self._task, self._walked = task, 0
        return self._see("You are in a corridor.")

    async def step(self, action: str) -> Observation:
        if self._task is None:
            raise NotReset("not reset")
        metadata = self._task.metadata
        if metadata.get("hangs") == "step":
            await asyncio.Event().wait()
        if self.deaths[self._task.id] < metadata.get("dies", 0):
            self.deaths[self._task.id] += 1
            self._closed = True
            raise DeadResource("the corridor collapsed")
        self._walked += action == "north"
        return self._see(f"You hear {action!r}.")

    def _see(self, text: str) -> Observation:
        evidence = self.evidence()
        return Observation(text, evidence, reward=float(evidence.done), done=evidence.done)

    def evidence(self) -> WorldEvidence:
        if self._task is None:
            raise NotReset("not reset")
        done = self._walked >= self._length
        score = self._walked / self._length
        return WorldEvidence("corridor", self._task.id, score, done=done, won=done)

    def forget(self) -> None:
        self._task = None

    def alive(self) -> bool:
        return not self._closed

    async def close(self) -> None:
        self._closed = True


def corridor_tasks(*, names: Sequence[str] = ("a", "b", "c"), **metadata: Any) -> list[Task]:
    """One task for each name, all with the same metadata."""
    return [
        Task(id=name, goal=f"Go north, {name}.", answer=name, metadata=metadata) for name in names
    ]


ENVIRONMENTS.add("corridor", Corridor)
TASKS.add("corridor", corridor_tasks)

BENCHMARK = """
name = "corridor"
[tasks]
source = "corridor"
[environment]
name = "corridor"
[rewards]
names = ["environment_reward", "qa_f1_reward"]
[limits]
steps = 5
step_s = 5
"""
