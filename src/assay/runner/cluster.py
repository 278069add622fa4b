"""Scoring and rollouts on Ray; the one module that knows it, and imports it only when called.

Scoring is a Ray task for each piece, rollouts are actors that each hold their own worlds. Ray
decides where they run. A task that is lost with its worker or node is run again by Ray, and leaves
the same bytes; an episode that is lost with its actor is played again by another one, as a new
attempt. Nothing but this process writes to the ledger.
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
from assay.ledger.provenance import utc_now
from assay.ledger.writer import RunWriter
from assay.runner.cluster_luggage import pack, unpack
from assay.runner.cluster_player import Player
from assay.runner.execute import Company, Play
from assay.runner.plan import Assignment, Plan
from assay.schema.episode import Episode, Failure, Step, Trajectory
from assay.schema.score import Abstained

T = TypeVar("T")
R = TypeVar("R")

RETRIES = 5
"""How often a piece is scored again whose worker or node was lost."""
LOSSES = 3
"""How many workers an episode may take down before it is settled as the world's failure."""
STORE_BYTES = 256 * 2**20
"""Ray's shared memory on a laptop; what passes through it are tallies, steps and pictures."""
CLOSE_S = 20.0
KNOCK_S = 10.0
LOST = "lost_attempts"
"""The note of an episode that began before, on workers that were lost."""


@contextmanager
def connect(address: str | None = None, *, workers: int | None = None) -> Iterator[RayTasks]:
    """An engine that works on the cluster at `address`, while the block lasts.

    Without an address it is the cluster of RAY_ADDRESS, or else one that is started on this
    machine and ends with the block. Where this process is connected already, that is used and
    left as it is. `workers` bounds how much runs at a time; without it, the cluster does.
    """
    if workers is not None and workers < 1:
        raise BadParameter(f"workers={workers!r}; at least one is needed")
    with _session(address, workers):
        yield RayTasks(workers)


