"""A recorded run, read back."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import TypeAdapter, ValidationError

from assay.errors import BadRecord, MissingExtra, UnknownName
from assay.formats.lines import load_exact, load_record, open_file
from assay.ledger.artifacts import Artifacts
from assay.ledger.counting import AttemptLine, AttemptSelection
from assay.ledger.layout import RunLayout, find_run, list_runs, safe_name
from assay.ledger.records import (
    RawLine,
    StoredEpisode,
    check_episode_keys,
    episode_from_record,
    read_raw,
    upgrade,
)
from assay.ledger.steps import read_steps
from assay.schema.episode import Episode, Step
from assay.schema.manifest import RunManifest
from assay.schema.message import Message
from assay.schema.name import is_name
from assay.schema.secrets import redact


class Run:
    """Reads a run folder, also while the run is still going on; it never writes.

    A damaged line is a `BadRecord` with its number. With `strict=False` it is left out instead
    and noted in `problems`.
    """

    def __init__(self, path: str | Path, *, strict: bool = True) -> None:
        self.path = Path(path)
        self.strict = strict
        self._layout = RunLayout(self.path)
        self._artifacts = Artifacts(self._layout.artifacts)
        self._selection: AttemptSelection[AttemptLine] = AttemptSelection()
        self._offset = 0
        self._lines = 0
        self._problems: dict[int, str] = {}
        self.manifest = read_manifest(self._layout)

    @property
    def id(self) -> str:
        return self.manifest.run_id

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems of the lines that were left out so far."""
        return tuple(self._problems.values())

    def __iter__(self) -> Iterator[Episode]:
        """Iterate over the attempts that count, like `final`."""
        return self.final()

    @property
    def mean(self) -> float | None:
        """The mean of the primary reward over the attempts that count, or `None`."""
        from assay.ledger.summary import count

        return count(self.final()).mean

    def rows(self) -> list[dict[str, Any]]:
        """A list with one dictionary of plain values for each attempt that counts."""
        from assay.ledger.summary import row_of

        return [row_of(episode) for episode in self.final()]

    def frame(self) -> Any:
        """The rows as a pandas `DataFrame`; raises `MissingExtra` if pandas is missing."""
        try:
            pandas = import_module("pandas")
        except ModuleNotFoundError as error:
            raise MissingExtra.of("Run.frame", "pandas") from error
        return pandas.DataFrame(self.rows())

    def episodes(self, *, full: bool = False) -> Iterator[Episode]:
        """All attempts, in the order in which they finished.

        Messages and steps are only there with `full`; without them the stream is fast, and the
        totals (`n_steps`, `cum_reward`, `usage`) are as recorded.
        """
        seen: set[str] = set()
        for raw in self._raw():
            stored = self._stored(raw)
            if stored is not None and stored.episode.attempt in seen:
                self._report(raw.line.number, f"repeats attempt {stored.episode.attempt!r}")
            elif stored is not None:
                seen.add(stored.episode.attempt)
                yield from self._episode(stored, raw.line.number, full=full)

    def attempts(self) -> AttemptSelection[AttemptLine]:
        """The lines of all attempts and of the attempts that count, without their episodes."""
        self._scan()
        return self._selection

    def final(self, *, full: bool = False) -> Iterator[Episode]:
        """The attempt that counts for each task and repeat, in the order of first attempts."""
        selection = self.attempts()
        for chosen in list(selection.final.values()):
            line: AttemptLine | None = chosen
            unreadable: set[str] = set()
            while line is not None:
                stored = self._stored(self._read(line))
                if stored is not None:
                    yield from self._episode(stored, line.number, full=full)
                    break
                unreadable.add(line.attempt)
                line = selection.final_without(line, unreadable)

    def episode(self, attempt: str) -> Episode:
        """One attempt with its messages and its steps."""
        return self._whole(self.stored(attempt))

    def stored(self, attempt: str) -> StoredEpisode:
        """One attempt without its messages and steps, and the places where both are stored."""
        raw = self._find(attempt)
        if raw.record is None:
            raise BadRecord(self._where(raw.line.number, raw.problem))
        return episode_from_record(raw.record)

    def messages(self, attempt: str) -> tuple[Message, ...]:
        """The conversation of one attempt."""
        return self._messages(self.stored(attempt))

    def line(self, attempt: str) -> bytes:
        """The ledger line of one attempt, exactly as it was written."""
        return self._find(attempt).line.data

    def steps(self, attempt: str) -> tuple[Step, ...]:
        """The steps of an attempt, even if the attempt is running or was killed."""
        return tuple(read_steps(self._layout.steps_of(attempt)))

    def unfinished(self) -> tuple[str, ...]:
        """The attempts that have steps but no result yet: running or killed attempts."""
        finished = self.attempts().attempts
        started = (path.name.removesuffix(".jsonl") for path in self._layout.steps.glob("*.jsonl"))
        return tuple(sorted(filter(is_name, set(started) - set(finished))))

    def artifact(self, sha256: str) -> bytes:
        """The content of an artifact, checked against its hash.

        A run that scored another one again has that one's artifacts too, as long as both are in
        the same folder of runs.
        """
        for artifacts in self._lineage():
            if artifacts.path(sha256).is_file():
                return artifacts.get(sha256)
        return self._artifacts.get(sha256)

    def text(self, sha256: str) -> str:
        """The content of a text artifact as a text."""
        return self.artifact(sha256).decode("utf-8", "surrogatepass")

    def _lineage(self) -> Iterator[Artifacts]:
        seen: set[str] = set()
        layout, manifest = self._layout, self.manifest
        while manifest.run_id not in seen:
            yield Artifacts(layout.artifacts)
            seen.add(manifest.run_id)
            if manifest.parent is None:
                return
            layout = RunLayout(self.path.parent / safe_name(manifest.parent, "parent run"))
            if not layout.manifest.is_file():
                return
            manifest = read_manifest(layout)

    def _scan(self) -> None:
        for raw in self._raw(self._offset, self._lines):
            self._offset, self._lines = raw.line.end, raw.line.number
            try:
                line = _attempt_line(raw)
            except BadRecord as error:
                self._report(raw.line.number, str(error))
            except (KeyError, TypeError, ValueError) as error:
                self._report(raw.line.number, f"not an episode: {error!r:.200}")
            else:
                if not self._selection.add(line):
                    self._report(line.number, f"repeats attempt {line.attempt!r}")

    def _find(self, attempt: str) -> RawLine:
        line = self.attempts().attempts.get(attempt)
        if line is None:
            raise BadRecord(f"run {self.path.name!r} has no finished attempt {attempt[:200]!r}")
        return self._read(line)

    def _read(self, line: AttemptLine) -> RawLine:
        return next(self._raw(line.offset, line.number - 1))

    def _raw(self, start: int = 0, after: int = 0) -> Iterator[RawLine]:
        return read_raw(self._layout.episodes, start=start, after=after)

    def _stored(self, raw: RawLine) -> StoredEpisode | None:
        try:
            return episode_from_record(raw.fields)
        except BadRecord as error:
            self._report(raw.line.number, str(error))
            return None

    def _episode(self, stored: StoredEpisode, number: int, *, full: bool) -> Iterator[Episode]:
        try:
            episode = self._whole(stored) if full else stored.episode
        except BadRecord as error:
            self._report(number, str(error))
        else:
            yield episode

    def _whole(self, stored: StoredEpisode) -> Episode:
        trajectory = stored.episode.trajectory.model_copy(
            update={"messages": self._messages(stored), "steps": self._checked_steps(stored)}
        )
        return stored.episode.model_copy(update={"trajectory": trajectory})

    def _messages(self, stored: StoredEpisode) -> tuple[Message, ...]:
        messages: Any = stored.messages.inline
        try:
            if stored.messages.sha256:
                messages = load_exact(self.artifact(stored.messages.sha256))
            return TypeAdapter(tuple[Message, ...]).validate_python(messages)
        except (BadRecord, ValueError, ValidationError) as error:
            raise BadRecord(
                f"the messages of attempt {stored.episode.attempt!r} cannot be read: {error!s:.300}"
            ) from error

    def _checked_steps(self, stored: StoredEpisode) -> tuple[Step, ...]:
        if not stored.steps.n:
            return ()
        path = self._layout.steps_of(stored.episode.attempt)
        try:
            with open_file(path) as stream:
                actual = hashlib.sha256(stream.read()).hexdigest()
        except FileNotFoundError as error:
            raise BadRecord(f"there is no {str(path)!r}") from error
        if actual != stored.steps.sha256:
            raise BadRecord(f"{str(path)!r} was changed: its hash is now {actual}")
        return self.steps(stored.episode.attempt)

    def _report(self, number: int, problem: str) -> None:
        where = self._where(number, problem)
        if self.strict:
            raise BadRecord(where)
        self._problems.setdefault(number, where)

    def _where(self, number: int, problem: str) -> str:
        return f"{str(self._layout.episodes)!r} line {number}: {problem}"


