"""Load AssistantBench's questions about the live web from the hub or a local copy."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from assay.errors import BadParameter, BadRecord, MissingExtra
from assay.lazy import package_table
from assay.schema.task import Task
from assay.tasks.jsonl import read_rows

Split: TypeAlias = Literal["dev", "test"]
Staleness: TypeAlias = Literal["Static", "Stable", "Unlikely", "unknown"]
"""`Static` cannot change, `Stable` hardly does, `Unlikely` was thought safe for a year."""
DATA_SET = "AssistantBench/AssistantBench"
HUB_SPLITS: dict[Split, str] = {"dev": "validation", "test": "test"}
START_URL = "https://www.google.com"
HOW = (
    "install `datasets` and go online once (the hub keeps a copy for later), or give `path`: a "
    "JSONL file of the data set with the columns id, task and answer"
)


def tasks(
    *,
    split: Split = "dev",
    path: str | Path | None = None,
    time_dependency: Staleness | None = None,
    start_url: str = START_URL,
) -> list[Task]:
    """Load the tasks of a split, from `path` or from the Hugging Face hub.

    Task ids are BrowserGym's: `validation.0`, `test.17`. `time_dependency` keeps one class of
    staleness. The answers of the test split are hidden: its references are empty, and every
    answer scores 0.0 here.
    """
    if split not in get_args(Split):
        raise BadParameter(f"there is no split {split!r}; choose one of {get_args(Split)}")
    if time_dependency is not None and time_dependency not in get_args(Staleness):
        raise BadParameter(
            f"time_dependency is {time_dependency!r}; choose one of {get_args(Staleness)}"
        )
    rows = (
        _from_hub(HUB_SPLITS[split]) if path is None else (row for _, row in read_rows(Path(path)))
    )
    every = [_task(row, split, number, start_url) for number, row in enumerate(rows)]
    if not every:
        raise BadRecord(f"{path or DATA_SET} holds no tasks")
    return [task for task in every if time_dependency in (None, task.metadata["time_dependency"])]


def _from_hub(split: str) -> Iterable[Mapping[str, Any]]:
    try:
        # Named here and not imported above: the library is large, optional and untyped.
        datasets: Any = importlib.import_module("datasets")
    except ImportError as error:
        raise MissingExtra(f"AssistantBench is not on this machine; {HOW}") from error
    try:
        rows: Iterable[Mapping[str, Any]] = datasets.load_dataset(DATA_SET, split=split)
    except (OSError, ValueError) as error:
        raise BadRecord(
            f"AssistantBench could not be loaded from the hub ({error}); {HOW}"
        ) from error
    return rows


def _task(row: Mapping[str, Any], split: Split, number: int, start_url: str) -> Task:
    goal, original = row.get("task"), row.get("id")
    if not isinstance(goal, str) or not isinstance(original, str):
        raise BadRecord(
            f"task {number} of AssistantBench needs a text as id and as task; it has {sorted(row)}"
        )
    answer = row.get("answer")
    return Task(
        id=f"{HUB_SPLITS[split]}.{number}",
        goal=goal,
        answer=_reference(answer),
        metadata={
            "original_id": original,
            "split": split,
            "difficulty": row.get("difficulty"),
            "time_dependency": staleness(original),
            "gold_hidden": answer is None,
            "domain": "live web",
            "start_url": start_url,
        },
    )


def _reference(answer: Any) -> str:
    """The reference as text; a hidden reference is empty, as BrowserGym's scorer expects."""
    if answer is None:
        return ""
    return answer if isinstance(answer, str) else json.dumps(answer)


ID_PREFIX = 6
"""Digits of a task's id by which the lists below know it.

They are the classes of `assistantbench.csv` in BrowserGym (Apache-2.0, ServiceNow Research), as the
authors of AssistantBench judged in 2024 how soon an answer goes out of date.
"""


@cache
def _classes() -> dict[str, Staleness]:
    """The class of staleness, for the first characters of a task's id."""
    table: dict[Any, str] = package_table(__package__, "assistantbench")
    return {prefix: kind for kind, ids in table.items() for prefix in ids.split()}


def staleness(task_id: str) -> Staleness:
    """How soon the task's answer becomes outdated; `unknown` for other ids."""
    return _classes().get(task_id[:ID_PREFIX], "unknown")
