"""Agents that are called once an episode and drive the browser themselves."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    """Whether a function, or the method `run` of a class, has a parameter `browser`."""
    function = item
    if isinstance(item, type):
        function = None if hasattr(item, "act") else getattr(item, "run", None)
    elif hasattr(item, "act") or not callable(item):
        return False
    if function is None:
        return False
    parameter = inspect.signature(function).parameters.get(BROWSER)
    return parameter is not None and parameter.kind is not inspect.Parameter.KEYWORD_ONLY


class BrowserDrivingAgentFactory:
    """Makes an agent that drives the browser from a function, or from a class with `run`."""

    drives = True
    """What it makes is called once an episode, and needs an environment with a browser."""

    def __init__(self, item: Callable[..., Any], name: str) -> None:
        self._item = item
        self._name = name
        self.annotations = annotations_of(item)
        self.__signature__ = inspect.signature(item)
        if not isinstance(item, type):
            self.__signature__ = options_of(item)
        positional_of(getattr(item, "run", item), name)

    def __call__(self, **options: Any) -> BrowserDrivingAgent:
        if not isinstance(self._item, type):
            return BrowserDrivingAgent(self._name, self._item, options=options)
        agent = self._item(**options)
        name = str(getattr(agent, "name", type(agent).__name__))
        return BrowserDrivingAgent(name, agent.run, close=getattr(agent, "close", None))


class BrowserDrivingAgent:
    """An agent that drives the browser itself, from the first action to the answer."""

    def __init__(
        self,
        name: str,
        run: Callable[..., Any],
        *,
        options: Mapping[str, Any] | None = None,
        close: Callable[[], Any] | None = None,
    ) -> None:
        """Each parameter of `run` gets the value of the same name, as in an agent function."""
        self.name = name
        self._run = run
        self._options = options or {}
        self._close = close
        self._task = Task(id="")
        self._limits = EpisodeLimits()
        self._transcript = Transcript()

    async def check_run(self, tasks: Sequence[Task]) -> None:
        """Raise BadParameter if one of the tasks has no value for a parameter of the agent."""
        for task in tasks:
            self._task = task
            self._arguments(None, Observation(""))

    async def start(self, task: Task, *, limits: EpisodeLimits) -> None:
        """Begin a fresh episode."""
        self._task, self._limits = task, limits
        self._transcript = Transcript()

    async def drive(self, browser: Any, observation: Observation) -> Action:
        """Let the agent act in the browser until it ends, and return its answer."""
        arguments = self._arguments(browser, observation)
        return _as_answer(await call(self._run, *arguments, **self._options))

    def step(self, action: str, before: Observation) -> Action:
        """Return an observed action with its messages; `before` is the page before the action."""
        self._transcript.add_observation(before.text)
        self._transcript.add_call(action)
        return Action(action, messages=self._transcript.take_new())

    def answer(self, action: Action, before: Observation) -> Action:
        """Return the answer with its messages; the agent's own messages are kept."""
        if action.messages or action.answer is None:
            return action
        self._transcript.add_observation(before.text)
        self._transcript.add_reply(action.answer)
        return replace(action, messages=self._transcript.take_new())

    async def act(self, observation: Observation, *, step: int) -> Action:
        """Raise BadParameter: this environment has no browser for the agent to drive."""
        del observation, step
        raise BadParameter(f"agent {self.name!r} drives a browser, and this environment has none")

    async def close(self) -> None:
        """Call the agent's `close`, if it has one."""
        if self._close is not None:
            await call(self._close)

    def _arguments(self, browser: Any, observation: Observation) -> list[Any]:
        own = {"task": self._task, "limits": self._limits, BROWSER: browser}
        extra = {**own, "observation": observation.text}
        return fill_parameters(self.name, positional_of(self._run), self._task, extra)


def positional_of(function: Callable[..., Any], agent: str = "") -> tuple[inspect.Parameter, ...]:
    """Return the positional parameters; raise BadParameter if an agent asks for the reference."""
    parameters = inspect.signature(function).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = tuple(each for each in parameters if each.kind in kinds)
    if agent and any(each.name == "answer" for each in positional):
        raise BadParameter(f"agent {agent!r} asks for 'answer', the reference, which is secret")
    return positional


def options_of(function: Callable[..., Any]) -> inspect.Signature:
    """Return the options of an agent function: its keyword-only parameters."""
    parameters = inspect.signature(function).parameters.values()
    return inspect.Signature([each for each in parameters if each.kind is each.KEYWORD_ONLY])


def fill_parameters(
    agent: str,
    parameters: Iterable[inspect.Parameter],
    task: Task,
    extra: Mapping[str, Any],
    *,
    first: str | None = None,
) -> list[Any]:
    """Return a value for each parameter, from the task's columns, its goal, the seed and `extra`.

    `first` is for a required first one that is none of these; any other is a `BadParameter`.
    """
    own = {"question": task.goal, "goal": task.goal, "task_id": task.id}
    seed = attempt_seed()
    values = {**task.metadata, **own, **extra, **({} if seed is None else {"seed": seed})}
    filled: list[Any] = []
    for index, parameter in enumerate(parameters):
        if parameter.name in values:
            filled.append(values[parameter.name])
        elif parameter.default is not parameter.empty:
            filled.append(parameter.default)
        elif index == 0 and first is not None:
            filled.append(first)
        else:
            raise BadParameter(
                f"agent {agent!r} needs {parameter.name!r}, but task {task.id!r} has no such "
                f"value; there are: {', '.join(values)}. Keyword-only parameters are options; "
                "`seed` needs a run with --seed"
            )
    return filled


def _as_answer(result: object) -> Action:
    """Return the agent's answer as an action; an agent that returns `None` gives up."""
    if result is None:
        return Action("", gave_up=True)
    if isinstance(result, (str, int, float)) and not isinstance(result, bool):
        text = str(result)
        return Action(ActionCall("answer", (text,)).text, answer=text)
    action = as_action(dict(result) if isinstance(result, Mapping) else result, Observation(""))
    if action.answer is None and not action.gave_up:
        raise TypeError(
            f"the agent returned {result!r:.300}; an agent that drives the browser must return "
            "its answer, or `None`"
        )
    return action
