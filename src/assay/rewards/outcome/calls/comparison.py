"""Compare the arguments of a tool call with those that are expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from assay.rewards.outcome.calls.values import OMITTED, TextRule, equals, is_accepted

_NO_DEFAULT: Final = object()
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float),
    "float": (int, float), "array": (list,), "tuple": (list,), "object": (dict,), "dict": (dict,),
}  # fmt: skip
"""Python's types for those of schemas, BFCL's own words among them."""


class ToolSchema(NamedTuple):
    """The name, the parameters and the required parameters of a tool."""

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
        """List the differences between a call's arguments and the accepted ones."""
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
        """Whether a value is accepted, or is the default of an argument that may be omitted."""
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
        """The default of an argument from the tool's schema; `_NO_DEFAULT` if there is none."""
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
