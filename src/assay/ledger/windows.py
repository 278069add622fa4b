"""A long episode, a window at a time: the gist of every step, and whole steps where asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple

import orjson

from assay.errors import BadRecord
from assay.formats.lines import finite_number, load_record, read_lines
from assay.ledger.migrate import upgrade
from assay.ledger.steps import load_step
from assay.schema.episode import Step

CODE_CHARS = 200
"""Of a code: many gists are in memory at once."""


class StepSummary(NamedTuple):
    """What an overview shows of one step, and where its line is."""

    offset: int
    end: int
    """Where the next line begins."""
    score: float | None
    """Of the first step score; `None` when the step has none."""
    classification: str
    """Of that score; empty when there is none."""
    error: str
    """The code of the failure that the tool reported, or empty."""
    block: str
    """The code of what the page blocked the agent with, or empty."""
    reward: float | None
    """What the environment itself paid."""
    observation: str
    """The sha256 of what the agent saw afterwards, or empty."""
    world: str
    """The text environment that recorded the step, or empty."""
    world_score: float | None
    """Its own score so far, in its own unit."""


def read_gists(path: Path, read_before: Sequence[StepSummary] = ()) -> tuple[StepSummary, ...]:
    """The gist of each step in the file, in order; reading goes on where `read_before` ends.

    A file that does not exist has no steps. Line `i` of the file is step `i`.
    """
    gists = list(read_before)
    start = gists[-1].end if gists else 0
    for line in read_lines(path, start=start, after=len(gists)):
        try:
            record = upgrade(_load(line.data), "step")
            gists.append(_gist(record, line.offset, line.end))
        except BadRecord as error:
            raise BadRecord(f"{str(path)!r} line {line.number}: {error!s:.300}") from error
    return tuple(gists)


def read_window(
    path: Path, gists: Sequence[StepSummary], first: int, last: int
) -> tuple[Step, ...]:
    """The whole steps `first` to `last - 1`, read from their places and nowhere else."""
    steps: list[Step] = []
    with path.open("rb") as stream:
        for gist in gists[max(first, 0) : max(last, 0)]:
            stream.seek(gist.offset)
            data = stream.read(gist.end - gist.offset - 1)
            steps.append(load_step(data, f"{str(path)!r} at byte {gist.offset}"))
    return tuple(steps)


def _load(data: bytes) -> dict[str, Any]:
    """The record, read fast where it can be: an overview reads every line of a long episode."""
    try:
        record = orjson.loads(data)
    except orjson.JSONDecodeError:
        # Lone surrogates, which JSON can spell and orjson refuses; anything else fails here too.
        return load_record(data)
    return record if isinstance(record, dict) else load_record(data)


def _gist(record: Mapping[str, Any], offset: int, end: int) -> StepSummary:
    scores = record.get("scores")
    first = scores[0] if isinstance(scores, list) and scores else {}
    outcome = record.get("outcome")
    if not isinstance(first, dict) or not isinstance(outcome, (dict, type(None))):
        raise BadRecord(f"not a step: its scores are {scores!r:.100}, its outcome {outcome!r:.100}")
    codes = outcome or {}
    evidence = record.get("evidence")
    world = evidence if isinstance(evidence, dict) and evidence.get("kind") == "world" else {}
    return StepSummary(
        offset=offset,
        end=end,
        score=finite_number(first.get("score")),
        classification=str(first.get("classification") or "")[:CODE_CHARS],
        error=str(codes.get("error") or "")[:CODE_CHARS],
        block=str(codes.get("block") or "")[:CODE_CHARS],
        reward=finite_number(record.get("reward")),
        observation=str(record.get("observation") or "")[:CODE_CHARS],
        # The same text for every step of an episode: one in memory is enough.
        world=intern(str(world.get("world") or "")[:CODE_CHARS]),
        world_score=finite_number(world.get("score")),
    )
