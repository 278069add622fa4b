"""Two runs: what changed, whether the data carries it, and task by task where it came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel

from assay.report.comparison import Comparison
from assay.report.task_changes import TaskChange
from assay.viewer.pages.records import PageNumber, copy_fields, page_of
from assay.viewer.runs_reader import RunsReader
from assay.viewer.theme import Shade, reward_shade

PAGE = 100
CHOICES = 500


class CompareQuery(BaseModel, frozen=True):
    """The query of the address."""

    base: str = ""
    cand: str = ""
    pick: tuple[str, ...] = ()
    """Two runs of a list, in any order: the older one is the base."""
    force: bool = False
    """Compute it although the runs cannot be compared."""
    page: PageNumber = 1


@dataclass(frozen=True, slots=True)
class RunChoice:
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
    """What one address shows of the comparison."""

    base: str
    cand: str
    force: bool
    choices: tuple[RunChoice, ...]
    """Newest first."""
    found: Comparison | None
    """Without its tasks, which are in `rows`; `None` until two runs are chosen."""
    page: int
    pages: int
    n_tasks: int
    n_flips: int
    """Tasks that are not unchanged."""
    rows: tuple[TaskChangeRow, ...]


def in_order(reader: RunsReader, picked: Sequence[str]) -> tuple[str, ...]:
    """Those of the names that are runs, oldest first."""
    return tuple(row.run_id for row in reader.runs() if row.run_id in picked)


def compare_page(reader: RunsReader, query: CompareQuery) -> ComparePage:
    """The comparison, flips first."""
    comparison = None
    if query.base and query.cand:
        comparison = reader.comparison(query.base, query.cand, force=query.force)
    tasks = comparison.tasks if comparison is not None else ()
    listed, number, pages = page_of(tasks, query.page, PAGE)
    return copy_fields(
        ComparePage,
        query,
        choices=tuple(
            RunChoice(row.run_id, f"{row.benchmark}, {row.agent}: {row.focus}"[:120])
            for row in reader.listed_runs()[: -CHOICES - 1 : -1]
        ),
        found=None if comparison is None else replace(comparison, tasks=()),
        page=number,
        pages=pages,
        n_tasks=len(tasks),
        n_flips=sum(task.change != "unchanged" for task in tasks),
        rows=tuple(
            TaskChangeRow(task, reward_shade(task.base), reward_shade(task.cand)) for task in listed
        ),
    )
