"""The plan of a run, fixed before it starts: the tasks, repeats, agent and rewards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from assay.errors import AssayError, BadParameter, MissingParameter
from assay.ledger.provenance import resolved_config
from assay.registry import ENVIRONMENTS, RESERVED, TASKS
from assay.resources.spec import check_options
from assay.rewards.step import Contract, parse_contract
from assay.runner.agents import AgentChoice, with_defaults
from assay.runner.benchmark import Benchmark
from assay.runner.services import service_options
from assay.schema.task import Task
from assay.scoring.scorer import Scorer

DIRECTIONS = ("up", "down")
AttemptKey: TypeAlias = tuple[str, int]
"""A task's id and the number of its repeat: what identifies an episode of a run."""


@dataclass(frozen=True, slots=True)
class PlannedAttempt:
    """One task to be attempted once; repeats count from 0."""

    task: Task
    repeat: int

    @property
    def key(self) -> AttemptKey:
        return self.task.id, self.repeat


@dataclass(frozen=True, slots=True)
class Plan:
    """A benchmark, an agent, and which episodes of them make the run."""

    benchmark: Benchmark
    agent: AgentChoice
    tasks: tuple[Task, ...]
    scorers: tuple[Scorer, ...]
    """The first one is primary."""
    repeats: int = 1
    selection: str = ""
    """Which of the benchmark's tasks, as the caller wrote it; empty for all."""
    expect: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Ids of the tasks whose reward the caller expects to go `up` or `down`."""

    def attempts(self) -> Iterator[PlannedAttempt]:
        """Every attempt, all tasks once before any of them a second time."""
        for repeat in range(self.repeats):
            for task in self.tasks:
                yield PlannedAttempt(task, repeat)

    def config(self) -> dict[str, Any]:
        """The resolved configuration as the manifest keeps it, nulls included."""
        benchmark = self.benchmark.to_record()
        source = TASKS.get(self.benchmark.tasks.name)
        environment = ENVIRONMENTS.get(self.benchmark.environment.name)
        benchmark["tasks"] = with_defaults(source, benchmark["tasks"])
        benchmark["environment"] = with_defaults(environment, benchmark["environment"])
        benchmark["rewards"]["options"] = {
            reward.name: scorer.params
            for reward, scorer in zip(self.benchmark.rewards, self.scorers, strict=True)
            if scorer.params
        }
        return resolved_config(
            {
                "benchmark": benchmark,
                "agent": self.agent.to_record(),
                "tasks": self.selection,
                "repeats": self.repeats,
                "expect": {key: list(ids) for key, ids in self.expect.items()},
            }
        )


def make_plan(
    benchmark: Benchmark,
    agent: AgentChoice,
    *,
    selection: str = "",
    repeats: int = 1,
    expect: Mapping[str, Sequence[str]] | None = None,
) -> Plan:
    """A plan whose names, options and columns were checked; raise what is wrong with them."""
    if repeats < 1:
        raise BadParameter(f"repeats is {repeats!r}; it is a whole number from 1 up")
    environment = benchmark.environment
    check_options(
        f"[environment] {environment.name!r}",
        ENVIRONMENTS.get(environment.name),
        environment.options,
    )
    service_options(benchmark)
    tasks = select_tasks(load_tasks(benchmark), selection)
    scorers = tuple(Scorer(reward.name, reward.options) for reward in benchmark.rewards)
    for scorer in scorers:
        _check_columns(scorer, tasks)
    for task in tasks:
        contract_of(task)
    return Plan(
        benchmark=benchmark,
        agent=agent,
        tasks=tasks,
        scorers=scorers,
        repeats=repeats,
        selection=selection,
        expect=_resolve_expectations(tasks, expect or {}),
    )


def load_tasks(benchmark: Benchmark) -> tuple[Task, ...]:
    """Every task of the benchmark; raise `AssayError` for two of one id."""
    source = TASKS.get(benchmark.tasks.name)
    check_options(f"[tasks] source {benchmark.tasks.name!r}", source, benchmark.tasks.options)
    tasks = tuple(source(**benchmark.tasks.options))
    seen: set[str] = set()
    for task in tasks:
        if task.id in seen:
            raise AssayError(f"benchmark {benchmark.name!r} has two tasks {task.id!r}")
        seen.add(task.id)
    if not tasks:
        raise BadParameter(f"benchmark {benchmark.name!r} has no tasks with these options")
    return tasks


def contract_of(task: Task) -> Contract | None:
    """The contract in its metadata: what a page must show when the task is done."""
    data = task.metadata.get("contract")
    if data is None:
        return None
    try:
        return parse_contract(data)
    except BadParameter as error:
        raise BadParameter(f"task {task.id!r}: {error}") from error


def select_tasks(tasks: Sequence[Task], selection: str) -> tuple[Task, ...]:
    """The tasks that a selection names, in the benchmark's order; an empty one names all.

    It is a list with commas. An entry is an id, a pattern (`rain_*`), a word that the tasks'
    metadata has as a flag (`demo`), or the end of one id alone (`3` for `validation.3`).
    """
    words = [word.strip() for word in selection.split(",") if word.strip()]
    if not words:
        return tuple(tasks)
    chosen = {task.id for word in words for task in _matching(tasks, word)}
    return tuple(task for task in tasks if task.id in chosen)


def _matching(tasks: Sequence[Task], word: str) -> list[Task]:
    exact = [task for task in tasks if task.id == word]
    flagged = [task for task in tasks if task.metadata.get(word) is True]
    fitting = [task for task in tasks if fnmatchcase(task.id, word)]
    ending = [task for task in tasks if task.id.rpartition(".")[2] == word]
    matches = exact or flagged or fitting or ending
    if not matches:
        examples = ", ".join(task.id for task in tasks[:5])
        raise BadParameter(
            f"no task {word!r} among {len(tasks)}; ids look like {examples}; "
            "a pattern such as 'x*' and a flag of the tasks' metadata work too"
        )
    if matches is ending and len(ending) > 1:
        raise BadParameter(f"{word!r} may be any of {[task.id for task in ending[:5]]}")
    return matches


def _resolve_expectations(
    tasks: Sequence[Task], expect: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    resolved: dict[str, tuple[str, ...]] = {}
    for direction, words in expect.items():
        if direction not in DIRECTIONS:
            raise BadParameter(f"expect {direction!r}; a reward is expected to go up or down")
        chosen = select_tasks(tasks, ",".join(words)) if words else ()
        resolved[direction] = tuple(task.id for task in chosen)
    return resolved


def _check_columns(scorer: Scorer, tasks: Sequence[Task]) -> None:
    """Raise `MissingParameter` if a task lacks a column that the reward needs."""
    for task in tasks:
        columns = {*task.columns(), *RESERVED}
        for name in scorer.spec.required:
            if name not in columns:
                raise MissingParameter(
                    f"{scorer.spec.name} needs {name!r}, which task {task.id!r} does not have; "
                    f"it has: {', '.join(sorted(columns))}"
                )
