"""Reads benchmarks: TOML files that name tasks, an environment, rewards and limits."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from assay.errors import BadParameter, UnknownName, did_you_mean, nearest_file
from assay.registry import BENCHMARKS, ENVIRONMENTS, REWARDS, SERVICES, TASKS, Registry
from assay.registry.addresses import OWN
from assay.registry.annotations import UNKNOWN, annotations_of, read_option
from assay.runner.limits import QUESTION_LIMITS, RunLimits, read_limits
from assay.runner.toml_table import TomlTable
from assay.tasks.jsonl import SUFFIXES

PATHS = ("path", "folder")
"""Options that name a file; a relative one starts at the folder of the benchmark's file."""

ADDRESSES = (
    ("tasks", "source"), ("environment", "name"), ("environment", "tools"),
    ("rewards", "names"), ("rewards", "options"),
)  # fmt: skip
"""Where a file may have addresses; those of files start at the benchmark's folder too."""


@dataclass(frozen=True, slots=True)
class ComponentSpec:
    """A part of a benchmark: a registered name and options."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    value: Any = field(default=None, compare=False, repr=False)
    """The object itself, where it was passed instead of named."""

    def find(self, registry: Registry[Callable[..., Any]]) -> Callable[..., Any]:
        """Return the object: the passed value, or the object of that name or address."""
        item: Callable[..., Any] = registry.find(self.name) if self.value is None else self.value
        return item


@dataclass(frozen=True, slots=True)
class Service(ComponentSpec):
    """A local server that runs during the benchmark; tasks refer to it as `{base_url}`."""

    shares: tuple[str, ...] = ()
    """Options that it takes over from the tasks, such as their seed."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark: tasks, an environment, rewards, limits and a service."""

    name: str
    tasks: ComponentSpec
    environment: ComponentSpec
    rewards: tuple[ComponentSpec, ...]
    """The first one is primary."""
    limits: RunLimits = field(default_factory=RunLimits)
    service: Service | None = None
    summary: str = ""

    def to_record(self) -> dict[str, Any]:
        """Return the benchmark in the form of its TOML file, with defaults."""
        service = self.service and {
            "name": self.service.name,
            "shares": list(self.service.shares),
            **self.service.options,
        }
        return {
            "name": self.name,
            "summary": self.summary,
            "tasks": {"source": self.tasks.name, **self.tasks.options},
            "environment": {"name": self.environment.name, **self.environment.options},
            "rewards": {
                "names": [reward.name for reward in self.rewards],
                "options": {r.name: dict(r.options) for r in self.rewards if r.options},
            },
            "limits": asdict(self.limits),
            "service": service,
        }


SECTIONS = ("tasks", "environment", "rewards", "limits", "service")
REGISTRY_OF: Mapping[str, tuple[Registry[Callable[..., Any]], str]] = {
    "tasks": (TASKS, "source"),
    "environment": (ENVIRONMENTS, "name"),
    "service": (SERVICES, "name"),
}
"""Where the objects of a section are registered, and the key that names one."""


def find_benchmark(name: str | Path, settings: Mapping[str, Any] | None = None) -> Benchmark:
    """Return the benchmark of a name or a file, with some settings (`limits.steps`) changed."""
    path = Path(name)
    if path.suffix == ".toml":
        return read_benchmark(_read_file(path), where=str(path), settings=settings)
    if path.suffix.lower() in SUFFIXES:
        return _question_file(path, settings or {})
    names = BENCHMARKS.names()
    if str(name) not in names:
        hint = did_you_mean(str(name), names, "`assay list benchmarks` shows all")
        raise UnknownName(
            f"no benchmark named {str(name)!r}; {hint}, "
            f"and a file of your own is a path that ends in .toml or {', '.join(SUFFIXES)}"
        )
    file: object = BENCHMARKS.get(str(name))
    if not isinstance(file, Traversable):
        raise BadParameter(
            f"benchmark {str(name)!r} is {file!r:.200}; it must be a path of a TOML file"
        )
    return read_benchmark(_read_file(file), where=f"{name}.toml", settings=settings)


def _question_file(path: Path, settings: Mapping[str, Any]) -> Benchmark:
    """Return the benchmark for a file of questions, which are asked in a conversation."""
    if not settings.get("rewards.names"):
        raise BadParameter(
            f"{path} is a file of questions; name a reward for the answers, such as --reward "
            "math_equal_reward or qa_f1_reward (`assay list rewards`), or a function of your own "
            f"({OWN})"
        )
    tasks = {"source": "jsonl", "path": str(path.resolve())}
    title = {"name": path.stem, "summary": f"the questions of {path.name}"}
    return questions_benchmark(title, tasks, settings, where=str(path))


