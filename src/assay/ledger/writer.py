"""The only writer of a run, which writes the attempts in groups."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Self

from assay.errors import BadRecord, ResourceError
from assay.formats.lines import dump_json, dump_line, load_record
from assay.ledger.artifacts import Artifacts
from assay.ledger.layout import RunLayout, attempt_number, attempt_stem, safe_name
from assay.ledger.lock import lock_run
from assay.ledger.records import StepsFileRecord, StoredMessages, episode_to_record, read_raw
from assay.ledger.run import read_manifest
from assay.ledger.steps import StepsWriter
from assay.resources.files import atomic_write, sync, sync_all
from assay.schema.episode import Episode
from assay.schema.manifest import RunManifest
from assay.schema.secrets import SecretMask, environment_secrets, redact
from assay.schema.task import Task

INLINE_BYTES = 4_096
"""Messages up to this size stay in the episode's line; longer ones become an artifact."""


class RunWriter:
    """Appends attempts to one run; any thread and any event loop may use it.

    `with RunWriter.create(runs_dir, manifest) as writer:` begins a run, `RunWriter.open(path)`
    resumes one. There is one writer at a time: a second one is a `ResourceError` that names the
    first. What a killed writer left of a line is moved aside when the run is opened again.
    """

    def __init__(self, folder: Path, *, secrets: Iterable[str] = ()) -> None:
        """Prefer `create` and `open`."""
        self._layout = RunLayout(folder)
        self._mask = SecretMask({*environment_secrets(os.environ), *secrets})
        self._mutex = threading.Lock()
        self._open_steps: dict[str, StepsWriter] = {}
        self._finished: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._artifacts = Artifacts(self._layout.artifacts)
        with ExitStack() as undo:
            lock_file = lock_run(self._layout)
            undo.callback(os.close, lock_file)
            self._lock_file: int | None = lock_file
            self.recovered = _move_torn_line_aside(self._layout)
            """The file that holds what was left of a torn line, if there was one."""
            self._layout.steps.mkdir(exist_ok=True)
            self._count_attempts()
            self._commit = LineAppender(
                self._layout.episodes, unsynced=self._artifacts.take_unsynced
            )
            undo.pop_all()

    @classmethod
    def create(
        cls, runs_dir: str | Path, manifest: RunManifest, *, secrets: Iterable[str] = ()
    ) -> Self:
        """Create a new run with its manifest on the disk, and return its writer.

        `secrets` are texts that are never written, like those that this process has in
        variables with such names: `[secret]` stands for them in every record and artifact.
        """
        folder = Path(runs_dir) / safe_name(manifest.run_id, "run id")
        try:
            folder.mkdir(parents=True)
        except FileExistsError as error:
            raise BadRecord(
                f"the run {str(folder)!r} already exists; resume it or choose another id"
            ) from error
        writer = cls(folder, secrets=secrets)
        with ExitStack() as undo:
            undo.callback(writer.close)
            writer.replace_manifest(manifest)
            sync(folder.parent)
            undo.pop_all()
        return writer

    @classmethod
    def open(cls, path: str | Path, *, secrets: Iterable[str] = ()) -> Self:
        """Open an existing run for writing; `secrets` is as for `create`."""
        read_manifest(RunLayout(Path(path)))
        return cls(Path(path), secrets=secrets)

    def replace_manifest(self, manifest: RunManifest) -> None:
        """Write the manifest without secrets; only an unpublished draft may change its manifest."""
        clean = manifest.model_copy(update={"config": redact(manifest.config)})
        fields = load_record(self._mask.bytes(dump_json(clean.model_dump())))
        with atomic_write(self._layout.manifest) as draft:
            draft.write_text(json.dumps(fields, indent=2) + "\n", encoding="ascii")

    def keep_agent_diff(self, diff: str) -> None:
        """Store the uncommitted changes of the agent's code in the run folder."""
        if diff:
            with atomic_write(self._layout.agent_diff) as draft:
                draft.write_bytes(self._mask.bytes(diff.encode("utf-8", "surrogatepass")))

    @property
    def path(self) -> Path:
        return self._layout.folder

    @property
    def batches(self) -> int:
        """The number of fsync calls that all attempts so far have shared."""
        return self._commit.batches

    def new_attempt(self, task: Task, repeat: int = 0) -> str:
        """Create an id that no other attempt of this run has used."""
        stem = attempt_stem(task.id, repeat)
        with self._mutex:
            number = self._numbers[stem] = self._numbers.get(stem, 0) + 1
        return f"{stem}.a{number}"

    def steps(self, attempt: str) -> StepsWriter:
        """Return the writer for the steps of this attempt."""
        writer = StepsWriter(self._layout.steps_of(attempt), self._mask)
        with self._mutex:
            self._open_steps[attempt] = writer
        return writer

    def artifact(self, data: bytes | str) -> str:
        """Store an artifact, and return its hash; it is on the disk before the attempt ends."""
        content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        return self._artifacts.put(self._mask.bytes(content))

    def submit(self, episode: Episode) -> Future[None]:
        """Queue the attempt for writing; the future is done when the attempt is on the disk."""
        attempt = safe_name(episode.attempt, "attempt")
        with self._mutex:
            if attempt in self._finished:
                raise BadRecord(
                    f"attempt {attempt!r} is already finished; use a new attempt id for a retry"
                )
            self._finished.add(attempt)
            streamed = self._open_steps.get(attempt)
        with ExitStack() as undo:
            undo.callback(self._finished.discard, attempt)
            steps, files = self._store_steps(episode, streamed)
            record = episode_to_record(episode, self._store_messages(episode), steps)
            future = self._commit.submit(self._mask.bytes(dump_line(record)), files)
            undo.pop_all()
        with self._mutex:
            self._open_steps.pop(attempt, None)
        return future

    def append(self, episode: Episode) -> None:
        """Write the attempt, and wait until the attempt is on the disk."""
        self.submit(episode).result()

    async def finish(self, episode: Episode) -> None:
        """Like `append`, without blocking the event loop.

        The attempt is under way before the first await: cancelling the wait does not undo it.
        """
        await asyncio.shield(asyncio.wrap_future(self.submit(episode)))

    def close(self) -> None:
        """Wait for all queued writes, then release the run's lock."""
        self._commit.close()
        with self._mutex:
            abandoned = list(self._open_steps.values())
            self._open_steps.clear()
            lock_file, self._lock_file = self._lock_file, None
        for steps in abandoned:
            steps.close()
        if lock_file is not None:
            os.close(lock_file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _store_steps(
        self, episode: Episode, streamed: StepsWriter | None
    ) -> tuple[StepsFileRecord, tuple[Path, ...]]:
        recorded = episode.trajectory.steps
        if streamed is None and not recorded:
            return StepsFileRecord(0, ""), ()
        if streamed is None:
            streamed = StepsWriter(self._layout.steps_of(episode.attempt), self._mask)
            for step in recorded:
                streamed.write(step)
        elif recorded and len(recorded) != streamed.n:
            raise BadRecord(
                f"attempt {episode.attempt!r} has {len(recorded)} recorded steps, "
                f"but {streamed.n} steps were written to its file"
            )
        streamed.close(durable=False)
        return StepsFileRecord(streamed.n, streamed.sha256), (streamed.path,)

    def _store_messages(self, episode: Episode) -> StoredMessages:
        messages = tuple(m.model_dump(exclude_defaults=True) for m in episode.trajectory.messages)
        if not messages:
            return StoredMessages()
        data = self._mask.bytes(dump_json(messages))
        if len(data) <= INLINE_BYTES:
            return StoredMessages(len(messages), messages)
        return StoredMessages(len(messages), sha256=self._artifacts.put(data))

    def _count_attempts(self) -> None:
        for raw in read_raw(self._layout.episodes):
            if raw.record is not None:
                self._finished.add(str(raw.record.get("attempt")))
        started = (path.name.removesuffix(".jsonl") for path in self._layout.steps.iterdir())
        for attempt in self._finished.union(started):
            parsed = attempt_number(attempt)
            if parsed is not None:
                stem, number = parsed
                self._numbers[stem] = max(number, self._numbers.get(stem, 0))


def _move_torn_line_aside(layout: RunLayout) -> Path | None:
    """Move an incomplete last line of the episodes file to a separate file."""
    if not layout.episodes.exists() or not layout.episodes.stat().st_size:
        return None
    with (
        layout.episodes.open("rb") as stream,
        mmap(stream.fileno(), 0, access=ACCESS_READ) as data,
    ):
        end = data.rfind(b"\n") + 1
        content = data[end:]
    if not content:
        return None
    digest = hashlib.sha256(content).hexdigest()
    aside = layout.folder / f"episodes.torn-{end}-{digest[:8]}"
    with atomic_write(aside) as draft:
        draft.write_bytes(content)
    os.truncate(layout.episodes, end)
    sync(layout.episodes)
    return aside


BATCH_LINES = 4_096
BATCH_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class _Entry:
    line: bytes
    files: tuple[Path, ...]
    done: Future[None] = field(default_factory=Future)


class LineAppender:
    """Appends lines to a file in order, from a separate thread.

    While one fsync is under way the lines that arrive form the next batch, so the rate does not
    depend on how long an fsync takes. Files that a line refers to are durable before the line is.
    """

    def __init__(self, path: Path, *, unsynced: Callable[[], Iterable[Path]] = tuple) -> None:
        self.path = path
        self.batches = 0
        """How many batches, hence fsyncs of the file, there were."""
        self._unsynced = unsynced
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        sync(path.parent)
        self._waiting: deque[_Entry] = deque()
        self._change = threading.Condition()
        self._closing = False
        self._failure: OSError | MemoryError | None = None
        self._thread = threading.Thread(target=self._run, name=f"commit {path}", daemon=True)
        self._thread.start()

    def submit(self, line: bytes, files: Iterable[Path] = ()) -> Future[None]:
        """Queue a line; the future is done when the line and the files are on the disk."""
        entry = _Entry(line, tuple(files))
        with self._change:
            if self._failure is not None:
                raise self._broken() from self._failure
            if self._closing:
                raise ResourceError(f"the writer of {str(self.path)!r} is closed")
            self._waiting.append(entry)
            self._change.notify()
        return entry.done

    def close(self) -> None:
        """Wait until all queued lines are on the disk or have failed."""
        with self._change:
            if self._closing:
                return
            self._closing = True
            self._change.notify()
        self._thread.join()
        os.close(self._file)

    def _run(self) -> None:
        while batch := self._take():
            try:
                self._commit(batch)
            except (OSError, MemoryError) as error:
                self._fail(batch, error)
                return
            for entry in batch:
                entry.done.set_result(None)

    def _take(self) -> list[_Entry]:
        with self._change:
            while not self._waiting and not self._closing:
                self._change.wait()
            batch: list[_Entry] = []
            size = 0
            while self._waiting and len(batch) < BATCH_LINES and size < BATCH_BYTES:
                entry = self._waiting.popleft()
                size += len(entry.line)
                batch.append(entry)
            return batch

    def _commit(self, batch: list[_Entry]) -> None:
        sync_all({path for entry in batch for path in entry.files}.union(self._unsynced()))
        end = os.fstat(self._file).st_size
        try:
            _write_all(self._file, b"".join(entry.line for entry in batch))
        except OSError:
            # A full disk: take back the part that fitted, so that no half line stays.
            os.ftruncate(self._file, end)
            raise
        os.fsync(self._file)
        self.batches += 1

    def _fail(self, batch: list[_Entry], error: OSError | MemoryError) -> None:
        with self._change:
            self._failure = error
            unserved = [*batch, *self._waiting]
            self._waiting.clear()
        for entry in unserved:
            entry.done.set_exception(self._broken())

    def _broken(self) -> ResourceError:
        return ResourceError(
            f"writing to {str(self.path)!r} failed: {self._failure}; open the run again to resume"
        )


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
