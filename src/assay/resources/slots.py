"""The slots of a pool, their states, and the queue of waiting holders.

A slot is the right to one living instance. It is opened before an instance starts and freed only
after that was closed. It is idle, leased to a holder, or changing (its instance starts or closes),
and all slots together never exceed the cap. Every method takes the lock for a moment and awaits
nothing, so event loops and threads can share the state. Processes cannot: a forked child has a
copy of it, whose instances are its parent's, so there every method refuses or does nothing.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from dataclasses import dataclass
from typing import Literal, TypeAlias

from assay.errors import ResourceError
from assay.resources.protocol import Environment


@dataclass(slots=True, eq=False)
class Lease:
    """The right of one holder to use one instance; a lease ends only once."""

    instance: Environment
    holder: str


Grant: TypeAlias = Lease | Literal["slot", "closed"]
"""A lease, a slot in which the receiver may start one, or the end of the pool."""


@dataclass(slots=True, eq=False)
class Waiter:
    """A place in the queue of a pool; the holder wakes up on its own event loop."""

    holder: str
    loop: asyncio.AbstractEventLoop
    woken: asyncio.Future[None]
    grant: Grant | None = None


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """The state of a pool at one moment."""

    idle: int
    leased: int
    changing: int
    """Slots whose instance is starting or closing."""
    waiting: int
    holders: tuple[str, ...]


class PoolSlots:
    """The slots of a pool, at most `cap` of them, and the queue of waiting holders."""

    def __init__(self, name: str, cap: int) -> None:
        self._name = name
        self._cap = cap
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._idle: list[tuple[Environment, float]] = []
        self._leases: set[Lease] = set()
        self._changing = 0
        self._queue: deque[Waiter] = deque()
        self._closed = False

    def status(self) -> PoolStatus:
        with self._lock:
            return PoolStatus(
                idle=len(self._idle),
                leased=len(self._leases),
                changing=self._changing,
                waiting=len(self._queue),
                holders=tuple(sorted(lease.holder for lease in self._leases)),
            )

    def take(self, holder: str) -> Grant | None:
        """Lease an idle instance, or take a new slot; `None` if the pool is full."""
        self._check_process()
        with self._lock:
            grant = self._grant(holder)
        if grant == "closed":
            raise ResourceError(f"pool {self._name!r} is closed; create a new pool")
        return grant

    def enqueue(self, holder: str) -> Waiter:
        """Add the holder to the end of the queue, and return its place."""
        self._check_process()
        loop = asyncio.get_running_loop()
        waiter = Waiter(holder, loop, loop.create_future())
        with self._lock:
            # A slot may have become free since `take` looked.
            waiter.grant = self._grant(holder)
            if waiter.grant is None:
                self._queue.append(waiter)
        return waiter

    def leave(self, waiter: Waiter) -> Grant | None:
        """Remove a waiting holder from the queue, and return its lease or slot, if any."""
        with self._lock:
            if waiter.grant is None and waiter in self._queue:
                self._queue.remove(waiter)
            return waiter.grant

    def hold(self, instance: Environment, holder: str) -> Lease | None:
        """Lease a newly started instance to its holder; `None` if the pool is closed."""
        lease = Lease(instance, holder)
        with self._lock:
            if self._closed:
                return None
            self._changing -= 1
            self._leases.add(lease)
        return lease

    def drop(self, lease: Lease) -> bool:
        """End a lease; return false if the lease had already ended."""
        if self._inherited():
            return False
        with self._lock:
            if lease not in self._leases:
                return False
            self._leases.remove(lease)
            self._changing += 1
            return True

    def shelve(self, instance: Environment, now: float) -> bool:
        """Store an instance as idle, or lease it to the holder that waits longest."""
        with self._lock:
            if self._closed:
                return False
            self._changing -= 1
            while self._queue:
                waiter = self._queue.popleft()
                lease = Lease(instance, waiter.holder)
                if _deliver(waiter, lease):
                    self._leases.add(lease)
                    return True
            self._idle.append((instance, now))
            return True

    def free(self) -> None:
        """Free the slot of a closed instance, or give the slot to the next waiting holder."""
        with self._lock:
            while self._queue and not self._closed:
                if _deliver(self._queue.popleft(), "slot"):
                    return
            self._changing -= 1

    def take_idle(self, since: float) -> list[Environment]:
        """Remove the instances that have been idle since before `since`, and return them."""
        if self._inherited():
            return []
        with self._lock:
            instances = [instance for instance, shelved in self._idle if shelved < since]
            self._idle = [entry for entry in self._idle if entry[1] >= since]
            self._changing += len(instances)
            return instances

    def close(self) -> list[Environment]:
        """Refuse all further requests, and return every instance to be closed."""
        if self._inherited():
            return []
        with self._lock:
            self._closed = True
            instances = [instance for instance, _ in self._idle]
            instances += [lease.instance for lease in self._leases]
            self._changing += len(instances)
            self._idle.clear()
            self._leases.clear()
            for waiter in self._queue:
                _deliver(waiter, "closed")
            self._queue.clear()
            return instances

    def _inherited(self) -> bool:
        # Without the lock: another thread may have had it at the moment of the fork.
        return os.getpid() != self._process

    def _check_process(self) -> None:
        if self._inherited():
            raise ResourceError(
                f"pool {self._name!r} belongs to process {self._process}, the parent of this "
                "process; create new pools in this process"
            )

    def _grant(self, holder: str) -> Grant | None:
        if self._closed:
            return "closed"
        if self._idle:
            lease = Lease(self._idle.pop()[0], holder)
            self._leases.add(lease)
            return lease
        if len(self._leases) + self._changing >= self._cap:
            return None
        self._changing += 1
        return "slot"


def _deliver(waiter: Waiter, grant: Grant) -> bool:
    try:
        waiter.loop.call_soon_threadsafe(_wake, waiter.woken)
    except RuntimeError:
        # The waiter's event loop was closed meanwhile.
        return False
    # In time: the waiter reads it under the lock that the caller has now.
    waiter.grant = grant
    return True


def _wake(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)
