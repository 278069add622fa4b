"""The calls that are right: read from accepted answers, plain calls, and the tools' schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from assay.rewards.outcome.calls.values import OMITTED, TextRule, equals, is_accepted
from assay.schema.values import Unreadable, describe, is_list, is_missing, plain
from assay.text.calls import read_arguments

MOST_CALLS: Final = 64
_NO_DEFAULT: Final = object()
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "float": (int, float),
    "array": (list,),
    "tuple": (list,),
    "object": (dict,),
    "dict": (dict,),
}
"""Python's types for those of schemas, BFCL's own words among them."""


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """What a tool says of its arguments."""

    name: str
    properties: Mapping[str, Any]
    required: frozenset[str]

    def default(self, argument: str) -> Any:
        """What is meant where the argument is left out; `_NO_DEFAULT` if the schema is silent."""
        schema = self.properties.get(argument)
        if not isinstance(schema, Mapping) or "default" not in schema:
            return _NO_DEFAULT
        default, types = schema["default"], _TYPES.get(str(schema.get("type")))
        # Some documents write the text "False" for the default of a boolean.
        return default if types is None or type(default) in types else _NO_DEFAULT


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """One call that is right."""

    name: str
    """As tools compare it: see `same_name`."""
    title: str
    accepted: Mapping[str, list[Any]]
    """By argument: the values that are right for it."""
    literal: bool
    """Whether a record among the values stands for itself, and does not list accepted values."""
    schema: ToolSchema | None

    def differences(self, arguments: Mapping[str, Any], texts: TextRule) -> list[str]:
        """What is wrong with the arguments of a call, in words; nothing for a right one."""
        wrong = [name for name in arguments if not self._takes(name, arguments[name], texts)]
        missing = [
            name
            for name in self.accepted
            if name not in arguments and not self._may_omit(name, texts)
        ]
        required = self.schema.required if self.schema is not None else ()
        missing += [name for name in required if name not in arguments and name not in missing]
        return [
            *(self._in_words(name, arguments[name]) for name in wrong),
            *(f"{name!r:.60} is missing" for name in missing),
        ]

    def _in_words(self, name: str, value: Any) -> str:
        if self.schema is not None and name not in self.schema.properties:
            return f"{name!r:.60} is no argument of {self.title}"
        if name not in self.accepted:
            return f"{name!r:.60} was not to be given"
        return f"{name!r:.60} is {value!r:.60}"

    def _takes(self, name: str, value: Any, texts: TextRule) -> bool:
        """Whether the value is right, or says no more than leaving the argument out would."""
        if self.schema is not None and name not in self.schema.properties:
            return False
        accepted = self.accepted.get(name)
        if accepted is not None and self._fits(name, value, texts):
            return True
        default = _NO_DEFAULT if self.schema is None else self.schema.default(name)
        if default is _NO_DEFAULT or not equals(value, default, texts):
            return False
        return accepted is None or OMITTED in accepted

    def _may_omit(self, name: str, texts: TextRule) -> bool:
        accepted = self.accepted[name]
        if OMITTED in accepted and not self.literal and not self._requires(name):
            return True
        default = _NO_DEFAULT if self.schema is None else self.schema.default(name)
        return default is not _NO_DEFAULT and self._fits(name, default, texts)

    def _fits(self, name: str, value: Any, texts: TextRule) -> bool:
        accepted = self.accepted[name]
        if self.literal:
            return equals(value, accepted[0], texts)
        if value == OMITTED and not self._requires(name):
            # It says that the argument may be left out, not that it may be empty.
            return False
        return is_accepted(value, accepted, texts)

    def _requires(self, name: str) -> bool:
        return self.schema is not None and name in self.schema.required


def same_name(name: str) -> str:
    """A name as tools compare it: chat APIs allow no dot in one, and harnesses write `_` for it."""
    return name.replace(".", "_")


def read_tools(tools: object) -> dict[str, ToolSchema] | Unreadable | None:
    """The tools by name: OpenAI's, Anthropic's or BFCL's list, or JSON text of it.

    `None` without any.
    """
    value = _from_text(tools)
    if isinstance(value, Unreadable) or is_missing(value):
        return value if isinstance(value, Unreadable) else None
    schemas: dict[str, ToolSchema] = {}
    for item in map(plain, value if is_list(value) else [value]):
        schema = _read_tool(item)
        if schema is None:
            return Unreadable(
                f"holds {describe(item)} that is no tool; a tool has a `name` and `parameters`"
            )
        schemas[same_name(schema.name)] = schema
    return schemas


def _read_tool(item: Any) -> ToolSchema | None:
    if not isinstance(item, Mapping):
        return None
    function = item.get("function", item)
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str):
        return None
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
) -> list[list[ExpectedCall]] | Unreadable | None:
    """The steps of right calls, each of calls in any order; no step where no call is right.

    `None` without a reference. Raises nothing: what cannot be read is `Unreadable`.
    """
    value = _from_text(answer)
    if isinstance(value, Unreadable) or is_missing(value):
        return value if isinstance(value, Unreadable) else None
    if isinstance(value, Mapping) and is_list(plain(value.get("ground_truth"))):
        value = plain(value["ground_truth"])
    items = [plain(item) for item in value] if is_list(value) else [value]
    nested = [is_list(item) for item in items]
    if any(nested) and not all(nested):
        return Unreadable("mixes calls with lists of calls")
    groups = [list(map(plain, item)) for item in items] if any(nested) else [items]
    if sum(map(len, groups)) > MOST_CALLS:
        return Unreadable(f"has more than {MOST_CALLS} calls")
    steps: list[list[ExpectedCall]] = []
    for group in groups:
        calls: list[ExpectedCall] = []
        for item in group:
            call = _read_call(item, tools)
            if isinstance(call, Unreadable):
                return call
            calls.append(call)
        if calls:
            steps.append(calls)
    return steps


def _from_text(value: object) -> Any:
    value = plain(value)
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return Unreadable("is text that is no JSON")


def _read_call(item: Any, tools: Mapping[str, ToolSchema] | None) -> ExpectedCall | Unreadable:
    if not isinstance(item, Mapping):
        return Unreadable(f"holds {describe(item)} that is no call")
    function = item.get("function", item) if "name" not in item else item
    literal = (
        isinstance(function, Mapping)
        and isinstance(function.get("name"), str)
        and ("arguments" in function)
    )
    if literal:
        name, arguments = function["name"], read_arguments(plain(function["arguments"]))
    elif len(item) == 1:
        ((name, arguments),) = item.items()
        arguments = plain(arguments)
    else:
        return Unreadable("holds a mapping that is neither {name: …, arguments: …} nor {name: {…}}")
    if not isinstance(arguments, Mapping):
        return Unreadable(f"has arguments of {name!r:.60} that are no mapping")
    schema = None if tools is None else tools.get(same_name(name))
    if tools is not None and schema is None:
        return Unreadable(f"calls {name!r:.60}, which is not among the tools")
    accepted = {
        str(key): [value] if literal else list(value) if is_list(value) else [value]
        for key, value in ((key, plain(value)) for key, value in arguments.items())
    }
    return _satisfiable(ExpectedCall(same_name(name), name, accepted, literal, schema))


def _satisfiable(call: ExpectedCall) -> ExpectedCall | Unreadable:
    """The call, unless its own schema refuses every call that would be right."""
    if call.schema is None:
        return call
    for name, values in call.accepted.items():
        if name not in call.schema.properties and OMITTED not in values:
            return Unreadable(f"gives {call.title} {name!r:.60}, which it does not take")
    for name in call.schema.required:
        if not call.accepted.get(name):
            return Unreadable(f"gives {call.title} no {name!r:.60}, which it requires")
    return call
