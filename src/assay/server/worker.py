"""Worker process of the server: it reads calls, runs the work, and writes replies.

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
    """Index of a row in its chunk, and the number of rows after it."""

    row: int = 0
    behind: int = 0


class WorkerProgress:
    """Current row of a worker, in a small file shared with the server.

    They are read from the file, and never mapped here: a reward can make the file shorter, or fill
    the disk that it is on, and the kernel kills a process that reads memory behind its end.
    """

    def __init__(self) -> None:
        self.fd = _shared_file()
        os.ftruncate(self.fd, PLACE.size)

    def read(self) -> RowPosition:
        """Read the current row; return the first row if the file is damaged."""
        with suppress(OSError, struct.error):
            return RowPosition(*PLACE.unpack(os.pread(self.fd, PLACE.size, 0)))
        return RowPosition()

    def reset(self) -> None:
        """Set the position to the first row for the next call."""
        with suppress(OSError):
            os.pwrite(self.fd, PLACE.pack(*RowPosition()), 0)

    def close(self) -> None:
        os.close(self.fd)


def _shared_file() -> int:
    """Create a file in memory, or an unnamed file on systems without memory files."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("assay-progress")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def main() -> None:
    """Run calls one after another until the server closes the pipe."""
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
    """Run the work and pickle its result or exception; other interruptions end the process."""
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
