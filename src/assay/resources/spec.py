"""The identity of a pool: an environment's name and its configuration."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from assay.errors import BadParameter, did_you_mean
from assay.registry import ENVIRONMENTS
from assay.resources.protocol import Environment


@dataclass(frozen=True, slots=True)
class ResourceSpec:
    """The registry name and the full configuration of an environment, as JSON values."""

    name: str
    config: Mapping[str, Any] = field(default_factory=dict, compare=False)
    make: Callable[..., Environment] | None = field(default=None, compare=False, repr=False)
    """What makes an instance, where that is not what the name is registered for."""
    key: str = field(init=False, repr=False)
    """The name and the canonical JSON of the configuration."""

    def __post_init__(self) -> None:
        try:
            text = json.dumps(self.config, sort_keys=True, separators=(",", ":"), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise BadParameter(
                f"the configuration of {self.name!r} is not JSON ({error}): {self.config!r}"
            ) from error
        object.__setattr__(self, "key", self.name + text)
        # A snapshot: the key must stay true when the caller's mapping changes.
        object.__setattr__(self, "config", json.loads(text))

    def factory(self) -> Callable[..., Environment]:
        """The class or function that creates an instance of the environment."""
        return ENVIRONMENTS.get(self.name) if self.make is None else self.make

    def builder(self) -> Callable[[], Environment]:
        """A function that creates a new instance; raises `BadParameter` for a wrong option."""
        factory = self.factory()
        check_options(f"environment {self.name!r}", factory, self.config)
        return partial(factory, **self.config)


def check_options(what: str, factory: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Raise `BadParameter` if `factory` does not accept these options."""
    signature = inspect.signature(factory)
    try:
        signature.bind(**options)
    except TypeError as error:
        names = f"its options: {', '.join(signature.parameters) or 'it takes none'}"
        unknown = next((name for name in options if name not in signature.parameters), None)
        if unknown is None:
            raise BadParameter(f"{what}: {error}; {names}") from error
        hint = did_you_mean(unknown, signature.parameters, names)
        raise BadParameter(f"{what} has no option {unknown!r}; {hint}") from error
