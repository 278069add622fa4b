"""Look up the rewards that a server offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from assay.errors import BadParameter, UnknownName, UsageError, did_you_mean
from assay.registry import REWARDS, find_reward
from assay.server.jobs import ScorerSpec
from assay.server.settings import ServerSettings


class RewardCatalogue:
    """Rewards that the server offers, by name; all other names are unknown."""

    def __init__(self, served: Mapping[str, str], *, default: str | None) -> None:
        """Take a map from offered names to themselves or to their only version, `{"a": "a@1"}`."""
        self._served = dict(served)
        self._default = default

    @property
    def names(self) -> list[str]:
        return sorted(self._served)

    def records(self) -> list[dict[str, Any]]:
        """Describe every offered reward, as `assay list rewards --json` does."""
        return [find_reward(self._served[name]).to_record() for name in self.names]

    def scorers(self, rewards: Sequence[str], params: Mapping[str, Any]) -> tuple[ScorerSpec, ...]:
        """Build the scorers of a request; raise `UnknownName` or `BadParameter` if invalid."""
        requested = list(rewards) or ([self._default] if self._default else [])
        if not requested:
            raise BadParameter("the request names no reward, and this server has no default reward")
        names = [self.served_name(name) for name in requested]
        specs = [find_reward(name) for name in names]
        if len({spec.name for spec in specs}) < len(specs):
            raise BadParameter("a reward is named twice")
        options = {option for spec in specs for option in spec.options}
        for key in params:
            if key not in options:
                choices = ", ".join(sorted(options)) or "none"
                raise BadParameter(
                    f"{', '.join(names)}: no option {key!r:.80}; the options are {choices}"
                )
        return tuple(
            ScorerSpec(name, {key: params[key] for key in params if key in spec.options})
            for name, spec in zip(names, specs, strict=True)
        )

    def served_name(self, name: str) -> str:
        """Return the registered name of a reward; raise `UnknownName` if it is not offered."""
        plain = name.partition("@")[0]
        if plain not in self._served:
            hint = did_you_mean(plain, self._served, "GET /v1/rewards shows all")
            raise UnknownName(f"this server has no reward {name!r:.100}; {hint}")
        served = self._served[plain]
        if served == plain:
            return name
        if name not in (plain, served):
            raise UnknownName(f"this server has no reward {name!r:.100}, only {served!r}")
        return served


def load_catalogue(settings: ServerSettings) -> RewardCatalogue:
    """Load the rewards in the settings; raise `UsageError` if one cannot be offered."""
    for module in settings.imports:
        try:
            import_module(module)
        except ImportError as error:
            raise UsageError(f"--import {module}: {error}") from error
    served = _by_plain_name(settings.rewards) or _without_context()
    for name in served.values():
        spec = find_reward(name)
        if "context" in spec.required:
            raise UsageError(
                f"{spec.name} needs the Context of a live rollout, which a request does not have"
            )
    default = settings.default_reward
    catalogue = RewardCatalogue(served, default=default)
    if default is not None:
        try:
            find_reward(catalogue.served_name(default))
        except UnknownName as error:
            message = f"the default reward {default!r} is not among those that are served"
            raise UsageError(message) from error
    return catalogue


def _by_plain_name(names: Sequence[str]) -> dict[str, str]:
    """Map each reward name without its version to the full name."""
    chosen: dict[str, str] = {}
    for name in names:
        plain = name.partition("@")[0]
        if chosen.setdefault(plain, name) != name:
            raise UsageError(
                f"{chosen[plain]} and {name} are versions of one reward; choose one of them"
            )
    return chosen


def _without_context() -> dict[str, str]:
    """Return all registered rewards that can be loaded and need no live environment."""
    names = {}
    for name in REWARDS.names():
        try:
            spec = find_reward(name)
        except UnknownName:
            # A broken plug-in must not keep the others from being served.
            continue
        if "context" not in spec.required:
            names[name] = name
    return names
