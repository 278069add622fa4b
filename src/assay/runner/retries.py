"""When an attempt that failed is followed by another: the one rule for local runs and for Ray."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from assay.runner.plan import AttemptKey, Plan
from assay.schema.episode import Episode, StopReason

WORKER_LOSSES = 3
"""How many workers an episode may take down before that is its environment's failure."""
SHARD_RETRIES = 5
"""How often a shard is scored again whose worker or node was lost."""


@dataclass(frozen=True, slots=True)
class AttemptPolicy:
    """Whether an attempt is followed by another.

    An attempt fails in two ways that are not the agent's doing: its environment ended it, or the
    worker that played it was lost. Every other ending counts and is never tried again.
    """

    environment_failures: int
    worker_losses: int

    @classmethod
    def of(cls, plan: Plan) -> AttemptPolicy:
        return cls(plan.benchmark.limits.attempts, WORKER_LOSSES)

    def refusal(self, stop_reason: StopReason | None, failures: int) -> str:
        """Why no attempt follows one that ended like this; empty when one does.

        `stop_reason` is `None` for an attempt that was lost with its worker. `failures` is how
        often the episode has failed in the same way, this time included.
        """
        if stop_reason is None:
            limit, failure = self.worker_losses, "the worker that played it was lost"
        elif stop_reason == "env_error":
            limit, failure = self.environment_failures, "its environment failed"
        else:
            return f"it ended with {stop_reason!r}, which counts"
        return "" if failures < limit else f"{failure}, {limit} times in a row"


class RetryTracker:
    """Which episodes of a run need another attempt; `add` is told of every attempt."""

    def __init__(self, policy: AttemptPolicy) -> None:
        self._policy = policy
        self._failures: Counter[AttemptKey] = Counter()
        self._refusals: dict[AttemptKey, str] = {}

    def add(self, episode: Episode) -> str:
        """Count a finished attempt, and return why its episode is not tried again, if so."""
        key = (episode.task.id, episode.repeat)
        self._failures[key] += episode.stop_reason == "env_error"
        # An attempt that counts settles its episode, whatever was recorded after it.
        if not self.refusal(key):
            reason = self._policy.refusal(episode.stop_reason, self._failures[key])
            self._refusals[key] = reason
        return self.refusal(key)

    def refusal(self, key: AttemptKey) -> str:
        """Why the episode is not tried (again); empty when it is."""
        return self._refusals.get(key, "")
