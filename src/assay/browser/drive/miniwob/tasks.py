"""MiniWoB++'s pages as tasks."""

from __future__ import annotations

from collections.abc import Sequence

from assay.browser.drive.miniwob.pages import PAGES
from assay.errors import BadParameter, did_you_mean
from assay.schema.task import Task

GOAL = "Do what the line `goal:` of the page says."


def tasks(*, pages: Sequence[str] = (), seed: int = 0, episodes: int = 1) -> list[Task]:
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
            goal=GOAL,
            metadata={"page": page, "seed": number, "domain": page.partition("-")[0]},
        )
        for page in pages or PAGES
        for number in range(seed, seed + episodes)
    ]
