"""One episode: the ribbon of its steps, one step in full, and what earned each score."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from assay.errors import AssayError, BadRecord
from assay.ledger.records import StoredEpisode
from assay.ledger.windows import StepGist
from assay.report.alignment import AlignedItem, align
from assay.report.diagnosis import AttemptDiagnosis
from assay.schema.episode import Episode
from assay.schema.score import Score, score_to_record
from assay.schema.usage import Usage
from assay.viewer.links import WINDOW
from assay.viewer.pages.step import TEXT_CHARS, StepView, step_view
from assay.viewer.runs_reader import RunsReader
from assay.viewer.text import CutText, cut_text
from assay.viewer.theme import FAILURES, Cell, Segment, Shade, cells, mark_of, overview
from assay.viewer.theme import reward_shade as shade_of

OVERVIEW = 120
"""Pieces of the strip above the ribbon of a long episode."""
ANSWER_CHARS = 20_000
NOTE_CHARS = 4_000
MOST_PROBLEMS = 5
AT_ONCE = 500
"""Steps up to which an episode is diagnosed while its page is made."""


class EpisodeQuery(BaseModel):
    """What the address says of the page."""

    model_config = ConfigDict(frozen=True)

    step: int | None = Field(default=None, ge=0, le=10**9)
    seen: str = ""


@dataclass(frozen=True, slots=True)
class ScoreView:
    """One outcome score."""

    scorer: str
    value: float | None
    abstained: str
    shade: Shade
    because: CutText
    parts: tuple[tuple[str, float | None], ...]
    notes: tuple[tuple[str, CutText], ...]
    params: str


@dataclass(frozen=True, slots=True)
class FailureView:
    """What broke, and where."""

    kind: str
    message: str
    traceback: str


@dataclass(frozen=True, slots=True)
class Ending:
    """What is known of a finished attempt."""

    task_id: str
    repeat: int
    goal: CutText
    gold: CutText
    answer: CutText | None
    """`None` when there was none, or the record does not say."""
    aligned: tuple[AlignedItem, ...]
    stop_reason: str
    scores: tuple[ScoreView, ...]
    failure: FailureView | None
    n_steps: int
    """Actions taken: every step but the reset."""
    usage: Usage
    elapsed_s: float
    started_at: str
    n_messages: int
    messages_sha256: str
    metadata: tuple[tuple[str, CutText], ...]


@dataclass(frozen=True, slots=True)
class EpisodePage:
    """The episode as one address asks for it."""

    run_id: str
    attempt: str
    ending: Ending | None
    """`None` while the attempt is under way, and when it was killed."""
    live: bool
    n_steps: int
    """Lines of the steps file, the reset included."""
    first: int
    last: int
    """The steps of the ribbon."""
    cells: tuple[Cell, ...]
    overview: tuple[Segment, ...]
    """Empty when the ribbon shows all steps."""
    step: int | None
    steps: tuple[StepView, ...]
    """The one that is shown; in an exported file all of the ribbon."""
    previous: int | None
    next: int | None
    next_failure: int | None
    previous_failure: int | None
    finding: AttemptDiagnosis | None
    diagnosed: bool
    """Whether `finding` says all; if not, it is asked for afterwards."""
    problem: str
    """What is wrong with the record of the steps."""


def episode_page(
    reader: RunsReader, run_id: str, attempt: str, query: EpisodeQuery, *, wait: bool = False
) -> EpisodePage:
    """The window around the step that the address names, and that step in full.

    With `wait` the diagnosis is on it however long that takes.
    """
    gists, problem = _gists(reader, run_id, attempt)
    ending = _ending(reader, run_id, attempt)
    live = ending is None and reader.is_live(run_id)
    if ending is None and not gists and not problem:
        raise BadRecord(f"run {run_id!r} has no attempt {attempt[:200]!r}")
    at = _chosen(query.step, len(gists), live=live)
    page = _window(run_id, attempt, gists, at, ending=ending, live=live, problem=problem)
    diagnosed = wait or ending is None or len(gists) <= AT_ONCE
    found = _finding(reader, run_id, attempt) if diagnosed and ending else None
    numbers = range(0) if at is None else range(at, at + 1)
    return replace(_with_steps(reader, page, numbers), finding=found, diagnosed=diagnosed)


def window_page(reader: RunsReader, run_id: str, attempt: str, first: int) -> EpisodePage:
    """A whole window with every one of its steps in full, for a file."""
    gists, problem = _gists(reader, run_id, attempt)
    ending = _ending(reader, run_id, attempt)
    at = first if gists else None
    page = _window(run_id, attempt, gists, at, ending=ending, live=False, problem=problem)
    numbers = range(page.first, page.last + 1) if gists else range(0)
    found = _finding(reader, run_id, attempt) if ending else None
    return replace(_with_steps(reader, page, numbers, most=NOTE_CHARS), finding=found)


def _with_steps(
    reader: RunsReader, page: EpisodePage, numbers: Iterable[int], *, most: int = TEXT_CHARS
) -> EpisodePage:
    """The page with these steps in full; one that is damaged is told of instead."""
    steps: list[StepView] = []
    problems = [page.problem] if page.problem else []
    for number in numbers:
        try:
            steps.append(step_view(reader, page.run_id, page.attempt, number, most=most))
        except BadRecord as error:
            problems.append(str(error))
    return replace(page, steps=tuple(steps), problem="; ".join(problems[:MOST_PROBLEMS]))


def _gists(reader: RunsReader, run_id: str, attempt: str) -> tuple[tuple[StepGist, ...], str]:
    try:
        return reader.gists(run_id, attempt), ""
    except BadRecord as error:
        return (), str(error)


def _chosen(asked: int | None, n: int, *, live: bool) -> int | None:
    """The step to show: the one that was asked for; else the latest of an attempt under way."""
    if not n:
        return None
    if asked is None:
        return n - 1 if live else min(1, n - 1)
    return min(asked, n - 1)


def _window(
    run_id: str,
    attempt: str,
    gists: Sequence[StepGist],
    at: int | None,
    *,
    ending: Ending | None,
    live: bool,
    problem: str,
) -> EpisodePage:
    n, here = len(gists), at or 0
    first = here // WINDOW * WINDOW
    last = min(first + WINDOW, n) - 1
    failures = [i for i, gist in enumerate(gists) if mark_of(i, gist) in FAILURES]
    return EpisodePage(
        run_id=run_id,
        attempt=attempt,
        ending=ending,
        live=live,
        n_steps=n,
        first=first,
        last=last,
        cells=cells(gists[first : last + 1], first),
        overview=overview(gists, OVERVIEW) if n > WINDOW else (),
        step=at,
        steps=(),
        previous=None if at is None or here == 0 else here - 1,
        next=None if at is None or here == n - 1 else here + 1,
        next_failure=next((i for i in failures if i > here), None),
        previous_failure=next((i for i in reversed(failures) if i < here), None),
        finding=None,
        diagnosed=True,
        problem=problem,
    )


def _finding(reader: RunsReader, run_id: str, attempt: str) -> AttemptDiagnosis | None:
    try:
        return reader.finding(run_id, attempt)
    except AssayError:
        return None


def _ending(reader: RunsReader, run_id: str, attempt: str) -> Ending | None:
    try:
        stored = reader.stored(run_id, attempt)
    except BadRecord:
        return None
    return ending_of(stored)


def ending_of(stored: StoredEpisode) -> Ending:
    """What the line of a finished attempt says."""
    episode = stored.episode
    answer = episode.final_response
    return Ending(
        task_id=episode.task.id,
        repeat=episode.repeat,
        goal=cut_text(episode.task.goal, NOTE_CHARS),
        gold=cut_text(as_text(episode.task.answer), ANSWER_CHARS),
        answer=None if answer is None else cut_text(answer, ANSWER_CHARS),
        aligned=align(None if answer is None else answer[:ANSWER_CHARS], episode.task.answer),
        stop_reason=episode.stop_reason,
        scores=tuple(map(score_view, episode.scores)),
        failure=_failure(episode),
        n_steps=episode.n_steps,
        usage=episode.usage,
        elapsed_s=episode.elapsed_s,
        started_at=episode.started_at,
        n_messages=stored.messages.n,
        messages_sha256=stored.messages.sha256,
        metadata=tuple(
            (key, cut_text(as_text(value), NOTE_CHARS))
            for key, value in {**episode.task.metadata, **episode.metadata}.items()
        ),
    )


def score_view(score: Score) -> ScoreView:
    """The score as a page shows it."""
    record = score_to_record(score)
    return ScoreView(
        scorer=score.scorer,
        value=record["value"],
        abstained=str(record.get("abstained", "")),
        shade=shade_of(record["value"]),
        because=cut_text(score.because, NOTE_CHARS),
        parts=tuple(score.parts.items()),
        notes=tuple((key, cut_text(str(note), NOTE_CHARS)) for key, note in score.notes.items()),
        params=as_text(dict(score.params)) if score.params else "",
    )


def as_text(value: Any) -> str:
    """Text as it is, anything else as JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def _failure(episode: Episode) -> FailureView | None:
    failure = episode.failure
    if failure is None:
        return None
    return FailureView(
        failure.kind, failure.message[:NOTE_CHARS], failure.traceback[-ANSWER_CHARS:]
    )
