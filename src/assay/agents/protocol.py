"""The protocol of agents: `start`, `act` and `close`, and the action that `act` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from assay.schema.action import ActionCall, answer_in, tool_call_in
from assay.schema.observation import Observation
from assay.schema.task import Task
from assay.schema.usage import Usage


@dataclass(frozen=True, slots=True)
class EpisodeLimits:
    """The limits of an episode; an agent may read them, and the rollout enforces them."""

    steps: int = 15
    step_s: float = 30.0
    """Wall-clock seconds for the agent's turn, without the time that a model takes to reply, and
    then again for the environment's step."""
    episode_s: float = 240.0
    """From the reset to the ending."""
    tokens: int | None = None
    """Of prompts and completions; once the agent has used them, no further turn of it begins."""
    cost_usd: float | None = None
    """What its calls of a model may cost, likewise."""


@dataclass(frozen=True, slots=True)
class Action:
    """The agent's next action, and the model usage behind it."""

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
    """A policy that plays one episode after another.

    An exception of `act` ends the episode as `agent_error`, and a `ModelError` as `model_error`;
    an agent that has nothing more to say answers, or gives up.
    """

    name: str

    async def start(self, task: Task, *, limits: EpisodeLimits) -> None:
        """Prepare for a new episode, and forget the last one.

        An agent that draws at random may take `seed` too, a whole number or `None`.
        """

    async def act(self, observation: Observation, *, step: int) -> Action | str | Mapping[str, Any]:
        """Return the next action for this observation; steps count from 1.

        A text or a mapping is read by `as_action`.
        """

    async def close(self) -> None:
        """Release the agent's resources; a second call does nothing."""


ACTION_FIELDS = ("action", "answer", "gave_up", "think", "messages", "usage")
"""The keys of an action that is a mapping, as agents of another language write it."""


def as_action(result: object, observation: Observation) -> Action:
    """Return the agent's result as an action; the result is a text, a mapping or an `Action`.

    A text that calls no tool of a conversation is the answer; a number is its text. Raises
    `TypeError` for a result of another type.
    """
    action: object = result
    if isinstance(result, (str, int, float)) and not isinstance(result, bool):
        text = str(result)
        action = Action(text, answer=answer_in(text))
    elif isinstance(result, Mapping):
        action = _from_mapping(result)
    if not isinstance(action, Action) or not isinstance(action.text, str):
        raise TypeError(
            f"the agent returned {result!r:.300}; it must return a text, an `Action`, or a mapping "
            f"with some of {', '.join(ACTION_FIELDS)}"
        )
    tools = observation.tools
    is_settled = action.answer is not None or action.gave_up or tools is None
    if is_settled or tool_call_in(action.text, tools or ()) is not None:
        return action
    return replace(action, text=ActionCall("answer", (action.text,)).text, answer=action.text)


def _from_mapping(fields: Mapping[str, Any]) -> Action:
    unknown = [key for key in fields if key not in ACTION_FIELDS]
    if unknown or not fields:
        raise TypeError(
            f"the agent returned {dict(fields)!r:.300}; an action has one or more of "
            f"{', '.join(ACTION_FIELDS)}"
        )
    answer: Any = fields.get("answer")
    if isinstance(answer, (int, float)) and not isinstance(answer, bool):
        answer = str(answer)
    text = fields.get("action")
    if text is None:
        text = ActionCall("answer", (answer,)).text if isinstance(answer, str) else ""
    usage = fields.get("usage") or {}
    return Action(
        text=text,
        answer=answer,
        gave_up=bool(fields.get("gave_up", False)),
        think=fields.get("think") or "",
        messages=tuple(fields.get("messages") or ()),
        usage=usage if isinstance(usage, Usage) else Usage(**usage),
    )
