"""Many episodes at a time, each of them on the disk before the next one begins."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol, TypeAlias
from urllib.parse import urlsplit

from assay.agents.protocol import Agent
from assay.errors import AssayError
from assay.ledger.run import Run
from assay.ledger.writer import RunWriter
from assay.resources.browser import close_shared_browsers
from assay.resources.pool import PoolLimits
from assay.resources.pools import Pools
from assay.resources.spec import ResourceSpec
from assay.runner.agents import RECORDINGS, AgentChoice
from assay.runner.plan import Assignment, Plan
from assay.runner.progress import Progress, Tally, silence
from assay.runner.rollout import rollout
from assay.runner.services import addressed, running_service
from assay.runner.story import Recorder, Stage
from assay.schema.episode import Episode

Play: TypeAlias = Callable[[Assignment], Awaitable[Episode]]
"""One attempt, played to its end and not yet in the ledger."""


class Company(Protocol):
    """Opens a place where episodes are played, so many at a time."""

    def __call__(
        self, plan: Plan, writer: RunWriter, workers: int, notes: Mapping[str, Any]
    ) -> AbstractAsyncContextManager[Play]: ...


@asynccontextmanager
async def in_this_process(
    plan: Plan, writer: RunWriter, workers: int, notes: Mapping[str, Any]
) -> AsyncIterator[Play]:
    """Episodes are played here, by coroutines that share worlds and services."""
    async with open_stage(plan, writer, workers, notes) as stage:

        async def play(assignment: Assignment) -> Episode:
            attempt = writer.new_attempt(assignment.task, assignment.repeat)
            return await rollout(attempt, assignment, stage)

        yield play


async def execute(
    plan: Plan,
    writer: RunWriter,
    *,
    workers: int,
    company: Company = in_this_process,
    tell: Callable[[Progress], None] = silence,
    notes: Mapping[str, Any] | None = None,
) -> None:
    """Every episode that the plan still owes this run is in the ledger.

    `notes` are kept with each of them. Raises `MissingExtra` when the machine lacks what the
    world or the agent needs.
    """
    owed, failures = _owed(plan, Run(writer.path))
    total = len(plan.tasks) * plan.repeats
    tally = Tally(total, total - len(owed))
    tell(tally.now())
    if not owed:
        return
    queue = deque(owed)

    async def work(play: Play) -> None:
        while queue:
            assignment = queue.popleft()
            episode = await play(assignment)
            await writer.finish(episode)
            failed = episode.stop_reason == "env_error"
            failures[assignment.key] += failed
            again = failed and failures[assignment.key] < plan.benchmark.limits.attempts
            if again:
                # At the end of the queue: what made the world fail may have passed by then.
                queue.append(assignment)
            tell(tally.add(episode, settled=not again))

    many = min(workers, len(owed))
    async with company(plan, writer, many, notes or {}) as play:
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(many):
                    group.create_task(work(play))
        except ExceptionGroup as group:
            known = group.subgroup(AssayError)
            if known is None:
                raise
            raise next(_leaves(known)) from group


def _owed(plan: Plan, run: Run) -> tuple[list[Assignment], Counter[tuple[str, int]]]:
    """What has no attempt that counts, and how often the world failed each so far."""
    failures: Counter[tuple[str, int]] = Counter()
    settled: set[tuple[str, int]] = set()
    for episode in run.episodes():
        key = (episode.task.id, episode.repeat)
        if episode.stop_reason == "env_error":
            failures[key] += 1
        else:
            settled.add(key)
    most = plan.benchmark.limits.attempts
    owed = [
        assignment
        for assignment in plan.assignments()
        if assignment.key not in settled and failures[assignment.key] < most
    ]
    return owed, failures


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """The errors in a group of groups."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


@asynccontextmanager
async def open_stage(
    plan: Plan, writer: Recorder, workers: int, notes: Mapping[str, Any]
) -> AsyncIterator[Stage]:
    """The stage, with everything that the episodes share open; all of it is closed afterwards."""
    benchmark = plan.benchmark
    async with running_service(benchmark) as base_url:
        options = addressed(dict(benchmark.environment.options), base_url)
        world = ResourceSpec(benchmark.environment.name, options)
        try:
            async with Pools(_limits(world, workers)) as pools:
                yield Stage(
                    world=world,
                    limits=benchmark.limits,
                    scorers=plan.scorers,
                    new_agent=lambda base_url: build_agent(plan.agent, base_url),
                    pools=pools,
                    writer=writer,
                    base_url=base_url,
                    notes=notes,
                )
        finally:
            await close_shared_browsers()


def _limits(world: ResourceSpec, workers: int) -> dict[str, PoolLimits]:
    """Room for every worker, also in a pool whose own cap is lower."""
    own: PoolLimits = getattr(world.factory(), "limits", PoolLimits())
    if own.cap >= workers:
        return {}
    return {world.name: PoolLimits(workers, own.warm, own.idle_limit_s, own.acquire_timeout_s)}


def build_agent(agent: AgentChoice, base_url: str) -> Agent:
    """A fresh agent; recorded actions that it re-enacts speak of the service's address of now."""
    recorded = agent.options.get(RECORDINGS)
    if not base_url or not isinstance(recorded, Sequence) or isinstance(recorded, str):
        return agent.build()
    moved = [_moved(item, base_url) if isinstance(item, Episode) else item for item in recorded]
    options = {**agent.options, RECORDINGS: moved}
    return AgentChoice(agent.name, agent.factory, options).build()


def _moved(episode: Episode, base_url: str) -> Episode:
    """The episode as it would have been with the service where it is now."""
    then = urlsplit(str(episode.metadata.get("base_url", ""))).netloc
    if not then:
        return episode
    now = urlsplit(base_url).netloc
    steps = tuple(
        step.model_copy(update={"action": step.action.replace(then, now)})
        for step in episode.trajectory.steps
    )
    trajectory = episode.trajectory.model_copy(update={"steps": steps})
    return episode.model_copy(update={"trajectory": trajectory})
