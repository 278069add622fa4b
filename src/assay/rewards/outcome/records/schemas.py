"""Check a value against a JSON Schema with `jsonschema`, within limits.

Nothing is fetched: a `$ref` leads to the schema itself. Patterns are matched in linear time, and
uniqueness is found without comparing every pair; each keyword that is asked counts, and so many
are the end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from assay.errors import MissingExtra
from assay.rewards.outcome.patterns import TextPattern, TooMuchWork, UnsafePattern, compile_pattern
from assay.rewards.outcome.records.comparison import levels_of
from assay.schema.values import Unreadable

MOST_CHECKS: Final = 30_000
"""Keywords that are asked of one value."""
SHALLOW: Final = 20
"""Levels of a value on which no schema runs out of stack that does not go round in circles."""
_ESCAPE_OR_CLASS: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*(?:\]|\\?\Z)", re.DOTALL)


class SchemaError(Exception):
    """The schema cannot be used."""


class _TooMuch(Exception):
    """Checking the value against its schema takes too many steps."""


def check_value(value: Any, schema: Any) -> str:
    """The first reason why a value is not valid; empty for a valid value. Raises `SchemaError`."""
    try:
        validator = _validator(json.dumps(schema, sort_keys=True))
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaError(f"is not valid JSON: {error!s:.100}") from error
    if isinstance(validator, Unreadable):
        raise SchemaError(validator.because)
    from referencing.exceptions import Unresolvable

    try:
        fault = next(validator([MOST_CHECKS]).iter_errors(value), None)
    except (_TooMuch, TooMuchWork):
        return "needs too many checks for its schema"
    except ArithmeticError:
        return "holds a number that is too large for its schema"
    except UnsafePattern as error:
        raise SchemaError(f"has a pattern that {error!s:.200}") from error
    except RecursionError as error:
        if levels_of(value) > SHALLOW:
            return "has too many levels for its schema"
        raise SchemaError("refers to itself in a circle") from error
    except Unresolvable as error:
        raise SchemaError(f"has a reference that cannot be resolved: {error!s:.150}") from error
    return "" if fault is None else f"{fault.json_path:.80}: {fault.message:.150}"


@lru_cache(maxsize=256)
def _validator(text: str) -> Callable[[list[int]], Any] | Unreadable:
    """Return a function that makes validators with a budget of checks, or why there is none."""
    try:
        import jsonschema  # type: ignore[import-untyped]  # it comes without types
        import referencing
    except ImportError as error:
        raise MissingExtra.of("a schema", "jsonschema") from error
    schema = json.loads(text)
    if not isinstance(schema, (dict, bool)):
        return Unreadable("is not a JSON schema; give an object, true or false")
    draft: Any = jsonschema.validators.validator_for(
        schema, default=jsonschema.Draft202012Validator
    )
    try:
        draft.check_schema(schema)
    except jsonschema.exceptions.SchemaError as error:
        return Unreadable(f"is not a JSON schema: {error.message:.150}")
    except RecursionError:
        return Unreadable("is not a JSON schema: it has too many levels")
    registry: Any = referencing.Registry()

    def bound(budget: list[int]) -> Any:
        own = {
            "pattern": _pattern,
            "patternProperties": _pattern_properties,
            "uniqueItems": _unique,
        }
        known = draft.VALIDATORS.items()
        keywords = {name: _counted(own.get(name, function), budget) for name, function in known}
        return jsonschema.validators.extend(draft, keywords)(schema, registry=registry)

    return bound


def _counted(function: Any, budget: list[int]) -> Any:
    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        budget[0] -= 1
        if budget[0] < 0:
            raise _TooMuch
        return function(validator, value, instance, schema)

    return check


def _pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[Any]:
    del schema
    if validator.is_type(instance, "string") and not _searches(pattern, instance):
        yield _error(f"{instance!r:.60} does not match {pattern!r:.60}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: Any, schema: Any
) -> Iterator[Any]:
    del schema
    if not validator.is_type(instance, "object"):
        return
    for pattern, below in patterns.items():
        for key, value in instance.items():
            if _searches(pattern, key):
                yield from validator.descend(value, below, path=key, schema_path=pattern)


def _unique(validator: Any, unique: Any, instance: Any, schema: Any) -> Iterator[Any]:
    del schema
    if unique and validator.is_type(instance, "array"):
        forms = {_form(item) for item in instance}
        if len(forms) < len(instance):
            yield _error("the items are not all different")


def _form(value: Any) -> str:
    """A text that is equal for equal JSON values: 1.0 equals 1, and true does not."""
    return json.dumps(_with_whole_numbers(value), sort_keys=True)


def _with_whole_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _with_whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_whole_numbers(item) for item in value]
    return value


def _error(message: str) -> Any:
    import jsonschema

    return jsonschema.exceptions.ValidationError(message)


def _searches(pattern: str, text: str) -> bool:
    return _compiled(pattern).matches(text)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> TextPattern:
    """Compile a pattern to search with by matching a whole text. Raises `UnsafePattern`."""
    start = pattern.startswith("^")
    end = pattern.endswith("$") and (len(pattern) - len(pattern[:-1].rstrip("\\"))) % 2 == 1
    core = pattern[start : len(pattern) - end]
    if (start or end) and _has_choice(core):
        raise UnsafePattern("uses ^ or $ with alternatives outside of brackets")
    return compile_pattern(f"{'' if start else '.*'}(?:{core}){'' if end else '.*'}")


def _has_choice(core: str) -> bool:
    """Whether the pattern has a `|` outside of brackets."""
    depth = 0
    for char in _ESCAPE_OR_CLASS.sub("", core):
        if char == "|" and not depth:
            return True
        depth += (char == "(") - (char == ")")
    return False
