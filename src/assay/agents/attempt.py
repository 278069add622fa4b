"""The state of an attempt that its agent and its model can read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(slots=True)
class AttemptState:
    """The state of one attempt that is under way."""

    repeat: int = 0
    seed: int | None = None
    """For whatever the agent draws; `None` where the run has no seed."""
    cached_calls: int = 0
    """Replies that came from the cache."""
    requests: Counter[str] = field(default_factory=Counter)
    """How often each request was made, by its hash."""


_STATE: ContextVar[AttemptState | None] = ContextVar("assay_attempt", default=None)


@contextmanager
def attempt_state(state: AttemptState) -> Iterator[AttemptState]:
    """Set the state of the attempt for this asyncio task and its children within the block."""
    token = _STATE.set(state)
    try:
        yield state
    finally:
        _STATE.reset(token)


def current_attempt() -> AttemptState:
    """Return the state of the attempt under way, or an empty state outside of a run."""
    return _STATE.get() or AttemptState()


def attempt_seed() -> int | None:
    """Return the seed of the attempt under way, or `None` if its run has no seed."""
    return current_attempt().seed
