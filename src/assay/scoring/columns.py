"""Where a reward's parameters are found in a row: under their own names, or where it is told."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any

from assay.errors import BadParameter, MissingParameter
from assay.registry import RewardSpec


class NoSuchPath(LookupError):
    """The row has the column, and no such value inside it: this row differs from the others."""


def check_columns(spec: RewardSpec, columns: Mapping[str, str]) -> None:
    """Raise `BadParameter` for a parameter that the reward does not have, or for no column."""
    parameters = {*spec.required, *spec.optional}
    for parameter, column in columns.items():
        if not isinstance(column, str):
            raise BadParameter(
                f"{parameter}={column!r}: name the column that holds {parameter!r}; "
                "the reward's own options go into params="
            )
        if parameter not in parameters and not spec.takes_any:
            raise BadParameter(
                f"{spec.name} has no parameter {parameter!r}; it takes {sorted(parameters)}"
            )


def look_up(row: Mapping[str, Any], path: str, parameter: str, reward: str) -> Any:
    """The value at a column, or at a dotted path into one; keys and attributes both count.

    Raises `MissingParameter` if the row has no such column, and `NoSuchPath` if the column has
    nothing at the rest of the path.
    """
    if path in row:
        return row[path]
    first, *rest = path.split(".")
    if first not in row:
        have = ", ".join(sorted(map(str, row))) or "nothing"
        raise MissingParameter(
            f"{reward} takes {parameter!r} from the column {path!r}, which is not there; "
            f"the row has: {have}"
        )
    value = row[first]
    for step in rest:
        if isinstance(value, Mapping):
            exists = step in value
            value = value[step] if exists else None
        elif isinstance(value, (str, int, float, list, NoneType)):
            # Columns may come from a stranger's request, who must not see Python behind the JSON.
            exists = False
        else:
            exists = hasattr(value, step)
            value = getattr(value, step, None)
        if not exists:
            raise NoSuchPath(f"{reward} takes {parameter!r} from {path!r}, which is not there")
    return value
