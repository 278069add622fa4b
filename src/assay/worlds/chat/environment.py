"""A conversation as an environment: a question, tool calls and an answer."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assay.errors import BadParameter, NotReset, cause_of
from assay.registry.addresses import load_address
from assay.resources.threads import call
from assay.schema.action import ToolRequest, read_arguments, tool_call_in
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task
from assay.schema.tools import ActionTool, describe_tools, usage_line
from assay.worlds.tool import parameters_of

RESULT_CHARS = 20_000
"""Of a tool's result; a longer one is cut, and the cut is marked."""


class Chat:
    """A conversation: the agent gets a question, may call tools, and answers.

    `tools` are functions, or their addresses (`mine.py:search`), plain or async. A reply calls one
    when it ends with a line such as `search({"query": "tea"})`; what the tool returns is seen next.
    A tool that raises, or takes longer than `tool_s` seconds, has that as its result.
    """

    name = "chat"

    def __init__(
        self, *, tools: Sequence[str | Callable[..., Any]] = (), tool_s: float = 20.0
    ) -> None:
        if isinstance(tools, str):
            raise BadParameter(f"tools is {tools!r}; it must be a list, such as ['mine.py:search']")
        self._tools = dict(map(_tool, tools))
        if len(self._tools) < len(tools):
            raise BadParameter(f"two tools have the same name: {', '.join(self._tools)}")
        self._tool_s = tool_s
        self._task: Task | None = None
        self._calls = 0
        self._actions = {name: _action(name, tool) for name, tool in self._tools.items()}
        self._prompt = describe_tools(tuple(self._actions.values()))

    async def reset(self, task: Task) -> Observation:
        """Return the task's question and a list of the tools."""
        self._task, self._calls = task, 0
        return self._see(task.goal + self._prompt)

    async def step(self, action: str) -> Observation:
        """Call the tool that the action names, and return the tool's result."""
        if self._task is None:
            raise NotReset("this conversation has no task; call `reset(task)` first")
        request = tool_call_in(action, self._tools)
        if request is None:
            return self._see("no tool was called" + self._prompt)
        self._calls += 1
        text = await self._result(request)
        if len(text) <= RESULT_CHARS:
            return self._see(text)
        more = len(text) - RESULT_CHARS
        return self._see(f"{text[:RESULT_CHARS]}\n[{more:,} more characters]", truncated=True)

    async def _result(self, request: ToolRequest) -> str:
        arguments = read_arguments(request.inner)
        tool = self._tools[request.name]
        usage = usage_line(self._actions[request.name])
        if arguments is None:
            return f"error: the arguments are no JSON; call it as {usage}"
        positional, named = _by_position(tool, *arguments)
        try:
            inspect.signature(tool).bind(*positional, **named)
        except TypeError as error:
            return f"error: {error}; call it as {usage}"
        try:
            async with asyncio.timeout(self._tool_s):
                result = await call(tool, *positional, **named)
        except TimeoutError:
            return f"error: {request.name} did not return within {self._tool_s:g} s"
        except Exception as error:  # noqa: BLE001 - what a tool raises is for whoever called it
            return f"error: {cause_of(error)}"
        return result if isinstance(result, str) else _as_json(result)

    def _see(self, text: str, *, truncated: bool = False) -> Observation:
        return Observation(
            text,
            self.evidence(),
            truncated=truncated,
            tools=tuple(self._tools),
            actions=tuple(self._actions.values()),
        )

    def evidence(self) -> WorldEvidence:
        """Return the number of tool calls; a conversation has no score of its own."""
        if self._task is None:
            raise NotReset("this conversation has no task; call `reset(task)` first")
        return WorldEvidence(self.name, self._task.id, progress={"steps": self._calls})

    def forget(self) -> None:
        """Unbind it from its task."""
        self._task = None

    def alive(self) -> bool:
        """Whether the environment can be used: always true."""
        return True

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


def _tool(tool: str | Callable[..., Any]) -> tuple[str, Callable[..., Any]]:
    function = load_address(tool, "tool") if isinstance(tool, str) else tool
    if not callable(function):
        raise BadParameter(f"tool {tool!r} is {function!r:.200}; it must be a function")
    name = str(getattr(function, "__name__", type(function).__name__))
    if not name.isidentifier():
        raise BadParameter(f"tool {tool!r:.200} has no valid name; use a function with a name")
    return name, function


def _action(name: str, tool: Callable[..., Any]) -> ActionTool:
    """Return the tool in the form that native tool calls need."""

    def write(arguments: Mapping[str, Any]) -> str:
        return f"{name}({json.dumps(arguments, ensure_ascii=False)})"

    return ActionTool(name, inspect.getdoc(tool) or "", parameters_of(tool), write)


def _by_position(
    tool: Callable[..., Any], positional: list[Any], named: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments, with values of positional-only parameters moved to their position."""
    rest = dict(named)
    parameters = list(inspect.signature(tool).parameters.values())[len(positional) :]
    moved: list[Any] = []
    for parameter in parameters:
        if parameter.kind is not parameter.POSITIONAL_ONLY or parameter.name not in rest:
            break
        moved.append(rest.pop(parameter.name))
    return [*positional, *moved], rest


def _as_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return str(value)
