"""Pool of worker processes that each run one call at a time, before a deadline.

Whatever a reward does (forks, hangs, dies, takes all memory, keeps the pipes open in a process that
it started), the call ends at its deadline, the worker is replaced, and what it started is killed.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from assay.isolation import kernel, processes
from assay.isolation.child import ChildProcess, is_of_a_child, module_child
from assay.isolation.frames import BadFrame, PipeClosed
from assay.server import jobs
from assay.server.jobs import ROW_SHARE, WorkerCallContext, WorkerSetup
from assay.server.telemetry import log
from assay.server.worker import RowPosition, WorkerProgress

T = TypeVar("T")

LossCause: TypeAlias = Literal["deadline", "died", "memory", "processes", "stuck"]
"""Why a worker did not return a result; one that is stuck has time left, which others need."""

WAITING_WORKERS = 8
"""Workers of the pool for rewards that mostly wait; each scores the rows of its chunk together."""
START_S = 60.0
"""A worker that has not started by then is ended, and another one tried."""
PAUSE_S = 1.0
"""Between two attempts to start a worker."""
MOST_PROCESSES = 16
"""Of one worker with what its rewards started; one with more is replaced after the call."""
REAP_S = 1.0
"""For the kernel to end a process that was killed."""
WATCH_S = 0.25
"""How often a worker that is at work is looked at: its memory, and the row it is at."""
IDLE_S = 1.0
"""How often a worker that waits for a job is looked at: it may have been killed."""
CALL_ID_BYTES = 16
"""A reply begins with the id of its call: what else a reward writes to the pipe is no reply."""
LATE_S = 0.2
"""After its deadline, how long a job that no worker was free for is still waited for."""


class WorkerLost(Exception):
    """A worker died, or was ended at its deadline."""

    def __init__(self, cause: LossCause, row: int = 0) -> None:
        super().__init__(cause)
        self.cause: LossCause = cause
        self.row = row
        """Of the chunk, the row that was being scored, from 0."""


class _NoWorker(Exception):
    """The worker ended before it received the job."""


class _Job(NamedTuple):
    """A call for one worker, with the future of its result."""

    work: Callable[..., Any]
    argument: Any
    deadline: float
    result: asyncio.Future[Any]


class WorkerPool:
    """A fixed number of worker processes; dead or hanging workers are replaced."""

    def __init__(
        self,
        workers: int,
        *,
        imports: Sequence[str],
        rewards: Sequence[str],
        memory_bytes: int | None,
        on_restart: Callable[[LossCause], None],
        root: str | None = None,
        starting: threading.Lock | None = None,
    ) -> None:
        self._on_restart = on_restart
        self._jobs: asyncio.Queue[_Job] = asyncio.Queue()
        # Held while a process starts: until its id is known it looks like an orphan. Pools of one
        # process share it.
        self._starting = starting or threading.Lock()
        prepared = WorkerSetup(tuple(imports), tuple(rewards), root)
        self._workers = [
            _Worker(prepared, memory_bytes, self._jobs.qsize, self._starting)
            for _ in range(workers)
        ]
        # One for each worker, which waits for it; none of them waits past a deadline.
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="worker")
        self._loops: list[asyncio.Task[None]] = []
        self._own_children: frozenset[int] = frozenset()

    @property
    def ready(self) -> bool:
        return all(worker.ready for worker in self._workers)

    @property
    def pids(self) -> list[int]:
        return [worker.pid for worker in self._workers if worker.pid is not None]

    def start(self) -> None:
        """Start the workers in the background; jobs wait for the workers."""
        self._own_children = frozenset(child.pid for child in processes.list_adopted())
        self._loops = [asyncio.create_task(self._work(worker)) for worker in self._workers]

    async def run(
        self, work: Callable[[Any, WorkerCallContext], T], argument: Any, deadline: float
    ) -> T:
        """Run `work(argument, turn)` in a worker, and return the result.

        Raises what the work raises, and `WorkerLost` if the worker dies or the deadline (on the
        monotonic clock) passes. Work that is cancelled before it starts never starts.
        """
        job = _Job(work, argument, deadline, asyncio.get_running_loop().create_future())
        self._jobs.put_nowait(job)
        try:
            async with asyncio.timeout(deadline - time.monotonic() + LATE_S):
                result: T = await job.result
                return result
        except TimeoutError:
            raise WorkerLost("deadline") from None

    async def close(self) -> None:
        """End all worker processes, even busy ones."""
        for loop in self._loops:
            loop.cancel()
        for worker in self._workers:
            worker.kill()
        await asyncio.gather(*self._loops, return_exceptions=True)
        await asyncio.gather(*(self._end(worker) for worker in self._workers))
        self._threads.shutdown(wait=False)

    async def _in_thread(self, call: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call, *arguments)

    async def _end(self, worker: _Worker) -> None:
        """End a worker process, and all processes that ended workers left behind."""
        await self._in_thread(worker.end)
        await self._in_thread(self._end_orphans)

    def _end_orphans(self) -> None:
        """Kill adopted processes that belong to no running worker."""
        with self._starting:
            for orphan in processes.list_adopted():
                pid = orphan.pid
                if pid in self._own_children or is_of_a_child(pid):
                    continue
                processes.kill((orphan,))
                processes.reap(pid, timeout_s=REAP_S)

    async def _work(self, worker: _Worker) -> None:
        while True:
            if not await self._in_thread(worker.start):
                await self._end(worker)
                self._on_restart("died")
                await asyncio.sleep(PAUSE_S)
                continue
            try:
                async with asyncio.timeout(IDLE_S):
                    job = await self._jobs.get()
            except TimeoutError:
                if not worker.is_running():
                    self._on_restart("died")
                    await self._end(worker)
                else:
                    await self._end_if_too_many(worker)
                continue
            if job.deadline <= time.monotonic():
                _settle(job.result, error=WorkerLost("deadline"))
            elif not job.result.done():
                await self._do(worker, job)

    async def _do(self, worker: _Worker, job: _Job) -> None:
        began = time.monotonic()
        try:
            result = await self._in_thread(worker.do, job.work, job.argument, job.deadline)
        except WorkerLost as error:
            self._on_restart(error.cause)
            _settle(job.result, error=error)
            await self._end(worker)
        except _NoWorker:
            self._on_restart("died")
            self._jobs.put_nowait(job)
            await self._end(worker)
        except Exception as error:  # noqa: BLE001 - the caller handles what the work raised
            _settle(job.result, error=error)
        else:
            _settle(job.result, result)
            if time.monotonic() - began > WATCH_S:
                await self._end_if_too_many(worker)

    async def _end_if_too_many(self, worker: _Worker) -> None:
        """End a worker whose rewards left too many processes running."""
        if await self._in_thread(worker.has_too_many_processes):
            self._on_restart("processes")
            await self._end(worker)


def _settle(future: asyncio.Future[T], result: Any = None, error: Exception | None = None) -> None:
    """Set a future's result or error unless the future is done."""
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


