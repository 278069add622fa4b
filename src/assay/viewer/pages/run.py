"""One run: its episodes, the task × repeat grid, and which points were lost and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import BaseModel

from assay.errors import AssayError, UnknownName
from assay.ledger.index import AttemptRow, RunRow
from assay.report.comparability import dotted_items
from assay.report.diagnosis import CauseSummary, Diagnosis
from assay.viewer.pages.records import PageNumber, copy_fields, page_of
from assay.viewer.pages.runs import RunItem, run_item
from assay.viewer.runs_reader import RunsReader
from assay.viewer.theme import RibbonSegment, Shade, overview, reward_shade

PAGE = 100
SPARK = 40
"""Bars of a sparkline; a longer episode has several steps in one."""
MOST_TASKS = 300
MOST_REPEATS = 20
LABEL_CHARS = 200
AT_ONCE = 2_000
"""Steps of a run up to which it is diagnosed while its page is made; beyond, afterwards."""

Show: TypeAlias = Literal["counting", "lost", "all"]


class RunQuery(BaseModel, frozen=True):
    """The query of the address."""

    show: Show = "counting"
    """The attempts that count, those of them below full reward, or every one."""
    task: str = ""
    page: PageNumber = 1
    seen: str = ""


@dataclass(frozen=True, slots=True)
class EpisodeItem:
    """One attempt of the list; what `_item` does not compute is copied from the index row."""

    attempt: str
    task_id: str
    repeat: int
    domain: str
    reward: float | None
    abstained: str | None
    shade: Shade
    stop_reason: str
    n_steps: int
    elapsed_s: float
    counts: bool
    spark: tuple[RibbonSegment, ...]
    cause: str | None
    """Why points were lost: empty when none were, `None` when it is not known yet."""


@dataclass(frozen=True, slots=True)
class RepeatSquare:
    """One repeat of a task."""

    attempt: str
    repeat: int
    reward: float | None
    shade: Shade
    label: str


@dataclass(frozen=True, slots=True)
class TaskLine:
    """One task over its repeats; `None` where there is no attempt yet."""

    task_id: str
    squares: tuple[RepeatSquare | None, ...]


@dataclass(frozen=True, slots=True)
class RepeatGrid:
    """Every task in every repeat."""

    repeats: int
    tasks: tuple[TaskLine, ...]
    left_out: int
    """Tasks beyond those that are shown."""


@dataclass(frozen=True, slots=True)
class DiagnosisView:
    """The summary of `assay diagnose`."""

    mean: float | None
    recoverable_mean: float | None
    scored: int
    lost: int
    causes: tuple[CauseSummary, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DiagnosisPage:
    """The diagnosis by itself, and the cause of each attempt that lost points."""

    run_id: str
    diagnosis: DiagnosisView
    causes: dict[str, str]


@dataclass(frozen=True, slots=True)
class RunPage:
    """What one address shows of the run."""

    run: RunItem
    rewards: tuple[str, ...]
    config: tuple[tuple[str, str], ...]
    before: str | None
    """The run of the same benchmark before this one: what it would be compared with."""
    show: Show
    task: str
    matching: int
    page: int
    pages: int
    episodes: tuple[EpisodeItem, ...]
    unfinished: tuple[str, ...]
    matrix: RepeatGrid
    diagnosis: DiagnosisView | None
    """`None` when it takes too long to make with the page, which asks for it afterwards."""
    live: bool


def run_page(reader: RunsReader, run_id: str, query: RunQuery, *, wait: bool = False) -> RunPage:
    """The page; with `wait` the diagnosis is on it however long that takes."""
    reader.layout(run_id)
    rows = reader.runs()
    row = next((row for row in rows if row.run_id == run_id), None)
    if row is None:
        raise UnknownName(f"run {run_id!r} has just gone")
    attempts = reader.attempts(run_id)
    manifest = reader.manifest(run_id)
    diagnosis = reader.diagnosis(run_id, now=wait or row.steps <= AT_ONCE)
    causes = None if diagnosis is None else _causes(diagnosis)
    matching = [attempt for attempt in attempts if _matches(attempt, query)]
    listed, number, pages = page_of(matching, query.page, PAGE)
    live = reader.is_live(run_id)
    return RunPage(
        run=run_item(reader, row, live=live),
        rewards=manifest.rewards,
        config=tuple(
            (key, value if isinstance(value, str) else repr(value))
            for key, value in dotted_items(manifest.config)
            if key
        ),
        before=run_before(rows, row),
        show=query.show,
        task=query.task,
        matching=len(matching),
        page=number,
        pages=pages,
        episodes=tuple(_item(reader, attempt, causes) for attempt in listed),
        unfinished=reader.unfinished(run_id)[:PAGE],
        matrix=_repeat_grid(attempts),
        diagnosis=None if diagnosis is None else _diagnosis_view(diagnosis),
        live=live,
    )


def diagnosis_page(reader: RunsReader, run_id: str) -> DiagnosisPage:
    """The diagnosis of the run, however long it takes."""
    diagnosis = reader.diagnosis(run_id)
    assert diagnosis is not None
    return DiagnosisPage(run_id, _diagnosis_view(diagnosis), _causes(diagnosis))


def _causes(diagnosis: Diagnosis) -> dict[str, str]:
    return {finding.attempt: finding.cause for finding in diagnosis.findings}


def _diagnosis_view(diagnosis: Diagnosis) -> DiagnosisView:
    return copy_fields(DiagnosisView, diagnosis, lost=len(diagnosis.findings))


def _matches(attempt: AttemptRow, query: RunQuery) -> bool:
    if query.task and attempt.task_id != query.task:
        return False
    if query.show == "all":
        return True
    below_full = attempt.reward is None or attempt.reward < 1.0
    return attempt.counts and (query.show == "counting" or below_full)


def _item(reader: RunsReader, row: AttemptRow, causes: Mapping[str, str] | None) -> EpisodeItem:
    try:
        spark = overview(reader.step_summaries(row.run_id, row.attempt), SPARK)
    except AssayError:
        # The episode's own page shows what is wrong with its steps file.
        spark = ()
    cause = None if causes is None else causes.get(row.attempt, "")
    return copy_fields(EpisodeItem, row, shade=reward_shade(row.reward), spark=spark, cause=cause)


def _repeat_grid(attempts: list[AttemptRow]) -> RepeatGrid:
    tasks: dict[str, dict[int, RepeatSquare]] = {}
    for row in attempts:
        if row.counts and row.repeat < MOST_REPEATS:
            tasks.setdefault(row.task_id, {})[row.repeat] = _square(row)
    repeats = max((repeat + 1 for squares in tasks.values() for repeat in squares), default=0)
    lines = tuple(
        TaskLine(task, tuple(squares.get(repeat) for repeat in range(repeats)))
        for task, squares in list(tasks.items())[:MOST_TASKS]
    )
    return RepeatGrid(repeats, lines, max(0, len(tasks) - MOST_TASKS))


def _square(row: AttemptRow) -> RepeatSquare:
    outcome = row.abstained or row.stop_reason if row.reward is None else f"{row.reward:.3f}"
    label = f"{row.task_id[:LABEL_CHARS]}, repeat {row.repeat}: {outcome}"
    return RepeatSquare(row.attempt, row.repeat, row.reward, reward_shade(row.reward), label)


def run_before(runs: list[RunRow], row: RunRow) -> str | None:
    """The run that this one is compared with: the one whose episodes it scores, or the last one."""
    if row.parent:
        return row.parent
    before = reversed(runs[: runs.index(row)])
    same = (run for run in before if run.benchmark == row.benchmark and run.parent is None)
    return next((run.run_id for run in same), None)
