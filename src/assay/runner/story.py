"""What has happened in an episode so far: turns, steps, messages, and the first ending."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from assay.agents.protocol import Action, Agent
from assay.ledger.provenance import utc_now
from assay.resources.pools import Pools
from assay.resources.spec import ResourceSpec
from assay.runner.benchmark import RunLimits
from assay.runner.plan import Assignment, contract_of
from assay.runner.scored_steps import StepScoring
from assay.runner.services import addressed
from assay.schema.episode import Episode, Failure, Step, StopReason, Trajectory
from assay.schema.message import Message
from assay.schema.observation import Observation
from assay.schema.score import Score
from assay.schema.usage import Usage
from assay.scoring.scorer import Scorer

TRACEBACK_CHARS = 20_000
"""Kept of a traceback; its end names the cause."""

Turn = Literal["agent_error", "env_error"]
"""Who has the floor, as the ending that a failure now would be."""


class StepSink(Protocol):
    """Where the steps of one attempt go while they happen."""

    def write(self, step: Step) -> None: ...


class Recorder(Protocol):
    """What an episode needs of the ledger while it goes on; the run's writer is one."""

    def steps(self, attempt: str) -> StepSink: ...

    def artifact(self, data: bytes | str) -> str: ...


@dataclass(frozen=True, slots=True)
class Stage:
    """What all episodes of a run share."""

    world: ResourceSpec
    limits: RunLimits
    scorers: tuple[Scorer, ...]
    new_agent: Callable[[str], Agent]
    """A fresh agent, given the service's address."""
    pools: Pools
    writer: Recorder
    base_url: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What every episode keeps as metadata."""
    clock: Callable[[], float] = time.monotonic


class Story:
    """What has happened in an episode so far; the first ending stands."""

    def __init__(self, attempt: str, assignment: Assignment, stage: Stage) -> None:
        self.stage = stage
        self.task = addressed(assignment.task, stage.base_url)
        """As the agent and the world see it; the record keeps it as the benchmark has it."""
        self.stop_reason: StopReason | None = None
        self.scores: tuple[Score, ...] = ()
        self.episode_clock = asyncio.timeout(None)
        self._attempt = attempt
        self._assignment = assignment
        self._started_at = utc_now()
        self._begun = self._turned = stage.clock()
        self._elapsed_s = 0.0
        self._whose: Turn = "env_error"
        self._turn_clock = asyncio.timeout(None)
        self._limit_s = 0.0
        self._said = Action("")
        """The action that no step records yet."""
        self._scoring = StepScoring(contract_of(self.task), verbatim=True)
        self._steps: list[Step] = []
        self._steps_file = stage.writer.steps(attempt)
        self._messages: list[Message] = []
        self._answer: str | None = None
        self._failure: Failure | None = None
        self._notes: dict[str, Any] = dict(stage.notes)
        if stage.base_url:
            self._notes["base_url"] = stage.base_url

    @asynccontextmanager
    async def turn(self, whose: Turn, limit_s: float) -> AsyncIterator[None]:
        """For so many seconds the floor, and the blame, are the agent's or the world's."""
        self._whose, self._limit_s = whose, limit_s
        async with asyncio.timeout(limit_s) as self._turn_clock:
            yield

    def hear(self, action: Action) -> Action:
        """The action is noted, with what the agent's turn added to the conversation."""
        _check_action(action)
        self._said = action
        self._messages += [Message.model_validate(message) for message in action.messages]
        return action

    def record(self, observation: Observation) -> None:
        """The action and what the world made of it are a step on the disk, with its score."""
        put = self.stage.writer.artifact
        shot = observation.screenshot
        step = self._scoring.record(self._said.text, observation)
        self._keep(
            step,
            observation=put(observation.text) if observation.text else "",
            screenshot=put(shot) if shot else "",
        )

    def record_last_words(self, *, error: str = "") -> None:
        """An action that the world never answered is a step too."""
        self._keep(Step(index=len(self._steps), action=self._said.text), error=error)

    def _keep(self, step: Step, **facts: Any) -> None:
        said, self._said = self._said, Action("")
        before, self._turned = self._turned, self.stage.clock()
        facts.update(think=said.think, usage=said.usage, elapsed_s=self._turned - before)
        whole = step.model_copy(update=facts)
        self._steps_file.write(whole)
        self._steps.append(whole)

    def end(self, stop_reason: StopReason, answer: str | None = None) -> None:
        """The episode is over, unless it was over before."""
        if self.stop_reason is None:
            self.stop_reason, self._answer = stop_reason, answer
            self._elapsed_s = self.stage.clock() - self._begun

    def fail(self, error: BaseException) -> None:
        """What was raised is how the episode ended, unless it was over before."""
        message = f"{type(error).__name__}: {error}"[:1_000]
        if self.stop_reason is not None:
            self._notes["error_after_the_end"] = message
            return
        out_of_turn = self._turn_clock.expired()
        if self.episode_clock.expired() or (out_of_turn and self._whose == "agent_error"):
            limit = "episode_s" if self.episode_clock.expired() else "step_s"
            self._notes["limit"] = limit
            self._interrupt(f"out of time ({limit})")
            self.end("timeout")
            return
        if out_of_turn:
            message = f"the world did not answer within {self._limit_s:g} s"
        story = "".join(traceback.format_exception(error))[-TRACEBACK_CHARS:]
        self._failure = Failure(kind=self._whose, message=message, traceback=story)
        self._interrupt(message)
        self.end(self._whose)

    def _interrupt(self, error: str) -> None:
        if self._said != Action(""):
            self.record_last_words(error=error)

    def episode(self) -> Episode:
        """The record of it all."""
        assert self.stop_reason is not None
        usage = sum((step.usage for step in self._steps), self._said.usage)
        return Episode(
            attempt=self._attempt,
            task=self._assignment.task,
            repeat=self._assignment.repeat,
            trajectory=Trajectory(
                messages=tuple(self._messages),
                steps=tuple(self._steps),
                stop_reason=self.stop_reason,
            ),
            final_response=self._answer,
            scores=self.scores,
            usage=usage,
            started_at=self._started_at,
            elapsed_s=self._elapsed_s,
            failure=self._failure,
            metadata=self._notes,
        )


def _check_action(action: Action) -> None:
    """Agents are written by anyone; a record takes only what it can write."""
    texts = (action.text, action.think, "" if action.answer is None else action.answer)
    if not all(isinstance(text, str) for text in texts) or not isinstance(action.usage, Usage):
        raise TypeError(f"the agent returned {action!r:.300}, which is not an action of texts")
