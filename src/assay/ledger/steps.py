"""The steps of one attempt as a file of JSON lines, for runs and for other scripts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple, Self

from pydantic import ValidationError

from assay.errors import BadRecord
from assay.formats.lines import dump_line, finite_number, load_record, read_lines
from assay.ledger.records import upgrade
from assay.resources.files import sync_all
from assay.schema.episode import Step
from assay.schema.manifest import RUN_SCHEMA
from assay.schema.secrets import SecretMask

CODE_CHARS = 200
"""Of a code: many summaries are in memory at once."""


class StepsWriter:
    """Writes each step at once, so that a killed attempt still shows its steps.

    `with StepsWriter("steps.jsonl") as steps: steps.write(step)`; an existing file is never
    written over. Closing it makes the file durable.
    """

    def __init__(self, path: str | Path, mask: SecretMask | None = None) -> None:
        """Open a new file; `mask` removes secrets from the steps."""
        self._mask = mask
        self.path = Path(path)
        self.n = 0
        self._digest = hashlib.sha256()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._stream = self.path.open("xb")
        except FileExistsError as error:
            raise BadRecord(
                f"{str(self.path)!r} already has the steps of an attempt; choose another name"
            ) from error

    @property
    def sha256(self) -> str:
        """The hash of the content that was written so far."""
        return self._digest.hexdigest()

    def write(self, step: Step) -> None:
        """Write a step to the file, so that the step survives the end of this process."""
        line = dump_line({"schema_id": RUN_SCHEMA, **step.model_dump()})
        if self._mask is not None:
            line = self._mask.bytes(line)
        self._stream.write(line)
        self._stream.flush()
        self._digest.update(line)
        self.n += 1

    def close(self, *, durable: bool = True) -> None:
        """Close the file; with `durable` wait until it is on the disk."""
        if self._stream.closed:
            return
        self._stream.close()
        if durable:
            sync_all([self.path])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_steps(path: str | Path) -> Iterator[Step]:
    """The complete steps in the file, in order."""
    for line in read_lines(Path(path)):
        yield _load_step(line.data, f"{str(path)!r} line {line.number}")


def _load_step(data: bytes, where: str) -> Step:
    try:
        return Step.model_validate(upgrade(load_record(data), "step"))
    except (BadRecord, ValidationError) as error:
        raise BadRecord(f"{where}: {error!s:.300}") from error


class StepSummary(NamedTuple):
    """A short summary of one step, and the place of its line in the file."""

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


def read_summaries(path: Path, read_before: Sequence[StepSummary] = ()) -> tuple[StepSummary, ...]:
    """The summaries of the steps in the file; reading continues after `read_before`."""
    summaries = list(read_before)
    start = summaries[-1].end if summaries else 0
    for line in read_lines(path, start=start, after=len(summaries)):
        try:
            record = upgrade(load_record(line.data), "step")
            summaries.append(_summarise(record, line.offset, line.end))
        except BadRecord as error:
            raise BadRecord(f"{str(path)!r} line {line.number}: {error!s:.300}") from error
    return tuple(summaries)


def read_window(
    path: Path, summaries: Sequence[StepSummary], first: int, last: int
) -> tuple[Step, ...]:
    """Read the steps from `first` to `last - 1` completely, without reading other steps."""
    steps: list[Step] = []
    with path.open("rb") as stream:
        for summary in summaries[max(first, 0) : max(last, 0)]:
            stream.seek(summary.offset)
            data = stream.read(summary.end - summary.offset - 1)
            steps.append(_load_step(data, f"{str(path)!r} at byte {summary.offset}"))
    return tuple(steps)


def _summarise(record: Mapping[str, Any], offset: int, end: int) -> StepSummary:
    scores = record.get("scores")
    first = scores[0] if isinstance(scores, list) and scores else {}
    outcome = record.get("outcome")
    if not isinstance(first, dict) or not isinstance(outcome, (dict, type(None))):
        raise BadRecord(f"not a valid step: scores {scores!r:.100}, outcome {outcome!r:.100}")
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
