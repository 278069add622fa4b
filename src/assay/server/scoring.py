"""A request's rows on their way through the workers: in pieces, in order, within a time."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from assay.server import jobs
from assay.server.admission import Admission
from assay.server.jobs import Chunk, ChunkResult, ScorerSpec
from assay.server.metrics import Metrics
from assay.server.pool import WorkerLost, WorkerPool
from assay.server.settings import Settings

T = TypeVar("T")

AHEAD = 2
"""Chunks of one request under way for each worker: none idles, and no request takes them all."""

DIED = "the worker process died on this row, twice"
LATE = "no worker brought it back before the deadline"


class ScoringService:
    """Where chunks are scored: queue, workers and counts."""

    def __init__(self, settings: Settings, pool: WorkerPool, metrics: Metrics) -> None:
        self.settings = settings
        self.pool = pool
        self.metrics = metrics
        self.admission = Admission(settings.queue_rows)
        self._ahead = AHEAD * settings.workers

    async def score_rows(
        self,
        scorers: tuple[ScorerSpec, ...],
        rows: Iterable[Any],
        *,
        columns: dict[str, str],
        deadline: float,
        first: int = 1,
    ) -> ChunkResult:
        """Every row of a request scored, numbered from `first`; its rows were admitted."""
        numbered = enumerate(rows, start=first)
        chunks = _chunks(scorers, columns, numbered, self.settings.chunk_rows)
        under_way: deque[asyncio.Task[ChunkResult]] = deque()
        finished: list[ChunkResult] = []
        try:
            for chunk in chunks:
                under_way.append(asyncio.create_task(self.score_chunk(chunk, deadline)))
                if len(under_way) >= self._ahead:
                    finished.append(await under_way.popleft())
            while under_way:
                finished.append(await under_way.popleft())
        finally:
            await _cancel(under_way)
        return jobs.join_results(finished)

    async def score_stream(
        self, chunks: AsyncIterator[Chunk], *, deadline_s: float | None
    ) -> AsyncGenerator[ChunkResult, None]:
        """Each chunk of a stream scored, in order; at most a few are held at a time.

        A chunk waits for room in the queue, and its time begins when there is some.
        """
        under_way: asyncio.Queue[asyncio.Task[ChunkResult] | None] = asyncio.Queue()
        window = asyncio.Semaphore(self._ahead)

        async def feed() -> None:
            try:
                async for chunk in chunks:
                    await window.acquire()
                    rows = len(chunk.items)
                    await self.admission.enter(rows)
                    task = asyncio.create_task(self.score_chunk(chunk, self.deadline(deadline_s)))
                    # Not in the task itself: one that is cancelled before it begins runs nothing.
                    task.add_done_callback(partial(self._leave, rows))
                    under_way.put_nowait(task)
            finally:
                under_way.put_nowait(None)

        feeding = asyncio.create_task(feed())
        try:
            while (task := await under_way.get()) is not None:
                yield await task
                window.release()
            await feeding
        finally:
            await _cancel([feeding])
            left = [under_way.get_nowait() for _ in range(under_way.qsize())]
            await _cancel([task for task in left if task is not None])

    def _leave(self, rows: int, task: asyncio.Task[ChunkResult]) -> None:  # noqa: ARG002 - a callback's
        self.admission.leave(rows)

    def deadline(self, deadline_s: float | None = None) -> float:
        """When a request that comes now has to be answered, on the monotonic clock."""
        limit_s = self.settings.deadline_s
        return time.monotonic() + (limit_s if deadline_s is None else min(deadline_s, limit_s))

    async def run(self, work: Callable[[Any, float], T], argument: Any, deadline: float) -> T:
        """What the work returns in a worker; if that one dies, it is tried once more."""
        try:
            return await self.pool.run(work, argument, deadline)
        except WorkerLost as lost:
            if lost.loss == "deadline":
                raise
        return await self.pool.run(work, argument, deadline)

    async def score_chunk(self, chunk: Chunk, deadline: float) -> ChunkResult:
        """The chunk scored, whatever becomes of the worker that has it.

        When a worker dies, each row is tried once more, alone, so that one row which kills
        workers (by taking all memory, say) costs no other row its score.
        """
        try:
            done = await self.pool.run(jobs.score_chunk, chunk, deadline)
        except WorkerLost as lost:
            if lost.loss == "deadline":
                done = jobs.abstain_all(chunk, "deadline", LATE)
            else:
                alone = [await self._score_alone(one, deadline) for one in chunk.alone()]
                done = jobs.join_results(alone)
        self.metrics.count_rows(done)
        return done

    async def _score_alone(self, chunk: Chunk, deadline: float) -> ChunkResult:
        try:
            return await self.pool.run(jobs.score_chunk, chunk, deadline)
        except WorkerLost as lost:
            reasons = {"deadline": ("deadline", LATE), "died": ("grader_error", DIED)}
            return jobs.abstain_all(chunk, *reasons[lost.loss])


def _chunks(
    scorers: tuple[ScorerSpec, ...],
    columns: dict[str, str],
    numbered: Iterator[tuple[int, Any]],
    size: int,
) -> Iterator[Chunk]:
    while items := list(islice(numbered, size)):
        yield Chunk(scorers, columns, "row", items)


async def _cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """No task is left behind; what had begun in a worker ends there, unheard."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
