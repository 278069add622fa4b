"""Names for rewards, environments, agents and benchmarks, and the `@reward` decorator.

A name finds an object in this order: registered in this process, built in (a string here, imported
when first named), or offered by an installed package as an entry point. Two different objects
under one name and version are an error, never a silent replacement. An address, `module:name` or
`file.py:name`, is followed by `find` alone, for what a person typed: to follow one runs code, and a
name may come out of a record or a request.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as replace_fields
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Generic, TypeVar, cast, overload

from assay.errors import BadParameter, NameCollision, UnknownName, did_you_mean, nearest_file
from assay.registry.addresses import OWN, is_address, load_address, names_in
from assay.registry.code import address_of, code_of
from assay.schema.audit import KINDS, Kind

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

RESERVED = ("final_response", "trajectory", "context")
"""Parameters that the rollout fills; every other one is a column of the task."""


@dataclass(frozen=True, slots=True)
class RewardSpec:
    """What the scoring boundary needs to know of a reward function."""

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
        """The reward described as plain JSON values; an option without a default is null."""
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
    """Each parameter with its default as Python writes it; `None` where it has none."""
    return {
        parameter.name: None if parameter.default is parameter.empty else repr(parameter.default)
        for parameter in parameters
    }


class Registry(Generic[T]):
    """Named, versioned objects of one kind."""

    def __init__(
        self, kind: str, builtins: Mapping[str, str], *, renamed: Mapping[str, str] | None = None
    ) -> None:
        self.kind = kind
        self._builtins = dict(builtins)
        self._renamed = dict(renamed or {})
        self._objects: dict[str, dict[int, T]] = {}
        self._codes: dict[tuple[str, int], object] = {}
        """As it was when it was registered: defaults and closures may change afterwards."""
        self._lock = threading.RLock()

    def add(self, name: str, item: T, *, version: int = 1, replace: bool = False) -> None:
        """Make `item` findable as `name` and `name@version`.

        The same code again (a notebook cell run twice, a reloaded module, an unpickled copy) takes
        the place of the first. Other code raises `NameCollision`, unless `replace` is set.
        """
        _check_name(self.kind, name)
        with self._lock:
            builtin = self._builtins.get(name)
            if builtin is not None and not _is_of(item, builtin):
                raise NameCollision(
                    f"{self.kind} {name!r} is built in ({builtin}); choose another name"
                )
            if name in self._renamed:
                raise NameCollision(
                    f"{self.kind} {name!r} is the earlier name of {self._renamed[name]!r}; "
                    "choose another name"
                )
            versions = self._objects.setdefault(name, {})
            code = code_of(item)
            if version in versions and not replace:
                self._check_same(name, version, item, code)
            versions[version] = item
            self._codes[name, version] = code

    def _check_same(self, name: str, version: int, item: T, code: object) -> None:
        id_, existing = f"{name}@{version}", self._objects[name][version]
        if existing is item:
            return
        if address_of(existing) != address_of(item):
            raise NameCollision(
                f"{self.kind} {id_!r} is {address_of(existing)} already, and "
                f"{address_of(item)} claims it too; rename one, or raise its version"
            )
        if self._codes.get((name, version), code_of(existing)) != code:
            where = " to `@assay.reward`" if self.kind == "reward" else ""
            raise NameCollision(
                f"{self.kind} {id_!r} is registered with other code ({address_of(existing)}); "
                f"raise its version, or pass `replace=True`{where} while you are still writing it"
            )

    def get(self, name: str) -> T:
        """The object called `name` (its newest version) or `name@version`, now or earlier."""
        plain, _, number = self.current_name(name).partition("@")
        versions = self._versions(plain)
        if not versions:
            raise UnknownName(self._unknown(plain))
        if not number:
            return versions[max(versions)]
        for version, item in versions.items():
            if str(version) == number:
                return item
        ids = ", ".join(f"{plain}@{version}" for version in sorted(versions))
        changes = _changes_since(number, versions.values())
        raise UnknownName(f"no {self.kind} {name!r:.200}; this installation has {ids}{changes}")

    def find(self, name: str) -> T:
        """As `get`, or the object at an address, whose module is loaded: only for a name that the
        person who runs this wrote, never for one out of a record or a request.
        """
        if is_address(name):
            return cast(T, load_address(name, self.kind))
        try:
            return self.get(name)
        except UnknownName as error:
            if name.partition("@")[0] in self.names():
                raise
            if name.endswith(".py"):
                raise UnknownName(self._unnamed(Path(name))) from None
            raise UnknownName(f"{error}, and {OWN} is one of your own") from None

    def has(self, name: str) -> bool:
        """Whether `find` may be asked for it: a name that there is, or an address."""
        return is_address(name) or name in self.names()

    def current_name(self, name: str) -> str:
        """The name, or `name@version`, with an earlier name replaced by the one in use."""
        plain, at, version = name.partition("@")
        return f"{self._renamed[plain]}{at}{version}" if plain in self._renamed else name

    def versions(self, name: str) -> list[int]:
        """The versions that `get` would find under a name, oldest first; none if there is none."""
        return sorted(self._versions(self.current_name(name).partition("@")[0]))

    def names(self) -> list[str]:
        """Every name that `get` would find, sorted; earlier names are left out."""
        with self._lock:
            return sorted({*self._objects, *self._builtins, *self._entry_points()})

    def built_in(self) -> list[str]:
        """The names that come with Assay, in the order of the table."""
        return list(self._builtins)

    def registered(self) -> list[tuple[str, int, T]]:
        """Name, version and object of whatever is not built in and was registered or used here."""
        with self._lock:
            return [
                (name, version, item)
                for name, versions in self._objects.items()
                if name not in self._builtins
                for version, item in versions.items()
            ]

    def _versions(self, name: str) -> dict[int, T]:
        with self._lock:
            if name not in self._objects:
                address = self._builtins.get(name) or self._offered_address(name)
                if address is not None:
                    self._load(name, address)
            return self._objects.get(name, {})

    def _load(self, name: str, address: str) -> None:
        module, _, attribute = address.partition(":")
        try:
            item = cast(T, getattr(importlib.import_module(module), attribute))
        except (ImportError, AttributeError) as error:
            raise UnknownName(
                f"{self.kind} {name!r} should be {address}, which cannot be loaded: {error}"
            ) from error
        # Importing the module usually registers the object by its own decorator.
        if name not in self._objects:
            self._objects[name] = {1: item}

    def _offered_address(self, name: str) -> str | None:
        """Where an installed package says that the object is; `None` if none has that name."""
        packages = self._entry_points().get(name, {})
        if len(packages) > 1:
            offers = " and ".join(f"{address} ({who})" for address, who in packages.items())
            raise NameCollision(
                f"{self.kind} {name!r} is offered by several installed packages: {offers}; "
                "uninstall one, or register yours under another name"
            )
        return next(iter(packages), None)

    def _entry_points(self) -> dict[str, dict[str, str]]:
        """By name, the addresses that installed packages offer, each with the package's name."""
        from importlib.metadata import entry_points

        offers: dict[str, dict[str, str]] = {}
        for point in entry_points(group=f"assay.{self.kind.replace(' ', '_')}s"):
            package = "unknown package" if point.dist is None else point.dist.name
            offers.setdefault(point.name, {}).setdefault(point.value, package)
        return offers

    def _unnamed(self, file: Path) -> str:
        """What to write for an object of a file of which only the file was named."""
        if not file.is_file():
            return f"{self.kind} {str(file)!r}: there is no such file; {nearest_file(file, OWN)}"
        names = names_in(file)[:10]
        there = f"it has: {', '.join(names)}" if names else "it defines no function or class"
        example = f"{file}:{names[0] if names else 'NAME'}"
        return f"{self.kind} {str(file)!r} is a file; say which name of it, as {example} ({there})"

    def _unknown(self, name: str) -> str:
        command = f"assay list {self.kind.replace(' ', '-')}s"
        hint = did_you_mean(name, self.names(), f"`{command}` shows all")
        return f"no {self.kind} named {name!r}; {hint}"


