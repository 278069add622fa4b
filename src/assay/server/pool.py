"""Worker processes, each alone in an executor of one: one that dies or hangs ends no other."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from assay.resources.processes import kill_family, worker_pool
from assay.server import jobs
from assay.server.telemetry import log

T = TypeVar("T")

LossCause: TypeAlias = Literal["deadline", "died"]
"""Why a worker did not return a result."""

START_S = 60.0
"""A worker that has not started by then is ended, and another one tried."""
PAUSE_S = 1.0
"""Between two attempts to start a worker."""
END_S = 5.0
"""For an idle worker to end by itself."""
LATE_S = 0.2
"""After its deadline, how long a job that no worker was free for is still waited for."""


class WorkerLost(Exception):
    """A worker was ended at the deadline, or died."""

    def __init__(self, cause: LossCause) -> None:
        super().__init__(cause)
        self.cause: LossCause = cause


class _NoWorker(Exception):
    """The worker had ended before it received the job, which is not to blame."""


class _Job(Generic[T]):
    """A call for one worker, and the future of its result."""

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
        """The ids of the processes that run now."""
        return [worker.pid for worker in self._workers if worker.pid is not None]

    def start(self) -> None:
        """Begin to start the workers; jobs wait for them."""
        self._loops = [asyncio.create_task(self._work(worker)) for worker in self._workers]

    async def run(self, work: Callable[[Any, float], T], argument: Any, deadline: float) -> T:
        """The result of `work(argument, seconds left)` in a worker.

        Raises what the work raises, and `WorkerLost` if the worker dies or the deadline (on the
        monotonic clock) passes. Work that is cancelled before it starts never starts.
        """
        job = _Job(work, argument, deadline)
        self._jobs.put_nowait(job)
        try:
            async with asyncio.timeout(deadline - time.monotonic() + LATE_S):
                return await job.result
        except TimeoutError:
            raise WorkerLost("deadline") from None

    async def close(self) -> None:
        """End every process, also those that are busy."""
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        await asyncio.gather(*(worker.end() for worker in self._workers))

    async def _work(self, worker: _Worker) -> None:
        while True:
            if not await worker.start():
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
        except WorkerLost as error:
            self._on_restart(error.cause)
            _settle(job.result, error=error)
            await worker.end()
        except _NoWorker:
            self._on_restart("died")
            self._jobs.put_nowait(job)
            await worker.end()
        except Exception as error:  # noqa: BLE001 - whatever the work raised belongs to the caller
            _settle(job.result, error=error)
        else:
            _settle(job.result, result)


def _settle(future: asyncio.Future[T], result: Any = None, error: Exception | None = None) -> None:
    """Set the result or the error, unless the future was cancelled."""
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


class _Worker:
    """One process, started when needed and again after it ended."""

    def __init__(self, prepared: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
        self._prepared = prepared
        self._executor: ProcessPoolExecutor | None = None
        self._busy = False
        self.pid: int | None = None
        self.ready = False

    async def start(self) -> bool:
        """Whether the process runs and is prepared; it is started now if need be."""
        if self.ready:
            return True
        self._executor = executor = worker_pool(1)
        self._busy = True
        try:
            # Starting a process takes milliseconds, which the event loop has better use for.
            first = await asyncio.to_thread(executor.submit, os.getpid)
            self.pid = await asyncio.wrap_future(first)
            preparing = executor.submit(jobs.prepare, *self._prepared)
            await asyncio.wait_for(asyncio.wrap_future(preparing), START_S)
        except Exception as error:  # noqa: BLE001 - importing a user's module may raise anything
            message = f"{type(error).__name__}: {error!s:.200}"
            log("worker_not_started", level=logging.ERROR, error=message)
            await self.end()
            return False
        self._busy = False
        self.ready = True
        return True

    async def do(self, work: Callable[[Any, float], T], argument: Any, deadline: float) -> T:
        """The result of the work.

        Raises `WorkerLost` if the process dies or passes the deadline, `_NoWorker` if there was
        no process any more.
        """
        assert self._executor is not None
        left_s = max(deadline - time.monotonic(), 0.01)
        self._busy = True
        try:
            # The rest of the time is for sending back the results.
            budget_s = left_s - min(0.1 * left_s, 1.0)
            running: Future[T] = self._executor.submit(work, argument, budget_s)
            waiting = asyncio.wrap_future(running)
        except BrokenProcessPool:
            raise _NoWorker from None
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
        """End the process and what it started, whatever they are doing."""
        executor, pid = self._executor, self.pid
        self._executor = self.pid = None
        self.ready = False
        if executor is None:
            return
        if pid is not None and self._busy:
            kill_family(pid)
        ending = asyncio.to_thread(executor.shutdown, wait=True, cancel_futures=True)
        waiting = asyncio.ensure_future(ending)
        _, late = await asyncio.wait([waiting], timeout=END_S)
        if late and pid is not None:
            kill_family(pid)
        await waiting
