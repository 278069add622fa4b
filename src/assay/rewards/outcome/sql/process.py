"""The processes in which queries run: started when first needed, kept, ended with this one."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from queue import Empty, Full, LifoQueue
from typing import Any, Final

from assay.isolation.child import ChildProcess, module_child
from assay.isolation.frames import BadFrame, PipeClosed

IDLE: Final = 8
"""Processes that are kept between requests."""
MEMORY_BYTES: Final = 1024 * 1024 * 1024
START_S: Final = 60.0
GRACE_S: Final = 2.0
"""How much later than its own limit a query is ended from outside."""
REFERENCE_RUNS: Final = 4
"""How often a reference may be run before it is known: as it is, ranked, with NULL at the other
end, and with its tables read the other way round."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The process ended, or had to be ended, while it ran the reference or the query."""

    of_reference: bool
    late: bool

    @property
    def because(self) -> str:
        return "it takes too long" if self.late else "it ended its process"


def ask(request: Mapping[str, Any], *, seconds: float) -> dict[str, Any] | Lost:
    """The answer to a request about one query, whose limit is so many seconds a database.

    A process that ends over it may have kept too much of other requests; then one that has nothing
    is asked.
    """
    child = _take()
    if child is not None:
        answer = _ask(child, request, seconds)
        if not isinstance(answer, Lost) or answer.late:
            return answer
    child = module_child("assay.rewards.outcome.sql.child", memory_bytes=MEMORY_BYTES)
    child.start()
    return _ask(child, request, seconds, start_s=START_S)


def _ask(
    child: ChildProcess, request: Mapping[str, Any], seconds: float, *, start_s: float = 0.0
) -> dict[str, Any] | Lost:
    many = max(1, len(request["databases"]))
    reference_s = REFERENCE_RUNS * many * seconds + GRACE_S + start_s
    of_reference = True
    try:
        child.send(dict(request), time.monotonic() + GRACE_S + START_S)
        answer: dict[str, Any] = child.receive(time.monotonic() + reference_s)
        if not answer:
            of_reference = False
            answer = child.receive(time.monotonic() + many * seconds + GRACE_S)
    except (TimeoutError, PipeClosed, BadFrame, OSError) as error:
        child.close()
        return Lost(of_reference, late=isinstance(error, TimeoutError))
    except BaseException:
        # Whatever interrupts a wait would leave an answer that nobody asked for.
        child.close()
        raise
    try:
        _idle_of(os.getpid()).put_nowait(child)
    except Full:
        child.close()
    return answer


def _take() -> ChildProcess | None:
    """An idle process that is still running."""
    idle = _idle_of(os.getpid())
    while not idle.empty():
        try:
            child = idle.get_nowait()
        except Empty:
            break
        if child.is_running():
            return child
        child.close()
    return None


@lru_cache(maxsize=1)
def _idle_of(pid: int) -> LifoQueue[ChildProcess]:
    """The idle processes of this process; one that is forked from it starts its own."""
    del pid
    return LifoQueue(IDLE)
