"""The protocols that environments and step scorers implement."""

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
    """Protocol of an environment in which an agent acts; one rollout uses it at a time.

    Calls come from one rollout, one after the other, but not always from one event loop: nothing
    in an instance may belong to the loop that it was first used on.
    """

    name: str
    """The registry name, for example `"alfworld"`."""

    async def reset(self, task: Task) -> Observation:
        """Start a new episode of the task.

        Raises `BadParameter` for a task that the environment does not have, `DeadResource` when it
        died.
        """

    async def step(self, action: str) -> Observation:
        """Carry out one action; an invalid action text raises no error.

        Raises `NotReset` before the first reset, `DeadResource` when the environment died.
        """

    def evidence(self) -> WorldEvidence:
        """The evidence of the current episode; reading it changes nothing.

        Raises `NotReset` before the first reset and after `forget`, `DeadResource` when the
        environment died in the middle of the episode.
        """

    def forget(self) -> None:
        """Drop the current episode, as if the instance had never been reset."""

    def alive(self) -> bool:
        """Whether the instance can be used; the check is fast and never raises."""

    async def close(self) -> None:
        """End the instance in any state; a second call does nothing.

        What must not survive (a process) is ended before the first suspension, so that a
        cancelled `close` leaks nothing.
        """


@runtime_checkable
class StartableEnvironment(Protocol):
    """Protocol of an environment that must be started before it is used."""

    async def start(self) -> None:
        """Make the instance ready for `reset`; after a cancelled start, `close` ends it."""


@runtime_checkable
class CheckableEnvironment(Protocol):
    """Protocol of an environment that can check its tasks before a run."""

    async def check_run(self, tasks: Sequence[Task]) -> None:
        """Raise an error if the episodes of these tasks cannot begin on this machine.

        Raises `BadParameter` for a task that `reset` would refuse, `MissingExtra` when something
        is not installed.
        """


@runtime_checkable
class SharingEnvironment(Protocol):
    """Protocol of an environment whose instances share a resource, such as a browser."""

    @classmethod
    async def close_shared(cls) -> None:
        """Close what the instances of this process share; the next instance opens it again."""


class StepScorer(Protocol):
    """Protocol of an object that scores the steps of one episode in order.

    Making one raises `BadParameter` for a task whose metadata it cannot read.
    """

    def record(self, action: str, observation: Observation) -> Step:
        """Record a step with its scores; the first call records the reset, without scores."""


@runtime_checkable
class DrivableEnvironment(Protocol):
    """Protocol of an environment whose browser the agent controls directly."""

    @property
    def browser(self) -> Any:
        """The browser's address for the agent, and a function to report its steps."""

    async def next_step(self) -> tuple[str, Observation] | None:
        """The agent's next action and its observation, or `None` if the agent is done.

        Raises `DeadResource` when the browser died.
        """

    def alive(self) -> bool:
        """Whether the browser still runs; the check is fast and never raises."""

    async def agent_is_done(self) -> None:
        """Wait for the effects of the agent's last action, then end `next_step`."""
