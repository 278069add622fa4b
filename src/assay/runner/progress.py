"""The progress of a run: episodes done, mean score so far, and time left."""

from __future__ import annotations

import time
from dataclasses import dataclass

from assay.ledger.summary import reward_of
from assay.schema.episode import Episode


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The state of a run after an attempt."""

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
        """Count an attempt, and return the progress; a `settled` attempt is not repeated."""
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
