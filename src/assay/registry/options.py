"""Check the options of a reward, and find the options that a score records."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

from assay.errors import BadParameter, MissingExtra
from assay.registry import RewardSpec, find_reward, own_spec


def bound_options(reward: str | Callable[..., Any]) -> dict[str, Any]:
    """The options that a `functools.partial` sets on a reward, if a score can record them."""
    if not isinstance(reward, functools.partial) or own_spec(reward.func) is None:
        return {}
    options = find_reward(reward).options
    plain = (str, int, float, list, tuple, dict, type(None))
    return {
        name: value
        for name, value in reward.keywords.items()
        if name in options and isinstance(value, plain)
    }


def check_options(spec: RewardSpec, params: Mapping[str, Any]) -> None:
    """Raise if an option is unknown or missing, or if its package is not installed."""
    for name in params:
        if name not in spec.options:
            names = ", ".join(spec.options) or "it takes none"
            raise BadParameter(f"{spec.name} has no option {name!r}; its options: {names}")
    for name, option in spec.options.items():
        if option.default is inspect.Parameter.empty and name not in params:
            raise BadParameter(
                f"{spec.name} requires the option {name!r}; pass params={{{name!r}: …}}"
            )
    for name, module in spec.extras.items():
        if params.get(name) and find_spec(module) is None:
            raise MissingExtra.of(f"{spec.name} with {name}={params[name]!r}", module)


def without_defaults(spec: RewardSpec, params: Mapping[str, Any]) -> dict[str, Any]:
    """The options whose values differ from the reward's defaults."""
    return {
        name: value
        for name, value in params.items()
        if name not in spec.options or not _is_equal(value, spec.options[name].default)
    }


def _is_equal(value: Any, default: Any) -> bool:
    """Whether two option values are equal in JSON; true and 1 are different."""
    if isinstance(value, (list, tuple)) and isinstance(default, (list, tuple)):
        return len(value) == len(default) and all(map(_is_equal, value, default))
    if isinstance(value, bool) or isinstance(default, bool):
        return value is default
    if isinstance(value, (str, int, float, dict)):
        return bool(value == default)
    return value is default