def _is_of(item: object, builtin: str) -> bool:
    """Whether an object is what is built in under a name, or an earlier version beside it."""
    module, _, function = builtin.partition(":")
    return address_of(item) == builtin or (
        address_of(item).partition(":")[0] == module
        and re.fullmatch(re.escape(function) + r"_\d+", getattr(item, "__name__", "")) is not None
    )


def _changes_since(number: str, items: Iterable[object]) -> str:
    """What later versions of a reward say of themselves, for somebody who asks for a gone one."""
    changes: dict[int, str] = {}
    for item in items:
        changes |= getattr(getattr(item, "__assay__", None), "changes", {})
    version = int(number) if number.isdecimal() and len(number) < 10 else 0
    later = [f"version {at}: {changes[at]}" for at in sorted(changes) if at > version > 0]
    return f"; {'; '.join(later)}" if later else ""


def _check_name(kind: str, name: str) -> None:
    if not name or not all(char.isalnum() or char in "_-." for char in name):
        raise BadParameter(f"{name!r} cannot name a {kind}; use letters, digits, '_', '-' and '.'")


RENAMED_REWARDS: Mapping[str, str] = {"testimony_reward": "environment_reward"}
"""Earlier names of rewards, and their names now: both are read, only the new one is written."""

REWARDS: Registry[Callable[..., Any]] = Registry(
    "reward",
    {
        "qa_f1_reward": "assay.rewards.outcome.qa.reward:qa_f1_reward",
        "qa_f1_reward_tool": "assay.rewards.outcome.qa.reward:qa_f1_reward_tool",
        "math_equal_reward": "assay.rewards.outcome.maths.reward:math_equal_reward",
        "math_equal_reward_tool": "assay.rewards.outcome.maths.reward:math_equal_reward_tool",
        "assistantbench_reward": "assay.rewards.outcome.answers.reward:assistantbench_reward",
        "fuzzy_answer_reward": "assay.rewards.outcome.answers.reward:fuzzy_answer_reward",
        "webshop_reward": "assay.worlds.webshop.reward:webshop_reward",
        "alfworld_episode_reward": "assay.worlds.alfworld.reward:alfworld_episode_reward",
        "scienceworld_reward": "assay.worlds.scienceworld.reward:scienceworld_reward",
        "environment_reward": "assay.rewards.outcome.environment:environment_reward",
        "sql_reward": "assay.rewards.outcome.sql.reward:sql_reward",
        "tool_call_reward": "assay.rewards.outcome.calls.reward:tool_call_reward",
        "json_reward": "assay.rewards.outcome.records.reward:json_reward",
        "code_reward": "assay.rewards.outcome.code.reward:code_reward",
        "choice_reward": "assay.rewards.outcome.choice:choice_reward",
        "format_reward": "assay.rewards.outcome.form:format_reward",
        "instructions_reward": "assay.rewards.outcome.instructions.reward:instructions_reward",
        "length_reward": "assay.rewards.outcome.form:length_reward",
        "repetition_reward": "assay.rewards.outcome.form:repetition_reward",
    },
    renamed=RENAMED_REWARDS,
)

