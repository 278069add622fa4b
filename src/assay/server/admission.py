"""A bounded queue, counted in rows, that knows how fast it drains."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable

WINDOW_S = 10.0
MOST_S = 60


class Admission:
    """How many rows are accepted and not finished, and whether there is room for more."""

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._finished: deque[tuple[float, int]] = deque()
        self._waiting: set[asyncio.Future[None]] = set()
        self.rows = 0
        """Accepted and not finished."""

    @property
    def full(self) -> bool:
        return self.rows >= self._limit

    def try_enter(self, rows: int) -> bool:
        """Whether the rows are accepted."""
        if self.rows + rows > self._limit:
            return False
        self.rows += rows
        return True

    async def enter(self, rows: int) -> None:
        """The rows are accepted, as soon as there is room."""
        while not self.try_enter(rows):
            room = asyncio.get_running_loop().create_future()
            self._waiting.add(room)
            try:
                await room
            finally:
                self._waiting.discard(room)

    def leave(self, rows: int) -> None:
        """The rows are finished, or given up."""
        self.rows -= rows
        if rows:
            self._finished.append((self._clock(), rows))
        self._forget()
        for room in self._waiting:
            if not room.done():
                room.set_result(None)

    def retry_after_s(self) -> int:
        """Whole seconds until half of the queue should have drained, at the pace of late."""
        self._forget()
        if not self._finished:
            return 1
        since_s = max(self._clock() - self._finished[0][0], 0.1)
        pace = sum(rows for _, rows in self._finished) / since_s
        return min(MOST_S, max(1, math.ceil(self.rows / 2 / pace)))

    def _forget(self) -> None:
        oldest = self._clock() - WINDOW_S
        while self._finished and self._finished[0][0] < oldest:
            self._finished.popleft()
