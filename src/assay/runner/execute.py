"""Many episodes at a time, each of them in the ledger before the next one begins."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias
from urllib.parse import urlsplit

from assay.agents.models.connections import shared_connections
from assay.agents.protocol import Agent
from assay.errors import AssayError, BudgetSpent, RunStopped
from assay.ledger.run import Run
from assay.ledger.summary import reward_of
from assay.ledger.writer import RunWriter
from assay.resources.pool import PoolLimits, Pools
from assay.resources.spec import ResourceSpec
from assay.runner.agents import RECORDINGS, AgentChoice
from assay.runner.budget import Spending
from assay.runner.pacing import Pacing
from assay.runner.plan import Plan, PlannedAttempt
from assay.runner.recorder import LedgerSink, RunResources
from assay.runner.retries import tracker_for
from assay.runner.rollout import rollout
from assay.runner.services import fill_base_url, running_service
from assay.schema.episode import Episode

PlayAttempt: TypeAlias = Callable[[PlannedAttempt, Callable[[], None]], Awaitable[Episode]]
"""Plays one attempt to its end; the episode is not in the ledger yet.

It calls its second argument once the agent has shown that it can work: its model has replied, or,
where the agent names none, it has acted."""


class Executor(Protocol):
    """Opens a place where episodes are played, `workers` at a time."""

    def __call__(
        self, plan: Plan, writer: RunWriter, workers: int, notes: Mapping[str, Any]
    ) -> AbstractAsyncContextManager[PlayAttempt]: ...


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A run as it stands after one more attempt."""

    done: int
    """Episodes that need no further attempt."""
    total: int
    mean: float | None
    """Of the primary score, so far and in this process."""
    errors: int
    """Attempts that a failure of the agent, its model or the environment ended."""
    elapsed_s: float
    left_s: float | None
    """At the rate so far; `None` before the first one is done."""


def no_progress(progress: RunProgress) -> None:
    """Report nothing."""


