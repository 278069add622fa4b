"""Records an episode while it runs: turns, steps, messages and how it ended."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from assay.agents.attempt import AttemptState
from assay.agents.functions import observation_hint
from assay.agents.models.timeouts import agent_turn
from assay.agents.protocol import Action, Agent
from assay.errors import ModelError
from assay.ledger.provenance import utc_now
from assay.resources.pool import Pools
from assay.resources.spec import ResourceSpec
from assay.runner.limits import RunLimits
from assay.runner.plan import PlannedAttempt, step_scorer_of
from assay.runner.retries import cannot_work
from assay.runner.services import fill_base_url
from assay.schema.episode import Episode, Failure, FailureKind, Step, StopReason, Trajectory
from assay.schema.message import Message
from assay.schema.observation import Observation
from assay.schema.score import Score
from assay.schema.usage import Usage
from assay.scoring.scorer import Scorer

TRACEBACK_CHARS = 20_000
"""Kept of a traceback; its end names the cause."""

Turn = Literal["agent_error", "env_error"]
"""Whose turn it is, as the stop reason that a failure during it becomes."""


def do_nothing() -> None:
    """Do nothing when the agent has shown that it works."""


class StepSink(Protocol):
    """The protocol of the object to which an attempt writes its steps."""

    def write(self, step: Step) -> None: ...


class LedgerSink(Protocol):
    """The protocol of the ledger's writer, as an episode uses it."""

    def steps(self, attempt: str) -> StepSink: ...

    def artifact(self, data: bytes | str) -> str: ...


