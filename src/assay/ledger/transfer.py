"""Import the logs of other tools as runs, and export runs to other formats."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from assay.errors import AssayError, BadParameter, BadRecord, MissingExtra, UsageError
from assay.formats import FileFormat, ForeignRun, FoundLogs, find_format, recognise, writable
from assay.formats.foreign import (
    DAMAGE,
    ReadProblems,
    check_references,
    explain,
    references_of,
)
from assay.formats.lines import open_file
from assay.ledger.layout import RunLayout, list_runs, safe_name
from assay.ledger.provenance import canonical_hash, installed_versions, new_run_id, utc_now
from assay.ledger.run import Run, read_manifest
from assay.ledger.writer import RunWriter
from assay.resources.files import atomic_write, sync
from assay.resources.scratch import scratch_prefix
from assay.schema.episode import Episode
from assay.schema.manifest import RunManifest

IMPORTED = "imported"
"""Where a manifest keeps what it was imported from."""
VIEWED = ".imported"
"""The folder below the runs for logs that were only looked at: runs, but of no history."""
AT_ONCE = 512
"""So many attempts wait for the disk at a time."""


def import_run(path: str | Path, runs_dir: str | Path, **options: Any) -> Run:
    """Import the only log at `path` as a run, with the options of `import_runs`."""
    source = _one_log(Path(path), options.get("format"), options.get("columns"))
    (run,) = import_runs(source.logs[0], runs_dir, **{**options, "format": source.format.name})
    return run


def import_runs(
    path: str | Path,
    runs_dir: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    focus: str = "",
    commit: str = "",
    references: str | Path | Mapping[str, Any] | None = None,
    on_skipped: Callable[[str], None] | None = None,
    **options: Any,
) -> Iterator[Run]:
    """Import each log at `path` as a run, completely or not at all.

    The format is recognised by the contents unless it is named; `options` are what its reader
    takes. A log that was imported before is not written again: the run is the one there is.
    `references` are the right answers by task (or a file of them), for a log that has none. What
    could not be read of it is in the manifest (`skipped_of`). `on_skipped` gets
    the problem of each of several logs that needs a missing library; without it that is raised.
    """
    source = recognise(Path(path), format, options.get("columns"))
    if not isinstance(references, Mapping):
        references = {} if references is None else references_of(references)
    home = Path(runs_dir)
    importing = _Importing(home, (home,), source.format, focus, commit, references)
    for log in source.logs:
        try:
            run = importing.take(log, options)
        except MissingExtra as error:
            if len(source.logs) == 1 or on_skipped is None:
                raise
            on_skipped(str(error))
            continue
        yield run


def open_log(path: Path, runs_dir: str | Path = "runs") -> Run:
    """Open the log of another tool as a run that no list of runs shows."""
    source, home = _one_log(path), Path(runs_dir)
    importing = _Importing(home / VIEWED, (home, home / VIEWED), source.format)
    return importing.take(source.logs[0], {})


def _one_log(
    path: Path, name: str | None = None, columns: Mapping[str, str] | None = None
) -> FoundLogs:
    source = recognise(path, name, columns)
    if len(source.logs) != 1:
        names = [os.path.relpath(log, path) for log in source.logs[:5]]
        raise UsageError(
            f"{str(path)!r} has {len(source.logs)} logs of {source.format.name}; name one log, "
            f"such as {names}, or import all logs with import_runs"
        )
    return source


def skipped_of(manifest: RunManifest) -> tuple[int, list[str]]:
    """The number of samples that could not be read, and the first problems."""
    record = manifest.config.get(IMPORTED)
    about: Mapping[str, Any] = record if isinstance(record, Mapping) else {}
    count, texts = about.get("skipped"), about.get("problems")
    listed = [str(text) for text in texts] if isinstance(texts, list) else []
    return count if isinstance(count, int) else 0, listed


@dataclass(frozen=True, slots=True)
class _Importing:
    runs_dir: Path
    look_in: tuple[Path, ...]
    """Where the run may be already."""
    format: FileFormat
    focus: str = ""
    commit: str = ""
    references: Mapping[str, Any] = field(default_factory=dict)

    def take(self, log: Path, options: Mapping[str, Any]) -> Run:
        """Import a log as a run, or return the run that was imported earlier."""
        for name in options:
            if name not in self.format.options:
                takes = ", ".join(self.format.options) or "none"
                raise BadParameter(
                    f"{self.format.name} has no option {name!r}; its options: {takes}"
                )
        foreign = self._read(log, options)
        identity = self._identity(foreign, options)
        earlier = (_imported_before(folder, identity) for folder in self.look_in)
        place = next((run for run in earlier if run is not None), None)
        return Run(place) if place is not None else self._write(foreign, identity)

    def _read(self, log: Path, options: Mapping[str, Any]) -> ForeignRun:
        try:
            foreign: ForeignRun = self.format.load().read(log, **options)
        except AssayError:
            raise
        except DAMAGE as error:
            raise BadRecord(
                f"the header of {str(log)!r} is not valid for the format {self.format.name}: "
                f"{explain(error)}"
            ) from error
        return foreign

    def _identity(self, foreign: ForeignRun, options: Mapping[str, Any]) -> str:
        return canonical_hash(
            {
                "files": _hashes(foreign.files),
                "format": [self.format.name, self.format.version],
                "options": {name: value for name, value in options.items() if value},
                "references": self.references,
                "focus": self.focus,
                "commit": self.commit,
            }
        )

    def _write(self, foreign: ForeignRun, identity: str) -> Run:
        home = self.runs_dir
        home.mkdir(parents=True, exist_ok=True)
        prefix = scratch_prefix("import", home, hidden=True)
        with TemporaryDirectory(dir=home, prefix=prefix) as scratch:
            manifest = foreign.manifest.model_copy(update={"run_id": "draft"})
            tally = _Tally()
            with RunWriter.create(scratch, manifest) as writer:
                self._copy(foreign, writer, tally)
                final = self._manifest(foreign.manifest, tally, identity)
                writer.replace_manifest(final)
            if not tally.episodes:
                why = tally.problems.texts[0] if tally.problems.count else "it has no samples"
                raise BadRecord(f"no sample of {foreign.files[0].name!r} can be read: {why}")
            check_references(self.references, tally.tasks)
            place = home / safe_name(final.run_id, "run id")
            if place.exists():
                raise BadRecord(f"the folder {str(place)!r} already exists; choose another run id")
            writer.path.rename(place)
            sync(home)
        return Run(place)

    def _copy(self, foreign: ForeignRun, writer: RunWriter, tally: _Tally) -> None:
        pending: deque[Future[None]] = deque()
        for episode in foreign.episodes(writer.artifact, tally.problems):
            if (name := episode.task.id) in self.references:
                task = episode.task.model_copy(update={"answer": self.references[name]})
                episode = episode.model_copy(update={"task": task})
            attempt = writer.new_attempt(episode.task, episode.repeat)
            pending.append(writer.submit(episode.model_copy(update={"attempt": attempt})))
            tally.add(episode)
            if len(pending) >= AT_ONCE:
                pending.popleft().result()
        for future in pending:
            future.result()

    def _manifest(self, manifest: RunManifest, tally: _Tally, identity: str) -> RunManifest:
        created = utc_now(_moment(manifest.created_at or tally.first))
        record = manifest.config.get(IMPORTED)
        imported = {
            **(record if isinstance(record, dict) else {}),
            "at": utc_now(),
            "sha256": identity,
            "skipped": tally.problems.count,
            "problems": tally.problems.texts,
        }
        return manifest.model_copy(
            update={
                "run_id": new_run_id(_moment(created), identity[:8]),
                "config": {**manifest.config, IMPORTED: imported},
                "versions": {**manifest.versions, **installed_versions()},
                "rewards": manifest.rewards or tuple(tally.scorers),
                "task_set": canonical_hash(sorted(tally.tasks.values())),
                "n_tasks": len(tally.tasks),
                "repeats": max(manifest.repeats, tally.repeats),
                "commit": self.commit or manifest.commit,
                "dirty": "" if self.commit else manifest.dirty,
                "focus": self.focus or manifest.focus,
                "created_at": created,
            }
        )


@dataclass(slots=True)
class _Tally:
    episodes: int = 0
    repeats: int = 0
    first: str = ""
    tasks: dict[str, str] = field(default_factory=dict)
    """The hash of each task's content, by its id."""
    scorers: dict[str, None] = field(default_factory=dict)
    problems: ReadProblems = field(default_factory=ReadProblems)

    def add(self, episode: Episode) -> None:
        self.episodes += 1
        self.repeats = max(self.repeats, episode.repeat + 1)
        if episode.started_at:
            self.first = min(self.first or episode.started_at, episode.started_at)
        if episode.task.id not in self.tasks:
            self.tasks[episode.task.id] = canonical_hash(episode.task.model_dump())
        self.scorers.update(dict.fromkeys(score.scorer for score in episode.scores))


