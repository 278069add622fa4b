"""Which row a worker is at, in memory that the server sees even if the worker never returns."""

from __future__ import annotations

import os
import struct
import tempfile
from contextlib import suppress
from typing import NamedTuple

PLACE = struct.Struct("=ii")


class Place(NamedTuple):
    """A row of a chunk, from 0, and how many are behind it."""

    row: int = 0
    behind: int = 0


class Progress:
    """A few bytes shared with one worker, which writes them before each row.

    They are read from the file, and never mapped here: a reward can make the file shorter, or fill
    the disk that it is on, and the kernel kills whoever touches memory that is no longer there.
    """

    def __init__(self) -> None:
        self.fd = _shared_file()
        os.ftruncate(self.fd, PLACE.size)

    def read(self) -> Place:
        """Where the worker is; the first row if that can no longer be known."""
        with suppress(OSError, struct.error):
            return Place(*PLACE.unpack(os.pread(self.fd, PLACE.size, 0)))
        return Place()

    def reset(self) -> None:
        """The next call begins at its first row."""
        with suppress(OSError):
            os.pwrite(self.fd, PLACE.pack(*Place()), 0)

    def close(self) -> None:
        os.close(self.fd)


def _shared_file() -> int:
    """A file in memory, or one without a name where the system has no such thing."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("assay-progress")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
