"""The calls that are right: read from accepted answers, plain calls, and the tools' schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from assay.rewards.outcome.calls.values import OMITTED, TextRule, equals, is_accepted
from assay.schema.values import describe, is_list, is_missing, plain
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


class ToolSchema(NamedTuple):
    """What a tool says of its arguments."""

    name: str
    properties: Mapping[str, Any]
    required: frozenset[str]


class ExpectedCall(NamedTuple):
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
        differences = []
        for name, value in arguments.items():
            if self.schema is not None and name not in self.schema.properties:
                differences.append(f"{name!r:.60} is no argument of {self.title}")
            elif not self._takes(name, value, texts):
                known = name in self.accepted
                what = f"is {value!r:.60}" if known else "was not to be given"
                differences.append(f"{name!r:.60} {what}")
        left_out = [name for name in self.accepted if name not in arguments]
        missing = [name for name in left_out if not self._may_omit(name, texts)]
        required = self.schema.required if self.schema is not None else ()
        missing += [name for name in required if name not in arguments and name not in missing]
        return differences + [f"{name!r:.60} is missing" for name in missing]

    def _takes(self, name: str, value: Any, texts: TextRule) -> bool:
        """Whether the value is right, or says no more than leaving the argument out would."""
        accepted = self.accepted.get(name)
        if accepted is not None and self._fits(name, value, texts):
            return True
        default = self._default(name)
        if default is _NO_DEFAULT or not equals(value, default, texts):
            return False
        return accepted is None or OMITTED in accepted

    def _may_omit(self, name: str, texts: TextRule) -> bool:
        if OMITTED in self.accepted[name] and not self.literal and not self._requires(name):
            return True
        default = self._default(name)
        return default is not _NO_DEFAULT and self._fits(name, default, texts)

    def _default(self, argument: str) -> Any:
        """What is meant where the argument is left out; `_NO_DEFAULT` if no schema says it."""
        schema = self.schema.properties.get(argument) if self.schema is not None else None
        if not isinstance(schema, Mapping) or "default" not in schema:
            return _NO_DEFAULT
        default, types = schema["default"], _TYPES.get(str(schema.get("type")))
        # Some documents write the text "False" for the default of a boolean.
        return default if types is None or type(default) in types else _NO_DEFAULT

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


class BadColumn(ValueError):
    """A column cannot be read; the message goes on from the name of the column."""


def read_tools(tools: object) -> dict[str, ToolSchema] | None:
    """The tools by name: OpenAI's, Anthropic's or BFCL's list, or JSON text of it.

    `None` without any. Raises `BadColumn`.
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
        what = f"holds {describe(item)} that is no tool"
        raise BadColumn(f"{what}; a tool has a `name` and `parameters`")
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
    """The steps of right calls, each of calls in any order; no step where no call is right.

    `None` without a reference. Raises `BadColumn`.
    """
    value = _from_text(answer)
    if is_missing(value):
        return None
    if isinstance(value, Mapping) and is_list(plain(value.get("ground_truth"))):
        value = plain(value["ground_truth"])
    items = [plain(item) for item in value] if is_list(value) else [value]
    nested = [is_list(item) for item in items]
    if any(nested) and not all(nested):
        raise BadColumn("mixes calls with lists of calls")
    groups = [list(map(plain, item)) for item in items] if any(nested) else [items]
    if sum(map(len, groups)) > MOST_CALLS:
        raise BadColumn(f"has more than {MOST_CALLS} calls")
    steps = ([_read_call(item, tools) for item in group] for group in groups)
    return [step for step in steps if step]


def _from_text(value: object) -> Any:
    value = plain(value)
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise BadColumn("is text that is no JSON") from None


def _read_call(item: Any, tools: Mapping[str, ToolSchema] | None) -> ExpectedCall:
    if not isinstance(item, Mapping):
        raise BadColumn(f"holds {describe(item)} that is no call")
    function = item.get("function", item) if "name" not in item else item
    named = isinstance(function, Mapping) and isinstance(function.get("name"), str)
    literal = named and "arguments" in function
    if literal:
        name, arguments = function["name"], read_arguments(plain(function["arguments"]))
    elif len(item) == 1:
        ((name, arguments),) = item.items()
        arguments = plain(arguments)
    else:
        raise BadColumn("holds a mapping that is neither {name: …, arguments: …} nor {name: {…}}")
    if not isinstance(arguments, Mapping):
        raise BadColumn(f"has arguments of {name!r:.60} that are no mapping")
    schema = None if tools is None else tools.get(same_name(name))
    if tools is not None and schema is None:
        raise BadColumn(f"calls {name!r:.60}, which is not among the tools")
    values = {str(key): plain(value) for key, value in arguments.items()}
    accepted = {
        key: list(value) if is_list(value) and not literal else [value]
        for key, value in values.items()
    }
    if schema is not None:
        _check_satisfiable(name, accepted, schema)
    return ExpectedCall(same_name(name), name, accepted, literal, schema)


def _check_satisfiable(title: str, accepted: Mapping[str, list[Any]], schema: ToolSchema) -> None:
    """Raise `BadColumn` if the schema refuses every call that would be right."""
    for name, values in accepted.items():
        if name not in schema.properties and OMITTED not in values:
            raise BadColumn(f"gives {title} {name!r:.60}, which it does not take")
    for name in schema.required:
        if not accepted.get(name):
            raise BadColumn(f"gives {title} no {name!r:.60}, which it requires")
