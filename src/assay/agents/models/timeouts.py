"""Time limits of model calls and agent turns; a turn's clock stops during a model call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

from assay.agents.models.protocol import Model
from assay.errors import BadParameter, ModelError

CALL_S = 120.0
"""For one reply, retries included, where a model has no `timeout_s` of its own."""


class TurnClock:
    """The clock of one agent turn, which stops while a model call is under way."""

    def __init__(self, limit_s: float) -> None:
        self.clock = asyncio.timeout(limit_s)
        self.cut_off_s = 0.0
        """How long the longest call had waited that was cancelled with the turn."""
        self.is_over = False
        self._loop = asyncio.get_running_loop()
        self._calls = 0
        self._left_s = limit_s

    @contextmanager
    def call(self) -> Iterator[None]:
        """Stop the clock while this block, or another model call, is running."""
        if asyncio.get_running_loop() is not self._loop:
            # An agent with a loop in a thread of its own: this clock cannot be moved from there.
            yield
            return
        started = self._loop.time()
        self._calls += 1
        if self._calls == 1:
            self._left_s = (self.clock.when() or started) - started
            self._set(None)
        try:
            yield
        except asyncio.CancelledError:
            self.cut_off_s = max(self.cut_off_s, self._loop.time() - started)
            raise
        finally:
            self._calls -= 1
            if not self._calls:
                self._set(self._loop.time() + self._left_s)

    def _set(self, when: float | None) -> None:
        # A call may outlast its turn, in a task that the agent left behind.
        if not self.is_over and not self.clock.expired():
            self.clock.reschedule(when)


_TURN: ContextVar[TurnClock | None] = ContextVar("agent_turn", default=None)


@asynccontextmanager
async def agent_turn(limit_s: float) -> AsyncIterator[TurnClock]:
    """Limit an agent's turn to `limit_s` seconds, not counting its model calls."""
    turn = TurnClock(limit_s)
    token = _TURN.set(turn)
    try:
        async with turn.clock:
            yield turn
    finally:
        turn.is_over = True
        _TURN.reset(token)


@asynccontextmanager
async def model_call(timeout_s: float | None = None) -> AsyncIterator[None]:
    """Limit a model call to `timeout_s` seconds, which do not count as the agent's time.

    Raises `ModelError` when they are over.
    """
    turn = _TURN.get()
    clock = asyncio.timeout(timeout_s)
    with turn.call() if turn is not None else nullcontext():
        try:
            async with clock:
                yield
        except TimeoutError:
            if not clock.expired():
                raise
            raise ModelError(f"no reply within {timeout_s:g} s", fatal=False) from None


def call_timeout_s(model: Model) -> float:
    """Return the seconds that a call of this model may take."""
    return check_timeout(getattr(model, "timeout_s", CALL_S))


def check_timeout(timeout_s: Any) -> float:
    """Return the timeout; raise BadParameter if it is not a positive number of seconds."""
    is_number = isinstance(timeout_s, (int, float)) and not isinstance(timeout_s, bool)
    if is_number and 0 < timeout_s < float("inf"):
        return float(timeout_s)
    raise BadParameter(f"timeout_s is {timeout_s!r}; it must be a number of seconds > 0")
