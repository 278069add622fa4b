"""Scoring and rollouts on a Ray cluster.

Scoring is a Ray task for each shard; rollouts are actors with environments of their own. Ray runs a
lost task again; a lost episode is played again as a new attempt. Only this process writes to the
ledger.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from assay.errors import AssayError, BadParameter, MissingExtra, ResourceError
from assay.isolation.processes import guarded_work
from assay.ledger.provenance import utc_now
from assay.ledger.writer import RunWriter
from assay.runner.cluster_actor import WORKS, RolloutActor, pack, unpack
from assay.runner.plan import Plan, PlannedAttempt
from assay.runner.retries import SHARD_RETRIES, WORKER_LOSSES, AttemptRetryPolicy
from assay.runner.run import Executor, PlayAttempt
from assay.schema.episode import Episode, Failure, Step, Trajectory
from assay.schema.score import Abstained

T = TypeVar("T")
R = TypeVar("R")

STORE_BYTES = 256 * 2**20
"""Ray's shared memory on a laptop; what passes through it are counts, steps and pictures."""
CLOSE_S = 20.0
CONNECT_S = 10.0
LOST = "lost_attempts"
"""The note of an episode that began before, on workers that were lost."""


@contextmanager
def connect(address: str | None = None, *, workers: int | None = None) -> Iterator[RayEngine]:
    """Connect to the Ray cluster at `address`, and yield an engine that uses the cluster.

    Without an address it is the cluster of RAY_ADDRESS, or else one that is started on this
    machine and ends with the block. Where this process is connected already, that is used and
    left as it is. `workers` bounds how much runs at a time; without it, the cluster does.
    """
    if workers is not None and workers < 1:
        raise BadParameter(f"workers is {workers!r}; it must be at least 1")
    with _session(address, workers):
        yield RayEngine(workers)