@dataclass(slots=True)
class _Worker:
    """One worker process that can be restarted; its methods block the calling thread."""

    prepared: WorkerSetup
    memory_bytes: int | None
    waiting: Callable[[], int]
    starting: threading.Lock
    child: ChildProcess | None = None
    progress: WorkerProgress | None = None
    pid: int | None = None
    ready: bool = False

    def start(self) -> bool:
        """Start and prepare the worker if needed; return whether it is ready."""
        if self.ready:
            return True
        try:
            self.progress = progress = WorkerProgress()
            self.child = child = module_child(
                "assay.server.worker",
                str(progress.fd),
                memory_bytes=self.memory_bytes,
                inherit=[progress.fd],
                show_output=True,
            )
            with self.starting:
                child.start()
            self.pid = child.pid
            self._call(jobs.prepare, self.prepared, time.monotonic() + START_S)
        except Exception as error:  # noqa: BLE001 - importing a user's module may raise anything
            message = f"{type(error).__name__}: {error!s:.200}"
            log("worker_not_started", level=logging.ERROR, error=message)
            return False
        self.ready = True
        return True

    def is_running(self) -> bool:
        return self.child is not None and self.child.is_running()

    def do(self, work: Callable[[Any, WorkerCallContext], T], argument: Any, deadline: float) -> T:
        """The result of the work.

        Raises `WorkerLost` if the process dies or passes the deadline, `_NoWorker` if there was
        no process any more.
        """
        if not self.is_running():
            raise _NoWorker
        return self._call(work, argument, deadline)

    def has_too_many_processes(self) -> bool:
        """Whether the worker has too many running child processes."""
        return self.child is not None and len(self.child.family()) > MOST_PROCESSES

    def kill(self) -> None:
        """Kill the worker and its child processes; waiting threads continue."""
        if self.child is not None:
            self.child.kill()

    def end(self) -> None:
        """End the worker and its child processes, even busy ones."""
        child, progress = self.child, self.progress
        self.child = self.progress = self.pid = None
        self.ready = False
        if child is not None:
            child.close()
        if progress is not None:
            progress.close()

    def _call(
        self, work: Callable[[Any, WorkerCallContext], T], argument: Any, deadline: float
    ) -> T:
        assert self.child is not None
        assert self.progress is not None
        child, progress = self.child, self.progress
        progress.reset()
        left_s = max(deadline - time.monotonic(), 0.01)
        # The rest of the time is for sending back the results.
        budget_s = left_s - min(0.1 * left_s, 1.0)
        call_id = secrets.token_bytes(CALL_ID_BYTES)
        call = pickle.dumps((call_id, work, argument, budget_s), protocol=pickle.HIGHEST_PROTOCOL)
        try:
            child.send_bytes(call, deadline)
            body = self._await(child, progress, deadline)
            if not body.startswith(call_id):
                raise BadFrame("the reply belongs to another call")
            result, error = pickle.loads(memoryview(body)[CALL_ID_BYTES:])  # noqa: S301 - from a process that we started
        except TimeoutError:
            raise WorkerLost("deadline", progress.read().row) from None
        except WorkerLost:
            raise
        except Exception as problem:  # noqa: BLE001 - a reward can write anything to the pipe
            if not isinstance(problem, (PipeClosed, BadFrame)):
                log("worker_unreadable", level=logging.ERROR, error=type(problem).__name__)
            raise WorkerLost("died", progress.read().row) from None
        if isinstance(error, Exception):
            raise error
        answer: T = result
        return answer

    def _await(self, child: ChildProcess, progress: WorkerProgress, deadline: float) -> bytearray:
        """Wait for the reply; raise `TimeoutError` at the deadline, or `WorkerLost`."""
        place, since = RowPosition(), time.monotonic()
        while True:
            now = time.monotonic()
            try:
                return child.receive_bytes(min(deadline, now + WATCH_S))
            except TimeoutError:
                if time.monotonic() >= deadline:
                    raise
            self._check_memory(child, progress)
            if progress.read() != place:
                place, since = progress.read(), time.monotonic()
            elif (place.behind or self.waiting()) and _is_stuck(since, deadline):
                raise WorkerLost("stuck", place.row)

    def _check_memory(self, child: ChildProcess, progress: WorkerProgress) -> None:
        """Raise `WorkerLost` if the worker and its children use too much memory."""
        limit = self.memory_bytes
        family = [process.pid for process in child.family()]
        if limit and kernel.family_bytes(family, above=limit) > limit:
            raise WorkerLost("memory", progress.read().row)


def _is_stuck(since: float, deadline: float) -> bool:
    """Whether a row took more than its share of the remaining time.

    A little more: a reward that can be interrupted has been by then, and costs no worker.
    """
    return time.monotonic() - since > ROW_SHARE * (deadline - since) + 2 * WATCH_S
