"""Find a reward's parameters in the columns of a row, and check their values."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from types import NoneType
from typing import Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin

from assay.errors import BadParameter, MissingParameter
from assay.registry import RewardSpec
from assay.registry.annotations import UNKNOWN, admits, annotations_of
from assay.schema.values import OversizedInteger, is_list, is_missing, plain

_OF_JSON = (str, int, float, list, OversizedInteger, NoneType)
"""Values without attributes of their own: what stands behind them is Python."""


class NoSuchPath(LookupError):
    """The row has the column, but its value has nothing at the rest of the path."""


def check_columns(spec: RewardSpec, columns: Mapping[str, str]) -> None:
    """Raise `BadParameter` for an unknown parameter, or a column that is not text."""
    parameters = {*spec.required, *spec.optional}
    for parameter, column in columns.items():
        if not isinstance(column, str):
            raise BadParameter(
                f"{parameter}={column!r}: give the name of the column with {parameter!r}; "
                "options of the reward belong in params="
            )
        if parameter not in parameters and not spec.takes_any:
            raise BadParameter(
                f"{spec.name} has no parameter {parameter!r}; it takes {sorted(parameters)}"
            )


def look_up(
    row: Mapping[str, Any], path: str, parameter: str, reward: str, *, attributes: bool = True
) -> Any:
    """Find a value by column or dotted path. Raises `MissingParameter` or `NoSuchPath`.

    With `attributes` a path may also name public attributes of values that JSON does not have.
    """
    if path in row:
        return row[path]
    first, *rest = path.split(".")
    if first not in row:
        have = ", ".join(sorted(map(str, row))) or "nothing"
        raise MissingParameter(
            f"{reward} takes {parameter!r} from the column {path!r}, which the row lacks; "
            f"the row has: {have}"
        )
    value = row[first]
    for step in rest:
        if isinstance(value, Mapping):
            exists = step in value
            value = value[step] if exists else None
        elif not attributes or step[:1] == "_" or isinstance(value, _OF_JSON):
            exists = False
        else:
            exists = hasattr(value, step)
            value = getattr(value, step, None)
        if not exists:
            raise NoSuchPath(f"{reward} takes {parameter!r} from {path!r}, which the row lacks")
    return value


_Test: TypeAlias = Callable[[Any], bool]


class ColumnKind(NamedTuple):
    """The values that a parameter accepts, by its annotation."""

    accepts: _Test
    """Whether a plain value is one of them."""
    text: str
    """What they are, for a message: `text`, `a list of text`, …"""
    takes_any_text: bool = False


TEXT = ColumnKind(lambda value: isinstance(value, str), "text", takes_any_text=True)
_NOTHING = ColumnKind(is_missing, "None")
_SIMPLE: Mapping[Any, ColumnKind] = {
    str: TEXT,
    bool: ColumnKind(lambda value: isinstance(value, bool), "true or false"),
    int: ColumnKind(
        lambda value: isinstance(value, int) and not isinstance(value, bool), "a whole number"
    ),
    float: ColumnKind(
        lambda value: (
            isinstance(value, (int, float))
            and not isinstance(value, bool)
            and not is_missing(value)
        ),
        "a number",
    ),
    bytes: ColumnKind(lambda value: isinstance(value, bytes), "bytes"),
    None: _NOTHING,
    types.NoneType: _NOTHING,
}
RESPONSE = "final_response"
_LISTS = (list, tuple, set, frozenset, Sequence, Collection, Iterable)


def asks_for_none(function: Callable[..., Any]) -> bool:
    """Whether the reward accepts a row without a response.

    Its annotation admits `None` (`str | None`, `object`), or `None` is the parameter's default. One
    that names no type and takes the rollout's `context` does too, since it is the environment that
    it asks; and one that does not read the response.
    """
    parameters = inspect.signature(function).parameters
    if RESPONSE not in parameters or parameters[RESPONSE].default is None:
        return True
    annotation = annotations_of(function).get(RESPONSE, UNKNOWN)
    return "context" in parameters if annotation is UNKNOWN else admits(annotation, None)


def _kind(annotation: Any) -> ColumnKind | None:
    """The values that an annotation accepts; `None` if they cannot be tested."""
    try:
        if annotation in _SIMPLE:
            return _SIMPLE[annotation]
    except TypeError:  # what cannot be hashed is none of them
        return None
    origin = get_origin(annotation) or annotation
    if origin in (Union, types.UnionType):
        return _union([_kind(each) for each in get_args(annotation)])
    if origin is Literal:
        choices = get_args(annotation)
        return ColumnKind(lambda value: value in choices, f"one of {choices!r:.100}")
    if origin in _LISTS:
        return _list([each for each in get_args(annotation) if each is not Ellipsis])
    if origin in (dict, Mapping):
        return ColumnKind(lambda value: isinstance(value, Mapping), "a mapping")
    return None


def _union(kinds: Sequence[ColumnKind | None]) -> ColumnKind | None:
    known = [kind for kind in kinds if kind is not None]
    if len(known) < len(kinds):
        return None
    texts = [kind.text for kind in known if kind is not _NOTHING]
    return ColumnKind(
        lambda value: any(kind.accepts(value) for kind in known),
        " or ".join(texts) or "None",
        any(kind.takes_any_text for kind in known),
    )


def _list(items: Sequence[Any]) -> ColumnKind:
    kinds = [_kind(item) for item in items]
    item = _union(kinds) if kinds else None
    if item is None:
        return ColumnKind(is_list, "a list")
    accepts = item.accepts
    return ColumnKind(
        lambda value: is_list(value) and all(map(accepts, map(plain, value))),
        f"a list of {item.text}",
    )


class RowSignature(NamedTuple):
    """The accepted values of each parameter of a reward, by its annotations."""

    kinds: Mapping[str, ColumnKind]
    """Of the columns that it takes; the response is text where nothing is declared."""
    asks_for_none: bool


def signature_of(spec: RewardSpec) -> RowSignature:
    try:
        return _cached_signature(spec.function, spec.required, spec.optional)
    except TypeError:  # a callable that cannot be hashed
        return _signature(spec.function, spec.required, spec.optional)


def _signature(
    function: Callable[..., Any], required: tuple[str, ...], optional: tuple[str, ...]
) -> RowSignature:
    """Read which values each parameter of a reward accepts; without annotations, any value."""
    annotations = annotations_of(function)
    kinds: dict[str, ColumnKind] = {}
    for name in (*required, *optional):
        annotation = annotations[name]
        kind = _kind(annotation)
        if annotation is UNKNOWN:
            kind = TEXT if name == RESPONSE else None
        if kind is not None and name not in ("trajectory", "context"):
            kinds[name] = kind
    return RowSignature(kinds, asks_for_none(function))


_cached_signature = lru_cache(maxsize=256)(_signature)


def is_text_for_context(name: str, columns: Mapping[str, Any]) -> bool:
    """Whether the column `context` is the data set's text, and not the rollout's context."""
    return name == "context" and not hasattr(columns[name], "acquire_resource")


def missing_message(spec: RewardSpec, name: str, columns: Mapping[str, Any]) -> str:
    """The message for a row that lacks a column."""
    have = ", ".join(sorted(map(str, columns))) or "nothing"
    hint = " (the Context of a rollout, never a data column)" if name == "context" else ""
    return f"{spec.name} needs {name!r}{hint}; the row has: {have}"
