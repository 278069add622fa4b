"""Read option values from text according to the parameter's type annotation."""

from __future__ import annotations

import functools
import inspect
import json
import math
import operator
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

UNKNOWN = inspect.Parameter.empty
"""The annotation of a parameter that has none, or one that cannot be read."""


def annotations_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The type annotation of each parameter, resolved from text where possible."""
    own = getattr(function, "annotations", None)
    if isinstance(own, dict):
        return own  # of what stands for another callable, with that one's parameters
    parameters = inspect.signature(function).parameters
    try:
        hints = typing.get_type_hints(_code_of(function))
    except Exception:  # noqa: BLE001 - an annotation may be any expression, of names that are not imported
        hints = {}
    return {
        name: hints.get(name, _plain(parameter.annotation))
        for name, parameter in parameters.items()
    }


class OptionText(str):
    """The text that a person typed as the value of an option."""

    __slots__ = ()


def read_option(value: Any, annotation: Any) -> Any:
    """Convert an `OptionText` to a JSON value or a text, as the annotation requires.

    `43` is a number for an option that is an `int`, and a text for one that is a `str`. Where the
    annotation admits neither, it is JSON, for the option to refuse. Other values stay.
    """
    if not isinstance(value, OptionText):
        return value
    parsed = json_or_text(value)
    is_text = not admits(annotation, parsed) and admits(annotation, str(value))
    return str(value) if is_text else parsed


def json_or_text(text: str) -> Any:
    """Parse a text as JSON, or return the text if it is not valid JSON.

    A number that a record could not hold (NaN, infinity, more than 64 bits) is text too.
    """
    try:
        return json.loads(
            text, parse_int=_whole_number, parse_float=_number, parse_constant=_number
        )
    except (ValueError, RecursionError):
        return str(text)


def _whole_number(digits: str) -> int:
    number = int(digits)
    if not -(2**63) <= number < 2**64:
        raise ValueError(f"the integer {digits[:40]} has more than 64 bits")
    return number


def _number(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {digits[:40]} is not finite")
    return number


def _code_of(function: Callable[..., Any]) -> Any:
    """The function that has the annotations: `__init__` of a class, `__call__` of an object."""
    if inspect.isclass(function):
        return vars(function).get("__init__", getattr(function, "__init__", None))
    is_plain = inspect.isroutine(function) or isinstance(function, functools.partial)
    return function if is_plain else type(function).__call__


def admits(annotation: Any, value: Any) -> bool:
    """Whether a type annotation allows a JSON value; an unknown annotation allows all."""
    return any(_admits_one(member, value) for member in _members(annotation))


def names_none(annotation: Any) -> bool:
    """Whether the annotation contains `None`, as in `str | None`."""
    return any(member is None or member is type(None) for member in _members(annotation))


def _members(annotation: Any) -> Iterator[Any]:
    """The types in a union; any other annotation is returned alone."""
    origin = get_origin(annotation)
    if origin is typing.Annotated:
        yield from _members(get_args(annotation)[0])
    elif origin in (Union, types.UnionType):
        for member in get_args(annotation):
            yield from _members(member)
    else:
        yield annotation


def _admits_one(member: Any, value: Any) -> bool:
    if member is None or member is type(None):
        return value is None
    if get_origin(member) is Literal:
        return any(value == choice and type(value) is type(choice) for choice in get_args(member))
    kind = get_origin(member) or member
    if not isinstance(kind, type) or kind in (object, Any, UNKNOWN):
        return True
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if isinstance(value, str):
        return issubclass(kind, str)
    if isinstance(value, (list, dict)):
        return _is_container(kind, Sequence if isinstance(value, list) else Mapping)
    return kind is type(value)


def _is_container(kind: type, shape: type) -> bool:
    """Whether a type accepts the given container type; text types do not."""
    if issubclass(kind, (str, bytes)):
        return False
    try:
        return issubclass(kind, shape) or issubclass(shape, kind)
    except TypeError:
        # A protocol whose members are not only methods cannot be asked.
        return True


def _plain(annotation: Any) -> Any:
    """Resolve a text annotation of plain types, such as `str | None`."""
    if not isinstance(annotation, str):
        return annotation
    known: dict[str, Any] = {
        "str": str, "int": int, "float": float, "bool": bool, "None": type(None)
    }  # fmt: skip
    members = [member.strip() for member in annotation.split("|")]
    if not all(member in known for member in members):
        return UNKNOWN
    return functools.reduce(operator.or_, (known[member] for member in members))
