"""The registries of rewards, environments, agents and benchmarks, and the `@reward` decorator."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as replace_fields
from importlib.resources.abc import Traversable
from typing import Any, TypeVar, overload

from assay.errors import BadParameter, NameCollision, did_you_mean
from assay.registry.builtins import BUILT_IN
from assay.registry.code import address_of
from assay.registry.names import Registry as Registry
from assay.registry.names import check_name
from assay.schema.audit import KINDS, Kind

F = TypeVar("F", bound=Callable[..., Any])

RESERVED = ("final_response", "trajectory", "context")
"""Parameters that the rollout fills; every other one is a column of the task."""


@dataclass(frozen=True, slots=True)
class RewardSpec:
    """A registered reward function with its name, version, parameters and declarations."""

    name: str
    version: int
    function: Callable[..., Any]
    parts: tuple[str, ...] | None
    """Part names present in every result; `None` when the author declared none."""
    required: tuple[str, ...]
    optional: tuple[str, ...]
    options: Mapping[str, inspect.Parameter]
    """Keyword-only parameters: configuration, never filled from columns."""
    takes_any: bool
    """Whether every other column is passed too (`**kwargs`)."""
    is_async: bool
    extras: Mapping[str, str] = field(default_factory=dict)
    """By option: the optional module that it needs when it is set."""
    waits: bool = False
    """Whether a call mostly waits, as for a program that runs: many of them go on at a time."""
    changes: Mapping[int, str] = field(default_factory=dict)
    """By version: what it changed for those who are paid by it."""
    owner_options: tuple[str, ...] = ()
    """Options that a request to a server may not set: they lower its guard."""
    kind: Kind | None = None
    """What it scores, for the audit; `None` when the author did not say."""
    accepts: Mapping[str, str] = field(default_factory=dict)
    """By check of the audit: why what it finds is meant to be."""

    @property
    def id(self) -> str:
        return f"{self.name}@{self.version}"

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    def to_record(self) -> dict[str, Any]:
        """The reward's description as JSON values; an option without default is null."""
        return {
            "name": self.name,
            "version": self.version,
            "summary": self.summary,
            "kind": self.kind,
            "needs": list(self.required),
            "takes": list(self.optional),
            "options": describe_defaults(self.options.values()),
            "parts": None if self.parts is None else list(self.parts),
            "accepts": dict(self.accepts),
            "changes": {str(version): text for version, text in sorted(self.changes.items())},
            "documentation": inspect.getdoc(self.function) or "",
        }


def describe_defaults(parameters: Iterable[inspect.Parameter]) -> dict[str, str | None]:
    """The default of each parameter as Python code; `None` for a parameter without default."""
    return {
        parameter.name: None if parameter.default is parameter.empty else repr(parameter.default)
        for parameter in parameters
    }


RENAMED_REWARDS: Mapping[str, str] = {"testimony_reward": "environment_reward"}
"""Earlier names of rewards, and their names now: both are read, only the new one is written."""

REWARDS: Registry[Callable[..., Any]] = Registry(
    "reward", BUILT_IN["reward"], renamed=RENAMED_REWARDS
)
ENVIRONMENTS: Registry[Callable[..., Any]] = Registry("environment", BUILT_IN["environment"])
AGENTS: Registry[Callable[..., Any]] = Registry("agent", BUILT_IN["agent"])
MODELS: Registry[Callable[..., Any]] = Registry("model", BUILT_IN["model"])
TASKS: Registry[Callable[..., Any]] = Registry("task source", BUILT_IN["task source"])
SERVICES: Registry[Callable[..., Any]] = Registry("service", {})
STEP_SCORERS: Registry[Callable[..., Any]] = Registry("step scorer", BUILT_IN["step scorer"])
"""What makes, from the task of an episode, the scorer of its steps."""
BENCHMARKS: Registry[Traversable] = Registry("benchmark", BUILT_IN["benchmark"])
"""The TOML file of each benchmark: a `pathlib.Path`, or a file of `importlib.resources`."""


@overload
def reward(function: F, /) -> F: ...


@overload
def reward(
    *,
    name: str | None = None,
    version: int = 1,
    parts: Iterable[str] | None = None,
    register: bool = True,
    replace: bool = False,
    extras: Mapping[str, str] | None = None,
    waits: bool = False,
    changes: Mapping[int, str] | None = None,
    owner_options: Iterable[str] = (),
    kind: Kind | None = None,
    accepts: Mapping[str, str] | None = None,
) -> Callable[[F], F]: ...


