"""How many rollouts a second the books of a pool can serve, with a world that costs nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import ClassVar

from assay.errors import NotReset
from assay.registry import ENVIRONMENTS
from assay.resources.context import Context
from assay.resources.pool import PoolLimits, Pools, ResourcePool
from assay.resources.protocol import Scope
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task
from perf.world_rows.row import Row

ROUNDS = 20_000
WANTED_PER_S = 20_000


class Trivial:
    """A world without content: what is left is the cost of holding it."""

    name: str = "benchmark-trivial"
    limits: ClassVar[PoolLimits] = PoolLimits(cap=4)

    def __init__(self) -> None:
        self._evidence: WorldEvidence | None = None

    async def reset(self, task: Task) -> Observation:
        self._evidence = WorldEvidence(self.name, task.id)
        return Observation("", self._evidence)

    async def step(self, action: str) -> Observation:
        return Observation(action, self.evidence())

    def evidence(self) -> WorldEvidence:
        if self._evidence is None:
            raise NotReset("no episode")
        return self._evidence

    def forget(self) -> None:
        self._evidence = None

    def alive(self) -> bool:
        return True

    async def close(self) -> None:
        self._evidence = None


async def _pool(scope: Scope) -> None:
    pool = ResourcePool(Trivial.name, Trivial, Trivial.limits)
    for _ in range(ROUNDS):
        await pool.release(await pool.acquire("benchmark"), scope)
    await pool.close()


async def _rollouts(scope: Scope) -> None:
    task = Task(id="1")
    async with Pools() as pools:
        for _ in range(ROUNDS):
            async with Context.open(task=task, pools=pools) as context:
                await context.acquire_resource(Trivial.name, scope)


async def _contended() -> None:
    """Sixteen rollouts for four instances: three out of four acquisitions wait."""
    pool = ResourcePool(Trivial.name, Trivial, Trivial.limits)

    async def worker(name: str) -> None:
        for _ in range(ROUNDS // 16):
            lease = await pool.acquire(name)
            await asyncio.sleep(0)
            await pool.release(lease, "global")

    await asyncio.gather(*(worker(f"worker-{number}") for number in range(16)))
    await pool.close()


def run() -> list[Row]:
    """Acquire-and-release pairs per second of CPU time, one row for each way."""
    ENVIRONMENTS.add(Trivial.name, Trivial)
    ways: dict[str, Callable[[], Awaitable[None]]] = {
        "pool, scope global": lambda: _pool("global"),
        "pool, scope rollout": lambda: _pool("rollout"),
        "whole Context, scope global": lambda: _rollouts("global"),
        "whole Context, scope rollout": lambda: _rollouts("rollout"),
        "pool, 16 waiting for 4": _contended,
    }
    return [_measure(name, way) for name, way in ways.items()]


def _measure(name: str, way: Callable[[], Awaitable[None]]) -> Row:
    async def main() -> None:
        await way()

    begin = time.process_time()
    asyncio.run(main())
    spent_s = time.process_time() - begin
    measure = f"acquire and release, {name}"
    return Row("pools", measure, ROUNDS / spent_s, "/s", at_least=WANTED_PER_S)
