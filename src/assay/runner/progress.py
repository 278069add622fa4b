"""How far a run is: what is done, what it scored, what broke, how long the rest will take."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from assay.ledger.summary import reward_of
from assay.schema.episode import Episode


@dataclass(frozen=True, slots=True)
class Progress:
    """A run as it stands after one more attempt."""

    done: int
    """Episodes that need no further attempt."""
    total: int
    mean: float | None
    """Of the primary score, so far and in this process."""
    errors: int
    """Attempts that the agent or the environment ended."""
    elapsed_s: float
    left_s: float | None
    """At the rate so far; `None` before the first one is done."""


def silence(progress: Progress) -> None:
    """Nobody is told."""


class Tally:
    """Counts attempts as they finish."""

    def __init__(
        self, total: int, done: int = 0, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._total = total
        self._before = self._done = done
        self._scored = 0
        self._sum = 0.0
        self._errors = 0
        self._clock = clock
        self._begun = clock()

    def add(self, episode: Episode, *, settled: bool) -> Progress:
        """The state after this attempt; an attempt that will be repeated is not `settled`."""
        self._done += settled
        self._errors += episode.stop_reason in ("agent_error", "env_error")
        reward = reward_of(episode)
        if reward is not None:
            self._scored += 1
            self._sum += reward
        return self.now()

    def now(self) -> Progress:
        elapsed_s = self._clock() - self._begun
        finished = self._done - self._before
        left_s = elapsed_s / finished * (self._total - self._done) if finished else None
        mean = self._sum / self._scored if self._scored else None
        return Progress(self._done, self._total, mean, self._errors, elapsed_s, left_s)
