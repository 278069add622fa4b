"""WebShop's goals as tasks."""

from __future__ import annotations

from typing import get_args

from assay.errors import check_choice
from assay.schema.task import Task
from assay.worlds.webshop.goals import GoalKind
from assay.worlds.webshop.shop import DEFAULT_SEED, open_shop


def tasks(
    *,
    goals: GoalKind = "human",
    folder: str | None = None,
    seed: int = DEFAULT_SEED,
    shuffle: bool = False,
) -> tuple[Task, ...]:
    """Return one task for each goal; the task's id is the goal's number."""
    check_choice("goals of WebShop", goals, get_args(GoalKind))
    listed = open_shop(folder, seed=seed).goals(goals, shuffle=shuffle)
    metadata = {"goals": goals, "seed": seed, "shuffled": shuffle}
    return tuple(
        Task(id=str(number), goal=goal.instruction, metadata=metadata)
        for number, goal in enumerate(listed)
    )
