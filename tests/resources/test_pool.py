"""A pool keeps its promises in every ending: no slot is lost, no instance shared, none leaked."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import ParamSpec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import AcquireTimeout, BadParameter, NotReset, ResourceError
from assay.resources.pool import PoolLimits, ResourcePool
from assay.resources.protocol import Scope
from assay.resources.slots import Lease
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task

P = ParamSpec("P")


class Toy:
    """An environment whose life the test directs."""

    name: str = "toy"

    def __init__(self, number: int, start: Callable[[], object] | None = None) -> None:
        self.number = number
        self.open = True
        self.forgotten = 0
        self.breaks_on_close = False
        self.breaks_on_forget = False
        self._start = start

    async def start(self) -> None:
        if self._start is not None:
            pending = self._start()
            if asyncio.iscoroutine(pending):
                await pending

    async def reset(self, task: Task) -> Observation:
        return Observation(task.id)

    async def step(self, action: str) -> Observation:
        return Observation(action)

    def evidence(self) -> WorldEvidence:
        raise NotReset("a toy has no episode")

    def forget(self) -> None:
        self.forgotten += 1
        if self.breaks_on_forget:
            raise RuntimeError("cannot forget")

    def alive(self) -> bool:
        return self.open

    async def close(self) -> None:
        self.open = False
        await asyncio.sleep(0)
        if self.breaks_on_close:
            raise RuntimeError("cannot close")


@dataclass
class Shop:
    """Makes toys, and remembers them; `script` says what the start of each one does."""

    script: list[Callable[[], object] | None] = field(default_factory=list)
    made: list[Toy] = field(default_factory=list)

    def build(self) -> Toy:
        start = self.script[len(self.made)] if len(self.made) < len(self.script) else None
        self.made.append(Toy(len(self.made), start))
        return self.made[-1]

    def pool(self, cap: int = 2, idle_limit_s: float = 300.0) -> ResourcePool:
        limits = PoolLimits(cap=cap, idle_limit_s=idle_limit_s, acquire_timeout_s=30.0)
        return ResourcePool("toy{}", self.build, limits)


def in_a_loop(test: Callable[P, Coroutine[None, None, None]]) -> Callable[P, None]:
    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


def toy(lease: Lease) -> Toy:
    assert isinstance(lease.instance, Toy)
    return lease.instance


def fail() -> None:
    raise OSError("no such program")


@in_a_loop
async def test_a_returned_global_instance_is_forgotten_and_reused() -> None:
    pool = Shop().pool()
    first = await pool.acquire("a")
    await pool.release(first, "global")
    second = await pool.acquire("b")
    assert second.instance is first.instance
    assert toy(second).forgotten == 1


@in_a_loop
async def test_a_rollout_instance_ends_with_its_release() -> None:
    pool = Shop().pool()
    lease = await pool.acquire("a")
    await pool.release(lease, "rollout")
    assert not toy(lease).open
    assert pool.status().leased == pool.status().idle == pool.status().changing == 0


@in_a_loop
async def test_releasing_twice_gives_back_one_slot() -> None:
    pool = Shop().pool(cap=1)
    lease = await pool.acquire("a")
    await pool.release(lease, "global")
    second = await pool.acquire("b")
    await pool.release(lease, "global")
    assert pool.status().holders == ("b",)
    await pool.release(second, "global")
    assert pool.status().idle == 1


@in_a_loop
async def test_at_the_cap_the_timeout_names_pool_size_and_holders() -> None:
    pool = Shop().pool(cap=2)
    await pool.acquire("rollout-a")
    await pool.acquire("rollout-b")
    with pytest.raises(AcquireTimeout, match=r"toy\{\}.*2 of 2 .* rollout-a, rollout-b"):
        await pool.acquire("rollout-c", timeout_s=0.0)
    assert pool.status().waiting == 0


@in_a_loop
async def test_a_rollout_that_waits_for_itself_is_told_of_the_cap_before_the_deadline(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("assay.resources.pool.WARNING_S", 0.01)
    pool = Shop().pool(cap=1)
    await pool.acquire("rollout-a")
    message = r"The cap is 1 .*: Pools\(\{'toy': PoolLimits\(cap=2\)\}\) raises it"
    with pytest.raises(AcquireTimeout, match=message):
        await pool.acquire("rollout-a", timeout_s=0.05)
    (record,) = caplog.records
    assert "1 of 1 are leased, by rollout-a" in record.getMessage()
    assert record.getMessage().endswith("still waiting, 0.05 s at most")


@in_a_loop
async def test_waiters_are_served_in_the_order_they_came() -> None:
    pool = Shop().pool(cap=1)
    lease = await pool.acquire("first")
    order: list[str] = []

    async def want(name: str) -> None:
        lease = await pool.acquire(name)
        order.append(name)
        await pool.release(lease, "global")

    async with asyncio.TaskGroup() as group:
        for name in ("a", "b", "c"):
            group.create_task(want(name))
            await asyncio.sleep(0)
        await pool.release(lease, "global")
    assert order == ["a", "b", "c"]


@in_a_loop
async def test_a_cancelled_waiter_leaves_the_queue() -> None:
    pool = Shop().pool(cap=1)
    lease = await pool.acquire("a")
    waiting = asyncio.create_task(pool.acquire("b"))
    await asyncio.sleep(0)
    waiting.cancel()
    with suppress(asyncio.CancelledError):
        await waiting
    await pool.release(lease, "global")
    assert (await pool.acquire("c", timeout_s=0.0)).instance is lease.instance


@pytest.mark.parametrize("scope", ["global", "rollout"])
@in_a_loop
async def test_what_is_granted_to_a_waiter_cancelled_in_that_moment_goes_on(scope: Scope) -> None:
    pool = Shop().pool(cap=1)
    lease = await pool.acquire("a")
    waiting = asyncio.create_task(pool.acquire("b"))
    await asyncio.sleep(0)
    await pool.release(lease, scope)  # grants, and the waiter has not run since
    waiting.cancel()
    with suppress(asyncio.CancelledError):
        await waiting
    await pool.acquire("c", timeout_s=0.0)
    assert pool.status().holders == ("c",)


@in_a_loop
async def test_cancelling_a_start_closes_the_instance_and_frees_the_slot() -> None:
    shop = Shop(script=[lambda: asyncio.sleep(3600)])
    pool = shop.pool(cap=1)
    starting = asyncio.create_task(pool.acquire("a"))
    await asyncio.sleep(0)
    assert pool.status().changing == 1
    starting.cancel()
    with suppress(asyncio.CancelledError):
        await starting
    assert not shop.made[0].open
    assert toy(await pool.acquire("b", timeout_s=1.0)).number == 1


@in_a_loop
async def test_a_start_that_outlives_the_deadline_is_closed() -> None:
    shop = Shop(script=[lambda: asyncio.sleep(3600)])
    pool = shop.pool(cap=1)
    with pytest.raises(AcquireTimeout, match="did not start within"):
        await pool.acquire("a", timeout_s=0.0)
    assert not shop.made[0].open
    assert pool.status().changing == 0


@in_a_loop
async def test_a_failed_start_raises_and_frees_the_slot() -> None:
    shop = Shop(script=[fail])
    pool = shop.pool(cap=1)
    with pytest.raises(OSError, match="no such program"):
        await pool.acquire("a")
    assert not shop.made[0].open
    assert toy(await pool.acquire("b")).number == 1


@in_a_loop
async def test_a_dead_idle_instance_is_replaced_on_hand_out() -> None:
    pool = Shop().pool(cap=1)
    first = await pool.acquire("a")
    await pool.release(first, "global")
    toy(first).open = False
    second = await pool.acquire("b")
    assert second.instance is not first.instance
    assert pool.status().leased == 1


@in_a_loop
async def test_an_instance_that_died_in_use_is_not_kept() -> None:
    pool = Shop().pool(cap=1)
    lease = await pool.acquire("a")
    toy(lease).open = False
    await pool.release(lease, "global")
    assert pool.status().idle == pool.status().changing == 0


@pytest.mark.parametrize("fault", ["breaks_on_close", "breaks_on_forget"])
@in_a_loop
async def test_an_instance_that_breaks_on_release_still_frees_its_slot(fault: str) -> None:
    pool = Shop().pool(cap=1)
    lease = await pool.acquire("a")
    setattr(toy(lease), fault, True)
    scope: Scope = "rollout" if fault == "breaks_on_close" else "global"
    with pytest.raises(RuntimeError, match="cannot"):
        await pool.release(lease, scope)
    assert pool.status().leased == pool.status().changing == 0
    await pool.acquire("b", timeout_s=0.0)


@in_a_loop
async def test_what_is_idle_for_too_long_is_closed() -> None:
    now = [0.0]
    shop = Shop()
    limits = PoolLimits(cap=3, idle_limit_s=10.0)
    pool = ResourcePool("toy{}", shop.build, limits, clock=lambda: now[0])
    leases = [await pool.acquire(f"r{number}") for number in range(3)]
    for lease in leases[:2]:
        await pool.release(lease, "global")
    now[0] = 9.0
    await pool.release(leases[2], "global")
    await pool.sweep()
    assert pool.status().idle == 3
    now[0] = 11.0
    await pool.sweep()
    assert pool.status().idle == 1
    assert [made.open for made in shop.made] == [False, False, True]


@in_a_loop
async def test_closing_ends_idle_and_held_instances_and_sends_waiters_away() -> None:
    shop = Shop()
    pool = shop.pool(cap=2)
    await pool.release(await pool.acquire("a"), "global")
    await pool.acquire("b")
    lease = await pool.acquire("c")
    waiting = asyncio.create_task(pool.acquire("d"))
    await asyncio.sleep(0)
    await pool.close()
    with pytest.raises(ResourceError, match="closed while 'd' waited"):
        await waiting
    with pytest.raises(ResourceError, match="is closed"):
        await pool.acquire("e")
    await pool.release(lease, "global")
    assert not any(made.open for made in shop.made)


@in_a_loop
async def test_an_instance_that_is_still_starting_when_its_pool_closes_is_ended() -> None:
    ready = asyncio.Event()
    shop = Shop(script=[ready.wait])
    pool = shop.pool()
    starting = asyncio.create_task(pool.acquire("late"))
    await asyncio.sleep(0)
    await pool.close()
    ready.set()
    with pytest.raises(ResourceError, match="closed during a start for 'late'"):
        await starting
    assert not shop.made[0].open
    assert pool.status().leased == pool.status().changing == 0


@in_a_loop
async def test_a_release_that_is_overtaken_by_the_close_ends_the_instance_once() -> None:
    shop = Shop()
    pool = shop.pool()
    lease = await pool.acquire("a")
    await asyncio.gather(pool.release(lease, "rollout"), pool.close())
    assert not shop.made[0].open
    assert pool.status().leased == pool.status().changing == pool.status().idle == 0


@in_a_loop
async def test_a_release_that_is_cancelled_still_frees_the_slot() -> None:
    pool = Shop().pool(cap=1)
    lease = await pool.acquire("a")
    releasing = asyncio.create_task(pool.release(lease, "rollout"))
    await asyncio.sleep(0)  # it is in the middle of closing the instance
    releasing.cancel()
    with suppress(asyncio.CancelledError):
        await releasing
    assert not toy(lease).open
    await pool.acquire("b", timeout_s=0.0)


@in_a_loop
async def test_cancelling_the_replacement_of_a_dead_instance_frees_the_slot() -> None:
    pool = Shop().pool(cap=1)
    first = await pool.acquire("a")
    await pool.release(first, "global")
    toy(first).open = False
    replacing = asyncio.create_task(pool.acquire("b"))
    await asyncio.sleep(0)  # it closes the dead one
    replacing.cancel()
    with suppress(asyncio.CancelledError):
        await replacing
    assert pool.status().changing == 0
    await pool.acquire("c", timeout_s=0.0)


FORK = """
import asyncio, os
from assay.errors import ResourceError
from assay.resources.pool import ResourcePool, PoolLimits
from tests.resources.test_pool import Toy

