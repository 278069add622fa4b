"""What a world is to the rest of Assay: seven verbs, and the record each of them leaves."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task

Scope = Literal["rollout", "global"]
"""How long an instance lives: until its rollout ends, or until its pool closes."""


class Environment(Protocol):
    """A world that one rollout at a time can hold.

    Calls come from one rollout, one after the other, but not always from one event loop: nothing
    in an instance may belong to the loop that it was first used on.
    """

    name: str
    """The registry name, for example `"alfworld"`."""

    async def reset(self, task: Task) -> Observation:
        """Bind the instance to `task`, in a complete fresh episode.

        Raises `BadParameter` for a task that the world does not have, `DeadResource` when the
        world died.
        """

    async def step(self, action: str) -> Observation:
        """Carry out one action; whatever its text is, it never makes this raise.

        Raises `NotReset` before the first reset, `DeadResource` when the world died.
        """

    def evidence(self) -> WorldEvidence:
        """What the world says of the episode so far; reading it changes nothing.

        Raises `NotReset` before the first reset and after `forget`, `DeadResource` when the world
        died in the middle of the episode.
        """

    def forget(self) -> None:
        """Unbind the instance: as if it had never been reset."""

    def alive(self) -> bool:
        """Whether the instance can be handed out; cheap, and never raises."""

    async def close(self) -> None:
        """End the world, at any stage of its life; calling it again does nothing.

        What must not survive (a process) is ended before the first suspension, so that a
        cancelled `close` leaks nothing.
        """


@runtime_checkable
class Startable(Protocol):
    """A world whose start takes time; its pool awaits `start` before it hands the instance out."""

    async def start(self) -> None:
        """Make the world ready for `reset`; `close` ends it also when this was cancelled."""
