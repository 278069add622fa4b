"""The processes in which queries run: started when first needed, kept, ended with this one."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from assay.isolation.child import ChildProcess, module_child
from assay.isolation.frames import BadFrame, PipeClosed

IDLE: Final = 8
"""Processes that are kept while nobody asks them."""
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


class QueryProcesses:
    """Processes that answer one request at a time; as many as there are threads that ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[ChildProcess] = []

    def ask(self, request: Mapping[str, Any], *, seconds: float) -> dict[str, Any] | Lost:
        """The answer to a request about one query, whose limit is so many seconds a database.

        A process that ends over it may have kept too much of other requests; then one that has
        nothing is asked.
        """
        child, fresh = self._take()
        answer = self._ask(child, request, seconds, fresh=fresh)
        if isinstance(answer, Lost) and not answer.late and not fresh:
            answer = self._ask(self._start(), request, seconds, fresh=True)
        return answer

    def _ask(
        self, child: ChildProcess, request: Mapping[str, Any], seconds: float, *, fresh: bool
    ) -> dict[str, Any] | Lost:
        many = max(1, len(request["databases"]))
        reference_s = REFERENCE_RUNS * many * seconds + GRACE_S + (START_S if fresh else 0.0)
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
        self._give_back(child)
        return answer

    def _take(self) -> tuple[ChildProcess, bool]:
        with self._lock:
            while self._idle:
                child = self._idle.pop()
                if child.is_running():
                    return child, False
                child.close()
        return self._start(), True

    def _start(self) -> ChildProcess:
        child = module_child("assay.rewards.outcome.sql.child", memory_bytes=MEMORY_BYTES)
        child.start()
        return child

    def _give_back(self, child: ChildProcess) -> None:
        with self._lock:
            if len(self._idle) < IDLE:
                self._idle.append(child)
                return
        child.close()


def query_processes() -> QueryProcesses:
    """Those of this process; one that is forked from it starts its own."""
    return _processes_of(os.getpid())


@lru_cache(maxsize=1)
def _processes_of(pid: int) -> QueryProcesses:
    del pid
    return QueryProcesses()
