"""Pools of environment instances, one pool for each environment configuration."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Self

from assay.errors import AcquireTimeout, BadParameter, MissingExtra, ResourceError
from assay.resources.protocol import Environment, Scope, SharingEnvironment, StartableEnvironment
from assay.resources.slots import Grant, Lease, PoolSlots, PoolStatus, Waiter
from assay.resources.spec import ResourceSpec

HOLDERS_SHOWN = 8
"""Holders that an `AcquireTimeout` names; the rest are counted."""
WARNING_S = 30.0
"""A wait at the cap that takes longer is logged: it may be for the one who waits."""


def usable_cores() -> int:
    """The number of CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolLimits:
    """The size limit and the time limits of a pool."""

    cap: int = field(default_factory=usable_cores)
    """Instances at one time, those that are starting or closing included; one for each core."""
    idle_limit_s: float = 300.0
    """An instance that was not used for so long is closed."""
    acquire_timeout_s: float = 600.0
    """The deadline for waiting and starting together, where the caller names none."""
    close_timeout_s: float = 20.0

    def __post_init__(self) -> None:
        if self.cap < 1:
            raise BadParameter(f"a pool needs cap >= 1, not cap={self.cap}")


class ResourcePool:
    """Lends environment instances, each to one holder at a time.

    Safe from several event loops and threads. Waiting never blocks a loop: it is a future of the
    waiter's own loop.
    """

    def __init__(
        self,
        name: str,
        build: Callable[[], Environment],
        limits: PoolLimits,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.limits = limits
        self._build = build
        self._clock = clock
        self._slots = PoolSlots(name, limits.cap)
        self._sweep_at = float("-inf")
        self._tasks: set[asyncio.Task[None]] = set()
        self.shared: SharingEnvironment | None = None
        """An instance that shared something with the others of its kind."""

    def status(self) -> PoolStatus:
        """The numbers of idle and leased instances, and the holders of the leases."""
        return self._slots.status()

    async def acquire(self, holder: str, timeout_s: float | None = None) -> Lease:
        """Lease a healthy instance that no other holder uses."""
        limit_s = self.limits.acquire_timeout_s if timeout_s is None else timeout_s
        deadline = self._clock() + limit_s
        grant = self._slots.take(holder)
        if grant is None:
            grant = await self._wait(holder, limit_s)
        if isinstance(grant, Lease):
            if grant.instance.alive():
                return grant
            await self._replace(grant)
        instance = await self._start(deadline, limit_s)
        lease = self._slots.hold(instance, holder)
        if lease is None:
            await self._end(instance)
            raise ResourceError(f"pool {self.name!r} was closed during a start for {holder!r}")
        return lease

    async def release(self, lease: Lease, scope: Scope) -> None:
        """End a lease, and keep its instance for the next holder or close it.

        An instance of scope `global` in good health is unbound and stays idle; this path never
        suspends. Releasing a lease again does nothing.
        """
        if not self._slots.drop(lease):
            return
        idle = False
        try:
            if scope == "global":
                lease.instance.forget()
                idle = lease.instance.alive() and self._slots.shelve(lease.instance, self._clock())
        finally:
            if not idle:
                await self._end(lease.instance)
        if idle:
            self._sweep_later()

    async def sweep(self) -> None:
        """Close the instances that were idle for longer than the limit."""
        since = self._clock() - self.limits.idle_limit_s
        async with AsyncExitStack() as stack:
            for instance in self._slots.take_idle(since):
                stack.push_async_callback(self._end, instance)
        if self._slots.status().idle:
            self._sweep_later()

    async def close(self) -> None:
        """Close all instances, including leased ones, and refuse new holders."""
        loop = asyncio.get_running_loop()
        # Copied first: another loop may add to the set meanwhile.
        tasks = [task for task in list(self._tasks) if task.get_loop() is loop]
        async with AsyncExitStack() as stack:
            for instance in self._slots.close():
                stack.push_async_callback(self._end, instance)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _wait(self, holder: str, limit_s: float) -> Grant:
        waiter = self._slots.enqueue(holder)
        try:
            if waiter.grant is None:
                await self._wait_at_cap(waiter, limit_s)
        except asyncio.CancelledError:
            # What was granted at the last moment is passed on.
            late = self._slots.leave(waiter)
            if isinstance(late, Lease):
                await self.release(late, "global")
            elif late == "slot":
                self._slots.free()
            raise
        grant = self._slots.leave(waiter)
        if grant is None:
            raise AcquireTimeout(self._timeout_message(holder, limit_s))
        if grant == "closed":
            raise ResourceError(f"pool {self.name!r} was closed while {holder!r} waited")
        return grant

    async def _wait_at_cap(self, waiter: Waiter, limit_s: float) -> None:
        done, _ = await asyncio.wait({waiter.woken}, timeout=min(limit_s, WARNING_S))
        if not done and limit_s > WARNING_S:
            message = self._timeout_message(waiter.holder, WARNING_S)
            logging.getLogger(__name__).warning("%s; still waiting, %g s at most", message, limit_s)
            await asyncio.wait({waiter.woken}, timeout=limit_s - WARNING_S)

    async def _replace(self, lease: Lease) -> None:
        """Close the dead instance of a lease, and keep its slot for a new instance."""
        self._slots.drop(lease)
        try:
            await self._close(lease.instance)
        except BaseException:
            self._slots.free()
            raise

    async def _start(self, deadline: float, limit_s: float) -> Environment:
        """Start a new instance; if the start fails, free its slot in the pool."""
        instance: Environment | None = None
        ready = False
        try:
            instance = self._build()
            self.shared = instance if isinstance(instance, SharingEnvironment) else self.shared
            if isinstance(instance, StartableEnvironment):
                async with asyncio.timeout(max(0.0, deadline - self._clock())):
                    await instance.start()
            ready = True
        except ModuleNotFoundError as error:
            raise MissingExtra.of(f"environment {self.name!r}", str(error.name)) from error
        except TimeoutError as error:
            raise AcquireTimeout(
                f"pool {self.name!r}: an instance did not start within {limit_s:g} s; "
                "raise timeout_s, or check the load of the machine"
            ) from error
        finally:
            if not ready and instance is not None:
                await self._end(instance)
            elif not ready:
                self._slots.free()
        return instance

    async def _end(self, instance: Environment) -> None:
        """Close an instance, and free its slot even if closing fails."""
        try:
            await self._close(instance)
        finally:
            self._slots.free()

    async def _close(self, instance: Environment) -> None:
        limit_s = self.limits.close_timeout_s
        try:
            async with asyncio.timeout(limit_s):
                await instance.close()
        except TimeoutError as error:
            raise ResourceError(
                f"pool {self.name!r}: an instance did not close within {limit_s:g} s"
            ) from error

    def _sweep_later(self) -> None:
        now = self._clock()
        if now < self._sweep_at or self.limits.idle_limit_s == float("inf"):
            return
        self._sweep_at = now + self.limits.idle_limit_s
        loop = asyncio.get_running_loop()

        def start() -> None:
            task = loop.create_task(self.sweep())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        loop.call_later(self.limits.idle_limit_s, start)

    def _timeout_message(self, holder: str, limit_s: float) -> str:
        holders = self._slots.status().holders
        environment, more_cap = self.name.partition("{")[0], self.limits.cap + 1
        names = ", ".join(holders[:HOLDERS_SHOWN]) or "nobody (they are starting or closing)"
        more = f" and {len(holders) - HOLDERS_SHOWN} more" if len(holders) > HOLDERS_SHOWN else ""
        return (
            f"pool {self.name!r} had no instance for {holder!r} within {limit_s:g} s: "
            f"{len(holders)} of {self.limits.cap} are leased, by {names}{more}; a rollout that "
            f"holds one and waits for another waits for itself. The cap is {self.limits.cap} (by "
            f"default one for each core): Pools({{{environment!r}: PoolLimits(cap={more_cap})}}) "
            "raises it; or raise timeout_s, or release earlier"
        )


class Pools:
    """The pools that all rollouts share, one for each environment configuration.

    `limits` replaces, by the environment's name, the `limits` attribute of its class. A limit
    holds for each configuration of an environment by itself.
    """

    def __init__(self, limits: Mapping[str, PoolLimits] | None = None) -> None:
        self._limits = dict(limits or {})
        self._pools: dict[str, ResourcePool] = {}
        self._lock = threading.Lock()
        self._closed = False

    def pool(self, spec: ResourceSpec) -> ResourcePool:
        """The pool for this environment and configuration, created if needed."""
        pool = self._pools.get(spec.key)
        if pool is not None:
            return pool
        own: PoolLimits = getattr(spec.factory(), "limits", PoolLimits())
        build = spec.builder()
        with self._lock:
            if self._closed:
                raise ResourceError(f"these pools are closed; create new pools for {spec.name!r}")
            if spec.key not in self._pools:
                limits = self._limits.get(spec.name, own)
                self._pools[spec.key] = ResourcePool(spec.key, build, limits)
            return self._pools[spec.key]

    def status(self) -> dict[str, PoolStatus]:
        """The state of every pool, by its key."""
        with self._lock:
            pools = dict(self._pools)
        return {key: pool.status() for key, pool in pools.items()}

    async def close(self) -> None:
        """Close every instance of every pool; a second call does nothing."""
        with self._lock:
            self._closed = True
            pools = list(self._pools.values())
        async with AsyncExitStack() as stack:
            for pool in pools:
                stack.push_async_callback(pool.close)

    async def close_shared(self) -> None:
        """Close what the instances of an environment share, such as a browser.

        For the end of a run, after `close`: other pools of this process may share the same.
        """
        with self._lock:
            pools = list(self._pools.values())
        for pool in pools:
            if pool.shared is not None:
                await pool.shared.close_shared()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()