def questions_benchmark(
    title: Mapping[str, str], tasks: Mapping[str, str], settings: Mapping[str, Any], *, where: str
) -> Benchmark:
    """Return a benchmark whose tasks are questions, asked in a conversation."""
    limits = dict(QUESTION_LIMITS)
    fixed = {"environment": {"name": "chat"}, "rewards": {}, "limits": limits}
    return read_benchmark({**title, "tasks": tasks, **fixed}, where=where, settings=settings)


def read_benchmark(
    document: Mapping[str, Any], *, where: str, settings: Mapping[str, Any] | None = None
) -> Benchmark:
    """Return the benchmark of a parsed TOML document; errors name the file and the key."""
    copy = with_settings(document, settings or {}, where)
    top = TomlTable(copy, where, "")
    benchmark = Benchmark(
        name=top.text("name"),
        summary=top.text("summary", ""),
        tasks=_component(top.table("tasks"), "source"),
        environment=_component(top.table("environment"), "name"),
        rewards=_rewards(top.table("rewards")),
        limits=read_limits(top.table("limits", {})),
        service=_service(top.optional_table("service")),
    )
    top.finish()
    return benchmark


def with_settings(
    document: Mapping[str, Any], settings: Mapping[str, Any], where: str
) -> dict[str, Any]:
    """Return a copy of the document with new values under dotted keys."""
    copy = {
        key: dict(value) if isinstance(value, Mapping) else value for key, value in document.items()
    }
    for key, value in settings.items():
        section, _, option = key.partition(".")
        if section not in SECTIONS or not option:
            raise BadParameter(
                f"{key!r} is not a setting of a benchmark; write SECTION.KEY with one of the "
                f"sections {', '.join(SECTIONS)}"
            )
        table: Any = copy.get(section)
        if table is None:
            table = copy[section] = {}
        *parents, last = option.split(".")
        for parent in parents:
            table[parent] = dict(table.get(parent) or {})
            table = table[parent]
        if not isinstance(table, dict):
            raise BadParameter(f"{where}: [{section}] is {table!r}; it must be a table")
        table[last] = read_option(value, _annotation(section, copy[section], option))
    return copy


def _annotation(section: str, table: Mapping[str, Any], option: str) -> Any:
    """Return the declared type of an option of a benchmark."""
    registry, key = REGISTRY_OF.get(section, (None, ""))
    if option == key:
        return str
    if registry is None or not registry.has(str(table.get(key))):
        return UNKNOWN
    return annotations_of(registry.find(str(table[key]))).get(option, UNKNOWN)


def _read_file(file: Traversable) -> dict[str, Any]:
    try:
        document = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        hint = f"; {nearest_file(file)}".rstrip("; ") if isinstance(file, Path) else ""
        raise UnknownName(
            f"cannot read the benchmark {str(file)!r}: {error.strerror}{hint}"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadParameter(f"{file} is not TOML: {error}") from error
    if isinstance(file, Path):
        _resolve_paths(document, file.resolve().parent)
    return document


def _resolve_paths(document: dict[str, Any], folder: Path) -> None:
    for section in (document.get("tasks"), document.get("environment")):
        for key in PATHS:
            if isinstance(section, dict) and isinstance(section.get(key), str):
                section[key] = str(folder / section[key])
    for section, key in ADDRESSES:
        table = document.get(section)
        if isinstance(table, dict) and key in table:
            table[key] = _resolve_address(table[key], folder)


def _resolve_address(text: Any, folder: Path) -> Any:
    """Return the address of an object (`file.py:name`) with the benchmark's folder added."""
    if isinstance(text, list):
        return [_resolve_address(item, folder) for item in text]
    if isinstance(text, dict):
        return {_resolve_address(key, folder): value for key, value in text.items()}
    place, _, name = text.rpartition(":") if isinstance(text, str) else ("", "", "")
    if not place.endswith(".py") or folder == Path.cwd().resolve():
        return text
    return f"{folder / place}:{name}"


def _component(table: TomlTable, key: str) -> ComponentSpec:
    return ComponentSpec(table.text(key), table.rest())


def _rewards(table: TomlTable) -> tuple[ComponentSpec, ...]:
    names = table.texts("names")
    if not names or len(set(map(REWARDS.current_name, names))) < len(names):
        raise table.problem(
            "names", list(names), "a list of different rewards that starts with the primary reward"
        )
    options = table.table("options", {})
    rewards = tuple(
        ComponentSpec(REWARDS.current_name(name), options.table(name, {}).rest()) for name in names
    )
    options.finish()
    table.finish()
    return rewards


def _service(table: TomlTable | None) -> Service | None:
    if table is None:
        return None
    name, shares = table.text("name"), table.texts("shares", [])
    return Service(name, table.rest(), shares=shares)
