"""Send the rows of requests to the workers in chunks, in order, before a deadline."""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from assay.errors import UnknownName
from assay.registry import find_reward
from assay.server import jobs
from assay.server.jobs import ChunkResult, RowChunk, ScorerSpec, UnreadableRow, WorkerCallContext
from assay.server.models import Status
from assay.server.pool import WAITING_WORKERS, LossCause, WorkerLost, WorkerPool
from assay.server.settings import ServerSettings
from assay.server.telemetry import Metrics, log

T = TypeVar("T")

CHUNKS_PER_WORKER = 2
"""Chunks of one request under way for each worker: none idles, and no request takes them all."""
PACE_WINDOW_S = 10.0
MAX_RETRY_AFTER_S = 60

DIED = ("grader_error", "the worker process died on this row, twice")
LATE = ("deadline", "no worker brought it back before the deadline")
GIVEN_UP: dict[LossCause, tuple[str, str]] = {
    "died": DIED,
    "memory": ("grader_error", "the worker process took more memory on this row than it may"),
    "processes": DIED,
    "stuck": ("deadline", "it did not return, and others were waiting"),
    "deadline": LATE,
}
"""The reason of an abstention, and why, by how the worker was lost."""


class AdmissionQueue:
    """A bounded queue of rows that measures its own speed."""

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._finished: deque[tuple[float, int]] = deque()
        self._waiting: set[asyncio.Future[None]] = set()
        self.rows = 0
        """Accepted and not finished."""

    @property
    def full(self) -> bool:
        return self.rows >= self._limit

    def try_enter(self, rows: int) -> bool:
        if self.rows + rows > self._limit:
            return False
        self.rows += rows
        return True

    async def enter(self, rows: int) -> None:
        """Wait for room in the queue, then accept the rows."""
        while not self.try_enter(rows):
            room = asyncio.get_running_loop().create_future()
            self._waiting.add(room)
            try:
                await room
            finally:
                self._waiting.discard(room)

    def leave(self, rows: int) -> None:
        """Remove finished or abandoned rows from the queue."""
        self.rows -= rows
        if rows:
            self._finished.append((self._clock(), rows))
        self._drop_old()
        for room in self._waiting:
            if not room.done():
                room.set_result(None)

    def retry_after_s(self) -> int:
        """Estimate the whole seconds until half of the queue is done."""
        self._drop_old()
        if not self._finished:
            return 1
        since_s = max(self._clock() - self._finished[0][0], 0.1)
        pace = sum(rows for _, rows in self._finished) / since_s
        return min(MAX_RETRY_AFTER_S, max(1, math.ceil(self.rows / 2 / pace)))

    def _drop_old(self) -> None:
        oldest = self._clock() - PACE_WINDOW_S
        while self._finished and self._finished[0][0] < oldest:
            self._finished.popleft()


