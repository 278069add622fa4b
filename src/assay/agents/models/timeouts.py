"""A call of a model while it goes on: the clock of the agent's turn stands still meanwhile.

A call has a time limit of its own. An agent's turn has another one, which is for the agent: it is
not used up by waiting for a reply.
"""

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


class AgentTurn:
    """One turn of an agent: its clock, and the calls of a model that are under way in it."""

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
        """The clock stands still while the block lasts, or another call does."""
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


_TURN: ContextVar[AgentTurn | None] = ContextVar("agent_turn", default=None)


@asynccontextmanager
async def agent_turn(limit_s: float) -> AsyncIterator[AgentTurn]:
    """A turn of an agent; raises `TimeoutError` after `limit_s` seconds without those of calls."""
    turn = AgentTurn(limit_s)
    token = _TURN.set(turn)
    try:
        async with turn.clock:
            yield turn
    finally:
        turn.is_over = True
        _TURN.reset(token)


@asynccontextmanager
async def model_call(timeout_s: float | None = None) -> AsyncIterator[None]:
    """Time one model call: it has `timeout_s` seconds, which do not count as the agent's own time.

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
    """How long the model itself says that a call may take."""
    return check_timeout(getattr(model, "timeout_s", CALL_S))


def check_timeout(timeout_s: Any) -> float:
    """The time-out; raises `BadParameter` for what is no number of seconds."""
    is_number = isinstance(timeout_s, (int, float)) and not isinstance(timeout_s, bool)
    if is_number and 0 < timeout_s < float("inf"):
        return float(timeout_s)
    raise BadParameter(f"timeout_s is {timeout_s!r}; it is a number of seconds > 0")
