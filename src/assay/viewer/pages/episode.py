"""One episode: the ribbon of its steps, one step in full, and what earned each score."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from assay.errors import AssayError, BadRecord
from assay.ledger.index import RunRow
from assay.ledger.records import StoredEpisode
from assay.ledger.steps import StepSummary
from assay.report.alignment import AlignedItem, align
from assay.report.diagnosis import AttemptDiagnosis
from assay.schema.score import Abstained, Score
from assay.schema.usage import Usage
from assay.viewer.links import WINDOW
from assay.viewer.pages.conversation import MessageView, message_views
from assay.viewer.pages.records import CutText, Index, LabelView, copy_fields, cut_text, label_views
from assay.viewer.pages.run import config_changes, run_before, settings_of_causes
from assay.viewer.pages.step import TEXT_CHARS, StepView, step_view
from assay.viewer.pages.world import WorldScores, world_scores
from assay.viewer.runs_reader import RunsReader
from assay.viewer.theme import (
    FAILURES,
    RibbonCell,
    RibbonSegment,
    Shade,
    cells,
    mark_of,
    overview,
    reward_shade,
)

OVERVIEW = 120
"""Pieces of the strip above the ribbon of a long episode."""
ANSWER_CHARS = 20_000
NOTE_CHARS = 4_000
MOST_PROBLEMS = 5
SINGLE_MESSAGES = 3
"""Instructions, a question and its answer: no more than that is a single turn."""
MOST_LISTED = 2_000
"""Attempts of a run in which the next one that lost points is looked for."""
QUESTION_CHARS = 200
AT_ONCE = 500
"""Steps up to which an episode is diagnosed while its page is made."""


class EpisodeQuery(BaseModel, frozen=True):
    """The query of the address."""

    step: Index | None = None
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
class EpisodeEnding:
    """What is known of a finished attempt."""

    task_id: str
    repeat: int
    goal: CutText
    gold: CutText
    answer: CutText | None
    """`None` when there was none, or none is recorded."""
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
    single: bool
    """Whether it is one question and one answer."""
    metadata: tuple[tuple[str, CutText], ...]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Where to go from an attempt."""

    before: str | None
    """The run before this one, where it has the task."""
    before_reward: float | None
    before_shade: Shade
    settings: dict[str, str]
    """By cause: a setting that was changed since the run before, and may have brought it about."""
    next_lost: str | None
    """The next attempt of the run below full reward; of a large run it is not looked for."""
    next_task: str


@dataclass(frozen=True, slots=True)
class EpisodePage:
    """What one address shows of the episode."""

    run_id: str
    attempt: str
    ending: EpisodeEnding | None
    """`None` while the attempt is under way, and when it was killed."""
    live: bool
    n_steps: int
    """Lines of the steps file, the reset included."""
    first: int
    last: int
    """The steps of the ribbon."""
    cells: tuple[RibbonCell, ...]
    overview: tuple[RibbonSegment, ...]
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
    """Whether `finding` is final; if not, the page asks for it afterwards."""
    problem: str
    """What is wrong with the record of the steps."""
    world: WorldScores | None
    """Of a text environment."""
    conversation: tuple[MessageView, ...]
    """Of an attempt without steps; that of one with steps is told step by step."""
    labels: tuple[LabelView, ...]
    """What people say of the attempt as a whole."""
    can_label: bool
    around: Neighbours | None = None
    """Of a finished attempt; not in a file."""


def episode_page(
    reader: RunsReader, run_id: str, attempt: str, query: EpisodeQuery, *, wait: bool = False
) -> EpisodePage:
    """The window around the step that the address names, and that step in full.

    With `wait` the diagnosis is on it however long that takes.
    """
    step = query.step if query.step is not None else _step_of_the_cause(reader, run_id, attempt)
    page = _ribbon(reader, run_id, attempt, step)
    if page.ending is None and not page.n_steps and not page.problem:
        raise BadRecord(f"run {run_id!r} has no attempt {attempt[:200]!r}")
    numbers = [] if page.step is None else [page.step]
    at_once = wait or page.ending is None or page.n_steps <= AT_ONCE
    around = _neighbours(reader, page) if page.ending is not None else None
    return replace(_with_steps(reader, page, numbers, diagnosed=at_once), around=around)


