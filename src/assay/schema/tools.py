"""Describe an environment's actions as chat API tools, and read a model's tool calls."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from assay.schema.action import ActionCall

Schema: TypeAlias = dict[str, Any]
"""A JSON schema, or a part of one."""

ARGUMENTS_CHARS: Final = 200_000
"""Of the arguments of one call; longer ones are refused unread."""


@dataclass(frozen=True, slots=True)
class ActionTool:
    """One action as a tool: its description, its parameters and the text of the action."""

    name: str
    description: str
    parameters: Schema
    """JSON schema of the arguments: an object."""
    write: Callable[[Mapping[str, Any]], str]
    """The action's text for arguments that have passed `read_tool_call`."""

    def schema(self) -> Schema:
        """The tool in the format of the `tools` list of OpenAI's chat API."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
        return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class BadCall:
    """An invalid tool call; `because` tells the model the reason."""

    because: str


def text_tool(
    name: str,
    description: str,
    parameters: Mapping[str, str],
    write: Callable[[Mapping[str, Any]], str] | None = None,
) -> ActionTool:
    """Create a tool of required text parameters; its action is `name("…", "…")` by default."""
    properties = {
        parameter: {"type": "string", "description": text} for parameter, text in parameters.items()
    }
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(parameters),
        "additionalProperties": False,
    }

    def call(arguments: Mapping[str, Any]) -> str:
        return ActionCall(name, tuple(as_text(arguments[each]) for each in parameters)).text

    return ActionTool(name, description, schema, write or call)


def action_tool(description: str, action: str) -> ActionTool:
    """Create the tool `act`, whose only argument is the text of an action."""
    return text_tool(
        "act", description, {"action": action}, lambda arguments: as_text(arguments["action"])
    )


ANY_ACTION: Final = action_tool("Do one action, written as the environment reads it.", "the action")
"""For an environment that does not list its actions."""
ANSWER: Final = text_tool(
    "answer", "Give the answer; this ends the work.", {"text": "the answer alone"}
)


def read_tool_call(
    name: str, arguments: str, tools: Mapping[str, ActionTool]
) -> dict[str, Any] | BadCall:
    """Read and check the arguments of a tool call; return `BadCall` if they are wrong."""
    tool = tools.get(name)
    if tool is None:
        return BadCall(f"there is no tool {name[:80]!r}; the tools are {', '.join(tools)}")
    if len(arguments) > ARGUMENTS_CHARS:
        return BadCall(f"the arguments of {name} are longer than {ARGUMENTS_CHARS:,} characters")
    try:
        values = json.loads(arguments if arguments.strip() else "{}", strict=False)
    except (ValueError, RecursionError):
        return BadCall(f"the arguments of {name} are no valid JSON; {_usage(tool)}")
    if not isinstance(values, dict):
        return BadCall(f"the arguments of {name} are no JSON object; {_usage(tool)}")
    problem = _problem(values, tool.parameters)
    return BadCall(f"{name} was not called: {problem}; {_usage(tool)}") if problem else values


def _problem(values: Mapping[str, Any], parameters: Schema) -> str:
    for required in parameters.get("required", ()):
        if required not in values:
            return f"the argument {required!r} is missing"
    known = parameters.get("properties", {})
    if parameters.get("additionalProperties") is False:
        for name in values:
            if name not in known:
                return f"it has no argument {name[:80]!r}"
    return ""


def _usage(tool: ActionTool) -> str:
    names = tool.parameters.get("properties", {})
    return f"its arguments are {', '.join(names)}" if names else "it takes no arguments"


def as_text(value: Any) -> str:
    """Convert an argument to text; an argument of another type becomes JSON."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""


def describe_tools(tools: Sequence[ActionTool]) -> str:
    """Describe the tools in text for a model; the text is empty without tools."""
    if not tools:
        return ""
    purposes = (tool.description.partition("\n")[0] for tool in tools)
    pairs = zip(tools, purposes, strict=True)
    lines = [f"- {usage_line(tool)}{line and f': {line}'}" for tool, line in pairs]
    return (
        "\n\nThere are tools. To call one, end your reply with a line of this form, alone:\n"
        + "\n".join(lines)
        + "\nA reply without a call is your answer."
    )


def usage_line(tool: ActionTool) -> str:
    """An example call of a tool as text, with its parameters."""
    pairs = ", ".join(f'"{parameter}": …' for parameter in tool.parameters["properties"])
    return f"{tool.name}({{{pairs}}})"
