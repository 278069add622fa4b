"""Tools: functions with a JSON schema that a model can call.

    @tool
    async def alfworld_step(context: Context, action: Annotated[str, "A command"]) -> Observation:
        \"""Carry out one command in the household.\"""
        return await (await context.environment("alfworld")).step(action)

What the model writes is untrusted: arguments that do not fit become an observation that says what
is possible. Only an environment that died, or a task that does not exist, raises.
"""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from assay.errors import BadParameter
from assay.registry.annotations import annotations_of
from assay.resources.context import Context
from assay.schema.observation import Observation
from assay.schema.tools import Schema

ARGUMENTS_LIMIT = 200_000
"""Characters of a tool call's arguments that are read; longer ones are refused unread."""

_SCALARS: Mapping[type, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_PYTHON: Mapping[str, type | tuple[type, ...]] = {
    **{name: kind for kind, name in _SCALARS.items()},
    "number": (int, float),
    "array": list,
    "null": types.NoneType,
}


@dataclass(frozen=True, slots=True)
class Tool:
    """A function with a schema; `await tool(context, action="look")` returns a text."""

    name: str
    description: str
    parameters: Schema
    """JSON schema of the arguments: an object, closed to other names."""
    function: Callable[..., Awaitable[Observation | str]]

    def schema(self) -> Schema:
        """Return the tool in the form of an entry of `tools` in chat APIs."""
        names = ("name", "description", "parameters")
        return {"type": "function", "function": {name: getattr(self, name) for name in names}}

    async def __call__(self, context: Context, /, **arguments: object) -> str:
        """Call the tool, and return its text; wrong arguments give a text, not an error."""
        return (await self.observe(context, arguments)).text

    async def observe(self, context: Context, arguments: Mapping[str, object] | str) -> Observation:
        """Call the tool with a mapping or a model's JSON text, and return the observation."""
        values = _parse(arguments) if isinstance(arguments, str) else arguments
        problem = values if isinstance(values, str) else self._problem(values)
        if isinstance(values, str) or problem:
            return Observation(f"{self.name} was not called: {problem}. {self._usage()}")
        result = await self.function(context, **values)
        return Observation(result) if isinstance(result, str) else result

    def _problem(self, arguments: Mapping[str, object]) -> str:
        properties: Schema = self.parameters["properties"]
        for name in self.parameters["required"]:
            if name not in arguments:
                return f"the argument {name!r} is missing"
        for name, value in arguments.items():
            if name not in properties:
                return f"it has no argument {str(name)[:80]!r}"
            if not _fits(value, properties[name]):
                return f"{name!r} does not take {_short(value)}"
        return ""

    def _usage(self) -> str:
        properties: Schema = self.parameters["properties"]
        if not properties:
            return "It takes no arguments."
        usage = ", ".join(f"{name}: {_describe(schema)}" for name, schema in properties.items())
        return f"Its arguments: {usage}."


def tool(function: Callable[..., Awaitable[Observation | str]], /) -> Tool:
    """Make a tool of a function, with the function's name and docstring.

    The first parameter receives the Context. The others need annotations out of `str`, `int`,
    `float`, `bool`, `Literal[…]`, `list[…]` and `… | None`; `Annotated[…, "text"]` describes one.
    """
    name = function.__name__
    hints = get_type_hints(function, include_extras=True)
    _, *parameters = inspect.signature(function).parameters.values()
    properties: Schema = {}
    required: list[str] = []
    for parameter in parameters:
        if parameter.name not in hints:
            raise BadParameter(f"tool {name!r}: the parameter {parameter.name!r} has no annotation")
        schema = _to_schema(hints[parameter.name], f"tool {name!r}: {parameter.name!r}")
        if parameter.default is inspect.Parameter.empty:
            required.append(parameter.name)
        else:
            schema["default"] = parameter.default
        properties[parameter.name] = schema
    description = inspect.cleandoc(function.__doc__ or "")
    return Tool(name, description, _object_schema(properties, required), function)


def parameters_of(function: Callable[..., Any]) -> Schema:
    """Return a JSON schema of the arguments of any function.

    A parameter whose annotation is missing, or has no schema here, takes anything.
    """
    hints = _hints(function)
    properties: Schema = {}
    required: list[str] = []
    closed = True
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            closed = closed and parameter.kind is not parameter.VAR_KEYWORD
            continue
        try:
            properties[parameter.name] = _to_schema(hints.get(parameter.name), parameter.name)
        except BadParameter:
            properties[parameter.name] = {}
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    return _object_schema(properties, required, closed=closed)


def _object_schema(properties: Schema, required: list[str], *, closed: bool = True) -> Schema:
    schema = {"type": "object", "properties": properties, "required": required}
    return {**schema, "additionalProperties": not closed}


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except Exception:  # noqa: BLE001 - an annotation may be any expression, of names that are not imported
        return annotations_of(function)


def _to_schema(hint: Any, where: str) -> Schema:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        schema = _to_schema(arguments[0], where)
        texts = [extra for extra in arguments[1:] if isinstance(extra, str)]
        return {**schema, "description": " ".join(texts)} if texts else schema
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    if origin is Literal:
        return {"type": "string", "enum": list(arguments)}
    if origin is list:
        return {"type": "array", "items": _to_schema(arguments[0], where)}
    if origin in (Union, types.UnionType) and len(arguments) == 2 and type(None) in arguments:
        inner = next(argument for argument in arguments if argument is not type(None))
        return {"anyOf": [_to_schema(inner, where), {"type": "null"}]}
    raise BadParameter(f"{where} has the annotation {hint!r}, for which there is no JSON schema")


def _fits(value: object, schema: Schema) -> bool:
    if "anyOf" in schema:
        return any(_fits(value, option) for option in schema["anyOf"])
    kind = schema["type"]
    # To Python a bool is an int; to JSON it is not.
    if not isinstance(value, _PYTHON[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return False
    if isinstance(value, list):
        return all(_fits(item, schema["items"]) for item in value)
    return value in schema.get("enum", (value,))


def _parse(text: str) -> Mapping[str, object] | str:
    """Return the arguments as a mapping, or a text that says what is wrong with them."""
    if len(text) > ARGUMENTS_LIMIT:
        return f"its arguments are {len(text)} characters long, more than {ARGUMENTS_LIMIT}"
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        return f"its arguments are not valid JSON ({str(error)[:120]})"
    if not isinstance(value, dict):
        return f"its arguments are a JSON object, not {_short(value)}"
    return value


def _short(value: object) -> str:
    if isinstance(value, str):
        return repr(value[:80])
    if value is None or isinstance(value, (bool, float)):
        return repr(value)
    return f"a {type(value).__name__}"


def _describe(schema: Schema) -> str:
    if "anyOf" in schema:
        return " or ".join(_describe(option) for option in schema["anyOf"])
    if "enum" in schema:
        return f"one of {', '.join(map(repr, schema['enum']))}"
    if schema["type"] == "array":
        return f"list of {_describe(schema['items'])}"
    return str(schema["type"])
