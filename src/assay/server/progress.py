"""Which row a worker is at, in memory that the server sees even if the worker never returns."""

from __future__ import annotations

import mmap
import os
import struct
import tempfile
from typing import NamedTuple

PLACE = struct.Struct("=ii")


class Place(NamedTuple):
    """A row of a chunk, from 0, and how many are behind it."""

    row: int = 0
    behind: int = 0


class Progress:
    """A few bytes shared with one worker, which writes them before each row."""

    def __init__(self) -> None:
        with tempfile.TemporaryFile() as file:
            self.fd = os.dup(file.fileno())
        os.ftruncate(self.fd, PLACE.size)
        self._bytes = mmap.mmap(self.fd, PLACE.size)

    def read(self) -> Place:
        """Where the worker is."""
        return Place(*PLACE.unpack_from(self._bytes))

    def reset(self) -> None:
        """The next call begins at its first row."""
        PLACE.pack_into(self._bytes, 0, *Place())

    def close(self) -> None:
        self._bytes.close()
        os.close(self.fd)
