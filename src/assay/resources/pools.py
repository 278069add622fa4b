"""One pool for every configured world, opened when it is first asked for."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from assay.errors import ResourceError
from assay.resources.pool import Pool, PoolLimits
from assay.resources.slots import PoolStatus
from assay.resources.spec import ResourceSpec


class Pools:
    """The pools that rollouts share; `async with Pools() as pools` closes every instance.

    `limits` says, by world name, what differs from the `limits` attribute of the world's class.
    A limit holds for each configuration of a world by itself.
    """

    def __init__(self, limits: Mapping[str, PoolLimits] | None = None) -> None:
        self._limits = dict(limits or {})
        self._pools: dict[str, Pool] = {}
        self._lock = threading.Lock()
        self._closed = False

    def pool(self, spec: ResourceSpec) -> Pool:
        """The pool of exactly this world and configuration."""
        pool = self._pools.get(spec.key)
        if pool is not None:
            return pool
        own: PoolLimits = getattr(spec.factory(), "limits", PoolLimits())
        build = spec.builder()
        with self._lock:
            if self._closed:
                raise ResourceError(f"these pools are closed; open new ones for {spec.name!r}")
            if spec.key not in self._pools:
                limits = self._limits.get(spec.name, own)
                self._pools[spec.key] = Pool(spec.key, build, limits)
            return self._pools[spec.key]

    async def warm(self, spec: str | ResourceSpec) -> None:
        """The warm minimum of this world is started."""
        await self.pool(ResourceSpec(spec) if isinstance(spec, str) else spec).warm()

    def status(self) -> dict[str, PoolStatus]:
        """The state of every pool, by its key."""
        with self._lock:
            pools = dict(self._pools)
        return {key: pool.status() for key, pool in pools.items()}

    async def close(self) -> None:
        """Every instance of every pool is closed; calling it again does nothing."""
        with self._lock:
            self._closed = True
            pools = list(self._pools.values())
        async with AsyncExitStack() as stack:
            for pool in pools:
                stack.push_async_callback(pool.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()
