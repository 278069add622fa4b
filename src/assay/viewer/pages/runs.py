"""The page of all runs: a list, a chart of mean rewards, and heat maps of tasks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from operator import attrgetter
from typing import Literal, TypeAlias

from pydantic import BaseModel

from assay.ledger.index import RunRow, TaskRow
from assay.viewer.pages.records import PageNumber, PageRecord, page_of, pick
from assay.viewer.runs_reader import RunsReader
from assay.viewer.theme import reward_shade

PAGE = 50
CHARTED = 500
"""The newest runs that the chart shows."""
MOST_LINES = 8
"""Of the chart: those with the newest runs."""
MOST_MAPS = 3
MAPPED_RUNS = 12
"""The newest runs of a heat map."""
MAPPED_TASKS = 15
"""Of each heat map; of the only one several times as many."""
FOCUS_CHARS = 60
TASK_LIST = "tasks"
"""The benchmark of runs that were given their tasks as values."""
AT_ONCE = 500
"""Attempts of a run up to which its change is looked for while the page is made."""
AT_ONCE_S = 0.15
"""How long the page looks for changes before it is sent, and how long when it asks again."""
AFTERWARDS_S = 2.0

SortKey: TypeAlias = Literal[
    "created", "benchmark", "agent", "model", "n", "mean", "answered", "abstained", "errors",
    "cost", "time",
]  # fmt: skip
Order: TypeAlias = Literal["asc", "desc"]
_SORT_FIELDS: dict[SortKey, str] = {
    "created": "created_at",
    "cost": "cost_usd",
    "time": "elapsed_s",
}
"""The field of a row, where it is not named like the sort key."""


class RunsQuery(BaseModel, frozen=True):
    """The query parameters of the list of runs."""

    benchmark: str = ""
    agent: str = ""
    model: str = ""
    q: str = ""
    """Words that the run's name, focus or commit contains."""
    archived: bool = False
    """Whether archived runs are listed too."""
    sort: SortKey = "created"
    order: Order = "desc"
    page: PageNumber = 1
    tasks: PageNumber = 1
    """The page of the heat map."""
    seen: str = ""
    """The version that a page which updates itself has already."""
    fill: bool = False
    """Whether the page asks again, for the changes that it was sent without."""


def runs_page(
    reader: RunsReader, query: RunsQuery, rows: list[RunRow], *, wait: bool = False
) -> PageRecord:
    """The record of the page: one page of the matching runs, and charts of all of them.

    With `wait` the change of every run is on it however long that takes.
    """
    matching = _matching(rows, query)
    listed, number, pages = page_of(_sort(matching, query), query.page, PAGE)
    live = reader.live(listed)
    bases = [row for row in rows if not reader.is_archived(row.run_id)]
    until = time.monotonic() + (AFTERWARDS_S if query.fill else AT_ONCE_S)

    def has_time(row: RunRow) -> bool:
        return time.monotonic() < until and (query.fill or row.attempts <= AT_ONCE)

    runs = [
        run_item(reader, row, bases, live=row.run_id in live, now=wait or has_time(row))
        for row in listed
    ]
    maps = _maps(reader, matching, query)
    return pick(
        query,
        "benchmark agent model q archived sort order",
        runs_dir=reader.runs_dir.name or str(reader.runs_dir),
        n_archived=len(reader.runs()) - len(reader.listed_runs()),
        total=len(rows),
        matching=len(matching),
        page=number,
        pages=pages,
        benchmarks=sorted({row.benchmark for row in rows}),
        agents=sorted({row.agent for row in rows}),
        models=sorted({row.model for row in rows if row.model}),
        runs=runs,
        # While there are some, the page asks again.
        pending=sum(not run["change_known"] for run in runs),
        chart=_chart(reader, matching[-CHARTED:]),
        maps=maps[:MOST_MAPS],
        more_maps=max(0, len(maps) - MOST_MAPS),
        live=bool(live),
    )


def _matching(rows: list[RunRow], query: RunsQuery) -> list[RunRow]:
    words = query.q.casefold().split()
    return [
        row
        for row in rows
        if query.benchmark in ("", row.benchmark)
        and query.agent in ("", row.agent)
        and query.model in ("", row.model)
        and all(word in f"{row.run_id} {row.focus} {row.commit}".casefold() for word in words)
    ]


def _sort(rows: list[RunRow], query: RunsQuery) -> list[RunRow]:
    """Sort the rows by the key of the query; rows without a value come last."""
    value = attrgetter(_SORT_FIELDS.get(query.sort, query.sort))
    ordered = sorted((row for row in rows if value(row) is not None), key=value)
    if query.order == "desc":
        ordered.reverse()
    return [*ordered, *(row for row in rows if value(row) is None)]


