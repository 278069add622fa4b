"""The rewards that a server answers for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from assay.errors import BadParameter, UnknownName, UsageError, did_you_mean
from assay.registry import REWARDS, RewardSpec, find_reward
from assay.server.jobs import ScorerSpec
from assay.server.settings import Settings


class Catalogue:
    """Served rewards by name; what is not among them is not there."""

    def __init__(
        self, specs: Mapping[str, RewardSpec], *, pins: Mapping[str, str], default: str | None
    ) -> None:
        """`pins` are the rewards of which one version alone is served: `{"a": "a@1"}`."""
        self._specs = dict(specs)
        self._pins = dict(pins)
        self._default = default

    @property
    def names(self) -> list[str]:
        return sorted(self._specs)

    def records(self) -> list[dict[str, Any]]:
        """Every reward described, as `assay list rewards --json` does."""
        return [self._specs[name].to_record() for name in self.names]

    def serves(self, name: str) -> bool:
        """Whether a request may name it so."""
        try:
            find_reward(self._served(name))
        except UnknownName:
            return False
        return True

    def scorers(self, named: Sequence[str], params: Mapping[str, Any]) -> tuple[ScorerSpec, ...]:
        """What a request asks for; an option goes to each reward that has it.

        Raises `UnknownName` for a reward that is not served, and `BadParameter` for an option that
        none has, one that is missing, and a reward named twice.
        """
        wanted = list(named) or ([self._default] if self._default else [])
        if not wanted:
            raise BadParameter("no reward is named, and this server has no default for it")
        names = [self._served(name) for name in wanted]
        specs = [find_reward(name) for name in names]
        if len({spec.name for spec in specs}) < len(specs):
            raise BadParameter("a reward is named twice")
        known = {option for spec in specs for option in spec.options}
        for key in params:
            if key not in known:
                options = ", ".join(sorted(known)) or "none"
                raise BadParameter(
                    f"{', '.join(names)}: no option {key!r:.80}; the options: {options}"
                )
        return tuple(
            ScorerSpec(name, {key: params[key] for key in params if key in spec.options})
            for name, spec in zip(names, specs, strict=True)
        )

    def _served(self, name: str) -> str:
        """The name by which every process finds what is served under this one."""
        plain = name.partition("@")[0]
        if plain not in self._specs:
            hint = did_you_mean(plain, self._specs, "GET /v1/rewards shows all")
            raise UnknownName(f"no reward {name!r:.100} is served here; {hint}")
        pinned = self._pins.get(plain)
        if pinned is None:
            return name
        if name not in (plain, pinned):
            raise UnknownName(f"no reward {name!r:.100} is served here, only {pinned!r}")
        return pinned


def load_catalogue(settings: Settings) -> Catalogue:
    """The rewards that the settings name, loaded; one that cannot be is an error."""
    for module in settings.imports:
        try:
            import_module(module)
        except ImportError as error:
            raise UsageError(f"--import {module}: {error}") from error
    chosen = _chosen(settings.rewards)
    specs = {plain: find_reward(name) for plain, name in chosen.items()} or _without_world()
    for spec in specs.values():
        if "context" in spec.required:
            raise UsageError(
                f"{spec.name} needs the Context of a live rollout, which a request cannot bring"
            )
    pins = {plain: name for plain, name in chosen.items() if name != plain}
    default = settings.default_reward
    catalogue = Catalogue(specs, pins=pins, default=default)
    if default is not None and not catalogue.serves(default):
        raise UsageError(f"the default reward {default!r} is not among those that are served")
    return catalogue


def _chosen(names: Sequence[str]) -> dict[str, str]:
    """What was chosen, by the name without its version."""
    chosen: dict[str, str] = {}
    for name in names:
        plain = name.partition("@")[0]
        if chosen.setdefault(plain, name) != name:
            raise UsageError(f"{chosen[plain]} and {name}: one version of a reward is served")
    return chosen


def _without_world() -> dict[str, RewardSpec]:
    """Every registered reward that can be loaded and needs no live world."""
    specs = {}
    for name in REWARDS.names():
        try:
            spec = find_reward(name)
        except UnknownName:
            # A broken plug-in must not keep the others from being served.
            continue
        if "context" not in spec.required:
            specs[name] = spec
    return specs
