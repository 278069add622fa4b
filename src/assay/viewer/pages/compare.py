"""The page that compares two runs, in total and task by task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import BaseModel

from assay.ledger.index import RunRow
from assay.report.diagnosis import AttemptDiagnosis
from assay.report.task_changes import TaskChange
from assay.viewer.pages.records import PageNumber, PageRecord, page_of, pick
from assay.viewer.pages.run import AT_ONCE, evidence_of, row_of, run_before
from assay.viewer.pages.runs import task_list
from assay.viewer.runs_reader import RunsReader
from assay.viewer.theme import reward_shade

PAGE = 100
CHOICES = 500
SUGGESTED = 12
"""Pairs of runs that are offered before two are chosen."""
FOCUS_CHARS = 70


class CompareQuery(BaseModel, frozen=True):
    """The query parameters of the page that compares two runs."""

    base: str = ""
    cand: str = ""
    pick: tuple[str, ...] = ()
    """Two runs of a list, in any order: the older one is the base."""
    force: bool = False
    """Compute it although the runs cannot be compared."""
    page: PageNumber = 1


def in_order(reader: RunsReader, picked: Sequence[str]) -> tuple[str, ...]:
    """The names that belong to runs, oldest run first."""
    return tuple(row.run_id for row in reader.runs() if row.run_id in picked)


def compare_page(reader: RunsReader, query: CompareQuery) -> PageRecord:
    """The record of the page: a comparison, or pairs to choose from until two runs are chosen."""
    comparison = None
    if query.base and query.cand:
        comparison = reader.comparison(query.base, query.cand, force=query.force)
    tasks = comparison.tasks if comparison is not None else ()
    listed, number, pages = page_of(tasks, query.page, PAGE)
    findings = None if comparison is None else _findings(reader, query.cand)
    runs = reader.listed_runs()
    newest = runs[: -CHOICES - 1 : -1]
    return pick(
        query,
        "base cand force",
        choices=[pick(row, "run_id created_at", title=_title(row)) for row in newest],
        suggested=[] if comparison is not None else _suggested(runs),
        # Of a long run they are known once its own page was looked at.
        diagnosed=findings is not None,
        # Its tasks are in `rows`.
        found=None if comparison is None else replace(comparison, tasks=()),
        page=number,
        pages=pages,
        n_tasks=len(tasks),
        n_flips=sum(task.change != "unchanged" for task in tasks),
        rows=[_row(task, (findings or {}).get(task.task_id)) for task in listed],
    )


def _title(row: RunRow) -> str:
    """A short title of the run for a list: its focus, benchmark and agent."""
    focus = row.focus if len(row.focus) <= FOCUS_CHARS else f"{row.focus[:FOCUS_CHARS]}…"
    return f"{focus} ({row.benchmark}, {row.agent})"[:160] if focus else row.benchmark[:160]


def _suggested(runs: list[RunRow]) -> list[PageRecord]:
    """Pairs of a run and the run before it, newest pair first."""
    by_name = {row.run_id: row for row in runs}
    pairs: list[PageRecord] = []
    for row in reversed(runs):
        base = by_name.get(run_before(runs, row) or "")
        if base is not None and task_list(base) == task_list(row):
            shades = {"base_shade": reward_shade(base.mean), "cand_shade": reward_shade(row.mean)}
            pairs.append({"base": base, "cand": row, **shades})
        if len(pairs) == SUGGESTED:
            break
    return pairs


def _findings(reader: RunsReader, run_id: str) -> dict[str, AttemptDiagnosis] | None:
    """The first finding of each task; `None` if the diagnosis would take too long."""
    row = row_of(reader.runs(), run_id)
    diagnosis = reader.diagnosis(run_id, now=row is not None and row.steps <= AT_ONCE)
    if diagnosis is None:
        return None
    return {finding.task_id: finding for finding in reversed(diagnosis.findings)}


def _row(task: TaskChange, finding: AttemptDiagnosis | None) -> PageRecord:
    """A task in both runs, with the cause and the evidence of the candidate's attempt."""
    return {
        "task": task,
        "base_shade": reward_shade(task.base),
        "cand_shade": reward_shade(task.cand),
        "cause": "" if finding is None else finding.cause,
        **evidence_of(finding),
        "attempt": "" if finding is None else finding.attempt,
    }
