"""What an environment is to the rest of Assay: a protocol of six methods and a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from assay.schema.episode import Step
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task

Scope = Literal["rollout", "global"]
"""How long an instance lives: until its rollout ends, or until its pool closes."""


class Environment(Protocol):
    """What an agent acts in; one rollout at a time has an instance.

    Calls come from one rollout, one after the other, but not always from one event loop: nothing
    in an instance may belong to the loop that it was first used on.
    """

    name: str
    """The registry name, for example `"alfworld"`."""

    async def reset(self, task: Task) -> Observation:
        """Bind the instance to `task`, in a complete fresh episode.

        Raises `BadParameter` for a task that the environment does not have, `DeadResource` when it
        died.
        """

    async def step(self, action: str) -> Observation:
        """Carry out one action; whatever its text is, it never makes this raise.

        Raises `NotReset` before the first reset, `DeadResource` when the environment died.
        """

    def evidence(self) -> WorldEvidence:
        """What the environment records of the episode so far; reading it changes nothing.

        Raises `NotReset` before the first reset and after `forget`, `DeadResource` when the
        environment died in the middle of the episode.
        """

    def forget(self) -> None:
        """Unbind the instance: as if it had never been reset."""

    def alive(self) -> bool:
        """Whether the instance can be handed out; cheap, and never raises."""

    async def close(self) -> None:
        """End the instance, in whatever state it is; calling it again does nothing.

        What must not survive (a process) is ended before the first suspension, so that a
        cancelled `close` leaks nothing.
        """


@runtime_checkable
class StartableEnvironment(Protocol):
    """An environment that takes time to start: its pool awaits `start` before it hands it out."""

    async def start(self) -> None:
        """Make the instance ready for `reset`; `close` ends it also when this was cancelled."""


@runtime_checkable
class CheckableEnvironment(Protocol):
    """An environment that can check before a run whether the episodes of its tasks can begin."""

    async def check_run(self, tasks: Sequence[Task]) -> None:
        """The episodes of these tasks can begin on this machine, as far as is known beforehand.

        Raises `BadParameter` for a task that `reset` would refuse, `MissingExtra` when something
        is not installed.
        """


@runtime_checkable
class SharingEnvironment(Protocol):
    """An environment whose instances share something that must be closed, such as a browser."""

    @classmethod
    async def close_shared(cls) -> None:
        """What the instances of this process share is closed; the next one opens it again."""


class StepScorer(Protocol):
    """Scores the steps of one episode in turn; made from its task by what `STEP_SCORERS` names.

    Making one raises `BadParameter` for a task whose metadata it cannot read.
    """

    def record(self, action: str, observation: Observation) -> Step:
        """The record of the step with its scores; the first one is the reset, which has none."""


@runtime_checkable
class DrivableEnvironment(Protocol):
    """An environment whose browser an agent drives by itself, while it looks on."""

    @property
    def browser(self) -> Any:
        """What the agent gets: where the browser is, and a way to report its steps."""

    async def next_step(self) -> tuple[str, Observation] | None:
        """The next thing that the agent did, and what came of it; `None` when it is done.

        Raises `DeadResource` when the browser died.
        """

    def alive(self) -> bool:
        """Whether the browser is still there; cheap, and never raises."""

    async def agent_is_done(self) -> None:
        """Let what the agent did last settle, and `next_step` come to its end after that."""