class ScoringService:
    """The row queue, the worker pools and the metrics of one server."""

    def __init__(self, settings: ServerSettings, rewards: Sequence[str], metrics: Metrics) -> None:
        self.settings = settings
        self.metrics = metrics
        self.admission = AdmissionQueue(settings.queue_rows)
        pool_of = partial(
            WorkerPool,
            imports=settings.imports,
            memory_bytes=settings.worker_memory_bytes or None,
            on_restart=self._count_restart,
            root=settings.root,
            starting=threading.Lock(),
        )
        self._pool = pool_of(settings.workers, rewards=rewards)
        # For rewards that mostly wait: no other row waits for theirs. Started for the first.
        waiting = [name for name in rewards if _waits(name)]
        self._waiting_pool = pool_of(max(WAITING_WORKERS, settings.workers), rewards=waiting)
        self._has_waiting = False
        self._max_chunks = CHUNKS_PER_WORKER * settings.workers
        self._draining = False
        metrics.queue_rows.set_function(lambda: self.admission.rows)
        metrics.workers.set_function(lambda: len(self._pool.pids + self._waiting_pool.pids))

    @property
    def status(self) -> Status:
        if self._draining:
            return "draining"
        return "ready" if self._pool.ready else "starting"

    def start(self) -> None:
        """Start the workers in the background; requests wait for the workers."""
        self._pool.start()

    def drain(self) -> None:
        """Report from now on that the server wants no new requests."""
        self._draining = True

    async def close(self) -> None:
        self.drain()
        await asyncio.gather(self._pool.close(), self._waiting_pool.close())

    def _pool_for(self, chunk: RowChunk) -> WorkerPool:
        if not any(_waits(scorer.reward) for scorer in chunk.scorers):
            return self._pool
        if not self._has_waiting:
            self._has_waiting = True
            self._waiting_pool.start()
        return self._waiting_pool

    def deadline(self, seconds: float | None = None) -> float:
        """Return the deadline of a request that arrives now, on the monotonic clock."""
        limit_s = self.settings.deadline_s
        return time.monotonic() + (limit_s if seconds is None else min(seconds, limit_s))

    async def score_rows(
        self,
        scorers: tuple[ScorerSpec, ...],
        rows: Iterable[Any],
        *,
        columns: dict[str, str],
        deadline: float,
        first: int = 1,
    ) -> ChunkResult:
        """Score all rows of an admitted request, numbered from `first`."""
        numbered = enumerate(rows, start=first)
        under_way: deque[asyncio.Task[ChunkResult]] = deque()
        finished: list[ChunkResult] = []
        try:
            while items := list(islice(numbered, self.settings.chunk_rows)):
                chunk = RowChunk(scorers, columns, "row", items)
                under_way.append(asyncio.create_task(self.score_chunk(chunk, deadline)))
                if len(under_way) >= self._max_chunks:
                    finished.append(await under_way.popleft())
            while under_way:
                finished.append(await under_way.popleft())
        finally:
            await _cancel(under_way)
        return jobs.join_results(finished)

    async def score_stream(
        self, chunks: AsyncIterator[RowChunk], *, deadline_s: float | None
    ) -> AsyncGenerator[ChunkResult, None]:
        """Yield the scores of a stream's chunks, in order, with few chunks in memory.

        A chunk waits for room in the queue, and its time begins when there is some.
        """
        under_way: asyncio.Queue[tuple[asyncio.Task[ChunkResult], int] | None] = asyncio.Queue()
        window = asyncio.Semaphore(self._max_chunks)

        async def feed() -> None:
            try:
                async for chunk in chunks:
                    weight = self._weight(chunk)
                    for _ in range(weight):
                        await window.acquire()
                    rows = len(chunk.items)
                    await self.admission.enter(rows)
                    task = asyncio.create_task(self.score_chunk(chunk, self.deadline(deadline_s)))
                    # Not in the task itself: one that is cancelled before it begins runs nothing.
                    task.add_done_callback(partial(self._leave, rows))
                    under_way.put_nowait((task, weight))
            finally:
                under_way.put_nowait(None)

        feeding = asyncio.create_task(feed())
        try:
            while (entry := await under_way.get()) is not None:
                task, weight = entry
                yield await task
                for _ in range(weight):
                    window.release()
            await feeding
        finally:
            await _cancel([feeding])
            left = [under_way.get_nowait() for _ in range(under_way.qsize())]
            await _cancel([entry[0] for entry in left if entry is not None])

    async def run(
        self, work: Callable[[Any, WorkerCallContext], T], argument: Any, deadline: float
    ) -> T:
        """Run the work in a worker; try once more if the worker dies."""
        try:
            return await self._pool.run(work, argument, deadline)
        except WorkerLost as error:
            if error.cause != "died":
                raise
        return await self._pool.run(work, argument, deadline)

    async def score_chunk(self, chunk: RowChunk, deadline: float) -> ChunkResult:
        """Score the chunk even if its worker is lost.

        The row at which a worker dies is tried once more, alone, and one at which it never
        returns, or takes all memory, is given up; either costs no other row its score.
        """
        result = await self._score_chunk(chunk, deadline)
        self.metrics.count_rows(result)
        return result

    async def _score_chunk(self, chunk: RowChunk, deadline: float) -> ChunkResult:
        if not chunk.items:
            return jobs.join_results([])
        try:
            return await self._pool_for(chunk).run(jobs.score_chunk, chunk, deadline)
        except RecursionError:
            return await self._score_apart(chunk, deadline)
        except WorkerLost as error:
            if error.cause == "deadline":
                return jobs.abstain_all(chunk, *LATE)
            # A reward can write any number there.
            row = max(0, min(error.row, len(chunk.items) - 1))
            cause = error.cause
        before, culprit, after = (
            chunk._replace(items=chunk.items[part])
            for part in (slice(row), slice(row, row + 1), slice(row + 1, None))
        )
        results = await asyncio.gather(
            self._score_chunk(before, deadline),
            self._score_again(culprit, cause, deadline),
            self._score_chunk(after, deadline),
        )
        return jobs.join_results(results)

    async def _score_apart(self, chunk: RowChunk, deadline: float) -> ChunkResult:
        """Score a chunk that has a row too deeply nested for a worker."""
        if len(chunk.items) == 1:
            ((number, _),) = chunk.items
            empty = chunk._replace(items=[(number, UnreadableRow("is nested too deeply"))])
            return await self._score_chunk(empty, deadline)
        halves = (
            chunk._replace(items=chunk.items[part])
            for part in (slice(len(chunk.items) // 2), slice(len(chunk.items) // 2, None))
        )
        return jobs.join_results([await self._score_chunk(half, deadline) for half in halves])

    async def _score_again(self, chunk: RowChunk, cause: LossCause, deadline: float) -> ChunkResult:
        """Score a row again after its worker was lost, or abstain."""
        if cause == "died":
            try:
                return await self._pool_for(chunk).run(jobs.score_chunk, chunk, deadline)
            except WorkerLost as error:
                cause = error.cause
        return jobs.abstain_all(chunk, *GIVEN_UP[cause])

    def _weight(self, chunk: RowChunk) -> int:
        """Return how many slots of the stream window the chunk takes, by its size in bytes."""
        size = sum(len(item) for _, item in chunk.items if isinstance(item, bytes))
        share = self._max_chunks * size / self.settings.max_body_bytes
        return min(self._max_chunks, max(1, math.ceil(share)))

    def _leave(self, rows: int, task: asyncio.Task[ChunkResult]) -> None:  # noqa: ARG002 - callback
        self.admission.leave(rows)

    def _count_restart(self, cause: LossCause) -> None:
        self.metrics.worker_restarts.labels(cause).inc()
        log("worker_replaced", level=logging.WARNING, cause=cause)


def _waits(name: str) -> bool:
    """Whether the named reward mostly waits; False if it is not registered here."""
    try:
        return find_reward(name).waits
    except UnknownName:
        return False


async def _cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel the tasks, and wait until all tasks have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
