"""Decides whether a failed attempt is followed by another at the same episode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from traceback import walk_tb

from assay.agents.functions import observation_hint
from assay.agents.outside import AgentUnreachable
from assay.errors import BadParameter
from assay.ledger.run import Run
from assay.runner.plan import AttemptKey, Plan
from assay.schema.episode import FAILURES, Episode, StopReason

WORKER_LOSSES = 3
"""How many workers an episode may take down before that is its environment's failure."""
SHARD_RETRIES = 5
"""How often a shard is scored again whose worker or node was lost."""
RETRIED = ("env", "model")
"""Whose errors are tried again by default."""


@dataclass(frozen=True, slots=True)
class AttemptRetryPolicy:
    """Decides whether a failed attempt at an episode is followed by another attempt.

    An attempt that its environment ended, or that was lost with its worker, is repeated up to a
    limit. A failed model was asked again within the attempt.
    """

    environment_failures: int
    worker_losses: int

    @classmethod
    def of(cls, plan: Plan) -> AttemptRetryPolicy:
        return cls(plan.benchmark.limits.attempts, WORKER_LOSSES)

    def refusal(self, stop_reason: StopReason | None, failures: int) -> str:
        """Return why an attempt with this ending is not repeated; empty if it must be repeated.

        `stop_reason` is `None` for an attempt that was lost with its worker. `failures` is how
        often the episode has failed in the same way, this time included.
        """
        if stop_reason is None:
            limit, failure = self.worker_losses, "the worker that played it was lost"
        elif stop_reason == "env_error":
            limit, failure = self.environment_failures, "its environment failed"
        elif stop_reason == "model_error":
            return "its model failed; a resumed run can retry errors"
        else:
            return f"it ended with {stop_reason!r}, which counts"
        return "" if failures < limit else f"{failure}, {limit} times in all"


class RetryTracker:
    """Tracks which episodes of a run need another attempt."""

    def __init__(self, policy: AttemptRetryPolicy) -> None:
        self._policy = policy
        self._failures: Counter[AttemptKey] = Counter()
        self._refusals: dict[AttemptKey, str] = {}

    def add(self, episode: Episode) -> str:
        """Count an attempt, and return why its episode is not tried again, or an empty text."""
        key = (episode.task.id, episode.repeat)
        self._failures[key] += episode.stop_reason == "env_error"
        # An attempt that counts settles its episode, whatever was recorded after it.
        if not self.refusal(key):
            reason = self._policy.refusal(episode.stop_reason, self._failures[key])
            self._refusals[key] = reason
        return self.refusal(key)

    def refusal(self, key: AttemptKey) -> str:
        """Return why the episode gets no further attempt; empty if it gets one."""
        return self._refusals.get(key, "")

    def forget(self, key: AttemptKey) -> None:
        """Forget the failures of an episode, so that it is tried as often as a new one."""
        self._failures.pop(key, None)
        self._refusals.pop(key, None)


def tracker_for(plan: Plan, run: Run, retry_errors: Collection[str] = ()) -> RetryTracker:
    """Return a tracker that knows the attempts of a run, except those to be retried."""
    retries = RetryTracker(AttemptRetryPolicy.of(plan))
    for episode in run.episodes():
        retries.add(episode)
    for key, attempt in run.attempts().final.items():
        if attempt.stop_reason in retry_errors:
            retries.forget(key)
    return retries


def read_retry_errors(whose: str | Sequence[str] | bool) -> tuple[str, ...]:
    """Return the stop reasons for names such as `env,model`; `True` means these two."""
    if isinstance(whose, bool):
        names: Sequence[str] = RETRIED if whose else ()
    else:
        names = whose.split(",") if isinstance(whose, str) else whose
    reasons = tuple(f"{name.strip()}_error" for name in names)
    for name, reason in zip(names, reasons, strict=True):
        if reason not in FAILURES:
            choices = ", ".join(each.removesuffix("_error") for each in FAILURES)
            raise BadParameter(f"cannot retry errors of {name!r}; choose from {choices}")
    return reasons


CALLERS = ("assay.resources.threads", "assay.runner.rollout")
"""The modules that call an agent: a `TypeError` of their own lines is one of the call."""


def cannot_work(error: BaseException) -> bool:
    """Whether this error in an agent's first turn would occur in every task.

    Its program ends or its server fails, a module or a name is missing, it takes the observation
    for a text, or it cannot be called as agents are. Any other error may be of one task alone.
    """
    if isinstance(error, (AgentUnreachable, ImportError, NameError, SyntaxError)):
        return True
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    last = frames[-1].f_globals.get("__name__") if frames else ""
    return bool(observation_hint(error)) or (isinstance(error, TypeError) and last in CALLERS)
