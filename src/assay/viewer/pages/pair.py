"""The page of one task in two runs: both trajectories, side by side."""

from __future__ import annotations

from itertools import zip_longest
from typing import Literal, TypeAlias

from pydantic import BaseModel

from assay.errors import UnknownName
from assay.ledger.index import AttemptRow
from assay.schema.episode import Step
from assay.viewer.pages.episode import ending_of
from assay.viewer.pages.records import Index, PageRecord, cut_text
from assay.viewer.runs_reader import RunsReader
from assay.viewer.theme import cells

ROWS = 100
BEFORE = 3
"""Common steps that are shown ahead of the divergence."""
ACTION_CHARS = 400
SCANNED = 2_000
"""Steps in which a divergence is looked for."""

Divergence: TypeAlias = Literal["action", "result", "length", ""]


class PairQuery(BaseModel, frozen=True):
    """The query parameters of the page with two trajectories of one task."""

    base: str
    cand: str
    task: str
    repeat: Index = 0
    first: Index | None = None
    """The first row; `None` is a few before the divergence."""


def pair_page(reader: RunsReader, query: PairQuery) -> PageRecord:
    """The record of the page: both trajectories from shortly before they diverge."""
    run_ids = (query.base, query.cand)
    attempts = [_attempts(reader, run_id, query.task) for run_id in run_ids]
    # Those that both runs have.
    repeats = sorted(attempts[0].keys() & attempts[1].keys())
    if query.repeat not in repeats:
        raise UnknownName(
            f"task {query.task!r} has no repeat {query.repeat} in both runs; both have the repeats "
            f"{tuple(repeats)}"
        )
    base, cand = (
        _side(reader, run_id, rows[query.repeat].attempt)
        for run_id, rows in zip(run_ids, attempts, strict=True)
    )
    divergence, kind = _divergence(reader, base, cand)
    n_rows = max(base["n_steps"], cand["n_steps"])
    first = query.first if query.first is not None else max(0, (divergence or 0) - BEFORE)
    last = min(first + ROWS, n_rows)
    steps = [_steps(reader, side, first, last) for side in (base, cand)]
    return {
        "task_id": query.task,
        "repeat": query.repeat,
        "repeats": repeats,
        "base": base,
        "cand": cand,
        "divergence": divergence,
        "kind": kind,
        "first": first,
        "last": last - 1,
        "n_rows": n_rows,
        "rows": [
            # A side is `None` where it has ended.
            {"index": index, "base": one, "cand": other, "diverges": index == divergence}
            for index, (one, other) in enumerate(zip_longest(*steps), first)
        ],
    }


def _attempts(reader: RunsReader, run_id: str, task: str) -> dict[int, AttemptRow]:
    """The attempts at a task that count, by the number of the repeat."""
    rows = {row.repeat: row for row in reader.attempts(run_id, task) if row.counts}
    if not rows:
        raise UnknownName(f"run {run_id!r} has no attempt at a task {task!r}")
    return rows


def _side(reader: RunsReader, run_id: str, attempt: str) -> PageRecord:
    return {
        "run_id": run_id,
        "focus": reader.manifest(run_id).focus,
        "attempt": attempt,
        "n_steps": len(reader.step_summaries(run_id, attempt)),
        "ending": ending_of(reader.stored(run_id, attempt)),
    }


def _steps(reader: RunsReader, side: PageRecord, first: int, last: int) -> list[PageRecord]:
    summaries = reader.step_summaries(side["run_id"], side["attempt"])[first:last]
    steps = reader.steps(side["run_id"], side["attempt"], first, last)
    return [
        {
            "cell": cell,
            "action": cut_text(step.action, ACTION_CHARS),
            "classification": summary.classification or summary.block or summary.error,
            "because": _because(step),
        }
        for cell, summary, step in zip(cells(summaries, first), summaries, steps, strict=True)
    ]


def _because(step: Step) -> str:
    reasons = step.scores[0].get("reasons") if step.scores else None
    if not isinstance(reasons, list):
        return step.error[:ACTION_CHARS]
    sentences = (reason.get("sentence", "") for reason in reasons if isinstance(reason, dict))
    return "; ".join(map(str, sentences))[:ACTION_CHARS]


def _divergence(
    reader: RunsReader, base: PageRecord, cand: PageRecord
) -> tuple[int | None, Divergence]:
    """The first step at which the action or the result differs, and which of them differs."""
    steps = [reader.steps(side["run_id"], side["attempt"], 0, SCANNED) for side in (base, cand)]
    addresses = [
        next((text.text for key, text in side["ending"]["metadata"] if key == "base_url"), "")
        for side in (base, cand)
    ]
    for index, (one, other) in enumerate(zip(*steps, strict=False)):
        if _action(one, addresses[0]) != _action(other, addresses[1]):
            return index, "action"
        if _result(one) != _result(other):
            return index, "result"
    lengths = [len(side) for side in steps]
    return (min(lengths), "length") if lengths[0] != lengths[1] else (None, "")


def _action(step: Step, base_url: str) -> str:
    """The action without the environment's base URL, which may differ between runs."""
    return step.action.replace(base_url, "") if base_url else step.action


def _result(step: Step) -> tuple[object, ...]:
    outcome = step.outcome or {}
    score = step.scores[0] if step.scores else {}
    codes = (outcome.get("error"), outcome.get("block"), step.truncated, step.reward)
    return (*codes, score.get("score"), score.get("classification"))
