"""Group commit: many threads append to one file, and one fsync serves all who are waiting."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from assay.errors import ResourceError
from assay.resources.files import sync, sync_all

BATCH_LINES = 4_096
BATCH_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class _Entry:
    line: bytes
    files: tuple[Path, ...]
    done: Future[None] = field(default_factory=Future)


class GroupCommit:
    """Appends lines to a file in the order of `submit`, from a thread of its own.

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
        """A future that is done when the line, and these files, are on the disk."""
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
        """Wait until everything submitted is on the disk, or its future has the error."""
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
        """The next batch; empty when there is nothing left to do."""
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
        """Fail every waiting future, and accept nothing more: the file's state is unknown."""
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