class ProgressCounter:
    """Counts attempts as they finish."""

    def __init__(
        self, total: int, done: int = 0, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._total = total
        self._done_before = self._done = done
        self._scored = 0
        self._sum = 0.0
        self._errors = 0
        self._clock = clock
        self._start = clock()

    def add(self, episode: Episode, *, settled: bool) -> RunProgress:
        """The state after this attempt; an attempt that will be repeated is not `settled`."""
        self._done += settled
        self._errors += episode.failure is not None
        reward = reward_of(episode)
        if reward is not None:
            self._scored += 1
            self._sum += reward
        return self.now()

    def now(self) -> RunProgress:
        elapsed_s = self._clock() - self._start
        finished = self._done - self._done_before
        left_s = elapsed_s / finished * (self._total - self._done) if finished else None
        mean = self._sum / self._scored if self._scored else None
        return RunProgress(self._done, self._total, mean, self._errors, elapsed_s, left_s)


@asynccontextmanager
async def local_executor(
    plan: Plan, writer: RunWriter, workers: int, notes: Mapping[str, Any]
) -> AsyncIterator[PlayAttempt]:
    """Episodes are played in this process, by coroutines that share environments and services."""
    async with open_run_resources(plan, writer, workers, notes) as resources:

        async def play_attempt(
            planned_attempt: PlannedAttempt, on_work: Callable[[], None]
        ) -> Episode:
            attempt = writer.new_attempt(planned_attempt.task, planned_attempt.repeat)
            return await rollout(attempt, planned_attempt, resources, on_work)

        yield play_attempt


async def execute(
    plan: Plan,
    writer: RunWriter,
    *,
    workers: int,
    executor: Executor = local_executor,
    on_progress: Callable[[RunProgress], None] = no_progress,
    notes: Mapping[str, Any] | None = None,
    retry_errors: Collection[str] = (),
    stop_after_errors: int | None = None,
) -> None:
    """Every episode of the plan that this run still lacks is in the ledger.

    `notes` are written with each of them. An episode whose last attempt ended in one of
    `retry_errors` is lacking too. Raises `MissingExtra` when the machine lacks what the
    environment or the agent needs, `RunStopped` when the first attempts all failed alike:
    `stop_after_errors` of them, or as many as the plan says; 0 for never; and `BudgetSpent` when
    the plan's budget has no room for the next attempt.
    """
    run = Run(writer.path)
    retries = tracker_for(plan, run, retry_errors)
    queue = deque(attempt for attempt in plan.attempts() if not retries.refusal(attempt.key))
    total = len(plan.tasks) * plan.repeats
    counter = ProgressCounter(total, total - len(queue))
    on_progress(counter.now())
    if not queue:
        return
    limit = plan.benchmark.limits.stop_after_errors
    limit = limit if stop_after_errors is None else stop_after_errors
    # A run of fewer tasks than that has failed too when all of them have.
    spending = Spending(plan.budget, run.episodes())
    pacing = Pacing(
        queue, spending, stop_after_errors=min(limit, total), stop_after_agent_errors=limit
    )

    async def work(play_attempt: PlayAttempt) -> None:
        while (planned_attempt := await pacing.next_attempt()) is not None:
            episode = await play_attempt(planned_attempt, pacing.open)
            await writer.finish(episode)
            refusal = retries.add(episode)
            pacing.add(episode)
            if not refusal:
                pacing.retry(planned_attempt)
            on_progress(counter.add(episode, settled=bool(refusal)))

    workers = min(workers, len(queue))
    async with executor(plan, writer, workers, notes or {}) as play_attempt:
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(work(play_attempt))
        except ExceptionGroup as errors:  # a task group raises nothing else
            raise _first_of_ours(errors) from errors
    if pacing.failure:
        raise RunStopped(_stop_message(pacing, writer.path), path=str(writer.path))
    if pacing.left_by_budget:
        message = spending.stop_message(pacing.left_by_budget, writer.path)
        raise BudgetSpent(message, path=str(writer.path))


def _first_of_ours(errors: ExceptionGroup) -> Exception:
    """The first error in the group that Assay raised on purpose, or the group itself."""
    first: Exception | None = errors.subgroup(AssayError)
    while isinstance(first, ExceptionGroup):
        first = first.exceptions[0]
    return first or errors


def _stop_message(pacing: Pacing, path: Path) -> str:
    whose = "=agent" if pacing.failure_kind == "agent_error" else ""
    return (
        f"stopped early, since the first attempts all failed alike: {pacing.failure[:700]}\n"
        f"Every attempt is kept. When it is mended: assay run --resume {path} "
        f"--retry-errors{whose} (with --stop-after-errors 0 the run goes on whatever fails)"
    )


@asynccontextmanager
async def open_run_resources(
    plan: Plan, writer: LedgerSink, workers: int, notes: Mapping[str, Any]
) -> AsyncIterator[RunResources]:
    """Everything that the episodes share, open while the block lasts and closed afterwards."""
    benchmark = plan.benchmark
    async with running_service(benchmark) as base_url:
        options = fill_base_url(dict(benchmark.environment.options), base_url)
        environment = ResourceSpec(benchmark.environment.name, options, plan.environment_factory())
        pools = Pools(_limits(environment, workers))
        try:
            async with shared_connections(plan.cache), pools:
                yield RunResources(
                    environment=environment,
                    limits=benchmark.limits,
                    scorers=plan.scorers,
                    new_agent=lambda base_url: build_agent(plan.agent, base_url),
                    pools=pools,
                    writer=writer,
                    base_url=base_url,
                    notes=notes,
                    asks_model=plan.agent.asks_model,
                )
        finally:
            await pools.close_shared()


def _limits(environment: ResourceSpec, workers: int) -> dict[str, PoolLimits]:
    """Room for every worker, also in a pool whose own cap is lower."""
    own: PoolLimits = getattr(environment.factory(), "limits", PoolLimits())
    if own.cap >= workers:
        return {}
    return {environment.name: replace(own, cap=workers)}


def build_agent(agent: AgentChoice, base_url: str) -> Agent:
    """A fresh agent; recorded actions that it re-enacts name the service's address of now."""
    recordings = agent.options.get(RECORDINGS)
    if not base_url or not isinstance(recordings, Sequence) or isinstance(recordings, str):
        return agent.build()
    episodes = [
        _with_address(item, base_url) if isinstance(item, Episode) else item for item in recordings
    ]
    return agent.factory(**{**agent.options, RECORDINGS: episodes})


def _with_address(episode: Episode, base_url: str) -> Episode:
    """The episode as it would have been with the service at this address."""
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