def _imported_before(runs_dir: Path, identity: str) -> Path | None:
    for run in list_runs(runs_dir):
        if not run.name.endswith(identity[:8]):
            continue
        with suppress(BadRecord):
            record = read_manifest(RunLayout(run)).config.get(IMPORTED)
            if isinstance(record, Mapping) and record.get("sha256") == identity:
                return run
    return None


def _hashes(files: Sequence[Path]) -> list[list[str]]:
    root = os.path.commonpath([file.parent for file in files])
    names = [file.relative_to(root).as_posix() if len(files) > 1 else "" for file in files]
    try:
        hashes = []
        for file in files:
            with open_file(file) as stream:
                digest = hashlib.sha256()
                while block := stream.read(1 << 20):
                    digest.update(block)
                hashes.append(digest.hexdigest())
    except FileNotFoundError as error:
        raise BadRecord(f"there is no file {error.filename!r}") from error
    return [list(pair) for pair in zip(names, hashes, strict=True)]


def _moment(text: str) -> datetime | None:
    """Parse a time; a time without a time zone is taken as UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def export_run(run: Run, path: str | Path, format: str = "jsonl") -> int:  # noqa: A002
    """Write all attempts of the run to `path`, completely or not at all.

    Returns how many rows, events or trajectories were written. A format that is a folder of files
    is written as one file of lines where `path` ends with `.jsonl`.
    """
    chosen, target = find_format(format, writable()), Path(path)
    if chosen.folder and target.suffix != ".jsonl":
        return _write_folder(run, target, chosen)
    with atomic_write(target) as draft:
        count: int = getattr(chosen.load(), chosen.writer)(run, draft)
    return count


def _write_folder(run: Run, folder: Path, chosen: FileFormat) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, content in chosen.load().files(run):
        with atomic_write(folder / name) as draft:
            draft.write_bytes(content)
        count += 1
    return count