def _step_of_the_cause(reader: RunsReader, run_id: str, attempt: str) -> int | None:
    """The first step that shows why a finished attempt lost points; of a long one it is unknown."""
    with suppress(AssayError):
        if len(reader.step_summaries(run_id, attempt)) <= AT_ONCE:
            reader.stored(run_id, attempt)
            finding = reader.finding(run_id, attempt)
            return finding.evidence[0].step if finding and finding.evidence else None
    return None


def _neighbours(reader: RunsReader, page: EpisodePage) -> Neighbours | None:
    ending = page.ending
    rows = reader.runs()
    row = next((row for row in rows if row.run_id == page.run_id), None)
    if row is None or ending is None:
        return None
    before, reward, has_repeat = run_before(rows, row), None, False
    if before is not None:
        with suppress(AssayError):
            for each in reader.attempts(before, ending.task_id):
                if each.counts and each.repeat == ending.repeat:
                    # A list of tasks numbers them itself: the same id may ask something else.
                    has_repeat = ending.goal.text.startswith(each.question[:QUESTION_CHARS])
                    reward = each.reward
    lost = None
    if row.attempts <= MOST_LISTED:
        places = {each.attempt: i for i, each in enumerate(reader.attempts(page.run_id))}
        after = reader.attempts(page.run_id)[places.get(page.attempt, len(places)) + 1 :]
        lost = next((each for each in after if each.counts and (each.reward or 0.0) < 1.0), None)
    return Neighbours(
        before=before if has_repeat else None,
        before_reward=reward if has_repeat else None,
        before_shade=reward_shade(reward),
        settings=_settings(
            reader, page.run_id, next((r for r in rows if r.run_id == before), None)
        ),
        next_lost=None if lost is None else lost.attempt,
        next_task="" if lost is None else lost.task_id,
    )


def window_page(reader: RunsReader, run_id: str, attempt: str) -> EpisodePage:
    """The first window with every one of its steps in full, for a file."""
    page = _ribbon(reader, run_id, attempt, 0, exported=True)
    return _with_steps(reader, page, range(page.first, page.last + 1), most=NOTE_CHARS)


def _settings(reader: RunsReader, run_id: str, before: RunRow | None) -> dict[str, str]:
    if before is None:
        return {}
    return settings_of_causes(config_changes(reader, before, reader.manifest(run_id)))


def _ribbon(
    reader: RunsReader, run_id: str, attempt: str, step: int | None, *, exported: bool = False
) -> EpisodePage:
    """The page without its diagnosis, and without any step in full."""
    summaries: tuple[StepSummary, ...] = ()
    ending, problem = None, ""
    try:
        summaries = reader.step_summaries(run_id, attempt)
    except BadRecord as error:
        problem = str(error)
    with suppress(BadRecord):
        ending = ending_of(reader.stored(run_id, attempt))
    live = not exported and ending is None and reader.is_live(run_id)
    n = len(summaries)
    # An attempt under way opens at its latest step, one that lost nothing after the reset.
    here = max(0, min(n - 1, step if step is not None else n if live else 1))
    first = here // WINDOW * WINDOW
    last = min(first + WINDOW, n) - 1
    idle = _idle_steps(reader, run_id, summaries, first, last)
    failures = [
        i for i, summary in enumerate(summaries) if i in idle or mark_of(i, summary) in FAILURES
    ]
    return EpisodePage(
        run_id=run_id,
        attempt=attempt,
        ending=ending,
        live=live,
        n_steps=n,
        first=first,
        last=last,
        cells=cells(summaries[first : last + 1], first, idle),
        overview=overview(summaries, OVERVIEW) if n > WINDOW else (),
        step=here if n else None,
        steps=(),
        previous=here - 1 if here > 0 else None,
        next=here + 1 if here < n - 1 else None,
        next_failure=next((i for i in failures if i > here), None),
        previous_failure=next((i for i in reversed(failures) if i < here), None),
        finding=None,
        diagnosed=True,
        problem=problem,
        world=world_scores(summaries),
        conversation=(),
        labels=label_views(reader.labels(run_id).of(attempt)),
        can_label=not exported and reader.can_label(run_id),
    )