def run_item(
    reader: RunsReader, row: RunRow, rows: list[RunRow], *, live: bool, now: bool
) -> PageRecord:
    """The record of a run in a list; without `now`, only a cached change is included.

    `rows` are the runs that it may be compared with.
    """
    change = reader.change(row, rows, now=now)
    return pick(
        row,
        "run_id created_at benchmark agent focus parent model commit n planned mean answered "
        "abstained errors damaged cost_usd elapsed_s",
        archived=reader.is_archived(row.run_id),
        interval=reader.interval(row),
        pass_rate=reader.pass_rate(row),
        change=None if change is None else change[0],
        change_known=change is not None,
        live=live,
        shade=reward_shade(row.mean),
    )


def _chart(reader: RunsReader, rows: list[RunRow]) -> PageRecord:
    """A chart of mean rewards over the runs, with a line for each benchmark and agent."""
    charted = [row for row in rows if row.mean is not None]
    # Intervals of runs that no page has shown yet are left out: making them all takes too long.
    with_intervals = len(charted) <= PAGE
    groups: dict[tuple[str, str, str], dict[int, RunRow]] = {}
    # The line of the newest run is the first.
    for place in range(len(charted) - 1, -1, -1):
        row = charted[place]
        groups.setdefault((row.benchmark, row.agent, task_list(row)), {})[place] = row
    lines = []
    for (benchmark, agent, tasks), places in list(groups.items())[:MOST_LINES]:
        every = [places.get(place) for place in range(len(charted))]
        intervals = [
            reader.interval(row) if row is not None and with_intervals else None for row in every
        ]
        lines.append(
            {
                "benchmark": benchmark,
                "agent": agent,
                "focus": places[max(places)].focus[:FOCUS_CHARS] if tasks else "",
                "means": [None if row is None else row.mean for row in every],
                "lows": [interval.low if interval else None for interval in intervals],
                "highs": [interval.high if interval else None for interval in intervals],
            }
        )
    return {
        "run_ids": [row.run_id for row in charted],
        "created": [row.created_at for row in charted],
        "lines": lines,
        "left_out": max(0, len(groups) - MOST_LINES),
    }


def task_list(row: RunRow) -> str:
    """The hash of the tasks of a run with its own task list; empty for other runs.

    Such lists are numbered from 1 each: `task.1` of one is not that of another.
    """
    return row.task_set if row.benchmark == TASK_LIST else ""


def _maps(reader: RunsReader, rows: list[RunRow], query: RunsQuery) -> list[PageRecord]:
    """A heat map for each benchmark with at least two runs, newest run first.

    Those beyond the first few are left empty: they are only counted.
    """
    groups: dict[tuple[str, str], list[RunRow]] = {}
    for row in reversed(rows):
        if row.scored and row.parent is None:
            groups.setdefault((row.benchmark, task_list(row)), []).append(row)
    several = [(name, group[:MAPPED_RUNS]) for (name, _), group in groups.items() if group[1:]]
    alone = len(several) == 1
    return [
        _heat_map(reader, name, group[::-1], query.tasks if alone else 1, alone=alone)
        if place < MOST_MAPS
        else {}
        for place, (name, group) in enumerate(several)
    ]


def _heat_map(
    reader: RunsReader, benchmark: str, rows: Sequence[RunRow], number: int, *, alone: bool
) -> PageRecord:
    """A heat map of tasks over the newest runs; tasks that moved most come first."""
    columns = [{task.task_id: task for task in reader.tasks(row)} for row in rows]
    spreads: dict[str, list[float]] = {}
    for column in columns:
        for task in column.values():
            means = spreads.setdefault(task.task_id, [])
            if task.mean is not None:
                means.append(task.mean)
    order = sorted(
        ((max(means) - min(means) if means else 0.0, task) for task, means in spreads.items()),
        key=lambda item: -item[0],
    )
    shown, number, pages = page_of(order, number, MAPPED_TASKS * (4 if alone else 1))
    return {
        "benchmark": benchmark,
        "runs": [pick(row, "run_id created_at agent focus") for row in rows],
        "tasks": [
            {
                "task_id": task,
                "spread": spread,
                "cells": [_map_cell(column.get(task)) for column in columns],
            }
            for spread, task in shown
        ],
        "n_tasks": len(order),
        "page": number,
        "pages": pages if alone else 1,
    }


def _map_cell(task: TaskRow | None) -> PageRecord | None:
    """A cell of a heat map: a task in one run; `None` if the run lacks the task."""
    if task is None:
        return None
    return pick(task, "mean attempt", shade=reward_shade(task.mean), attempts=task.n)
