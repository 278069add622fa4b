"""The tasks that the text worlds bring with them, asked of the worlds themselves by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from assay.errors import BadParameter
from assay.registry import ENVIRONMENTS
from assay.schema.task import Task


def alfworld(*, split: str = "valid_unseen", folder: str | None = None) -> list[Task]:
    """The games of a split of ALFWorld; two are shipped, `folder` holds others."""
    return offered("alfworld", {"folder": folder}, split=split)


def scienceworld(
    *, split: Literal["train", "dev", "test"] = "test", simplifications: str = ""
) -> list[Task]:
    """Every variation of ScienceWorld's thirty tasks in a split."""
    return offered("scienceworld", {"simplifications": simplifications}, split=split)


def webshop(
    *,
    goals: Literal["human", "synthetic"] = "human",
    folder: str | None = None,
    seed: int = 0,
    shuffle: bool = False,
) -> list[Task]:
    """One task for each of WebShop's goals."""
    config = {"goals": goals, "folder": folder, "seed": seed, "shuffle": shuffle}
    return offered("webshop", config)


def offered(world: str, config: dict[str, Any] | None = None, **choice: Any) -> list[Task]:
    """What the `tasks` method of a registered world gives; the world is not started."""
    instance = ENVIRONMENTS.get(world)(**(config or {}))
    offer = getattr(instance, "tasks", None)
    if not callable(offer):
        raise BadParameter(f"the world {world!r} has no list of tasks; give them as a JSONL file")
    tasks: Sequence[Task] = offer(**choice)
    return list(tasks)