class RayTasks:
    """An engine whose work is done by Ray tasks; `connect` makes one."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """Every result once, as they are done; a piece whose worker is lost is done again.

        What cannot be done because its worker is lost every time is named by a `ResourceError`,
        after all the rest has been done.
        """
        ray = _ray()
        luggage = ray.put(pack(work, ray.cloudpickle))
        task = ray.remote(num_cpus=1, max_retries=RETRIES)(_work_on)
        owed = iter(items)
        running: dict[Any, T] = {}
        lost: list[tuple[T, Exception]] = []
        try:
            while True:
                # A cluster that lost a node has less room than is taken already.
                for item in islice(owed, max(0, self._room(ray) - len(running))):
                    running[task.remote(luggage, item)] = item
                if not running:
                    break
                for done in _finished(ray, list(running)):
                    item = running.pop(done)
                    try:
                        with _as_raised(ray):
                            result: R = ray.get(done)
                    except _losses(ray) as error:
                        lost.append((item, error))
                    else:
                        yield result
        finally:
            for left in running:
                ray.cancel(left, force=True)
        if lost:
            raise ResourceError(
                f"{len(lost)} of {len(items)} pieces ended their worker {1 + RETRIES} times, "
                f"{lost[0][0]!r:.300} first; all others are kept, and --resume tries these again "
                f"({lost[0][1]!s:.300})"
            )

    def _room(self, ray: Any) -> int:
        """How many tasks may be under way; asked again and again, since clusters grow."""
        if self._workers is not None:
            return self._workers
        return 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))


def _finished(ray: Any, running: list[Any]) -> list[Any]:
    """Every task that is done, once there is one: on a large cluster they come in crowds."""
    ray.wait(running, num_returns=1)
    done: list[Any] = ray.wait(running, num_returns=len(running), timeout=0)[0]
    return done


def _work_on(luggage: bytes, item: Any) -> Any:
    return unpack(luggage)(item)


def on_ray(address: str | None = None) -> Company:
    """Where `execute` has its episodes played by actors, one at a time on each."""

    @asynccontextmanager
    async def company(
        plan: Plan, writer: RunWriter, workers: int, notes: Mapping[str, Any]
    ) -> AsyncIterator[Play]:
        with _session(address, workers):
            # The tasks come one by one, with the assignments.
            luggage = pack((replace(plan, tasks=()), notes), _ray().cloudpickle)
            crew = _Crew(luggage)
            try:
                crew.hire(workers)
                yield partial(_play, crew, plan, writer)
            finally:
                await crew.dismiss()

    return company


async def _play(crew: _Crew, plan: Plan, writer: RunWriter, assignment: Assignment) -> Episode:
    """The episode, from whichever attempt at it was not lost with its worker."""
    lost = 0
    while True:
        player = await crew.free_player()
        attempt = writer.new_attempt(assignment.task, assignment.repeat)
        try:
            with _as_raised(crew.ray):
                episode = await _follow(player, writer, attempt, assignment)
        except crew.losses as error:
            lost += 1
            crew.replace(player)
            if lost < LOSSES:
                continue
            episode = _unplayable(plan, attempt, assignment, str(error))
        else:
            crew.give_back(player)
        if not lost:
            return episode
        return episode.model_copy(update={"metadata": {**episode.metadata, LOST: lost}})


# Ray's handles, references and generators have no types that a type checker could use.
async def _follow(player: Any, writer: RunWriter, attempt: str, assignment: Assignment) -> Episode:
    """The episode; its steps and artifacts are in the ledger as they happen."""
    steps = writer.steps(attempt)
    episode: Episode | None = None
    # To the end of the stream: before that the player has not done with this episode.
    async for reference in player.play.options(num_returns="streaming").remote(attempt, assignment):
        event = await reference
        if isinstance(event, Step):
            steps.write(event)
        elif isinstance(event, bytes):
            writer.artifact(event)
        else:
            episode = event
    assert episode is not None, "a stream that was not broken off ends with the episode"
    return episode


def _unplayable(plan: Plan, attempt: str, assignment: Assignment, error: str) -> Episode:
    message = f"the worker that played it was lost, {LOSSES} times in a row: {error}"[:1_000]
    scores: tuple[Abstained, ...] = tuple(j.abstain("env_error", message) for j in plan.scorers)
    return Episode(
        attempt=attempt,
        task=assignment.task,
        repeat=assignment.repeat,
        trajectory=Trajectory(stop_reason="env_error"),
        scores=scores,
        failure=Failure(kind="env_error", message=message),
        started_at=utc_now(),
    )


class _Crew:
    """The actors of a run: free, at work, or still being hired."""

    def __init__(self, luggage: bytes) -> None:
        self.ray = _ray()
        self._luggage = self.ray.put(luggage)
        self._actor = self.ray.remote(num_cpus=1, max_restarts=0)(Player)
        self._free: asyncio.Queue[Any] = asyncio.Queue()
        self._players: set[Any] = set()
        self._hiring: set[asyncio.Task[None]] = set()
        self.losses = _losses(self.ray)

    def hire(self, many: int) -> None:
        """So many more are on their way."""
        for _ in range(many):
            task = asyncio.create_task(self._hire())
            self._hiring.add(task)
            task.add_done_callback(self._hired)

    async def free_player(self) -> Any:
        """A player with nothing to do; raises what kept one from starting."""
        player = await self._free.get()
        if isinstance(player, BaseException):
            raise player
        return player

    def give_back(self, player: Any) -> None:
        self._free.put_nowait(player)

    def replace(self, player: Any) -> None:
        """The player is gone, and another one on its way."""
        self._players.discard(player)
        self.ray.kill(player)
        self.hire(1)

    async def dismiss(self) -> None:
        """Every player has closed its worlds, or was given time to, and is gone."""
        for task in self._hiring:
            task.cancel()
        await asyncio.gather(*self._hiring, return_exceptions=True)
        await asyncio.gather(*map(self._close, self._players))

    async def _hire(self) -> None:
        for _ in range(LOSSES):
            player = self._actor.remote(self._luggage)
            try:
                with _as_raised(self.ray):
                    await player.open.remote()
                self._players.add(player)
                self._free.put_nowait(player)
                return
            except self.losses as error:
                problem = error
            finally:
                if player not in self._players:
                    self.ray.kill(player)
        raise ResourceError(
            f"no worker could be started, {LOSSES} times in a row: {problem!s:.500}"
        )

    def _hired(self, task: asyncio.Task[None]) -> None:
        self._hiring.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._free.put_nowait(error)

    async def _close(self, player: Any) -> None:
        with suppress(TimeoutError, self.ray.exceptions.RayError):
            async with asyncio.timeout(CLOSE_S):
                await player.close.remote()
        self.ray.kill(player)


@contextmanager
def _session(address: str | None, workers: int | None) -> Iterator[None]:
    ray = _ray()
    where = address or os.environ.get("RAY_ADDRESS") or "local"
    if where.startswith("ray://"):
        raise BadParameter(
            f"address {where!r}: this process has to be on a node of the cluster, where the "
            "results are; start it there, or with `ray job submit`"
        )
    if ray.is_initialized():
        yield
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if where == "local":
        options.update(num_cpus=workers, include_dashboard=False, object_store_memory=STORE_BYTES)
    with _without_usage_reports():
        try:
            _knock(where)
            ray.init(where, **options)
        except (OSError, RuntimeError, ValueError) as error:
            raise ResourceError(f"Ray at {where!r} cannot be used: {error}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _knock(where: str) -> None:
    """Nothing, unless nobody listens at HOST:PORT, which Ray would try for more than a minute."""
    host, colon, port = where.rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=KNOCK_S).close()


@contextmanager
def _without_usage_reports() -> Iterator[None]:
    """A cluster that is started meanwhile reports to nobody, unless its user said otherwise."""
    switch = "RAY_USAGE_STATS_ENABLED"
    said = os.environ.get(switch)
    os.environ.setdefault(switch, "0")
    try:
        yield
    finally:
        if said is None:
            del os.environ[switch]


@contextmanager
def _as_raised(ray: Any) -> Iterator[None]:
    """An error of ours that a worker raised is raised as itself."""
    try:
        yield
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, AssayError):
            raise error.cause from error
        if isinstance(error.cause, OSError):
            raise ResourceError(
                f"a worker failed: {error.cause}; what a job reads and writes has to be where "
                "every worker sees it, under the same path"
            ) from error
        raise


def _losses(ray: Any) -> tuple[type[Exception], ...]:
    """What Ray raises when a process or machine is gone, whoever's fault that is."""
    known = ray.exceptions
    return (
        known.RayActorError,
        known.WorkerCrashedError,
        known.NodeDiedError,
        known.ObjectLostError,
        known.OutOfMemoryError,
    )


def _ray() -> Any:
    try:
        import ray
        import ray.cloudpickle
        import ray.exceptions
    except ImportError as error:
        raise MissingExtra(
            "the engine 'ray' needs Ray; install it with: pip install 'assay[ray]'"
        ) from error
    return ray
