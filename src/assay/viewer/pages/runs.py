"""The runs: what was tried, what it scored, how sure that is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from assay.ledger.index import RunRow
from assay.report.statistics import ConfidenceInterval
from assay.viewer.runs_reader import RunsReader, page_of
from assay.viewer.theme import Shade, reward_shade

PAGE = 50
CHARTED = 500
"""The newest runs that the chart shows."""

SortKey: TypeAlias = Literal[
    "created", "benchmark", "agent", "n", "mean", "answered", "abstained", "errors", "cost", "time"
]
Order: TypeAlias = Literal["asc", "desc"]


class RunsQuery(BaseModel):
    """What the address says of the list."""

    model_config = ConfigDict(frozen=True)

    benchmark: str = ""
    agent: str = ""
    q: str = ""
    """Words that the run's name, focus or commit contains."""
    sort: SortKey = "created"
    order: Order = "desc"
    page: int = Field(default=1, ge=1, le=10**6)
    seen: str = ""
    """The version that a page which updates itself has already."""


@dataclass(frozen=True, slots=True)
class RunItem:
    """One run of the list."""

    run_id: str
    created_at: str
    benchmark: str
    agent: str
    focus: str
    parent: str | None
    commit: str
    n: int
    planned: int
    mean: float | None
    interval: ConfidenceInterval | None
    answered: int
    abstained: int
    errors: int
    damaged: int
    cost_usd: float | None
    elapsed_s: float
    live: bool
    shade: Shade


@dataclass(frozen=True, slots=True)
class Chart:
    """Mean rewards in the order of the runs; `None` where there is none."""

    run_ids: tuple[str, ...]
    means: tuple[float | None, ...]
    lows: tuple[float | None, ...]
    highs: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class RunsPage:
    """The list as one address asks for it."""

    runs_dir: str
    benchmark: str
    agent: str
    q: str
    sort: SortKey
    order: Order
    total: int
    matching: int
    page: int
    pages: int
    benchmarks: tuple[str, ...]
    agents: tuple[str, ...]
    runs: tuple[RunItem, ...]
    chart: Chart
    live: bool


def runs_page(reader: RunsReader, query: RunsQuery, rows: list[RunRow]) -> RunsPage:
    """Those of the rows that match, sorted, one page of them; the chart has all that match."""
    matching = sorted(_matching(rows, query), key=SORTERS[query.sort])
    if query.order == "desc":
        # What has no number stays at the end, whichever way the others go.
        split = sum(not SORTERS[query.sort](row)[0] for row in matching)
        matching = [*reversed(matching[:split]), *matching[split:]]
    listed, pages = page_of(matching, query.page, PAGE)
    live = reader.live(listed)
    items = tuple(item_of(reader, row, live=row.run_id in live) for row in listed)
    ids = {row.run_id for row in matching}
    in_time = [row for row in rows if row.run_id in ids][-CHARTED:]
    return RunsPage(
        runs_dir=reader.runs_dir.name or str(reader.runs_dir),
        benchmark=query.benchmark,
        agent=query.agent,
        q=query.q,
        sort=query.sort,
        order=query.order,
        total=len(rows),
        matching=len(matching),
        page=min(query.page, pages),
        pages=pages,
        benchmarks=tuple(sorted({row.benchmark for row in rows})),
        agents=tuple(sorted({row.agent for row in rows})),
        runs=items,
        chart=_chart(reader, in_time),
        live=bool(live),
    )


def _matching(rows: list[RunRow], query: RunsQuery) -> list[RunRow]:
    words = query.q.casefold().split()
    return [
        row
        for row in rows
        if query.benchmark in ("", row.benchmark)
        and query.agent in ("", row.agent)
        and all(word in f"{row.run_id} {row.focus} {row.commit}".casefold() for word in words)
    ]


def _number(value: float | None) -> tuple[bool, float, str]:
    return (value is None, value or 0.0, "")


def _text(value: str) -> tuple[bool, float, str]:
    return (False, 0.0, value)


SORTERS: dict[SortKey, Callable[[RunRow], tuple[bool, float, str]]] = {
    "created": lambda row: _text(f"{row.created_at} {row.run_id}"),
    "benchmark": lambda row: _text(row.benchmark),
    "agent": lambda row: _text(row.agent),
    "n": lambda row: _number(row.n),
    "mean": lambda row: _number(row.mean),
    "answered": lambda row: _number(row.answered),
    "abstained": lambda row: _number(row.abstained),
    "errors": lambda row: _number(row.errors),
    "cost": lambda row: _number(row.cost_usd),
    "time": lambda row: _number(row.elapsed_s),
}


def item_of(reader: RunsReader, row: RunRow, *, live: bool) -> RunItem:
    """The run as a line of a list."""
    return RunItem(
        run_id=row.run_id,
        created_at=row.created_at,
        benchmark=row.benchmark,
        agent=row.agent,
        focus=row.focus,
        parent=row.parent,
        commit=row.commit,
        n=row.n,
        planned=row.planned,
        mean=row.mean,
        interval=reader.interval(row),
        answered=row.answered,
        abstained=row.abstained,
        errors=row.errors,
        damaged=row.damaged,
        cost_usd=row.cost_usd,
        elapsed_s=row.elapsed_s,
        live=live,
        shade=reward_shade(row.mean),
    )


def _chart(reader: RunsReader, rows: list[RunRow]) -> Chart:
    # Intervals of runs that no page has shown yet are left out: making them all takes too long.
    shown = [row for row in rows if row.mean is not None]
    intervals = [reader.interval(row) if len(shown) <= PAGE else None for row in shown]
    return Chart(
        run_ids=tuple(row.run_id for row in shown),
        means=tuple(row.mean for row in shown),
        lows=tuple(interval.low if interval else None for interval in intervals),
        highs=tuple(interval.high if interval else None for interval in intervals),
    )