ENVIRONMENTS: Registry[Callable[..., Any]] = Registry(
    "environment",
    {
        "chat": "assay.worlds.chat.environment:Chat",
        "scienceworld": "assay.worlds.scienceworld.environment:ScienceWorld",
        "alfworld": "assay.worlds.alfworld.environment:AlfWorld",
        "webshop": "assay.worlds.webshop.environment:WebShop",
        "browser": "assay.browser.drive.environment:BrowserEnvironment",
        "miniwob": "assay.browser.drive.miniwob.environment:MiniWob",
        "browsergym": "assay.browser.drive.browsergym.environment:BrowserGym",
    },
)

AGENTS: Registry[Callable[..., Any]] = Registry(
    "agent",
    {
        "scripted": "assay.agents.scripted:ScriptedAgent",
        "replay": "assay.agents.replay:ReplayAgent",
        "web_research": "assay.browser.research.agent:WebResearchAgent",
        "chat": "assay.agents.chat:ChatAgent",
        "http": "assay.agents.outside:HttpAgent",
        "stdio": "assay.agents.outside:StdioAgent",
    },
)

MODELS: Registry[Callable[..., Any]] = Registry(
    "model",
    {
        "openai": "assay.agents.models.openai:OpenAIModel",
        "anthropic": "assay.agents.models.anthropic:AnthropicModel",
        "cli": "assay.agents.models.cli:CliModel",
    },
)

TASKS: Registry[Callable[..., Any]] = Registry(
    "task source",
    {
        "jsonl": "assay.tasks.jsonl:tasks",
        "assistantbench": "assay.tasks.assistantbench:tasks",
        "alfworld": "assay.worlds.alfworld.tasks:tasks",
        "scienceworld": "assay.worlds.scienceworld.tasks:tasks",
        "webshop": "assay.worlds.webshop.tasks:tasks",
        "miniwob": "assay.browser.drive.miniwob.pages:tasks",
    },
)

SERVICES: Registry[Callable[..., Any]] = Registry("service", {})

STEP_SCORERS: Registry[Callable[..., Any]] = Registry(
    "step scorer", {"recovery": "assay.browser.step_records:recovery"}
)
"""What makes, from the task of an episode, the scorer of its steps."""

