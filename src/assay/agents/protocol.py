"""The protocol of agents: start, act, close, and the action that each turn ends in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from assay.schema.observation import Observation
from assay.schema.task import Task
from assay.schema.usage import Usage


@dataclass(frozen=True, slots=True)
class EpisodeLimits:
    """What an episode may take; an agent may plan with it, the rollout enforces it."""

    steps: int = 15
    step_s: float = 30.0
    """Wall-clock seconds for the agent's turn, without the time that a model takes to reply, and
    then again for the environment's step."""
    episode_s: float = 240.0
    """From the reset to the ending."""


@dataclass(frozen=True, slots=True)
class Action:
    """What the agent does next, and what it cost to decide on it."""

    text: str
    """What the environment gets, verbatim, e.g. `click("12")`."""
    answer: str | None = None
    """Set when the agent answers: the episode ends, and the environment is not stepped."""
    gave_up: bool = False
    """Set when the agent ends the episode without an answer."""
    think: str = ""
    messages: tuple[dict[str, Any], ...] = ()
    """What this turn added to the conversation, in the shape that chat APIs use."""
    usage: Usage = field(default_factory=Usage)


class Agent(Protocol):
    """A policy for one episode after the other.

    An exception of `act` ends the episode as `agent_error`, and a `ModelError` as `model_error`;
    an agent that has nothing more to say answers, or gives up.
    """

    name: str

    async def start(self, task: Task, *, limits: EpisodeLimits) -> None:
        """Forget any earlier episode and get ready for this one."""

    async def act(self, observation: Observation, *, step: int) -> Action:
        """The next action, given what the environment shows now; steps count from 1."""

    async def close(self) -> None:
        """Close what must be closed, at any stage; a second call does nothing."""
