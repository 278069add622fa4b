"""Reads tasks, environments and rewards that are passed as Python values."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from assay.errors import BadParameter, cause_of
from assay.registry import find_reward
from assay.runner.agents import name_of
from assay.runner.benchmark import Benchmark, ComponentSpec, questions_benchmark
from assay.schema.task import Task
from assay.scoring.scorer import RewardLike, Scorer
from assay.tasks.jsonl import rename_columns, task_of

TASK_VALUES = "values"
"""What a record has for the source of tasks that were values."""
TaskLike: TypeAlias = Task | Mapping[str, Any] | str
"""A task, a row with the columns that a file of questions has, or the question alone."""


def benchmark_of_values(settings: Mapping[str, Any]) -> Benchmark:
    """Return a benchmark for tasks that are passed as values; its environment is a chat."""
    if not settings.get("rewards.names"):
        raise BadParameter(
            "no reward: name a reward, as in rewards=['math_equal_reward'], or pass a function"
        )
    tasks = {"source": TASK_VALUES}
    return questions_benchmark({"name": "tasks"}, tasks, settings, where="tasks")


def with_values(
    benchmark: Benchmark,
    *,
    tasks: Iterable[TaskLike] | None,
    columns: Mapping[str, str],
    environment: Any,
    rewards: Sequence[RewardLike] | None,
) -> Benchmark:
    """Return the benchmark with its tasks, environment and rewards replaced by those passed."""
    if tasks is not None:
        values = read_tasks(tasks, columns)
        benchmark = replace(benchmark, tasks=ComponentSpec(TASK_VALUES, {}, values))
    elif benchmark.tasks.name == TASK_VALUES:
        raise BadParameter("the tasks of this run were Python values; pass them again: tasks=[…]")
    if environment is not None:
        benchmark = replace(benchmark, environment=read_environment(environment))
    if rewards is not None:
        specs = zip(benchmark.rewards, rewards, strict=True)
        components = [
            spec if isinstance(item, str) else replace(spec, value=item) for spec, item in specs
        ]
        benchmark = replace(benchmark, rewards=tuple(components))
    return benchmark


def read_tasks(tasks: Iterable[TaskLike], columns: Mapping[str, str]) -> tuple[Task, ...]:
    """Return tasks from `Task` objects, mappings or questions."""
    read: list[Task] = []
    for number, item in enumerate(tasks, 1):
        if isinstance(item, Task):
            read.append(item)
            continue
        where = f"tasks[{number - 1}]"
        row = {"question": item} if isinstance(item, str) else item
        if not isinstance(row, Mapping):
            raise BadParameter(
                f"{where} is {item!r:.200}; a task must be a Task, a mapping such as "
                "{'question': …, 'answer': …}, or the question alone"
            )
        renamed = rename_columns(row, columns, where)
        read.append(task_of(renamed, where, f"task.{number}", columns=row))
    return tuple(read)


def read_environment(environment: Any) -> ComponentSpec:
    """Return the environment for a name, a mapping, a class or an instance."""
    if isinstance(environment, str):
        return ComponentSpec(environment)
    if isinstance(environment, Mapping):
        options = dict(environment)
        name = options.pop("name", None)
        if not isinstance(name, str):
            raise BadParameter(f"environment is {environment!r:.200}; it needs a 'name'")
        return ComponentSpec(name, options)
    name = name_of(getattr(environment, "func", environment))
    if not isinstance(environment, type) and hasattr(environment, "reset"):
        return ComponentSpec(name, {}, _copies_of(environment, name))
    if not callable(environment):
        raise BadParameter(
            f"environment is {environment!r:.200}; it must be a name, a class, or an instance"
        )
    return ComponentSpec(name, {}, environment)


def _copies_of(environment: Any, name: str) -> Callable[[], Any]:
    def copied() -> Any:
        try:
            return copy.deepcopy(environment)
        except Exception as error:  # whatever the copy of a user's object raises
            raise BadParameter(
                f"environment {name!r} cannot be copied for each worker ({cause_of(error)}); pass "
                "its class, or functools.partial of it"
            ) from error

    return copied


def reward_names(rewards: Sequence[RewardLike]) -> list[str]:
    """Return the names of the rewards for the record of a run."""
    return [
        item
        if isinstance(item, str)
        else item.spec.name
        if isinstance(item, Scorer)
        else find_reward(item).name
        for item in rewards
    ]
