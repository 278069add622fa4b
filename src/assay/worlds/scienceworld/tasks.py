"""The thirty tasks of scienceworld 1.2.3, with their variations and splits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from assay.errors import BadParameter
from assay.lazy import package_table
from assay.schema.task import Task

Split = Literal["train", "dev", "test"]

SIMPLIFICATIONS = (
    "easy", "teleportAction", "openContainers", "openDoors", "selfWateringFlowerPots",
    "noElectricalAction",
)  # fmt: skip
"""`easy` stands for all others but openContainers."""


@dataclass(frozen=True, slots=True)
class ScienceTask:
    """One of the thirty tasks; its variations are numbered in the order train, dev, test."""

    id: str
    name: str
    train: int
    dev: int
    test: int

    @property
    def variations(self) -> int:
        return self.train + self.dev + self.test

    def split(self, split: Split) -> range:
        """The variations of one split."""
        dev, test = self.train, self.train + self.dev
        ends = {"train": (0, dev), "dev": (dev, test), "test": (test, self.variations)}
        return range(*ends[split])


_TABLE: Mapping[str, Any] = package_table(__package__, "tasks")
TOPICS: tuple[ScienceTask, ...] = tuple(ScienceTask(*row) for row in _TABLE["tasks"])
GOLD_MOVES: Mapping[str, int] = _TABLE["gold_moves"]
"""Moves of a recorded gold path, for the tasks whose path takes more than the usual hundred."""

_BY_NAME = {key: topic for topic in TOPICS for key in (topic.name, topic.id)}


@dataclass(frozen=True, slots=True)
class TaskVariation:
    """The variation and the simplifications that the simulator loads for a task."""

    topic: ScienceTask
    variation: int
    simplifications: str


def tasks(split: Split = "test", *, simplifications: str = "") -> list[Task]:
    """Return every variation of the tasks in a split; ids are such as `boil/21`."""
    if split not in get_args(Split):
        raise BadParameter(f"ScienceWorld has the splits {get_args(Split)}, not {split!r}")
    simplified = {"simplifications": simplifications} if simplifications else {}
    return [
        Task(
            id=f"{topic.name}/{variation}",
            metadata={"task_name": topic.name, "variation_idx": variation, **simplified},
        )
        for topic in TOPICS
        for variation in topic.split(split)
    ]


def read_task(task: Task, simplifications: str = "") -> TaskVariation:
    """Return the variation of a task; raise BadParameter if ScienceWorld does not have it.

    `task_name` and `variation_idx` come from the metadata, or from an id such as `boil/21`.
    """
    name, _, number = task.id.rpartition("/")
    name = task.metadata.get("task_name", name)
    variation = task.metadata.get("variation_idx", int(number) if number.isdecimal() else None)
    topic = _BY_NAME.get(name) if isinstance(name, str) else None
    if topic is None:
        raise BadParameter(
            f"task {task.id!r} has no known ScienceWorld task ({name!r}); "
            f"metadata['task_name'] must be one of {', '.join(one.name for one in TOPICS)}"
        )
    if type(variation) is not int or not 0 <= variation < topic.variations:
        raise BadParameter(
            f"task {task.id!r}: {topic.name} has the variations 0 to {topic.variations - 1}, "
            f"not {variation!r}; set metadata['variation_idx']"
        )
    value = task.metadata.get("simplifications", simplifications)
    return TaskVariation(topic, variation, _check_simplifications(topic, value))


def _check_simplifications(topic: ScienceTask, value: Any) -> str:
    names = value.split(",") if isinstance(value, str) and value else []
    if not isinstance(value, str) or not set(names) <= set(SIMPLIFICATIONS):
        raise BadParameter(
            f"simplifications must be a comma-separated list of {', '.join(SIMPLIFICATIONS)}, "
            f"not {value!r}"
        )
    electrical = "power-component" in topic.name or "conductivity" in topic.name
    if electrical and "noElectricalAction" in names:
        raise BadParameter(f"task {topic.name} cannot be solved with noElectricalAction")
    return value
