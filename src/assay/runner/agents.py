"""Chooses the agent of a run: its factory and its options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from assay.agents.functions import agent_factory
from assay.agents.models.cli import split_command
from assay.agents.protocol import Agent
from assay.errors import BadParameter, UnknownName, did_you_mean
from assay.ledger.layout import RunLayout, find_run
from assay.ledger.run import Run
from assay.registry import AGENTS, MODELS
from assay.registry.annotations import UNKNOWN, OptionText, admits, annotations_of, read_option
from assay.resources.spec import check_options
from assay.runner.benchmark import SECTIONS
from assay.schema.episode import Episode

STDIO = "stdio:"
"""What the short form of an agent begins with that is a program."""
RECORDINGS = "episodes"
"""The option of an agent that takes recorded episodes; a text there names a run."""


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """The agent chosen for a run: its name, its factory and its options."""

    name: str
    factory: Callable[..., Agent]
    options: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    """Where the agent's own code is, as far as that is known; none for a registered agent."""
    recordings: tuple[Episode, ...] | None = field(default=None, repr=False)
    """The episodes of the run that its options name, for it to re-enact."""

    def build(self, base_url: str = "") -> Agent:
        """Make a new agent for one episode.

        Recorded actions that it re-enacts name the service's address of now, `base_url`.
        """
        recordings = self.options.get(RECORDINGS) if self.recordings is None else self.recordings
        if recordings is None or isinstance(recordings, str):
            return self.factory(**self.options)
        if base_url and isinstance(recordings, Sequence):
            recordings = [
                _with_address(item, base_url) if isinstance(item, Episode) else item
                for item in recordings
            ]
        return self.factory(**{**self.options, RECORDINGS: recordings})

    @property
    def asks_model(self) -> bool:
        """Whether the agent names a model, and so reports the usage of its calls."""
        return self.to_record()["options"].get("model") is not None

    @property
    def drives(self) -> bool:
        """Whether the agent drives a browser itself, instead of returning actions."""
        return bool(getattr(self.factory, "drives", False))

    def to_record(self) -> dict[str, Any]:
        """Return the agent's name and all options, with defaults."""
        return {"name": self.name, "options": with_defaults(self.factory, self.options)}


def choose_agent(agent: Any, options: Mapping[str, Any]) -> AgentChoice:
    """Return the agent for a name, an address, a class, a function or an object."""
    if isinstance(agent, str):
        # The short forms: a URL, `stdio:COMMAND`.
        if agent.startswith(("http://", "https://")):
            agent, options = "http", {"url": agent, **options}
        elif agent.startswith(STDIO):
            agent, options = "stdio", {"command": agent.removeprefix(STDIO), **options}
    item = _find(agent) if isinstance(agent, str) else agent
    name = agent if isinstance(agent, str) else name_of(agent)
    factory = agent_factory(item, name)
    _check_sections(factory, options)
    nested = _nested(_read_options(factory, options, f"agent {name!r}"))
    check_options(f"agent {name!r}", factory, nested)
    return AgentChoice(name, factory, nested, _files(name, item, nested))


def _find(agent: str) -> Any:
    """Return the agent of that name or address; an unknown name is an error with a hint."""
    try:
        return AGENTS.find(agent)
    except UnknownName as error:
        scheme, colon, _ = agent.partition(":")
        if not colon or scheme.endswith(".py"):
            raise
        forms = f"{STDIO}COMMAND is a program, and http://… or https://… a server"
        hint = did_you_mean(f"{scheme}:", (STDIO, "http:", "https:"), forms)
        raise UnknownName(f"{error}; {hint}") from None


def _check_sections(factory: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Raise BadParameter if an option looks like a misspelt section of a benchmark."""
    parameters = inspect.signature(factory).parameters
    for key in options:
        section, dot, option = key.partition(".")
        near = get_close_matches(section[:100], SECTIONS, 1) if dot else []
        if near and not parameters.keys() & {section, "options", "kwargs"}:
            raise BadParameter(f"--set {key}: did you mean {near[0]}.{option}?")


def _files(name: str, item: Any, options: Mapping[str, Any]) -> tuple[Path, ...]:
    """Return the file that defines the agent, or the files in the command of a program."""
    if name == "stdio":
        words = split_command(options.get("command", ""))
        return tuple(path for path in map(Path, words[1:] or words) if path.is_file())
    if name in AGENTS.names():
        return ()
    code = inspect.unwrap(item) if inspect.isroutine(item) or isinstance(item, type) else type(item)
    with suppress(TypeError, OSError):
        source = inspect.getsourcefile(code)
        return (Path(source),) if source and Path(source).is_file() else ()
    return ()


def name_of(item: Any) -> str:
    name = getattr(item, "name", None) or getattr(item, "__name__", type(item).__name__)
    return str(name).strip("<>")


def _read_options(
    factory: Callable[..., Any], options: Mapping[str, Any], owner: str
) -> dict[str, Any]:
    """Return the options; text from the command line is read as the type of its option.

    Raises `BadParameter` for a text where the agent takes none: any text would count as true.
    """
    types = annotations_of(factory)
    model = read_option({**with_defaults(factory, {}), **options}.get("model"), str)
    if isinstance(model, str) and model in MODELS.names():
        inner = annotations_of(MODELS.get(model))
        types |= {f"model_options.{name}": annotation for name, annotation in inner.items()}
    result = {key: read_option(value, types.get(key, UNKNOWN)) for key, value in options.items()}
    for key, value in result.items():
        kind = types.get(key, UNKNOWN)
        words = [words for plain, words in _PLAIN if plain is kind]
        if words and isinstance(options[key], OptionText) and not admits(kind, value):
            raise BadParameter(f"{owner}: {key} is {value!r}; it must be {words[0]}")
    return result


_PLAIN: Final = ((bool, "true or false"), (int, "a whole number"), (float, "a number"))


def with_recordings(choice: AgentChoice, runs_dir: Path) -> AgentChoice:
    """Return the agent with the recorded episodes that it replays.

    A record has the id of that run: `latest` is soon another one.
    """
    name = choice.options.get(RECORDINGS)
    if not isinstance(name, str):
        return choice
    path = find_run(name, runs_dir)
    is_path = RunLayout(Path(name)).manifest.is_file()
    options = {**choice.options, RECORDINGS: name if is_path else path.name}
    return replace(choice, options=options, recordings=tuple(Run(path).final(full=True)))


def _with_address(episode: Episode, base_url: str) -> Episode:
    """Return the episode with its recorded service address replaced by this address."""
    then = urlsplit(str(episode.metadata.get("base_url", ""))).netloc
    if not then:
        return episode
    now = urlsplit(base_url).netloc
    steps = tuple(
        step.model_copy(update={"action": step.action.replace(then, now)})
        for step in episode.trajectory.steps
    )
    trajectory = episode.trajectory.model_copy(update={"steps": steps})
    return episode.model_copy(update={"trajectory": trajectory})


def with_defaults(factory: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options of a factory: the given ones, and defaults for the others."""
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(factory).parameters.items()
        if parameter.default is not inspect.Parameter.empty
    }
    return {**defaults, **options}


def _nested(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with dotted keys, such as `model_options.url`, as nested tables."""
    nested: dict[str, Any] = {}
    for key, value in options.items():
        *parents, last = key.split(".")
        table = nested
        for parent in parents:
            inner = table.get(parent)
            if not isinstance(inner, Mapping | None):
                raise BadParameter(f"option {key!r}: {parent!r} has the value {inner!r} already")
            # A copy: the table may be one of the caller's, such as that of a manifest.
            table[parent] = table = dict(inner or {})
        table[last] = value
    return nested
