"""When the next attempt of a run may begin, and when none may any more.

A run starts slowly: until one of its agents has got a reply, no more attempts begin than may fail
alike before the run is ended. So a key that is refused costs that many attempts, however many
workers wait. An attempt for which the run's budget has no room does not begin at all.
"""

from __future__ import annotations

import asyncio
from collections import deque

from assay.runner.budget import Spending
from assay.runner.plan import PlannedAttempt
from assay.runner.retries import SameFailure
from assay.schema.episode import Episode


class Pacing:
    """Lets the workers of one run begin attempts, one after the other; for one event loop."""

    def __init__(
        self,
        queue: deque[PlannedAttempt],
        spending: Spending,
        *,
        stop_after_errors: int,
        stop_after_agent_errors: int | None = None,
    ) -> None:
        self.failure = ""
        """The message of the failure with which all attempts ended; empty while there is none."""
        self.failure_kind = ""
        self.left_by_budget = 0
        """How many attempts do not begin because the budget has no room for them."""
        self._queue = queue
        self._spending = spending
        self._same = SameFailure(stop_after_errors, stop_after_agent_errors)
        self._first = stop_after_errors
        self._started = 0
        self._under_way = 0
        self._is_open = not stop_after_errors
        self._change = asyncio.Event()

    async def next_attempt(self) -> PlannedAttempt | None:
        """The attempt that may begin now, once one may; `None` when there is none left."""
        while self._queue:
            has_room = self._spending.has_room(self._under_way)
            if has_room and (self._is_open or self._started < self._first):
                self._started += 1
                self._under_way += 1
                return self._queue.popleft()
            if not has_room and not self._under_way:
                self.left_by_budget = len(self._queue)
                self._end()
                break
            await self._change.wait()
        return None

    def open(self) -> None:
        """An agent can do its work: from now on every worker may begin."""
        if not self._is_open:
            self._is_open = True
            self._wake()

    def add(self, episode: Episode) -> None:
        """Count an attempt that ended; after the last of those that fail alike, none begins."""
        self._under_way -= 1
        self._spending.add(episode)
        if failure := self._same.add(episode):
            # Attempts that are under way are played to their end.
            self.failure, self.failure_kind = failure, episode.stop_reason
            self._end()
        elif not self._same.may_stop:
            self._is_open = True
        self._wake()

    def retry(self, attempt: PlannedAttempt) -> None:
        """Let the attempt be made again, unless the run is being ended."""
        if not self.failure:
            # At the end: what made the environment fail may have passed by then.
            self._queue.append(attempt)

    def _end(self) -> None:
        self._queue.clear()
        self._wake()

    def _wake(self) -> None:
        self._change.set()
        self._change = asyncio.Event()
