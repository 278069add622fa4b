"""Declares the options of a run: the parameters of `assay.run` and of `assay run`.

`takes_options` makes parameters of the fields of `RunOptions`, and the command line its options.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import wraps
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any, ParamSpec, TypeVar, get_origin, get_type_hints

from assay.agents.models.protocol import Model
from assay.agents.protocol import Agent
from assay.errors import BadParameter
from assay.registry import MODELS
from assay.runner.benchmark import SECTIONS
from assay.runner.progress import RunProgress, no_progress
from assay.runner.values import TaskLike, reward_names
from assay.scoring.batch import EngineName
from assay.scoring.scorer import RewardLike

P = ParamSpec("P")
T = TypeVar("T")

RUNS_DIR = "runs"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run; `None` stands for an option that was not given."""

    benchmark: Annotated[
        str | Path | None,
        "A name (`assay list benchmarks`), a TOML file, or a file of questions.",
    ] = None
    _: KW_ONLY
    agent: Annotated[
        str | Agent | Callable[..., Any] | None,
        "The agent: a name (`assay list agents`), a class or function of your own, a program that "
        'speaks JSON lines ("stdio:node agent.js"), or a server (http://127.0.0.1:8000/act).',
    ] = None
    model: Annotated[
        str | Model | None,
        "The model that the agent asks, such as openai:NAME; without an agent, questions go to the "
        "model directly. Short for --set model=KIND --set model_options.model=NAME.",
    ] = None
    environment: Annotated[
        Any,
        "The environment, instead of the benchmark's: a name, a mapping of a name and options, a "
        "class or an instance.",
    ] = None
    rewards: Annotated[
        Sequence[RewardLike] | None,
        "The rewards, instead of the benchmark's: a name, or FILE.py:NAME; from Python also a "
        "function or a Scorer. The first reward is primary.",
    ] = None
    columns: Annotated[
        Mapping[str, str] | None,
        "The columns of a file of questions that hold id, question, answer, or a reward's input.",
    ] = None
    settings: Annotated[
        Mapping[str, Any] | None,
        "An option of the agent; with a section (limits.steps=20), an option of the benchmark.",
    ] = None
    tasks: Annotated[
        str | Iterable[TaskLike] | None,
        "The tasks: ids, patterns (rain_*), or a flag such as demo. From Python also the tasks "
        "themselves, without a benchmark: a Task, a mapping with a question, or a question.",
    ] = None
    repeats: Annotated[int | None, "The number of episodes of each task."] = None
    seed: Annotated[
        int | None,
        "The seed of the run; each attempt gets a derived seed, for agents that take `seed`. "
        "--set model_options.send_seed=true sends it to an OpenAI-shaped endpoint.",
    ] = None
    max_cost: Annotated[
        float | None,
        "The dollars that the run may cost: no attempt begins that would probably exceed them. The "
        "run can be resumed with a larger budget; --resume alone keeps the budget; 0 for no limit.",
    ] = None
    max_tokens: Annotated[
        int | None, "The tokens that the run may use, of prompts and completions."
    ] = None
    prices: Annotated[
        str | Path | None,
        "The prices of models, a TOML or JSON file; `assay list prices` shows the known prices.",
    ] = None
    cache: Annotated[
        str | Path | None,
        "A folder of cached replies of hosted models: the same request in the same repeat gets "
        "the same reply, at no cost.",
    ] = None
    workers: Annotated[int, "The number of episodes at a time."] = 2
    engine: Annotated[EngineName, "Processes of this machine, or a Ray cluster."] = "local"
    address: Annotated[str | None, "The address of the Ray cluster."] = None
    focus: Annotated[str | None, "What the run is meant to show; recorded before the run."] = None
    expect: Annotated[
        Mapping[str, Sequence[str]] | None,
        "Tasks whose reward should go up or down; recorded before the run.",
    ] = None
    resume: Annotated[
        str | Path | None,
        "A run to resume: its missing episodes are played. Other options must be those of its "
        "start; the engine, the budget, the model's address and its time limits may differ.",
    ] = None
    retry_errors: Annotated[
        str | Sequence[str] | bool,
        "With --resume: play failed episodes again, as new attempts. Without a value: "
        "env,model. Agent errors count as zeros; the summary says how many were replaced.",
    ] = False
    stop_after_errors: Annotated[
        int | None,
        "End the run when its first N attempts all fail with the same error, such as a refused "
        "key; 0 for never.",
    ] = None
    runs_dir: Annotated[str | Path, "The folder of the runs."] = RUNS_DIR
    repository: Annotated[
        str | Path,
        "The agent's repository, whose commit is recorded; without it the agent's own file is.",
    ] = "."
    keep_diff: Annotated[
        bool,
        "Keep the repository's uncommitted changes with the run (256 kB at most, without "
        "secrets), for `assay compare`.",
    ] = True
    progress: Annotated[
        Callable[[RunProgress], None],
        "Called with the state of the run after each attempt.",
    ] = no_progress

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise BadParameter(f"workers is {self.workers!r}; it must be a whole number >= 1")
        if self.stop_after_errors is not None and self.stop_after_errors < 0:
            raise BadParameter(
                f"stop_after_errors is {self.stop_after_errors!r}; it must be >= 0, and 0 means "
                "never"
            )

    @property
    def selection(self) -> str | None:
        """The names of the selected tasks; `None` if the tasks are passed as values."""
        return self.tasks if isinstance(self.tasks, str) else None

    @property
    def task_values(self) -> Iterable[TaskLike] | None:
        """The tasks that are passed as values; `None` if tasks are selected by name."""
        return None if isinstance(self.tasks, str) else self.tasks

    @property
    def agent_or_chat(self) -> str | Agent | Callable[..., Any] | None:
        """The agent; if only a model is named, the agent `chat`."""
        return "chat" if self.agent is None and self.model is not None else self.agent

    @property
    def benchmark_settings(self) -> dict[str, Any]:
        """The settings of the benchmark, including the options `columns` and `rewards`."""
        columns = {} if self.task_values is not None else self.columns or {}
        short: dict[str, Any] = {f"tasks.columns.{key}": name for key, name in columns.items()}
        if self.rewards is not None:
            short["rewards.names"] = reward_names(self.rewards)
        return short | {key: v for key, v in (self.settings or {}).items() if _has_section(key)}

    @property
    def agent_settings(self) -> dict[str, Any]:
        """The options of the agent, including its model."""
        short = {} if self.model is None else model_settings(self.model)
        return short | {key: v for key, v in (self.settings or {}).items() if not _has_section(key)}


