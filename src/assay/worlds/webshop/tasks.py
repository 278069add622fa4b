"""WebShop's goals as tasks."""

from __future__ import annotations

from typing import Any, get_args

from assay.errors import BadParameter
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
    """One task for each goal; its id is the number of the goal.

    Raises `BadParameter` for a kind of goals that there is not.
    """
    require_choice("goals", goals, get_args(GoalKind))
    listed = open_shop(folder, seed=seed).goals(goals, shuffle=shuffle)
    metadata = {"goals": goals, "seed": seed, "shuffled": shuffle}
    return tuple(
        Task(id=str(number), goal=goal.instruction, metadata=metadata)
        for number, goal in enumerate(listed)
    )


def require_choice(name: str, value: Any, allowed: tuple[str, ...]) -> Any:
    """The value, which comes from configuration or a task, if it is one of those allowed."""
    if value not in allowed:
        raise BadParameter(f"{name} of WebShop must be one of {allowed}, not {value!r}")
    return value
