"""Agents made from users' code: a function, a class with `act`, or an object."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.agents.driving import (
    BrowserDrivingAgentFactory,
    asks_for_browser,
    fill_parameters,
    options_of,
    positional_of,
)
from assay.agents.protocol import Action, Agent, EpisodeLimits, as_action
from assay.agents.transcript import Transcript
from assay.errors import BadParameter, cause_of
from assay.registry.annotations import annotations_of
from assay.resources.threads import call
from assay.schema.action import arguments_json, tool_call_in
from assay.schema.observation import Observation
from assay.schema.task import Task

Parameter = inspect.Parameter


def agent_factory(item: Any, name: str) -> Callable[..., Agent]:
    """Return the factory that makes an agent for each episode from a class, function or object.

    A class is called with the options. A function with a required parameter is the policy itself;
    one without makes an agent. A ready-made object is copied for each episode. One that asks for
    the `browser` drives it by itself. Raises `BadParameter` for anything else.
    """
    if asks_for_browser(item):
        return BrowserDrivingAgentFactory(item, name)
    if isinstance(item, type):
        return _ClassFactory(item)
    if not callable(item) and not hasattr(item, "act"):
        raise BadParameter(
            f"agent {name!r} is {item!r:.200}; it must be a class with `act`, or a function of the "
            "question or the observation"
        )
    if hasattr(item, "act"):
        return _copies_of(item, name)
    if any(each.default is Parameter.empty for each in positional_of(item)):
        return _FunctionFactory(item, name)
    return _ClassFactory(item)


def _copies_of(item: Any, name: str) -> Callable[..., Agent]:
    def copied() -> Agent:
        try:
            return complete_agent(copy.deepcopy(item))
        except Exception as error:  # whatever the copy of somebody's object raises
            raise BadParameter(
                f"agent {name!r} cannot be copied for each episode ({cause_of(error)}); pass its "
                "class, or a function that makes one"
            ) from error

    return copied


class _ClassFactory:
    """Makes an agent by calling a class or a function, and adds methods that are missing."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make
        self.__signature__ = inspect.signature(make)
        self.annotations = annotations_of(make)

    def __call__(self, **options: Any) -> Agent:
        return complete_agent(self._make(**options))


class _FunctionFactory:
    """Makes an agent from a function, whose keyword-only parameters are its options."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._function = function
        self._name = name
        self._positional = positional_of(function, name)
        self.parameters = tuple(each.name for each in self._positional)
        """What it is filled with; see `fill_parameters`."""
        self.__signature__ = options_of(function)
        self.annotations = annotations_of(function)

    def __call__(self, **options: Any) -> Agent:
        return FunctionAgent(self._function, self._positional, options, self._name)


def complete_agent(item: Any) -> Agent:
    """Return the item as an agent; missing methods of `start`, `act` and `close` are added."""
    verbs = [getattr(item, verb, None) for verb in ("start", "act", "close")]
    if all(inspect.iscoroutinefunction(verb) for verb in verbs) and not _takes_text(item.act):
        agent: Agent = item
        return agent
    if verbs[1] is not None:
        return _ObjectAgent(item)
    if callable(item):
        name = type(item).__name__
        return _FunctionFactory(item, name)()
    raise BadParameter(
        f"{item!r:.200} is not an agent: it has no method `act`; an agent function must take "
        "the question or the observation as its first parameter"
    )


class FunctionAgent:
    """An agent that is a function of the observation and returns an action or an answer.

    Its parameters are filled by name: `observation`, `question` (also `goal`), `task_id`, `step`,
    `messages` (the conversation so far), or a column of the task, never the reference. The first
    one may have any other name, and gets the observation.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        positional: Sequence[Parameter],
        options: Mapping[str, Any],
        name: str,
    ) -> None:
        self.name = name
        self._function = function
        self._positional = positional
        self._options = options
        self._task = Task(id="")
        self._transcript = Transcript()

    async def check_run(self, tasks: Sequence[Task]) -> None:
        """Raise BadParameter if one of the tasks has no value for a parameter of the agent."""
        for task in tasks:
            self._task = task
            self._arguments(Observation(""), step=1)

    async def start(self, task: Task, *, limits: EpisodeLimits) -> None:  # noqa: ARG002 - the protocol's
        """Begin a fresh conversation."""
        self._task = task
        self._transcript = Transcript()

    async def act(self, observation: Observation, *, step: int) -> Action:
        """Call the function, and return its result as an action."""
        self._transcript.add_observation(observation.text)
        arguments = self._arguments(observation, step)
        result = await call(self._function, *arguments, **self._options)
        return recorded(as_action(result, observation), observation, self._transcript)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _arguments(self, observation: Observation, step: int) -> list[Any]:
        messages = list(self._transcript.messages)
        extra = {"observation": observation.text, "step": step, "messages": messages}
        return fill_parameters(
            self.name, self._positional, self._task, extra, first=observation.text
        )


def _takes_text(act: Callable[..., Any]) -> bool:
    """Whether the first parameter of the function is annotated as `str`."""
    first = next(iter(inspect.signature(act).parameters.values()), None)
    return first is not None and first.annotation in (str, "str")


def observation_hint(error: BaseException) -> str:
    """Return advice if the error comes from treating an `Observation` as a text; else empty."""
    if not isinstance(error, (TypeError, AttributeError)) or "'Observation'" not in str(error):
        return ""
    return (
        "; `act` of a class gets an Observation, whose text is `observation.text` (write "
        "`act(self, observation: str)` to get the text itself)"
    )


class _ObjectAgent:
    """An agent around an object that has `act`, and may have `start` and `close`."""

    def __init__(self, item: Any) -> None:
        self._item = item
        self._text_only = _takes_text(item.act)
        self.name = str(getattr(item, "name", type(item).__name__))
        self._with_step = "step" in inspect.signature(item.act).parameters
        self._transcript = Transcript()

    async def start(self, task: Task, *, limits: EpisodeLimits, seed: int | None = None) -> None:
        """Begin a fresh conversation."""
        self._transcript = Transcript()
        if hasattr(self._item, "start"):
            await call(self._item.start, task, limits=limits, **seed_for(self._item.start, seed))

    async def act(self, observation: Observation, *, step: int) -> Action:
        """Call the object's `act`, and return its result as an action."""
        self._transcript.add_observation(observation.text)
        options = {"step": step} if self._with_step else {}
        shown = observation.text if self._text_only else observation
        result = await call(self._item.act, shown, **options)
        return recorded(as_action(result, observation), observation, self._transcript)

    async def close(self) -> None:
        """Call the object's `close`, if it has one."""
        if hasattr(self._item, "close"):
            await call(self._item.close)


def seed_for(start: Callable[..., Any], seed: int | None) -> dict[str, int]:
    """Return the seed as an argument of an agent's `start`, if `start` has that parameter."""
    if seed is None or "seed" not in inspect.signature(start).parameters:
        return {}
    return {"seed": seed}


def recorded(action: Action, observation: Observation, transcript: Transcript) -> Action:
    """Return the action with the messages of its turn, unless the agent reports its own."""
    if action.messages:
        return action
    request = tool_call_in(action.text, observation.tools or ())
    if action.answer is not None:
        transcript.add_reply(action.answer)
    elif request is not None:
        transcript.add_tool_call(request.name, arguments_json(request.inner), reply=action.text)
    elif not action.gave_up:
        transcript.add_call(action.text)
    return replace(action, messages=transcript.take_new())