def _has_section(key: str) -> bool:
    section, dot, _ = key.partition(".")
    return bool(dot) and section in SECTIONS


def model_settings(model: str | Model) -> dict[str, Any]:
    """Return the agent options for a model such as `openai:NAME`."""
    if not isinstance(model, str):
        return {"model": model}
    kind, colon, name = model.partition(":")
    if not kind or (colon and not name):
        raise BadParameter(f"model {model!r}; write KIND:NAME, such as openai:gpt-5-mini")
    MODELS.get(kind)
    return {"model": kind, **({"model_options.model": name} if colon else {})}


HELP: Mapping[str, str] = {
    name: annotation.__metadata__[0]
    for name, annotation in get_type_hints(RunOptions, include_extras=True).items()
    if get_origin(annotation) is Annotated
}
"""What each option says, by its name."""


def takes_options(
    options: Callable[P, RunOptions],
) -> Callable[[Callable[[RunOptions], T]], Callable[P, T]]:
    """Give a function the fields of an options record as its parameters."""

    def decorate(function: Callable[[RunOptions], T]) -> Callable[P, T]:
        @wraps(function)
        def call(*arguments: P.args, **named: P.kwargs) -> T:
            return function(options(*arguments, **named))

        hints = get_type_hints(options)
        signature = inspect.signature(options)
        parameters = [
            each.replace(annotation=hints[each.name]) for each in signature.parameters.values()
        ]
        call.__signature__ = signature.replace(  # type: ignore[attr-defined]  # inspect reads it
            parameters=parameters, return_annotation=inspect.signature(function).return_annotation
        )
        lines = [fill(f"{each}: {HELP[each]}", 96, subsequent_indent="    ") for each in HELP]
        call.__doc__ = "\n".join((inspect.getdoc(function) or "", "", *lines))
        return call

    return decorate