def reward(
    function: F | None = None,
    /,
    *,
    name: str | None = None,
    version: int = 1,
    parts: Iterable[str] | None = None,
    register: bool = True,
    replace: bool = False,
    extras: Mapping[str, str] | None = None,
    waits: bool = False,
    changes: Mapping[int, str] | None = None,
    owner_options: Iterable[str] = (),
    kind: Kind | None = None,
    accepts: Mapping[str, str] | None = None,
) -> F | Callable[[F], F]:
    """Register a function as a reward, and return the function itself.

    `parts` are the names of the further numbers; declaring them makes every result,
    abstentions included, carry the same keys. `replace` allows other code under a name and version
    that are registered already, while you are still writing it. `extras` names, for an option that
    needs one, the optional module: its absence is then an error before the first row. `waits` says
    that a call mostly waits for something else, such as a program that runs: where rows are scored
    without blocking, each of its calls has a thread of its own, and no other row waits for it.
    `changes` says, by version, what it changed: `{2: "…"}`. `owner_options` are those that a
    request to a server may not set. `kind` says what is scored (`maths`, `qa`, `code`, …), and
    `accepts`, by check, why what `assay audit` finds is meant to be.
    """

    def decorate(function: F) -> F:
        spec = describe(function, name=name, version=version, parts=parts)
        _check_declarations(spec, changes or {}, kind, accepts or {})
        spec = replace_fields(
            spec,
            extras=dict(extras or {}),
            waits=waits,
            changes=dict(changes or {}),
            owner_options=tuple(owner_options),
            kind=kind,
            accepts=dict(accepts or {}),
        )
        earlier = own_spec(function)
        if register and earlier is not None and earlier.id != spec.id:
            raise NameCollision(
                f"{address_of(function)} is already registered as the reward {earlier.id!r}; to "
                f"register {spec.id!r}, write another function that calls it"
            )
        if name is None and register and not _has_own_name(function):
            raise BadParameter(
                f"{function!r:.200} has no name; give the reward a name with `assay.reward(name=…)`"
            )
        try:
            # Functions carry attributes, which no static type of theirs says.
            function.__assay__ = spec  # type: ignore[attr-defined]
        except AttributeError as error:
            raise BadParameter(
                f"{function!r:.200} cannot be registered as a reward, because it takes no "
                "attributes; register another function that calls it"
            ) from error
        if register:
            REWARDS.add(spec.name, function, version=spec.version, replace=replace)
        return function

    return decorate if function is None else decorate(function)


def describe(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    version: int = 1,
    parts: Iterable[str] | None = None,
) -> RewardSpec:
    """Create the specification of a reward from the function's signature."""
    title = name or _display_name(function)
    check_name("reward", title)
    if version < 1:
        raise BadParameter(f"reward {title!r} has version {version!r}; the first version is 1")
    kinds = inspect.Parameter
    required: list[str] = []
    optional: list[str] = []
    options: dict[str, inspect.Parameter] = {}
    takes_any = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (kinds.POSITIONAL_ONLY, kinds.VAR_POSITIONAL):
            raise BadParameter(
                f"reward {title!r} has the positional parameter {parameter.name!r}; "
                "rewards are called with keyword arguments only"
            )
        if parameter.kind is kinds.VAR_KEYWORD:
            takes_any = True
        elif parameter.kind is kinds.KEYWORD_ONLY:
            options[parameter.name] = parameter
        else:
            (required if parameter.default is kinds.empty else optional).append(parameter.name)
    call = getattr(function, "__call__", None)  # noqa: B004 - the method itself is inspected
    return RewardSpec(
        name=title,
        version=version,
        function=function,
        parts=None if parts is None else tuple(parts),
        required=tuple(required),
        optional=tuple(optional),
        options=options,
        takes_any=takes_any,
        is_async=inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call),
    )


def _check_declarations(
    spec: RewardSpec, changes: Mapping[Any, Any], kind: Any, accepts: Mapping[Any, Any]
) -> None:
    for version, text in changes.items():
        is_version = isinstance(version, int) and 1 <= version <= spec.version
        if not (is_version and isinstance(text, str) and text.strip()):
            raise BadParameter(
                f"reward {spec.id!r}: changes={{{version!r}: {text!r:.100}}}; the keys are "
                f"versions from 1 to {spec.version}, and each value is a sentence"
            )
    if kind is not None and kind not in KINDS:
        hint = did_you_mean(str(kind), KINDS) or f"it is one of {', '.join(KINDS)}"
        raise BadParameter(f"reward {spec.id!r}: there is no kind {kind!r}; {hint}")
    for check, reason in accepts.items():
        if not (isinstance(check, str) and isinstance(reason, str) and reason.strip()):
            raise BadParameter(
                f"reward {spec.id!r}: accepts={{{check!r}: {reason!r:.100}}}; explain for each "
                "check of the audit why its findings are accepted"
            )


def _has_own_name(function: Callable[..., Any]) -> bool:
    named = inspect.isroutine(function) and not inspect.ismethod(function)
    return (named or isinstance(function, type)) and function.__name__ != "<lambda>"


def _display_name(function: Callable[..., Any]) -> str:
    """The name of a callable in scores: its function name, its class name or `lambda`."""
    if isinstance(function, functools.partial):
        return _display_name(function.func)
    code = getattr(function, "__code__", None)
    if code is not None and hasattr(function, "__assay__") and own_spec(function) is None:
        # `functools.wraps` gave it the name of a reward, which it is not.
        return str(code.co_name).strip("<>")
    return str(getattr(function, "__name__", type(function).__name__)).strip("<>")


def find_reward(reward: str | Callable[..., Any]) -> RewardSpec:
    """The specification of a reward, given as a name, a function or another callable."""
    function = REWARDS.get(reward) if isinstance(reward, str) else reward
    spec = own_spec(function)
    if spec is not None:
        return spec
    inner = own_spec(function.func) if isinstance(function, functools.partial) else None
    if inner is None:
        return describe(function)
    spec = describe(function, name=inner.name, version=inner.version, parts=inner.parts)
    # The defaults are the reward's own: what the partial sets is a configuration of it.
    return replace_fields(
        spec,
        options=inner.options,
        extras=inner.extras,
        waits=inner.waits,
        owner_options=inner.owner_options,
        kind=inner.kind,
        accepts=inner.accepts,
    )


def own_spec(function: Callable[..., Any]) -> RewardSpec | None:
    """The specification with which the function was registered, or `None`.

    `None` for what shows the attributes of a reward and is not it: a wrapper made with
    `functools.wraps`, a bound method, an instance of a class that is a reward.
    """
    spec = getattr(function, "__assay__", None)
    return spec if isinstance(spec, RewardSpec) and spec.function is function else None
