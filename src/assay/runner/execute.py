"""Many episodes at a time, each of them in the ledger before the next one begins."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, Self, TypeAlias

from assay.agents.models.connections import shared_connections
from assay.errors import AssayError, BudgetSpent, RunStopped
from assay.ledger.run import Run
from assay.ledger.writer import RunWriter
from assay.resources.pool import PoolLimits, Pools
from assay.resources.spec import ResourceSpec
from assay.runner.budget import Spending
from assay.runner.pacing import Pacing
from assay.runner.plan import Plan, PlannedAttempt
from assay.runner.progress import ProgressCounter, RunProgress, no_progress
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


@dataclass(frozen=True, slots=True)
class StartedRun:
    """A run with its plan and its open ledger, not executed yet or only in part."""

    plan: Plan
    run: Run
    writer: RunWriter
    executor: Executor
    workers: int
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What every episode from now on has in its metadata."""
    retry_errors: Collection[str] = ()
    """The stop reasons whose episodes are run again."""
    stop_after_errors: int | None = None
    """So many first attempts that all fail alike end the run; 0 for never, `None` for the plan's
    own number."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.writer.close()

    async def execute(self, on_progress: Callable[[RunProgress], None] = no_progress) -> Run:
        """The run, when every episode of its plan that it lacked is in the ledger.

        Raises `MissingExtra` when the machine lacks what the environment or the agent needs,
        `RunStopped` when the first attempts all failed alike, and `BudgetSpent` when the plan's
        budget has no room for the next attempt.
        """
        plan, writer = self.plan, self.writer
        retries = tracker_for(plan, self.run, self.retry_errors)
        queue = deque(attempt for attempt in plan.attempts() if not retries.refusal(attempt.key))
        total = len(plan.tasks) * plan.repeats
        counter = ProgressCounter(total, total - len(queue))
        on_progress(counter.now())
        if not queue:
            return self.run
        limit = self.stop_after_errors
        if limit is None:
            limit = plan.benchmark.limits.stop_after_errors
        spending = Spending(plan.budget, self.run.episodes())
        # A run of fewer tasks than that has failed too when all of them have.
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

        workers = min(self.workers, len(queue))
        async with self.executor(plan, writer, workers, self.notes) as play_attempt:
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
        return self.run


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
                    new_agent=plan.agent.build,
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
