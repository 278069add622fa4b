"""The tasks that environments bring with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from assay.browser.drive.miniwob.pages import PAGES
from assay.errors import BadParameter, did_you_mean
from assay.registry import ENVIRONMENTS
from assay.schema.task import Task

MINIWOB_GOAL = "Do what the line `goal:` of the page says."


def alfworld(*, split: str = "valid_unseen", folder: str | None = None) -> list[Task]:
    """The games of a split of ALFWorld; two are shipped, `folder` holds others."""
    return environment_tasks("alfworld", {"folder": folder}, split=split)


def scienceworld(
    *, split: Literal["train", "dev", "test"] = "test", simplifications: str = ""
) -> list[Task]:
    """Every variation of ScienceWorld's thirty tasks in a split."""
    return environment_tasks("scienceworld", {"simplifications": simplifications}, split=split)


def webshop(
    *,
    goals: Literal["human", "synthetic"] = "human",
    folder: str | None = None,
    seed: int = 0,
    shuffle: bool = False,
) -> list[Task]:
    """One task for each of WebShop's goals."""
    options = {"goals": goals, "folder": folder, "seed": seed, "shuffle": shuffle}
    return environment_tasks("webshop", options)


def miniwob(*, pages: Sequence[str] = (), seed: int = 0, episodes: int = 1) -> list[Task]:
    """One task for each of MiniWoB++'s pages and each seed: `click-link/0`, seeds from `seed` up.

    A page draws its goal when it is reset, so it is in the observations and not in the task.
    """
    if type(seed) is not int or seed < 0 or type(episodes) is not int or episodes < 1:
        raise BadParameter(f"seed counts from 0 and episodes from 1, not {seed!r} and {episodes!r}")
    for page in pages:
        if page not in PAGES:
            hint = did_you_mean(str(page), PAGES) or f"it has {len(PAGES)}, such as {PAGES[0]!r}"
            raise BadParameter(f"MiniWoB++ has no page {page!r}; {hint}")
    return [
        Task(
            id=f"{page}/{number}",
            goal=MINIWOB_GOAL,
            metadata={"page": page, "seed": number, "domain": page.partition("-")[0]},
        )
        for page in pages or PAGES
        for number in range(seed, seed + episodes)
    ]


def environment_tasks(
    name: str, options: dict[str, Any] | None = None, **choice: Any
) -> list[Task]:
    """The tasks that a registered environment lists by its method `tasks`; it is not started."""
    environment = ENVIRONMENTS.get(name)(**(options or {}))
    list_tasks = getattr(environment, "tasks", None)
    if not callable(list_tasks):
        raise BadParameter(
            f"the environment {name!r} has no list of tasks; give them as a JSONL file"
        )
    tasks: Sequence[Task] = list_tasks(**choice)
    return list(tasks)
