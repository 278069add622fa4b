"""Decides when the next attempt of a run may begin, and when the run must end.

A run starts slowly: until one of its agents has got a reply, no more attempts begin than may fail
alike before the run is ended. So a key that is refused costs that many attempts, however many
workers wait. An attempt for which the run's budget has no room does not begin at all.
"""

from __future__ import annotations

import asyncio
from collections import deque

from assay.ledger.summary import message_key
from assay.runner.budget import BudgetTracker
from assay.runner.plan import PlannedAttempt
from assay.schema.episode import Episode


class Pacing:
    """Decides for the workers of one run when each may begin its next attempt."""

    def __init__(
        self,
        queue: deque[PlannedAttempt],
        spending: BudgetTracker,
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
        self._limit = self._agent_limit = stop_after_errors
        if stop_after_agent_errors is not None:
            self._agent_limit = stop_after_agent_errors
        self._alike = 0
        """How many attempts failed, all alike; -1 once one of them ended otherwise."""
        self._message_key: str | None = None
        self._started = 0
        self._under_way = 0
        self._is_open = not stop_after_errors
        self._change = asyncio.Event()

    async def next_attempt(self) -> PlannedAttempt | None:
        """Wait until an attempt may begin, and return it; `None` if none is left."""
        while self._queue:
            has_room = self._spending.has_room(self._under_way)
            if has_room and (self._is_open or self._started < self._limit):
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
        """Let every worker begin, since an agent has shown that it can work."""
        if not self._is_open:
            self._is_open = True
            self._wake()

    def add(self, episode: Episode) -> None:
        """Count a finished attempt, and end the run if too many failed with the same error."""
        self._under_way -= 1
        self._spending.add(episode)
        if self._limit and self._alike >= 0:
            self._count_failure(episode)
        if self._alike < 0:
            self._is_open = True
        self._wake()

    def _count_failure(self, episode: Episode) -> None:
        """End the run if its first attempts have all failed with the same error.

        Errors are the same if they are fatal and have the same `message_key`.
        """
        failure = episode.failure
        key = None if failure is None or not failure.fatal else message_key(failure.message)
        if failure is None or key is None or self._message_key not in (None, key):
            self._alike = -1
            return
        self._message_key = key
        self._alike += 1
        # An agent's error is its zero: too few of them say nothing of others.
        limit = self._agent_limit if failure.kind == "agent_error" else self._limit
        if self._alike == limit:
            # Attempts that are under way are played to their end.
            self.failure, self.failure_kind = failure.message, episode.stop_reason
            self._end()

    def retry(self, attempt: PlannedAttempt) -> None:
        """Queue another attempt at the same episode, unless the run is ending."""
        if not self.failure:
            # At the end: what made the environment fail may have passed by then.
            self._queue.append(attempt)

    def _end(self) -> None:
        self._queue.clear()
        self._wake()

    def _wake(self) -> None:
        self._change.set()
        self._change = asyncio.Event()
