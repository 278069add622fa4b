"""How long a call keeps the other threads of its process from running.

A second thread asks for the interpreter's lock every half millisecond, and looks at the processor
time of the thread that makes the call. What that thread spent between two looks is how long it kept
the lock in one piece; the machine's other work does not count, unless it delays the second thread.
So a long one is tried again, and the shortest counts.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

HOLD_LIMIT_S = 0.05
"""Longest that a reward may keep the other threads of a server waiting."""
INTERVAL_S = 0.000_5
RETRIES = 6


def longest_hold(call: Callable[[], object], *, doubtful_s: float = HOLD_LIMIT_S / 2) -> float:
    """The longest time that the call keeps the lock, in seconds of its own processor time."""
    hold = _hold(call)
    for _ in range(RETRIES):
        if hold <= doubtful_s:
            break
        hold = min(hold, _hold(call))
    return hold


def _hold(call: Callable[[], object]) -> float:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(INTERVAL_S)
    clock = time.pthread_getcpuclockid(threading.get_ident())
    ready, end = threading.Event(), threading.Event()
    holds: list[float] = []

    def watch() -> None:
        before = time.clock_gettime(clock)
        ready.set()
        while not end.is_set():
            time.sleep(INTERVAL_S)
            now = time.clock_gettime(clock)
            holds.append(now - before)
            before = now

    thread = threading.Thread(target=watch)
    thread.start()
    ready.wait()
    try:
        call()
    finally:
        end.set()
        thread.join()
        sys.setswitchinterval(interval)
    return max(holds, default=0.0)
