"""How far a run is: what is done, what it scores so far, and how long the rest will take."""

from __future__ import annotations

import time
from dataclasses import dataclass

from assay.ledger.summary import reward_of
from assay.schema.episode import Episode


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A run as it stands after one more attempt."""

    done: int
    """Episodes that need no further attempt."""
    total: int
    mean: float | None
    """Of the primary score, so far and in this process."""
    errors: int
    """Attempts that a failure of the agent, its model or the environment ended."""
    elapsed_s: float
    left_s: float | None
    """At the rate so far; `None` before the first one is done."""


def no_progress(progress: RunProgress) -> None:
    """Report nothing."""


class ProgressCounter:
    """Counts attempts as they finish."""

    def __init__(self, total: int, done: int = 0) -> None:
        self._total = total
        self._done_before = self._done = done
        self._scored = 0
        self._sum = 0.0
        self._errors = 0
        self._start = time.monotonic()

    def add(self, episode: Episode, *, settled: bool) -> RunProgress:
        """The state after this attempt; an attempt that will be repeated is not `settled`."""
        self._done += settled
        self._errors += episode.failure is not None
        reward = reward_of(episode)
        if reward is not None:
            self._scored += 1
            self._sum += reward
        return self.now()

    def now(self) -> RunProgress:
        elapsed_s = time.monotonic() - self._start
        finished = self._done - self._done_before
        left_s = elapsed_s / finished * (self._total - self._done) if finished else None
        mean = self._sum / self._scored if self._scored else None
        return RunProgress(self._done, self._total, mean, self._errors, elapsed_s, left_s)