@dataclass(frozen=True, slots=True)
class RunResources:
    """The resources that all episodes of a run share."""

    environment: ResourceSpec
    limits: RunLimits
    scorers: tuple[Scorer, ...]
    new_agent: Callable[[str], Agent]
    """A fresh agent, given the service's address."""
    pools: Pools
    writer: LedgerSink
    base_url: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What every episode keeps as metadata."""
    clock: Callable[[], float] = time.monotonic
    asks_model: bool = False
    """Whether the agent names a model."""


class EpisodeRecorder:
    """Records one episode; only its first ending counts."""

    def __init__(
        self,
        attempt: str,
        planned_attempt: PlannedAttempt,
        resources: RunResources,
        on_work: Callable[[], None] = do_nothing,
    ) -> None:
        self.resources = resources
        self._on_work = on_work
        self.state = AttemptState(planned_attempt.repeat, planned_attempt.seed)
        """What the agent and its model can know of the attempt."""
        self.task = fill_base_url(planned_attempt.task, resources.base_url)
        """As the agent and the environment see it; the record has it as the benchmark does."""
        self.stop_reason: StopReason | None = None
        self.scores: tuple[Score, ...] = ()
        self.episode_clock = asyncio.timeout(None)
        self._attempt = attempt
        self._planned_attempt = planned_attempt
        self._started_at = utc_now()
        self._start = self._last_step = resources.clock()
        self._elapsed_s = 0.0
        self._turn: Turn = "env_error"
        self._turn_clock = asyncio.timeout(None)
        self._turn_limit_s = 0.0
        self._cut_off_s = 0.0
        """How long a call of the model had waited that was cut off since the last action."""
        self._action = Action("")
        """The action that no step records yet."""
        self._step_scorer = step_scorer_of(self.task)
        self._steps: list[Step] = []
        self._usage = Usage()
        self._steps_file = resources.writer.steps(attempt)
        self._messages: list[Message] = []
        self._answer: str | None = None
        self._failure: Failure | None = None
        self._has_acted = False
        self._notes: dict[str, Any] = dict(resources.notes)
        if resources.base_url:
            self._notes["base_url"] = resources.base_url
        if planned_attempt.seed is not None:
            self._notes["seed"] = planned_attempt.seed

    @asynccontextmanager
    async def turn(self, turn: Turn, limit_s: float) -> AsyncIterator[None]:
        """Limit the block to `limit_s` seconds, and attribute its failures to `turn`."""
        self._turn, self._turn_limit_s = turn, limit_s
        if turn == "env_error":
            async with asyncio.timeout(limit_s) as self._turn_clock:
                yield
            return
        async with agent_turn(limit_s) as agents:
            self._turn_clock = agents.clock
            try:
                yield
            finally:
                self._cut_off_s = max(self._cut_off_s, agents.cut_off_s)

    def record_action(self, action: Action) -> Action:
        """Record the agent's action, and the messages of its turn."""
        texts = (action.text, action.think, "" if action.answer is None else action.answer)
        if not all(isinstance(text, str) for text in texts) or not isinstance(action.usage, Usage):
            # Agents are written by anyone.
            raise TypeError(
                f"the agent returned {action!r:.300}; the fields of an action must be texts"
            )
        self._action, self._cut_off_s = action, 0.0
        self._has_acted = True
        self._usage += action.usage
        self._messages += [Message.model_validate(message) for message in action.messages]
        # An agent may act once or twice before it asks its model for the first time.
        if action.usage.calls or not self.resources.asks_model:
            self._on_work()
        return action

    def record_step(self, observation: Observation) -> None:
        """Write a step: the action, the environment's observation, and the step's score."""
        put = self.resources.writer.artifact
        screenshot = observation.screenshot
        step = self._step_scorer.record(self._action.text, observation)
        self._write_step(
            step,
            observation=put(observation.text) if observation.text else "",
            screenshot=put(screenshot) if screenshot else "",
        )

    def record_last_action(self, *, error: str = "") -> None:
        """Write a step for an action without an observation."""
        self._write_step(Step(index=len(self._steps), action=self._action.text), error=error)

    def _write_step(self, step: Step, **facts: Any) -> None:
        action, self._action = self._action, Action("")
        before, self._last_step = self._last_step, self.resources.clock()
        facts.update(think=action.think, usage=action.usage, elapsed_s=self._last_step - before)
        complete = step.model_copy(update=facts)
        self._steps_file.write(complete)
        self._steps.append(complete)

    def is_out_of_budget(self) -> bool:
        """Whether the agent has reached the episode's limit of tokens or cost."""
        limits, usage = self.resources.limits, self._usage
        tokens = usage.prompt_tokens + usage.completion_tokens
        for name, limit, amount in (
            ("tokens", limits.tokens, tokens),
            ("cost_usd", limits.cost_usd, usage.cost_usd),
        ):
            if limit is not None and amount is not None and amount >= limit:
                self._notes["limit"] = name
                return True
        return False

    def end(self, stop_reason: StopReason, answer: str | None = None) -> None:
        """End the episode, unless it has ended before."""
        if self.stop_reason is None:
            self.stop_reason, self._answer = stop_reason, answer
            self._elapsed_s = self.resources.clock() - self._start

    def fail(self, error: BaseException) -> None:
        """End the episode with an error, unless it has ended before."""
        message = f"{type(error).__name__}: {error}"[:1_000] + observation_hint(error)
        if self.stop_reason is not None:
            self._notes["error_after_the_end"] = message
            return
        out_of_time = self.episode_clock.expired()
        turn_expired = self._turn_clock.expired()
        if out_of_time and (waited_s := self._waited_for_model_s()):
            self._notes["limit"] = "episode_s"
            limit_s = self.resources.limits.episode_s
            message = (
                f"the model had not replied after {waited_s:.0f} s, when the episode's "
                f"{limit_s:g} s (limits.episode_s) were over"
            )
            self._fail("model_error", message, error)
        elif out_of_time or (turn_expired and self._turn == "agent_error"):
            limit = "episode_s" if out_of_time else "step_s"
            self._notes["limit"] = limit
            self._interrupt(f"out of time ({limit})")
            self.end("timeout")
        elif turn_expired:
            message = f"the environment did not answer within {self._turn_limit_s:g} s"
            self._fail(self._turn, message, error)
        elif self._turn == "agent_error" and (failures := _model_errors(error)):
            message = str(failures[0])[:1_000]
            self._fail("model_error", message, error, fatal=all(each.fatal for each in failures))
        else:
            fatal = self._turn == "agent_error" and not self._has_acted and cannot_work(error)
            self._fail(self._turn, message, error, fatal=fatal)

    def _waited_for_model_s(self) -> float:
        """Return the seconds that a model call had waited when the episode's time ran out, or 0.

        One that had not waited longer than a step may take is not what used the time up.
        """
        limits = self.resources.limits
        least_s = min(limits.step_s, limits.episode_s / 2)
        return self._cut_off_s if self._cut_off_s >= least_s else 0.0

    def _fail(
        self, kind: FailureKind, message: str, error: BaseException, *, fatal: bool = False
    ) -> None:
        trace = "".join(traceback.format_exception(error))[-TRACEBACK_CHARS:]
        self._failure = Failure(kind=kind, message=message, traceback=trace, fatal=fatal)
        self._interrupt(message)
        self.end(kind)

    def _interrupt(self, error: str) -> None:
        if self._action != Action(""):
            self.record_last_action(error=error)

    def episode(self) -> Episode:
        """Return the record of the episode, which must have ended."""
        assert self.stop_reason is not None
        notes = dict(self._notes)
        if self.state.cached_calls:
            notes["cached_calls"] = self.state.cached_calls
        return Episode(
            attempt=self._attempt,
            task=self._planned_attempt.task,
            repeat=self._planned_attempt.repeat,
            trajectory=Trajectory(
                messages=tuple(self._messages),
                steps=tuple(self._steps),
                stop_reason=self.stop_reason,
            ),
            final_response=self._answer,
            scores=self.scores,
            usage=self._usage,
            started_at=self._started_at,
            elapsed_s=self._elapsed_s,
            failure=self._failure,
            metadata=notes,
        )


def _model_errors(error: BaseException) -> tuple[ModelError, ...]:
    """Return the model errors in an error; empty if it has any other error."""
    if isinstance(error, ModelError):
        return (error,)
    if not isinstance(error, BaseExceptionGroup):
        return ()
    inner = [_model_errors(each) for each in error.exceptions]
    return tuple(each for errors in inner for each in errors) if all(inner) else ()