class RayEngine:
    """An engine that does its work in Ray tasks; `connect` makes it."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers

    def _capacity(self, ray: Any) -> int:
        """Return the number of tasks to run at a time; a cluster may grow."""
        cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
        return 2 * cores if self._workers is None else self._workers

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """Yield each result when it is ready; an item of a lost worker is done again.

        Raises a `ResourceError` at the end for items whose worker was lost every time.
        """
        ray = _ray()
        payload = ray.put(pack(work, ray.cloudpickle))
        task = ray.remote(num_cpus=1, max_retries=SHARD_RETRIES)(_call_payload)
        remaining = iter(items)
        running: dict[Any, T] = {}
        failures: list[tuple[T, Exception]] = []
        try:
            while True:
                # A cluster that lost a node has less room than is taken already.
                for item in islice(remaining, max(0, self._capacity(ray) - len(running))):
                    running[task.remote(payload, item)] = item
                if not running:
                    break
                # Every task that is done, once there is one: on a large cluster many end at once.
                ray.wait(list(running), num_returns=1)
                for done in ray.wait(list(running), num_returns=len(running), timeout=0)[0]:
                    item = running.pop(done)
                    try:
                        with _as_raised(ray):
                            result: R = ray.get(done)
                    except _worker_losses(ray) as error:
                        failures.append((item, error))
                    else:
                        yield result
        finally:
            for unfinished in running:
                ray.cancel(unfinished, force=True)
        if failures:
            first, problem = failures[0]
            raise ResourceError(
                f"{len(failures)} of {len(items)} shards failed because their worker was lost "
                f"{1 + SHARD_RETRIES} times; the first is {first!r:.300}. The results of other "
                f"shards are kept; --resume tries the failed shards again ({problem!s:.300})"
            )


def _call_payload(payload: bytes, item: Any) -> Any:
    work = unpack(payload)
    with guarded_work():
        return work(item)


def ray_executor(address: str | None = None) -> Executor:
    """Return an executor that plays episodes in Ray actors, one episode at a time in each."""
    _ray()

    @asynccontextmanager
    async def executor(
        plan: Plan, writer: RunWriter, workers: int, notes: Mapping[str, Any]
    ) -> AsyncIterator[PlayAttempt]:
        with _session(address, workers):
            # The tasks come one by one, with the planned attempts.
            payload = pack((replace(plan, tasks=()), notes), _ray().cloudpickle)
            actors = ActorPool(payload)
            try:
                actors.start(workers)
                yield partial(_play_attempt, actors, plan, writer)
            finally:
                await actors.stop()

    return executor


async def _play_attempt(
    actors: ActorPool,
    plan: Plan,
    writer: RunWriter,
    planned_attempt: PlannedAttempt,
    on_work: Callable[[], None],
) -> Episode:
    """Play an episode, and play it again if its worker is lost."""
    policy = AttemptRetryPolicy.of(plan)
    losses = 0
    while True:
        actor = await actors.take()
        attempt = writer.new_attempt(planned_attempt.task, planned_attempt.repeat)
        try:
            with _as_raised(actors.ray):
                episode = await _record_events(actor, writer, attempt, planned_attempt, on_work)
        except actors.losses as error:
            losses += 1
            actors.replace(actor)
            refusal = policy.refusal(None, losses)
            if not refusal:
                continue
            episode = _unplayable(plan, attempt, planned_attempt, f"{refusal}: {error}")
        else:
            actors.give_back(actor)
        if not losses:
            return episode
        return episode.model_copy(update={"metadata": {**episode.metadata, LOST: losses}})


# Ray's handles, references and generators have no types that a type checker could use.
async def _record_events(
    actor: Any,
    writer: RunWriter,
    attempt: str,
    planned_attempt: PlannedAttempt,
    on_work: Callable[[], None],
) -> Episode:
    """Play an episode on an actor, and write its steps to the ledger as they happen."""
    steps = writer.steps(attempt)
    episode: Episode | None = None
    events = actor.play.options(num_returns="streaming").remote(attempt, planned_attempt)
    # To the end of the stream: before that the actor has not done with this episode.
    async for reference in events:
        event = await reference
        if isinstance(event, Step):
            steps.write(event)
        elif isinstance(event, bytes):
            writer.artifact(event)
        elif event == WORKS:
            on_work()
        else:
            episode = event
    assert episode is not None, "a stream that was not broken off ends with the episode"
    return episode


def _unplayable(plan: Plan, attempt: str, planned_attempt: PlannedAttempt, problem: str) -> Episode:
    message = problem[:1_000]
    scores: tuple[Abstained, ...] = tuple(
        scorer.abstain("env_error", message) for scorer in plan.scorers
    )
    return Episode(
        attempt=attempt,
        task=planned_attempt.task,
        repeat=planned_attempt.repeat,
        trajectory=Trajectory(stop_reason="env_error"),
        scores=scores,
        failure=Failure(kind="env_error", message=message),
        started_at=utc_now(),
    )


class ActorPool:
    """The Ray actors of a run: free, at work, or starting."""

    def __init__(self, payload: bytes) -> None:
        self.ray = _ray()
        self.losses = _worker_losses(self.ray)
        self._payload = self.ray.put(payload)
        self._actor_class = self.ray.remote(num_cpus=1, max_restarts=0)(RolloutActor)
        self._free: asyncio.Queue[Any] = asyncio.Queue()
        self._actors: set[Any] = set()
        self._starting: set[asyncio.Task[None]] = set()

    def start(self, count: int) -> None:
        """Start so many further actors in the background."""
        for _ in range(count):
            task = asyncio.create_task(self._start_one())
            self._starting.add(task)
            task.add_done_callback(self._forget_start)

    async def take(self) -> Any:
        """Wait for a free actor; raise the error of an actor that could not start."""
        actor = await self._free.get()
        if isinstance(actor, BaseException):
            raise actor
        return actor

    def give_back(self, actor: Any) -> None:
        self._free.put_nowait(actor)

    def replace(self, actor: Any) -> None:
        """Remove a lost actor, and start another in its place."""
        self._actors.discard(actor)
        self.ray.kill(actor)
        self.start(1)

    async def stop(self) -> None:
        """Stop all actors, after each had time to close its environments."""
        for task in self._starting:
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        await asyncio.gather(*map(self._stop_one, self._actors))

    async def _start_one(self) -> None:
        for _ in range(WORKER_LOSSES):
            actor = self._actor_class.remote(self._payload)
            try:
                with _as_raised(self.ray):
                    await actor.open.remote()
                self._actors.add(actor)
                self._free.put_nowait(actor)
                return
            except self.losses as error:
                problem = error
            finally:
                if actor not in self._actors:
                    self.ray.kill(actor)
        raise ResourceError(
            f"no worker could be started in {WORKER_LOSSES} attempts: {problem!s:.500}"
        )

    def _forget_start(self, task: asyncio.Task[None]) -> None:
        self._starting.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._free.put_nowait(error)

    async def _stop_one(self, actor: Any) -> None:
        with suppress(TimeoutError, self.ray.exceptions.RayError):
            async with asyncio.timeout(CLOSE_S):
                await actor.close.remote()
        self.ray.kill(actor)


@contextmanager
def _session(address: str | None, workers: int | None) -> Iterator[None]:
    ray = _ray()
    where = address or os.environ.get("RAY_ADDRESS") or "local"
    if where.startswith("ray://"):
        raise BadParameter(
            f"address {where!r}: this process must run on a node of the cluster, where the "
            "results are stored; start it there, or with `ray job submit`"
        )
    if ray.is_initialized():
        yield
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if where == "local":
        options.update(num_cpus=workers, include_dashboard=False, object_store_memory=STORE_BYTES)
    with _without_usage_reports():
        try:
            _check_reachable(where)
            ray.init(where, **options)
        except (OSError, RuntimeError, ValueError) as error:
            raise ResourceError(f"Ray at {where!r} cannot be used: {error}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _check_reachable(where: str) -> None:
    """Raise OSError at once if nothing listens at HOST:PORT."""
    host, colon, port = where.rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_S).close()


@contextmanager
def _without_usage_reports() -> Iterator[None]:
    """Disable Ray's usage reports within the block, unless the user has set them."""
    switch = "RAY_USAGE_STATS_ENABLED"
    setting = os.environ.get(switch)
    os.environ.setdefault(switch, "0")
    try:
        yield
    finally:
        if setting is None:
            del os.environ[switch]


@contextmanager
def _as_raised(ray: Any) -> Iterator[None]:
    """Raise an error of Assay that a worker raised, instead of Ray's error around it."""
    try:
        yield
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, AssayError):
            raise error.cause from error
        if isinstance(error.cause, OSError):
            raise ResourceError(
                f"a worker failed: {error.cause}; the files of a job must be in a place that "
                "every worker can reach under the same path"
            ) from error
        raise


def _worker_losses(ray: Any) -> tuple[type[Exception], ...]:
    """Return the types of errors that Ray raises when a worker is lost."""
    errors = ray.exceptions
    return (
        errors.RayActorError,
        errors.WorkerCrashedError,
        errors.NodeDiedError,
        errors.ObjectLostError,
        errors.OutOfMemoryError,
    )


def _ray() -> Any:
    try:
        import ray
        import ray.cloudpickle
        import ray.exceptions
    except ImportError as error:
        raise MissingExtra.of("the engine 'ray'", "ray") from error
    return ray
