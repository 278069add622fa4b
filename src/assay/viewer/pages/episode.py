"""The page of one episode: its ribbon of steps, one full step, and its scores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from pydantic import BaseModel

from assay.errors import AssayError, BadRecord
from assay.ledger.labels import can_label
from assay.ledger.records import StoredEpisode
from assay.ledger.steps import StepSummary
from assay.report.alignment import align
from assay.schema.score import Abstained, Score
from assay.viewer.links import WINDOW
from assay.viewer.pages.conversation import message_views
from assay.viewer.pages.records import Index, PageRecord, cut_text, label_views, pick
from assay.viewer.pages.run import (
    config_changes,
    evidence_of,
    row_of,
    run_before,
    settings_of_causes,
)
from assay.viewer.pages.step import TEXT_CHARS, step_view
from assay.viewer.pages.world import world_scores
from assay.viewer.runs_reader import RunsReader
from assay.viewer.theme import FAILURES, cells, mark_of, overview, reward_shade

OVERVIEW = 120
"""Pieces of the strip above the ribbon of a long episode."""
ANSWER_CHARS = 20_000
NOTE_CHARS = 4_000
MOST_PROBLEMS = 5
SINGLE_MESSAGES = 3
"""Messages of a single turn at most: instructions, a question and its answer."""
MOST_LISTED = 2_000
"""Attempts of a run in which the next one that lost points is looked for."""
QUESTION_CHARS = 200
AT_ONCE = 500
"""Steps up to which an episode is diagnosed while its page is made."""


class EpisodeQuery(BaseModel, frozen=True):
    """The query parameters of the page of an episode."""

    step: Index | None = None
    seen: str = ""


def episode_page(
    reader: RunsReader, run_id: str, attempt: str, query: EpisodeQuery, *, wait: bool = False
) -> PageRecord:
    """The record of the page: the steps around the chosen step, and that step in full."""
    step = query.step if query.step is not None else _step_of_the_cause(reader, run_id, attempt)
    page = _ribbon(reader, run_id, attempt, step)
    ending = page["ending"]
    if ending is None and not page["n_steps"] and not page["problem"]:
        raise BadRecord(f"run {run_id!r} has no attempt {attempt[:200]!r}")
    numbers = [] if page["step"] is None else [page["step"]]
    at_once = wait or ending is None or page["n_steps"] <= AT_ONCE
    around = None if ending is None else _neighbours(reader, run_id, attempt, ending)
    return {**_with_steps(reader, page, numbers, diagnosed=at_once), "around": around}


def _step_of_the_cause(reader: RunsReader, run_id: str, attempt: str) -> int | None:
    """The first step with evidence for lost reward; `None` for a long episode."""
    with suppress(AssayError):
        if len(reader.step_summaries(run_id, attempt)) <= AT_ONCE:
            reader.stored(run_id, attempt)
            step: int | None = evidence_of(reader.finding(run_id, attempt))["evidence_step"]
            return step
    return None


def _neighbours(
    reader: RunsReader, run_id: str, attempt: str, ending: PageRecord
) -> PageRecord | None:
    """Links from a finished attempt: the run before, and the next attempt below full reward.

    `settings` are those changed since the run before that may have brought a cause about.
    """
    rows = reader.runs()
    row = row_of(rows, run_id)
    if row is None:
        return None
    before, reward, has_repeat = run_before(rows, row), None, False
    if before is not None:
        with suppress(AssayError):
            for each in reader.attempts(before, ending["task_id"]):
                if each.counts and each.repeat == ending["repeat"]:
                    # A list of tasks numbers them itself: the same id may ask something else.
                    has_repeat = ending["goal"].text.startswith(each.question[:QUESTION_CHARS])
                    reward = each.reward
    lost = None
    if row.attempts <= MOST_LISTED:
        places = {each.attempt: i for i, each in enumerate(reader.attempts(run_id))}
        after = reader.attempts(run_id)[places.get(attempt, len(places)) + 1 :]
        lost = next((each for each in after if each.counts and (each.reward or 0.0) < 1.0), None)
    changed = config_changes(reader, row_of(rows, before), reader.manifest(run_id))
    return {
        "before": before if has_repeat else None,
        "before_reward": reward if has_repeat else None,
        "before_shade": reward_shade(reward),
        "settings": settings_of_causes(changed),
        "next_lost": None if lost is None else lost.attempt,
        "next_task": "" if lost is None else lost.task_id,
    }


def window_page(reader: RunsReader, run_id: str, attempt: str) -> PageRecord:
    """The record for an exported file: the first window with all of its steps in full."""
    page = _ribbon(reader, run_id, attempt, 0, exported=True)
    return _with_steps(reader, page, range(page["first"], page["last"] + 1), most=NOTE_CHARS)


def _ribbon(
    reader: RunsReader, run_id: str, attempt: str, step: int | None, *, exported: bool = False
) -> PageRecord:
    """The record of the page without a diagnosis and without full steps."""
    summaries: tuple[StepSummary, ...] = ()
    # There is no ending while the attempt is under way, and when it was killed.
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
    return {
        "run_id": run_id,
        "attempt": attempt,
        "ending": ending,
        "live": live,
        # Lines of the steps file, the reset included.
        "n_steps": n,
        "first": first,
        "last": last,
        "cells": cells(summaries[first : last + 1], first, idle),
        # Empty when the ribbon shows all steps.
        "overview": overview(summaries, OVERVIEW) if n > WINDOW else (),
        "step": here if n else None,
        "previous": here - 1 if here > 0 else None,
        "next": here + 1 if here < n - 1 else None,
        "next_failure": next((i for i in failures if i > here), None),
        "previous_failure": next((i for i in reversed(failures) if i < here), None),
        "problem": problem,
        "world": world_scores(summaries),
        "labels": label_views(reader.labels(run_id).of(attempt)),
        "can_label": not exported and can_label(reader.layout(run_id).folder),
        "around": None,
    }


def _idle_steps(
    reader: RunsReader, run_id: str, summaries: Sequence[StepSummary], first: int, last: int
) -> frozenset[int]:
    """The steps without effect in a text environment; of a long episode, in the window only."""
    numbers = range(1, len(summaries)) if len(summaries) <= AT_ONCE else range(first, last + 1)
    return frozenset(
        i
        for i in numbers
        if i and reader.did_nothing(run_id, summaries[i].world, summaries[i].observation)
    )


def _with_steps(
    reader: RunsReader,
    page: PageRecord,
    numbers: Sequence[int],
    *,
    most: int = TEXT_CHARS,
    diagnosed: bool = True,
) -> PageRecord:
    """The page with these steps in full, and with a diagnosis if `diagnosed`.

    A step that is damaged is left out, and `problem` says so. Without any step, the messages of
    the attempt are its conversation.
    """
    run_id, attempt, n_steps = page["run_id"], page["attempt"], page["n_steps"]
    steps: list[PageRecord] = []
    problems = [page["problem"]] if page["problem"] else []
    turns = None
    if page["ending"] is not None:
        turns = reader.turns(run_id, attempt, max(n_steps - 1, 0))
    for number in numbers:
        # In a file the step after this one shows what came back.
        following = number == numbers[-1]
        try:
            view = step_view(
                reader, run_id, attempt, number, most=most, turns=turns, following=following
            )
        except BadRecord as error:
            problems.append(str(error))
        else:
            steps.append(view)
    finding = None
    if diagnosed and page["ending"] is not None:
        with suppress(AssayError):
            finding = reader.finding(run_id, attempt)
    messages = [] if n_steps else [message for turn in turns or () for message in turn]
    return {
        **page,
        "steps": steps,
        "finding": finding,
        "conversation": message_views(messages, most=most),
        "diagnosed": diagnosed,
        "problem": "; ".join(problems[:MOST_PROBLEMS]),
    }


def ending_of(stored: StoredEpisode) -> PageRecord:
    """The page's record of a finished attempt."""
    episode = stored.episode
    task, answer, failure = episode.task, episode.final_response, episode.failure
    return pick(
        episode,
        "repeat stop_reason n_steps usage elapsed_s started_at",
        task_id=task.id,
        goal=cut_text(task.goal, NOTE_CHARS),
        gold=cut_text(as_text(task.answer), ANSWER_CHARS),
        answer=None if answer is None else cut_text(answer, ANSWER_CHARS),
        aligned=align(None if answer is None else answer[:ANSWER_CHARS], task.answer),
        scores=[score_view(score) for score in episode.scores],
        failure=failure
        and {
            "kind": failure.kind,
            "message": failure.message[:NOTE_CHARS],
            "traceback": failure.traceback[-ANSWER_CHARS:],
        },
        n_messages=stored.messages.n,
        messages_sha256=stored.messages.sha256,
        single=episode.n_steps <= 1 and stored.messages.n <= SINGLE_MESSAGES,
        metadata=[
            (key, cut_text(as_text(value), NOTE_CHARS))
            for key, value in {**task.metadata, **episode.metadata}.items()
        ],
    )


def score_view(score: Score) -> PageRecord:
    value = None if isinstance(score, Abstained) else score.value
    return {
        "scorer": score.scorer,
        "value": value,
        "abstained": score.reason if isinstance(score, Abstained) else "",
        "shade": reward_shade(value),
        "because": cut_text(score.because, NOTE_CHARS),
        "parts": list(score.parts.items()),
        "notes": [(key, cut_text(str(note), NOTE_CHARS)) for key, note in score.notes.items()],
        "params": as_text(dict(score.params)) if score.params else "",
    }


def as_text(value: Any) -> str:
    """The text unchanged, or any other value as JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return repr(value)
