"""What an agent and its model can know of the attempt in which they are asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(slots=True)
class AttemptState:
    """One attempt while it goes on."""

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
    """Whatever is asked while the block lasts, by this task and those it starts, is of it."""
    token = _STATE.set(state)
    try:
        yield state
    finally:
        _STATE.reset(token)


def current_attempt() -> AttemptState:
    """The attempt that this task plays; an empty one outside of a run."""
    return _STATE.get() or AttemptState()


def attempt_seed() -> int | None:
    """The seed of the attempt that this task plays; `None` where its run has none."""
    return current_attempt().seed
