"""The runs: what was tried, what it scored, how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Literal, TypeAlias

from pydantic import BaseModel

from assay.ledger.index import RunRow
from assay.report.statistics import ConfidenceInterval
from assay.viewer.pages.records import PageNumber, copy_fields, page_of
from assay.viewer.runs_reader import RunsReader
from assay.viewer.theme import Shade, reward_shade

PAGE = 50
CHARTED = 500
"""The newest runs that the chart shows."""

SortKey: TypeAlias = Literal[
    "created", "benchmark", "agent", "n", "mean", "answered", "abstained", "errors", "cost", "time"
]
Order: TypeAlias = Literal["asc", "desc"]
_SORT_FIELDS: dict[SortKey, str] = {
    "created": "created_at",
    "cost": "cost_usd",
    "time": "elapsed_s",
}
"""The field of a row, where it is not named like the sort key."""


class RunsQuery(BaseModel, frozen=True):
    """The query of the address."""

    benchmark: str = ""
    agent: str = ""
    q: str = ""
    """Words that the run's name, focus or commit contains."""
    sort: SortKey = "created"
    order: Order = "desc"
    page: PageNumber = 1
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
class RewardChart:
    """Mean rewards in the order of the runs; `None` where there is none."""

    run_ids: tuple[str, ...]
    means: tuple[float | None, ...]
    lows: tuple[float | None, ...]
    highs: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class RunsPage:
    """What one address shows of the list."""

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
    chart: RewardChart
    live: bool


def runs_page(reader: RunsReader, query: RunsQuery, rows: list[RunRow]) -> RunsPage:
    """Those of the rows that match, sorted, one page of them; the chart has all that match."""
    matching = _matching(rows, query)
    listed, number, pages = page_of(_sort(matching, query), query.page, PAGE)
    live = reader.live(listed)
    return copy_fields(
        RunsPage,
        query,
        runs_dir=reader.runs_dir.name or str(reader.runs_dir),
        total=len(rows),
        matching=len(matching),
        page=number,
        pages=pages,
        benchmarks=tuple(sorted({row.benchmark for row in rows})),
        agents=tuple(sorted({row.agent for row in rows})),
        runs=tuple(run_item(reader, row, live=row.run_id in live) for row in listed),
        chart=_chart(reader, matching[-CHARTED:]),
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


def _sort(rows: list[RunRow], query: RunsQuery) -> list[RunRow]:
    """The rows by the sort key; those without a value are at the end in either order."""
    value = attrgetter(_SORT_FIELDS.get(query.sort, query.sort))
    ordered = sorted((row for row in rows if value(row) is not None), key=value)
    if query.order == "desc":
        ordered.reverse()
    return [*ordered, *(row for row in rows if value(row) is None)]


def run_item(reader: RunsReader, row: RunRow, *, live: bool) -> RunItem:
    """The run as a line of a list."""
    return copy_fields(
        RunItem, row, interval=reader.interval(row), live=live, shade=reward_shade(row.mean)
    )


def _chart(reader: RunsReader, rows: list[RunRow]) -> RewardChart:
    charted = [row for row in rows if row.mean is not None]
    # Intervals of runs that no page has shown yet are left out: making them all takes too long.
    intervals = [reader.interval(row) if len(charted) <= PAGE else None for row in charted]
    return RewardChart(
        run_ids=tuple(row.run_id for row in charted),
        means=tuple(row.mean for row in charted),
        lows=tuple(interval.low if interval else None for interval in intervals),
        highs=tuple(interval.high if interval else None for interval in intervals),
    )