def _attempt_line(raw: RawLine) -> AttemptLine:
    record = raw.fields
    check_episode_keys(record)
    return AttemptLine(
        attempt=safe_name(str(record["attempt"]), "attempt"),
        task_id=str(record["task"]["id"]),
        repeat=int(record["repeat"]),
        stop_reason=str(record["stop_reason"]),
        number=raw.line.number,
        offset=raw.line.offset,
    )


def read_manifest(layout: RunLayout) -> RunManifest:
    """The manifest of a run folder, converted to the current schema."""
    try:
        with open_file(layout.manifest) as stream:
            record = load_record(stream.read())
        manifest = RunManifest.model_validate(upgrade(record, "manifest"))
        safe_name(manifest.run_id, "run id")
        # Another tool, or an older version, may have kept secrets.
        return manifest.model_copy(update={"config": redact(manifest.config)})
    except FileNotFoundError as error:
        raise BadRecord(
            f"{str(layout.folder)!r} is not a run folder: it has no {layout.manifest.name}"
        ) from error
    except (BadRecord, ValidationError, OSError) as error:
        raise BadRecord(f"{str(layout.manifest)!r}: {error!s:.300}") from error


RunLike: TypeAlias = str | Path | Run


def open_run(run: RunLike, runs_dir: str | Path = "runs") -> Run:
    """Open a run by its path, its id or the beginning of its id.

    The path of a log of another tool is the run that it is imported as (`transfer.open_log`).
    """
    if isinstance(run, Run):
        return run
    try:
        return Run(find_run(run, Path(runs_dir)), strict=False)
    except UnknownName:
        path = Path(run)
        try:
            # Neither a folder of runs, nor the current folder.
            may_be_log = path.name != "" and path.exists() and not list_runs(path)
        except (OSError, ValueError):
            may_be_log = False
        if not may_be_log:
            raise
    # Only here: reading logs brings the formats.
    from assay.ledger.transfer import open_log

    return open_log(path, runs_dir)
