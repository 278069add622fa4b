"""Read the expected calls and the tools' schemas from the columns of a row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from assay.rewards.outcome.calls.comparison import ExpectedCall, ToolSchema
from assay.rewards.outcome.calls.values import OMITTED
from assay.schema.values import describe, is_list, is_missing, plain
from assay.text.calls import read_arguments

MOST_CALLS: Final = 64


def same_name(name: str) -> str:
    """A tool's name with `_` for each dot, since chat APIs do not allow dots."""
    return name.replace(".", "_")


class BadColumn(ValueError):
    """A column of calls or tools cannot be read; the message says why."""


def read_tools(tools: object) -> dict[str, ToolSchema] | None:
    """Read the tools by name, from a list or its JSON text.

    The formats of OpenAI, Anthropic and BFCL are read; `None` without tools. Raises `BadColumn`.
    """
    value = _from_text(tools)
    if is_missing(value):
        return None
    schemas = map(_read_tool, value if is_list(value) else [value])
    return {same_name(schema.name): schema for schema in schemas}


def _read_tool(item: Any) -> ToolSchema:
    item = plain(item)
    function = item.get("function", item) if isinstance(item, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(name, str):
        what = f"the list holds {describe(item)} instead of a tool"
        raise BadColumn(f"{what}; give each tool a `name` and `parameters`")
    schema = function.get("parameters", function.get("input_schema"))
    schema = schema if isinstance(schema, Mapping) else {}
    properties, required = schema.get("properties"), plain(schema.get("required"))
    return ToolSchema(
        name,
        properties if isinstance(properties, Mapping) else {},
        frozenset(map(str, required)) if is_list(required) else frozenset(),
    )


def read_steps(
    answer: object, tools: Mapping[str, ToolSchema] | None
) -> list[list[ExpectedCall]] | None:
    """Read the steps, each a list of calls in any order; an empty list if no call is expected."""
    value = _from_text(answer)
    if is_missing(value):
        return None
    if isinstance(value, Mapping) and is_list(plain(value.get("ground_truth"))):
        value = plain(value["ground_truth"])
    items = [plain(item) for item in value] if is_list(value) else [value]
    nested = [is_list(item) for item in items]
    if any(nested) and not all(nested):
        raise BadColumn("the list holds both calls and lists of calls; use only one of them")
    groups = [list(map(plain, item)) for item in items] if any(nested) else [items]
    if sum(map(len, groups)) > MOST_CALLS:
        raise BadColumn(f"there are more than {MOST_CALLS} calls")
    steps = ([_read_call(item, tools) for item in group] for group in groups)
    return [step for step in steps if step]


def _from_text(value: object) -> Any:
    value = plain(value)
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise BadColumn("the text is not valid JSON") from None


def _read_call(item: Any, tools: Mapping[str, ToolSchema] | None) -> ExpectedCall:
    if not isinstance(item, Mapping):
        raise BadColumn(f"the list holds {describe(item)} instead of a call")
    function = item.get("function", item) if "name" not in item else item
    named = isinstance(function, Mapping) and isinstance(function.get("name"), str)
    literal = named and "arguments" in function
    if literal:
        name, arguments = function["name"], read_arguments(plain(function["arguments"]))
    elif len(item) == 1:
        ((name, arguments),) = item.items()
        arguments = plain(arguments)
    else:
        raise BadColumn("a call must be {name: …, arguments: …} or {name: {…}}")
    if not isinstance(arguments, Mapping):
        raise BadColumn(f"the arguments of the call {name!r:.60} are not a mapping")
    schema = None if tools is None else tools.get(same_name(name))
    if tools is not None and schema is None:
        raise BadColumn(f"the call {name!r:.60} has no tool in the column 'tools'")
    values = {str(key): plain(value) for key, value in arguments.items()}
    accepted = {
        key: list(value) if is_list(value) and not literal else [value]
        for key, value in values.items()
    }
    if schema is not None:
        _check_satisfiable(name, accepted, schema)
    return ExpectedCall(same_name(name), name, accepted, literal, schema)


def _check_satisfiable(title: str, accepted: Mapping[str, list[Any]], schema: ToolSchema) -> None:
    """Raise `BadColumn` if the tool's schema refuses every accepted call."""
    for name, values in accepted.items():
        if name not in schema.properties and OMITTED not in values:
            raise BadColumn(f"a call gives the tool {title} an unknown argument, {name!r:.60}")
    for name in schema.required:
        if not accepted.get(name):
            raise BadColumn(f"a call gives the tool {title} no {name!r:.60}, a required argument")
