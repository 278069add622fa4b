"""The thirty tasks, their variations and splits, as scienceworld 1.2.3 has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from assay.errors import BadParameter
from assay.schema.task import Task

Split = Literal["train", "dev", "test"]

SIMPLIFICATIONS = (
    "easy",
    "teleportAction",
    "openContainers",
    "openDoors",
    "selfWateringFlowerPots",
    "noElectricalAction",
)
"""`easy` stands for all others but openContainers."""


@dataclass(frozen=True, slots=True)
class ScienceTask:
    """One of the thirty tasks; its variations are numbered train first, then dev, then test."""

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


TOPICS: tuple[ScienceTask, ...] = (
    ScienceTask("1-1", "boil", 14, 7, 9),
    ScienceTask("1-2", "melt", 14, 7, 9),
    ScienceTask("1-3", "freeze", 14, 7, 9),
    ScienceTask("1-4", "change-the-state-of-matter-of", 14, 7, 9),
    ScienceTask("2-1", "use-thermometer", 270, 135, 135),
    ScienceTask("2-2", "measure-melting-point-known-substance", 218, 109, 109),
    ScienceTask("2-3", "measure-melting-point-unknown-substance", 150, 75, 75),
    ScienceTask("3-1", "power-component", 10, 5, 5),
    ScienceTask("3-2", "power-component-renewable-vs-nonrenewable-energy", 10, 5, 5),
    ScienceTask("3-3", "test-conductivity", 450, 225, 225),
    ScienceTask("3-4", "test-conductivity-of-unknown-substances", 300, 150, 150),
    ScienceTask("4-1", "find-living-thing", 150, 75, 75),
    ScienceTask("4-2", "find-non-living-thing", 150, 75, 75),
    ScienceTask("4-3", "find-plant", 150, 75, 75),
    ScienceTask("4-4", "find-animal", 150, 75, 75),
    ScienceTask("5-1", "grow-plant", 62, 31, 33),
    ScienceTask("5-2", "grow-fruit", 62, 31, 33),
    ScienceTask("6-1", "chemistry-mix", 16, 8, 8),
    ScienceTask("6-2", "chemistry-mix-paint-secondary-color", 18, 9, 9),
    ScienceTask("6-3", "chemistry-mix-paint-tertiary-color", 18, 9, 9),
    ScienceTask("7-1", "lifespan-longest-lived", 62, 31, 32),
    ScienceTask("7-2", "lifespan-shortest-lived", 62, 31, 32),
    ScienceTask("7-3", "lifespan-longest-lived-then-shortest-lived", 62, 31, 32),
    ScienceTask("8-1", "identify-life-stages-1", 6, 3, 5),
    ScienceTask("8-2", "identify-life-stages-2", 4, 2, 4),
    ScienceTask("9-1", "inclined-plane-determine-angle", 84, 42, 42),
    ScienceTask("9-2", "inclined-plane-friction-named-surfaces", 692, 346, 348),
    ScienceTask("9-3", "inclined-plane-friction-unnamed-surfaces", 80, 40, 42),
    ScienceTask("10-1", "mendelian-genetics-known-plant", 60, 30, 30),
    ScienceTask("10-2", "mendelian-genetics-unknown-plant", 240, 120, 120),
)
GOLD_MOVES: Mapping[str, int] = {
    "inclined-plane-friction-named-surfaces": 109,
    "inclined-plane-friction-unnamed-surfaces": 190,
    "mendelian-genetics-known-plant": 156,
    "mendelian-genetics-unknown-plant": 159,
}
"""Moves of a recorded gold path, for the tasks whose path takes more than the usual hundred."""

_BY_NAME = {key: topic for topic in TOPICS for key in (topic.name, topic.id)}


@dataclass(frozen=True, slots=True)
class TaskVariation:
    """What a task asks the simulator to load."""

    topic: ScienceTask
    variation: int
    simplifications: str


def tasks(split: Split = "test", *, simplifications: str = "") -> list[Task]:
    """Every variation of every task in a split, as `boil/21`."""
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
    """What the task means; one that ScienceWorld does not have is a `BadParameter`.

    `task_name` and `variation_idx` come from the metadata, or from an id such as `boil/21`.
    """
    name, _, number = task.id.rpartition("/")
    name = task.metadata.get("task_name", name)
    variation = task.metadata.get("variation_idx", int(number) if number.isdecimal() else None)
    topic = _BY_NAME.get(name) if isinstance(name, str) else None
    if topic is None:
        raise BadParameter(
            f"task {task.id!r} names no ScienceWorld task ({name!r}); "
            f"metadata['task_name'] is one of {', '.join(one.name for one in TOPICS)}"
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
            f"simplifications are a comma-separated list of {', '.join(SIMPLIFICATIONS)}, "
            f"not {value!r}"
        )
    electrical = "power-component" in topic.name or "conductivity" in topic.name
    if electrical and "noElectricalAction" in names:
        raise BadParameter(f"{topic.name} cannot be done with noElectricalAction")
    return value