pool = ResourcePool("toy{}", lambda: Toy(0), PoolLimits(cap=2))
idle, lease = asyncio.run(pool.acquire("a")), asyncio.run(pool.acquire("b"))
asyncio.run(pool.release(idle, "global"))
pool._slots._lock.acquire()  # as another thread of the parent may at that moment
child = os.fork()
if child == 0:
    try:
        asyncio.run(pool.acquire("child"))
    except ResourceError as error:
        print(error, flush=True)
    asyncio.run(pool.release(lease, "global"))
    asyncio.run(pool.close())
    print(idle.instance.open, lease.instance.open, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


def test_a_forked_child_neither_uses_nor_ends_what_its_parent_holds() -> None:
    # In a process of its own: forking one that has threads is not safe.
    call = [sys.executable, "-c", FORK]
    root = Path(__file__).parents[2]
    ended = subprocess.run(call, check=True, capture_output=True, text=True, timeout=60, cwd=root)
    refusal, opened = ended.stdout.splitlines()
    assert "the parent of this process" in refusal
    assert opened == "True True"


@in_a_loop
async def test_waiting_leaves_the_event_loop_free() -> None:
    pool = Shop().pool(cap=1)
    lease = await pool.acquire("a")
    waiting = asyncio.create_task(pool.acquire("b"))
    for _ in range(100):
        await asyncio.sleep(0)
    assert not waiting.done()
    await pool.release(lease, "global")
    assert (await waiting).holder == "b"


def test_one_pool_serves_several_event_loops_in_threads() -> None:
    pool = Shop().pool(cap=2)
    using: set[int] = set()
    shared: list[int] = []

    async def worker(name: str) -> None:
        for _ in range(50):
            lease = await pool.acquire(name)
            number = toy(lease).number
            if number in using:
                shared.append(number)
            using.add(number)
            await asyncio.sleep(0)
            using.discard(number)
            await pool.release(lease, "global")

    async def main(name: str) -> None:
        await asyncio.gather(*(worker(f"{name}{number}") for number in range(4)))

    threads = [threading.Thread(target=lambda n=n: asyncio.run(main(n))) for n in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared == []
    assert (pool.status().leased, pool.status().waiting, pool.status().changing) == (0, 0, 0)


def test_a_waiter_whose_loop_is_gone_is_passed_over() -> None:
    pool = Shop().pool(cap=1)
    lease = asyncio.run(pool.acquire("a"))
    lost = asyncio.new_event_loop()
    waiting = lost.create_task(pool.acquire("b"))
    lost.run_until_complete(asyncio.sleep(0))
    waiting._log_destroy_pending = False  # type: ignore[attr-defined]  # destroyed on purpose
    lost.close()

    async def main() -> None:
        await pool.release(lease, "global")
        assert (await pool.acquire("c", timeout_s=0.0)).holder == "c"

    asyncio.run(main())


@settings(deadline=None)
@given(
    script=st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["global", "rollout"]))),
    cap=st.integers(1, 3),
)
@in_a_loop
async def test_any_order_of_acquiring_cancelling_and_releasing_keeps_the_books(
    script: list[tuple[int, Scope]], cap: int
) -> None:
    shop = Shop()
    pool = shop.pool(cap=cap)
    tasks: dict[int, asyncio.Task[Lease]] = {}
    for who, scope in script:
        task = tasks.pop(who, None)
        if task is None:
            tasks[who] = asyncio.create_task(pool.acquire(f"r{who}"))
        elif task.done():
            await pool.release(task.result(), scope)
        else:
            task.cancel()
        await asyncio.sleep(0)
        status = pool.status()
        assert status.idle + status.leased + status.changing <= cap
        assert sum(made.open for made in shop.made) <= cap
    for task in tasks.values():
        task.cancel()
    for ending in await asyncio.gather(*tasks.values(), return_exceptions=True):
        if isinstance(ending, Lease):
            await pool.release(ending, "global")
    assert (pool.status().leased, pool.status().changing, pool.status().waiting) == (0, 0, 0)


@pytest.mark.parametrize("cap", [0, -1])
def test_a_pool_for_nothing_is_refused(cap: int) -> None:
    with pytest.raises(BadParameter, match="cap >= 1"):
        PoolLimits(cap=cap)


def test_a_pool_holds_one_instance_for_each_core_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert PoolLimits().cap == len(os.sched_getaffinity(0))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(7)))
    assert PoolLimits().cap == 7
    monkeypatch.delattr(os, "sched_getaffinity")
    assert PoolLimits().cap == (os.cpu_count() or 1)
