"""Worker processes, each alone in a pool of one: what ends or hangs takes no other with it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from assay.runner.processes import worker_pool
from assay.server import jobs
from assay.server.logs import log

T = TypeVar("T")

LossCause: TypeAlias = Literal["deadline", "died"]
"""Why a worker did not bring back what it was given."""

START_S = 60.0
"""A worker that has not started by then is ended, and another one tried."""
PAUSE_S = 1.0
"""Between two tries to start a worker."""
END_S = 5.0
"""For an idle worker to end by itself."""
LATE_S = 0.2
"""How long after its deadline work that no worker was free for is given up."""


def _budget_s(left_s: float) -> float:
    """The time for the work itself; the rest is for bringing back what there is."""
    return left_s - min(0.1 * left_s, 1.0)


class WorkerLost(Exception):
    """A worker was ended at the deadline, or died."""

    def __init__(self, loss: LossCause) -> None:
        super().__init__(loss)
        self.loss: LossCause = loss


class _Gone(Exception):
    """A worker had ended before it was given anything: the work is not to blame."""


class _Job(Generic[T]):
    """Work for one worker, and where its result is waited for."""

    def __init__(self, work: Callable[..., T], argument: Any, deadline: float) -> None:
        self.work = work
        self.argument = argument
        self.deadline = deadline
        self.result: asyncio.Future[T] = asyncio.get_running_loop().create_future()


class WorkerPool:
    """A fixed number of worker processes, replaced when they die or hang."""

    def __init__(
        self,
        workers: int,
        *,
        imports: Sequence[str],
        rewards: Sequence[str],
        on_restart: Callable[[LossCause], None],
    ) -> None:
        self._prepared = (tuple(imports), tuple(rewards))
        self._on_restart = on_restart
        self._jobs: asyncio.Queue[_Job[Any]] = asyncio.Queue()
        self._workers = [_Worker(self._prepared) for _ in range(workers)]
        self._loops: list[asyncio.Task[None]] = []

    @property
    def ready(self) -> bool:
        """Whether every worker has started."""
        return all(worker.ready for worker in self._workers)

    @property
    def pids(self) -> list[int]:
        """The processes there are now."""
        return [worker.pid for worker in self._workers if worker.pid is not None]

    def start(self) -> None:
        """The workers are starting; what is asked meanwhile waits."""
        self._loops = [asyncio.create_task(self._work(worker)) for worker in self._workers]

    async def run(self, work: Callable[[Any, float], T], argument: Any, deadline: float) -> T:
        """What `work(argument, seconds left)` returns in a worker, or `WorkerLost`.

        `deadline` is on the monotonic clock. What the work raises is raised here. If this is
        cancelled, work that has not begun never does.
        """
        job = _Job(work, argument, deadline)
        self._jobs.put_nowait(job)
        try:
            async with asyncio.timeout(deadline - time.monotonic() + LATE_S):
                return await job.result
        except TimeoutError:
            raise WorkerLost("deadline") from None

    async def close(self) -> None:
        """No process is left: those that still work are ended."""
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        await asyncio.gather(*(worker.end() for worker in self._workers))

    async def _work(self, worker: _Worker) -> None:
        while True:
            if not await worker.started():
                self._on_restart("died")
                await asyncio.sleep(PAUSE_S)
                continue
            job = await self._jobs.get()
            if job.deadline <= time.monotonic():
                _settle(job.result, error=WorkerLost("deadline"))
            elif not job.result.done():
                await self._do(worker, job)

    async def _do(self, worker: _Worker, job: _Job[Any]) -> None:
        try:
            result = await worker.do(job.work, job.argument, job.deadline)
        except WorkerLost as lost:
            self._on_restart(lost.loss)
            _settle(job.result, error=lost)
            await worker.end()
        except _Gone:
            self._on_restart("died")
            self._jobs.put_nowait(job)
            await worker.end()
        except Exception as error:  # noqa: BLE001 - whatever the work raised belongs to who asked
            _settle(job.result, error=error)
        else:
            _settle(job.result, result)


def _settle(future: asyncio.Future[T], result: Any = None, error: Exception | None = None) -> None:
    """The future has its result, unless nobody waits any more."""
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


class _Worker:
    """One process, or the place for one."""

    def __init__(self, prepared: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
        self._prepared = prepared
        self._executor: ProcessPoolExecutor | None = None
        self._busy = False
        self.pid: int | None = None
        self.ready = False

    async def started(self) -> bool:
        """Whether the process is there and prepared; started now if need be."""
        if self.ready:
            return True
        self._executor = executor = worker_pool(1)
        self._busy = True
        try:
            # Starting a process takes milliseconds, which the event loop has better use for.
            first = await asyncio.to_thread(executor.submit, jobs.whoami)
            self.pid = await asyncio.wrap_future(first)
            preparing = executor.submit(jobs.prepare, *self._prepared)
            await asyncio.wait_for(asyncio.wrap_future(preparing), START_S)
        except Exception as error:  # noqa: BLE001 - importing a user's module may raise anything
            told = f"{type(error).__name__}: {error!s:.200}"
            log("worker_not_started", level=logging.ERROR, error=told)
            await self.end()
            return False
        self._busy = False
        self.ready = True
        return True

    async def do(self, work: Callable[[Any, float], T], argument: Any, deadline: float) -> T:
        """What the work returns; `WorkerLost` if the process dies, or takes longer than it may.

        `_Gone` if there was no process any more.
        """
        assert self._executor is not None
        left_s = max(deadline - time.monotonic(), 0.01)
        self._busy = True
        try:
            running: Future[T] = self._executor.submit(work, argument, _budget_s(left_s))
            waiting = asyncio.wrap_future(running)
        except BrokenProcessPool:
            raise _Gone from None
        try:
            await asyncio.wait([waiting], timeout=left_s)
            if not waiting.done():
                raise WorkerLost("deadline")
            self._busy = False
            return waiting.result()
        except BrokenProcessPool:
            raise WorkerLost("died") from None
        finally:
            waiting.cancel()

    async def end(self) -> None:
        """The process is gone, whatever it was doing, and its place is empty."""
        executor, pid = self._executor, self.pid
        self._executor = self.pid = None
        self.ready = False
        if executor is None:
            return
        if pid is not None and self._busy:
            _kill(pid)
        ending = asyncio.to_thread(executor.shutdown, wait=True, cancel_futures=True)
        waiting = asyncio.ensure_future(ending)
        _, late = await asyncio.wait([waiting], timeout=END_S)
        if late and pid is not None:
            _kill(pid)
        await waiting


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
