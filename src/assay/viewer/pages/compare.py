"""Two runs: what changed, whether the data carries it, and task by task where it came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel

from assay.ledger.index import RunRow
from assay.report.comparison import Comparison
from assay.report.diagnosis import AttemptDiagnosis
from assay.report.task_changes import TaskChange
from assay.viewer.pages.records import PageNumber, copy_fields, page_of
from assay.viewer.pages.run import AT_ONCE, run_before
from assay.viewer.pages.runs import task_list
from assay.viewer.runs_reader import RunsReader
from assay.viewer.theme import Shade, reward_shade

PAGE = 100
CHOICES = 500
SUGGESTED = 12
"""Pairs of runs that are offered before two are chosen."""
FOCUS_CHARS = 70


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
    created_at: str
    title: str


@dataclass(frozen=True, slots=True)
class SuggestedPair:
    """A run and the one before it."""

    base: RunRow
    cand: RunRow
    base_shade: Shade
    cand_shade: Shade


@dataclass(frozen=True, slots=True)
class TaskChangeRow:
    """One task in both runs."""

    task: TaskChange
    base_shade: Shade
    cand_shade: Shade
    cause: str
    """Why the candidate lost points, of its attempts at the task the first that did; else empty."""
    evidence: str
    evidence_step: int | None
    attempt: str
    """The candidate's attempt that the evidence is of."""


@dataclass(frozen=True, slots=True)
class ComparePage:
    """What one address shows of the comparison."""

    base: str
    cand: str
    force: bool
    choices: tuple[RunChoice, ...]
    """Newest first."""
    suggested: tuple[SuggestedPair, ...]
    """Each run against the one before it, newest first; none once two are chosen."""
    diagnosed: bool
    """Whether the causes are known; of a long run they are once its own page was looked at."""
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
    findings = None if comparison is None else _findings(reader, query.cand)
    runs = reader.listed_runs()
    return copy_fields(
        ComparePage,
        query,
        choices=tuple(
            RunChoice(row.run_id, row.created_at, _title(row)) for row in runs[: -CHOICES - 1 : -1]
        ),
        suggested=() if comparison is not None else _suggested(runs),
        diagnosed=findings is not None,
        found=None if comparison is None else replace(comparison, tasks=()),
        page=number,
        pages=pages,
        n_tasks=len(tasks),
        n_flips=sum(task.change != "unchanged" for task in tasks),
        rows=tuple(_row(task, (findings or {}).get(task.task_id)) for task in listed),
    )


def _title(row: RunRow) -> str:
    """What tells the run from others, as short as an option of a form is."""
    focus = row.focus if len(row.focus) <= FOCUS_CHARS else f"{row.focus[:FOCUS_CHARS]}…"
    return f"{focus} ({row.benchmark}, {row.agent})"[:160] if focus else row.benchmark[:160]


def _suggested(runs: list[RunRow]) -> tuple[SuggestedPair, ...]:
    by_name = {row.run_id: row for row in runs}
    pairs: list[SuggestedPair] = []
    for row in reversed(runs):
        base = by_name.get(run_before(runs, row) or "")
        if base is not None and task_list(base) == task_list(row):
            shades = reward_shade(base.mean), reward_shade(row.mean)
            pairs.append(SuggestedPair(base, row, *shades))
        if len(pairs) == SUGGESTED:
            break
    return tuple(pairs)


def _findings(reader: RunsReader, run_id: str) -> dict[str, AttemptDiagnosis] | None:
    """By task the first attempt that lost points; `None` while it takes too long to find out."""
    row = next((row for row in reader.runs() if row.run_id == run_id), None)
    diagnosis = reader.diagnosis(run_id, now=row is not None and row.steps <= AT_ONCE)
    if diagnosis is None:
        return None
    return {finding.task_id: finding for finding in reversed(diagnosis.findings)}


def _row(task: TaskChange, finding: AttemptDiagnosis | None) -> TaskChangeRow:
    sign = finding.evidence[0] if finding is not None and finding.evidence else None
    return TaskChangeRow(
        task,
        reward_shade(task.base),
        reward_shade(task.cand),
        cause="" if finding is None else finding.cause,
        evidence="" if sign is None else sign.text,
        evidence_step=None if sign is None else sign.step,
        attempt="" if finding is None else finding.attempt,
    )
