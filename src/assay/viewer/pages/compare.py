"""Two runs: what moved, whether that can be said, and task by task where it came from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pydantic import BaseModel, ConfigDict, Field

from assay.report.comparison import Comparison
from assay.report.task_changes import TaskChange
from assay.viewer.runs_reader import RunsReader, page_of
from assay.viewer.theme import Shade, reward_shade

PAGE = 200
CHOICES = 500


class CompareQuery(BaseModel):
    """What the address says of the page."""

    model_config = ConfigDict(frozen=True)

    base: str = ""
    cand: str = ""
    force: bool = False
    """Compute it although the runs cannot be compared."""
    page: int = Field(default=1, ge=1, le=10**6)


@dataclass(frozen=True, slots=True)
class Choice:
    """A run that can be chosen."""

    run_id: str
    title: str


@dataclass(frozen=True, slots=True)
class TaskChangeRow:
    """One task in both runs."""

    task: TaskChange
    base_shade: Shade
    cand_shade: Shade


@dataclass(frozen=True, slots=True)
class ComparePage:
    """The comparison as one address asks for it."""

    base: str
    cand: str
    force: bool
    choices: tuple[Choice, ...]
    """Newest first."""
    found: Comparison | None
    """Without its tasks, which are in `rows`; `None` until two runs are chosen."""
    page: int
    pages: int
    n_tasks: int
    n_flips: int
    """Tasks that are not unchanged."""
    rows: tuple[TaskChangeRow, ...]


def compare_page(reader: RunsReader, query: CompareQuery) -> ComparePage:
    """The comparison, flips first."""
    choices = tuple(
        Choice(row.run_id, f"{row.benchmark}, {row.agent}: {row.focus}"[:120])
        for row in reader.runs()[: -CHOICES - 1 : -1]
    )
    if not query.base or not query.cand:
        return ComparePage(query.base, query.cand, query.force, choices, None, 1, 1, 0, 0, ())
    comparison = reader.comparison(query.base, query.cand, force=query.force)
    listed, pages = page_of(comparison.tasks, query.page, PAGE)
    return ComparePage(
        base=query.base,
        cand=query.cand,
        force=query.force,
        choices=choices,
        found=replace(comparison, tasks=()),
        page=min(query.page, pages),
        pages=pages,
        n_tasks=len(comparison.tasks),
        n_flips=sum(task.change != "unchanged" for task in comparison.tasks),
        rows=tuple(
            TaskChangeRow(task, reward_shade(task.base), reward_shade(task.cand)) for task in listed
        ),
    )