BENCHMARKS: Registry[Traversable] = Registry(
    "benchmark",
    {
        "alfworld": "assay.runner.benchmarks:ALFWORLD",
        "assistantbench": "assay.runner.benchmarks:ASSISTANTBENCH",
        "miniwob": "assay.runner.benchmarks:MINIWOB",
        "scienceworld": "assay.runner.benchmarks:SCIENCEWORLD",
        "webshop": "assay.runner.benchmarks:WEBSHOP",
    },
)
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
    """Register a function as a reward; the function itself is returned, unchanged.

    `parts` are the names of the numbers beside the reward; declaring them makes every result,
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
        _check_changes(spec, changes or {})
        _check_declarations(spec, kind, accepts or {})
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
                f"{address_of(function)} is the reward {earlier.id!r} already, and a score has one "
                f"name; for {spec.id!r} write a function that calls it"
            )
        if name is None and register and not _has_own_name(function):
            raise BadParameter(
                f"{function!r:.200} has no name to be registered under; give it a name: "
                "`assay.reward(name=…)`"
            )
        try:
            # Functions carry attributes, which no static type of theirs says.
            function.__assay__ = spec  # type: ignore[attr-defined]
        except AttributeError as error:
            raise BadParameter(
                f"{function!r:.200} cannot be registered as a reward, because it takes no "
                "attributes; register a function that calls it"
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
    """The specification of a reward, read off the function's signature."""
    title = name or _display_name(function)
    _check_name("reward", title)
    if version < 1:
        raise BadParameter(f"reward {title!r} has version {version!r}; versions count from 1")
    kinds = inspect.Parameter
    required: list[str] = []
    optional: list[str] = []
    options: dict[str, inspect.Parameter] = {}
    takes_any = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (kinds.POSITIONAL_ONLY, kinds.VAR_POSITIONAL):
            raise BadParameter(
                f"reward {title!r} takes {parameter.name!r} by position; "
                "rewards are called with keywords only"
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


def _check_changes(spec: RewardSpec, changes: Mapping[Any, Any]) -> None:
    """Raise `BadParameter` unless every key is a version and every value says something."""
    for version, text in changes.items():
        is_version = isinstance(version, int) and 1 <= version <= spec.version
        if not (is_version and isinstance(text, str) and text.strip()):
            raise BadParameter(
                f"reward {spec.id!r}: changes={{{version!r}: {text!r:.100}}}; give a sentence for "
                f"each version, from 1 to {spec.version}"
            )


def _check_declarations(spec: RewardSpec, kind: Any, accepts: Mapping[Any, Any]) -> None:
    """Raise `BadParameter` unless the kind is one, and what is accepted has its reason."""
    if kind is not None and kind not in KINDS:
        hint = did_you_mean(str(kind), KINDS) or f"it is one of {', '.join(KINDS)}"
        raise BadParameter(f"reward {spec.id!r}: there is no kind {kind!r}; {hint}")
    for check, reason in accepts.items():
        if not (isinstance(check, str) and isinstance(reason, str) and reason.strip()):
            raise BadParameter(
                f"reward {spec.id!r}: accepts={{{check!r}: {reason!r:.100}}}; say for each check "
                "of the audit why what it finds is meant to be"
            )


def _has_own_name(function: Callable[..., Any]) -> bool:
    """Whether it is a function or class with a name of its own, unlike a lambda or a partial."""
    named = inspect.isroutine(function) and not inspect.ismethod(function)
    return (named or isinstance(function, type)) and function.__name__ != "<lambda>"


def _display_name(function: Callable[..., Any]) -> str:
    """What a callable is called in scores: `lambda`, or the name of its function or class."""
    if isinstance(function, functools.partial):
        return _display_name(function.func)
    code = getattr(function, "__code__", None)
    if code is not None and hasattr(function, "__assay__") and own_spec(function) is None:
        # `functools.wraps` gave it the name of a reward, which it is not.
        return str(code.co_name).strip("<>")
    return str(getattr(function, "__name__", type(function).__name__)).strip("<>")


def find_reward(reward: str | Callable[..., Any]) -> RewardSpec:
    """The specification of a reward: of a name, a function, or any other callable."""
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
    """The specification that a function was registered with.

    `None` for what shows the attributes of a reward and is not it: a wrapper made with
    `functools.wraps`, a bound method, an instance of a class that is a reward.
    """
    spec = getattr(function, "__assay__", None)
    return spec if isinstance(spec, RewardSpec) and spec.function is function else None
