"""One task in two runs: both trajectories side by side, aligned at their first divergence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from assay.errors import UnknownName
from assay.ledger.index import AttemptRow
from assay.schema.episode import Step
from assay.viewer.pages.episode import Ending, ending_of
from assay.viewer.runs_reader import RunsReader
from assay.viewer.text import CutText, cut_text
from assay.viewer.theme import Cell, cells

ROWS = 100
BEFORE = 3
"""Common steps that are shown ahead of the divergence."""
ACTION_CHARS = 400
SCANNED = 2_000
"""Steps in which a divergence is looked for."""

Divergence: TypeAlias = Literal["action", "result", "length", ""]


class PairQuery(BaseModel):
    """What the address says of the page."""

    model_config = ConfigDict(frozen=True)

    base: str
    cand: str
    task: str
    repeat: int = Field(default=0, ge=0, le=10**9)
    first: int | None = Field(default=None, ge=0, le=10**9)
    """The first row; a few before the divergence when it is not said."""


@dataclass(frozen=True, slots=True)
class SideStep:
    """One step of one side."""

    cell: Cell
    action: CutText
    classification: str
    because: str


@dataclass(frozen=True, slots=True)
class PairRow:
    """The same step of both sides; `None` where one has ended."""

    index: int
    base: SideStep | None
    cand: SideStep | None
    diverges: bool


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two attempts."""

    run_id: str
    attempt: str
    n_steps: int
    ending: Ending


@dataclass(frozen=True, slots=True)
class PairPage:
    """Both attempts at one task."""

    task_id: str
    repeat: int
    repeats: tuple[int, ...]
    """The repeats that both runs have."""
    base: Side
    cand: Side
    divergence: int | None
    """The first step that differs; `None` when none does."""
    kind: Divergence
    first: int
    last: int
    n_rows: int
    rows: tuple[PairRow, ...]


def pair_page(reader: RunsReader, query: PairQuery) -> PairPage:
    """Both trajectories from shortly before the step at which they part."""
    here = _attempts(reader, query.base, query.task)
    there = _attempts(reader, query.cand, query.task)
    repeats = tuple(sorted(here.keys() & there.keys()))
    if query.repeat not in repeats:
        raise UnknownName(
            f"task {query.task!r} has no repeat {query.repeat} in both runs; there are {repeats}"
        )
    sides = (
        _side(reader, query.base, here[query.repeat]),
        _side(reader, query.cand, there[query.repeat]),
    )
    read = [reader.steps(side.run_id, side.attempt, 0, SCANNED) for side in sides]
    at, kind = _divergence(*read, addresses=[_address(side) for side in sides])
    n_rows = max(side.n_steps for side in sides)
    first = query.first if query.first is not None else max(0, (at or 0) - BEFORE)
    last = min(first + ROWS, n_rows)
    shown_steps = [_steps(reader, side, first, last) for side in sides]
    rows = tuple(
        PairRow(index, base, cand, diverges=index == at)
        for index, (base, cand) in enumerate(zip_longest(*shown_steps), first)
    )
    return PairPage(
        task_id=query.task,
        repeat=query.repeat,
        repeats=repeats,
        base=sides[0],
        cand=sides[1],
        divergence=at,
        kind=kind,
        first=first,
        last=last - 1,
        n_rows=n_rows,
        rows=rows,
    )


def _attempts(reader: RunsReader, run_id: str, task: str) -> dict[int, AttemptRow]:
    rows = {row.repeat: row for row in reader.attempts(run_id, task) if row.counts}
    if not rows:
        raise UnknownName(f"run {run_id!r} has no attempt at a task {task!r}")
    return rows


def _side(reader: RunsReader, run_id: str, row: AttemptRow) -> Side:
    ending = ending_of(reader.stored(run_id, row.attempt))
    return Side(run_id, row.attempt, len(reader.gists(run_id, row.attempt)), ending)


def _steps(reader: RunsReader, side: Side, first: int, last: int) -> list[SideStep]:
    gists = reader.gists(side.run_id, side.attempt)[first:last]
    steps = reader.steps(side.run_id, side.attempt, first, last)
    return [
        SideStep(
            cell,
            cut_text(step.action, ACTION_CHARS),
            gist.classification or gist.block or gist.error,
            _because(step),
        )
        for cell, gist, step in zip(cells(gists, first), gists, steps, strict=True)
    ]


def _because(step: Step) -> str:
    reasons = step.scores[0].get("reasons") if step.scores else None
    if not isinstance(reasons, list):
        return step.error[:ACTION_CHARS]
    told = (reason.get("sentence", "") for reason in reasons if isinstance(reason, dict))
    return "; ".join(map(str, told))[:ACTION_CHARS]


def _address(side: Side) -> str:
    """Where the world was that day: not a difference between two trajectories."""
    known = dict(side.ending.metadata).get("base_url")
    return known.text if known is not None else ""


def _divergence(
    base: Sequence[Step], cand: Sequence[Step], *, addresses: Sequence[str]
) -> tuple[int | None, Divergence]:
    """The first step with another action or, by its codes and score, another result."""
    for index, (one, other) in enumerate(zip(base, cand, strict=False)):
        if _said(one, addresses[0]) != _said(other, addresses[1]):
            return index, "action"
        if _result(one) != _result(other):
            return index, "result"
    shorter = min(len(base), len(cand))
    return (shorter, "length") if len(base) != len(cand) else (None, "")


def _said(step: Step, address: str) -> str:
    return step.action.replace(address, "") if address else step.action


def _result(step: Step) -> tuple[object, ...]:
    outcome = step.outcome or {}
    score = step.scores[0] if step.scores else {}
    codes = (outcome.get("error"), outcome.get("block"), step.truncated, step.reward)
    return (*codes, score.get("score"), score.get("classification"))
