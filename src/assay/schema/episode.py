"""The record of one attempt at a task: messages, steps, ending and scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_args

from pydantic import (
    Field,
    FiniteFloat,
    SerializerFunctionWrapHandler,
    field_serializer,
    model_serializer,
)

from assay.schema.evidence import PageEvidence, WorldEvidence
from assay.schema.message import Message
from assay.schema.name import NameOrEmpty
from assay.schema.record import FrozenRecord, ScoreField
from assay.schema.task import Task
from assay.schema.usage import Usage

T = TypeVar("T", int, float, Usage)
StopReason = Literal[
    "answered", "finished", "gave_up", "step_limit", "budget_limit", "timeout",
    "agent_error", "model_error", "env_error",
]  # fmt: skip
"""How an episode ended: answered, ended by the environment, out of something, or broken."""
FailureKind = Literal["agent_error", "model_error", "env_error"]
"""The endings that are failures, by who failed."""
NO_FAULT_OF_THE_AGENT: Mapping[str, str] = MappingProxyType(
    {
        "model_error": "the model could not be asked",
        "env_error": "the environment failed",
    }
)
"""The endings that say nothing of the agent, with what happened in words: every reward abstains
from such an episode, it is in no mean, and any other attempt counts before it."""
FAILURES: tuple[str, ...] = get_args(FailureKind)

MOST = 2**53
"""The largest count: beyond it other languages and databases lose digits."""


class Step(FrozenRecord):
    """One action of an agent and its result; step 0 is the reset, without an action."""

    index: int
    action: str
    """Verbatim, as the environment received it."""
    observation: str = ""
    """The sha256 of the artifact with the text that the agent saw afterwards; empty for none."""
    observation_chars: int = 0
    truncated: bool = False
    """Whether the agent saw only a part of what there was."""
    evidence: PageEvidence | WorldEvidence | None = Field(default=None, discriminator="kind")
    outcome: dict[str, Any] | None = None
    """What the tool reported of its own call, as codes; JSON values."""
    scores: tuple[dict[str, Any], ...] = ()
    """Step scores as they were written; they are read back by the step scorer."""
    elapsed_s: FiniteFloat = 0.0
    reward: FiniteFloat | None = None
    """What the environment itself paid for this step, as the agent's trainer would see it."""
    raw_reward: FiniteFloat | None = None
    think: str = ""
    error: str = ""
    screenshot: str = ""
    """The sha256 of the artifact with the picture; empty for none."""
    usage: Usage = Usage()

    @field_serializer("evidence", mode="wrap")
    def _without_missing_tiles(self, evidence: Any, write: SerializerFunctionWrapHandler) -> Any:
        """Omit `tiles` from the record if the value is `None`, as older records do."""
        record = write(evidence)
        if isinstance(record, dict) and record.get("tiles", "") is None:
            del record["tiles"]
        return record


class Trajectory(FrozenRecord):
    """The messages and the steps of an agent, and the reason why the attempt ended."""

    messages: tuple[Message, ...] = ()
    steps: tuple[Step, ...] = ()
    stop_reason: StopReason = "answered"


class Failure(FrozenRecord):
    """The error that ended an episode."""

    kind: FailureKind
    message: str
    traceback: str = ""
    fatal: bool = False
    """Whether other attempts would fail in the same way, as with a key that is refused."""

    @model_serializer(mode="wrap")
    def _without_default(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit `fatal` from the record if the value is false, as older records do."""
        fields: dict[str, Any] = write(self)
        if not self.fatal:
            del fields["fatal"]
        return fields


def _total(value: Callable[[Step], T], zero: T) -> Callable[[dict[str, Any]], T]:
    """Return a default factory that sums a value over all steps."""
    return lambda data: sum(map(value, data["trajectory"].steps), zero)


class Episode(FrozenRecord):
    """One attempt at a task, as the ledger stores it and a reward scores it.

    The totals are computed from the steps unless they are passed, as they are for an episode that
    is read without its steps.
    """

    attempt: NameOrEmpty = ""
    """Safe as a file name, and unique in its run."""
    task: Task
    repeat: int = Field(default=0, ge=0, le=MOST)
    trajectory: Trajectory = Trajectory()
    final_response: str | None = None
    """Verbatim; `None` when the agent never answered, or the record does not say."""
    scores: tuple[ScoreField, ...] = ()
    """The first one is primary."""
    n_steps: int = Field(default_factory=_total(lambda step: step.index > 0, 0), ge=0, le=MOST)
    """Actions taken: every step but the reset."""
    cum_reward: FiniteFloat = Field(default_factory=_total(lambda step: step.reward or 0.0, 0.0))
    cum_raw_reward: FiniteFloat = Field(
        default_factory=_total(lambda step: step.raw_reward or 0.0, 0.0)
    )
    usage: Usage = Field(default_factory=_total(lambda step: step.usage, Usage()))
    started_at: str = ""
    """ISO 8601, in UTC."""
    elapsed_s: FiniteFloat = 0.0
    failure: Failure | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

    @property
    def stop_reason(self) -> StopReason:
        return self.trajectory.stop_reason

    @property
    def no_fault(self) -> bool:
        """Whether the model or the environment, and not the agent, ended the episode."""
        return self.stop_reason in NO_FAULT_OF_THE_AGENT

    @property
    def no_fault_reason(self) -> str:
        """The message of the model error or environment error that ended the episode."""
        return self.failure.message if self.failure else NO_FAULT_OF_THE_AGENT[self.stop_reason]

    @property
    def domain(self) -> str:
        """The task's `metadata["domain"]` as text, or an empty text."""
        domain = self.task.metadata.get("domain")
        return "" if domain is None else str(domain)

    def columns(self) -> dict[str, Any]:
        """The values that a reward can request by parameter name, except the context."""
        return {
            **self.task.columns(),
            "final_response": self.final_response,
            "trajectory": self.trajectory.messages,
        }
