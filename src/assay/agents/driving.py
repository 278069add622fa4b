"""Agents with hands of their own: called once an episode, with the browser that they drive.

What they do there is seen by the environment, and recorded by the rollout step by step; what they
return is the answer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.agents.attempt import attempt_seed
from assay.agents.protocol import Action, EpisodeLimits, as_action
from assay.agents.transcript import Transcript
from assay.errors import BadParameter
from assay.registry.annotations import annotations_of
from assay.resources.threads import call
from assay.schema.action import ActionCall
from assay.schema.observation import Observation
from assay.schema.task import Task

BROWSER = "browser"
"""The parameter of a function, or of a class's `run`, that asks for the browser itself."""


def asks_for_browser(item: Any) -> bool:
    """Whether a function, or the `run` of a class without `act`, has a parameter `browser`."""
    function = item
    if isinstance(item, type):
        function = None if hasattr(item, "act") else getattr(item, "run", None)
    elif hasattr(item, "act") or not callable(item):
        return False
    if function is None:
        return False
    parameter = inspect.signature(function).parameters.get(BROWSER)
    return parameter is not None and parameter.kind is not inspect.Parameter.KEYWORD_ONLY


class DrivingFactory:
    """Makes an agent of a function with a parameter `browser`, or of a class with such a `run`."""

    drives = True
    """What it makes is called once an episode, and needs an environment with a browser."""

    def __init__(self, item: Callable[..., Any], name: str) -> None:
        self._item = item
        self._name = name
        self.annotations = annotations_of(item)
        self.__signature__ = inspect.signature(item)
        if not isinstance(item, type):
            parameters = self.__signature__.parameters.values()
            keywords = [each for each in parameters if each.kind is each.KEYWORD_ONLY]
            self.__signature__ = inspect.Signature(keywords)
        reference = inspect.signature(getattr(item, "run", item)).parameters.get("answer")
        if reference is not None and reference.kind is not reference.KEYWORD_ONLY:
            raise BadParameter(
                f"agent {name!r} asks for 'answer', the reference, which no agent sees"
            )

    def __call__(self, **options: Any) -> DrivingAgent:
        if not isinstance(self._item, type):
            return DrivingAgent(self._name, self._item, options=options)
        agent = self._item(**options)
        name = str(getattr(agent, "name", type(agent).__name__))
        return DrivingAgent(name, agent.run, close=getattr(agent, "close", None))


class DrivingAgent:
    """An agent that drives the browser by itself, from the first action to the answer."""

    def __init__(
        self,
        name: str,
        run: Callable[..., Any],
        *,
        options: Mapping[str, Any] | None = None,
        close: Callable[[], Any] | None = None,
    ) -> None:
        """`run` takes values by the names of its parameters, as a function that is a policy."""
        self.name = name
        self._run = run
        self._options = options or {}
        self._close = close
        self._task = Task(id="")
        self._limits = EpisodeLimits()
        self._transcript = Transcript()

    async def check_run(self, tasks: Sequence[Task]) -> None:
        """Raise `BadParameter` for a parameter that nothing fills in one of the tasks."""
        for task in tasks:
            self._task = task
            self._arguments(None, Observation(""))

    async def start(self, task: Task, *, limits: EpisodeLimits) -> None:
        """Begin a fresh episode."""
        self._task, self._limits = task, limits
        self._transcript = Transcript()

    async def drive(self, browser: Any, observation: Observation) -> Action:
        """What the agent answers in the end, having done in the browser whatever it does there."""
        arguments = self._arguments(browser, observation)
        return _as_answer(await call(self._run, *arguments, **self._options))

    def step(self, action: str, before: Observation) -> Action:
        """An action that was seen, with its messages; `before` is what the page showed then."""
        self._transcript.add_observation(before.text)
        self._transcript.add_call(action)
        return Action(action, messages=self._transcript.take_new())

    def answer(self, action: Action, before: Observation) -> Action:
        """The last action, with its messages where the agent reports none."""
        if action.messages or action.answer is None:
            return action
        self._transcript.add_observation(before.text)
        self._transcript.add_reply(action.answer)
        return replace(action, messages=self._transcript.take_new())

    async def act(self, observation: Observation, *, step: int) -> Action:
        """Raise `BadParameter`: there is no browser here that it could drive."""
        del observation, step
        raise BadParameter(f"agent {self.name!r} drives a browser, and this environment has none")

    async def close(self) -> None:
        """Close what the agent has to close."""
        if self._close is not None:
            await call(self._close)

    def _arguments(self, browser: Any, observation: Observation) -> list[Any]:
        values = {
            **self._task.metadata,
            "task": self._task,
            "observation": observation.text,
            "question": self._task.goal,
            "goal": self._task.goal,
            "task_id": self._task.id,
            "limits": self._limits,
            BROWSER: browser,
        }
        if (seed := attempt_seed()) is not None:
            values["seed"] = seed
        positional: list[Any] = []
        for parameter in inspect.signature(self._run).parameters.values():
            if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                continue
            if parameter.name in values:
                positional.append(values[parameter.name])
            elif parameter.default is not parameter.empty:
                positional.append(parameter.default)
            else:
                raise BadParameter(
                    f"agent {self.name!r} asks for {parameter.name!r}, which task "
                    f"{self._task.id!r} does not have; there are: {', '.join(values)}"
                )
        return positional


def _as_answer(result: object) -> Action:
    """The action that ends the episode; nothing returned is giving up.

    Raises `TypeError` for what is no text, number, `Action` or mapping of the fields of one.
    """
    if result is None:
        return Action("", gave_up=True)
    if isinstance(result, (str, int, float)) and not isinstance(result, bool):
        text = str(result)
        return Action(ActionCall("answer", (text,)).text, answer=text)
    action = as_action(dict(result) if isinstance(result, Mapping) else result, Observation(""))
    if action.answer is None and not action.gave_up:
        raise TypeError(
            f"the agent returned {result!r:.300}; one that drives the browser by itself returns "
            "its answer, or nothing"
        )
    return action