def _idle_steps(
    reader: RunsReader, run_id: str, summaries: Sequence[StepSummary], first: int, last: int
) -> frozenset[int]:
    """The steps that did nothing, as a text environment says; of a long episode in the window."""
    numbers = range(1, len(summaries)) if len(summaries) <= AT_ONCE else range(first, last + 1)
    return frozenset(
        i
        for i in numbers
        if i and reader.did_nothing(run_id, summaries[i].world, summaries[i].observation)
    )


def _with_steps(
    reader: RunsReader,
    page: EpisodePage,
    numbers: Iterable[int],
    *,
    most: int = TEXT_CHARS,
    diagnosed: bool = True,
) -> EpisodePage:
    """The page with these steps in full, and with its diagnosis where it is to be `diagnosed`.

    A step that is damaged is left out, and `problem` says so.
    """
    steps: list[StepView] = []
    problems = [page.problem] if page.problem else []
    turns = reader.turns(page.run_id, page.attempt, page.n_steps - 1) if page.ending else None
    listed = list(numbers)
    for number in listed:
        # In a file the step after this one shows what came back.
        following = number == listed[-1]
        try:
            steps.append(
                step_view(
                    reader,
                    page.run_id,
                    page.attempt,
                    number,
                    most=most,
                    turns=turns,
                    following=following,
                )
            )
        except BadRecord as error:
            problems.append(str(error))
    finding = None
    if diagnosed and page.ending is not None:
        with suppress(AssayError):
            finding = reader.finding(page.run_id, page.attempt)
    return replace(
        page,
        steps=tuple(steps),
        finding=finding,
        conversation=_conversation(reader, page, most) if not page.n_steps else (),
        diagnosed=diagnosed,
        problem="; ".join(problems[:MOST_PROBLEMS]),
    )


def _conversation(reader: RunsReader, page: EpisodePage, most: int) -> tuple[MessageView, ...]:
    """The messages of an attempt that has no steps."""
    turns = reader.turns(page.run_id, page.attempt, 0) if page.ending else None
    messages = [message for turn in turns or () for message in turn]
    return message_views(messages, most=most)


def ending_of(stored: StoredEpisode) -> EpisodeEnding:
    """What the line of a finished attempt records."""
    episode = stored.episode
    task, answer, failure = episode.task, episode.final_response, episode.failure
    return copy_fields(
        EpisodeEnding,
        episode,
        task_id=task.id,
        goal=cut_text(task.goal, NOTE_CHARS),
        gold=cut_text(as_text(task.answer), ANSWER_CHARS),
        answer=None if answer is None else cut_text(answer, ANSWER_CHARS),
        aligned=align(None if answer is None else answer[:ANSWER_CHARS], task.answer),
        scores=tuple(map(score_view, episode.scores)),
        failure=failure
        and FailureView(
            failure.kind, failure.message[:NOTE_CHARS], failure.traceback[-ANSWER_CHARS:]
        ),
        n_messages=stored.messages.n,
        messages_sha256=stored.messages.sha256,
        single=episode.n_steps <= 1 and stored.messages.n <= SINGLE_MESSAGES,
        metadata=tuple(
            (key, cut_text(as_text(value), NOTE_CHARS))
            for key, value in {**task.metadata, **episode.metadata}.items()
        ),
    )


def score_view(score: Score) -> ScoreView:
    """The score as a page shows it."""
    value = None if isinstance(score, Abstained) else score.value
    return ScoreView(
        scorer=score.scorer,
        value=value,
        abstained=score.reason if isinstance(score, Abstained) else "",
        shade=reward_shade(value),
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
