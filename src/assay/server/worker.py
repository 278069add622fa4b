"""The process behind a worker of the server: reads calls, does them, and writes what they return.

    python -m assay.server.worker PROGRESS READ WRITE

The three are numbers of descriptors: a file of a few bytes that says which row is being scored,
and the pipes for frames. A call is a pickle of its id, a function of `server/jobs.py`, its argument
and the seconds it has; it comes from the server alone. The reply begins with the id.
"""

from __future__ import annotations

import mmap
import os
import pickle
import struct
import sys
import tempfile
from contextlib import suppress
from typing import Any, NamedTuple

from assay.isolation import frames
from assay.server.jobs import WorkerCallContext

PLACE = struct.Struct("=ii")


class RowPosition(NamedTuple):
    """The position of a row in its chunk, from 0, and how many are behind it."""

    row: int = 0
    behind: int = 0


class WorkerProgress:
    """The row that a worker is at, in a few bytes shared with the server.

    They are read from the file, and never mapped here: a reward can make the file shorter, or fill
    the disk that it is on, and the kernel kills a process that reads memory behind its end.
    """

    def __init__(self) -> None:
        self.fd = _shared_file()
        os.ftruncate(self.fd, PLACE.size)

    def read(self) -> RowPosition:
        """Where the worker is; the first row if that can no longer be known."""
        with suppress(OSError, struct.error):
            return RowPosition(*PLACE.unpack(os.pread(self.fd, PLACE.size, 0)))
        return RowPosition()

    def reset(self) -> None:
        """The next call begins at its first row."""
        with suppress(OSError):
            os.pwrite(self.fd, PLACE.pack(*RowPosition()), 0)

    def close(self) -> None:
        os.close(self.fd)


def _shared_file() -> int:
    """A file in memory, or one without a name where the system has no such thing."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("assay-progress")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def main() -> None:
    """Do one call after the other, until the server is gone."""
    progress = mmap.mmap(int(sys.argv[-3]), PLACE.size)
    read_fd, write_fd = frames.inherited_pipes(sys.argv)
    me = os.getpid()

    def begin(row: int, behind: int) -> None:
        PLACE.pack_into(progress, 0, row, behind)

    while True:
        try:
            call_id, work, argument, budget_s = pickle.loads(frames.receive_bytes(read_fd))  # noqa: S301 - the server's own
        except frames.PipeClosed:
            return
        reply = _call(work, argument, WorkerCallContext(budget_s, begin))
        if os.getpid() != me:
            os._exit(0)  # A reward forked, and returned in the child too.
        frames.send_bytes(write_fd, call_id + reply)


def _call(work: Any, argument: Any, turn: WorkerCallContext) -> bytes:
    """The reply. What is no `Exception` ends the process: a reward's thread or timer interrupted
    the work outside of its row, and the server tries that again elsewhere."""
    reply: tuple[Any, Exception | None]
    try:
        reply = (work(argument, turn), None)
    except Exception as error:  # noqa: BLE001 - the server gets to know every error
        reply = (None, error)
    try:
        return pickle.dumps(reply, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception:  # noqa: BLE001 - an error may hold what cannot be sent
        return pickle.dumps(
            (None, RuntimeError(f"{type(reply[1]).__name__}, which cannot be sent"))
        )


if __name__ == "__main__":
    main()
