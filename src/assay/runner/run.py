"""Runs a benchmark with one agent: checks it, records it in the ledger and executes it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, Self, TypeAlias, TypeVar

from assay.agents.attempt import AttemptState, attempt_state
from assay.agents.models.connections import shared_connections
from assay.errors import AssayError, BadParameter, BudgetSpent, MissingExtra, RunStopped, cause_of
from assay.ledger.layout import find_run
from assay.ledger.provenance import (
    RepositoryState,
    installed_versions,
    new_run_id,
    repository_state,
    source_of_files,
    state_of_files,
    task_set_hash,
    uncommitted_changes,
    utc_now,
)
from assay.ledger.run import Run
from assay.ledger.writer import RunWriter
from assay.resources.pool import PoolLimits, Pools
from assay.resources.protocol import CheckableEnvironment
from assay.resources.spec import ResourceSpec
from assay.runner.budget import BudgetTracker
from assay.runner.options import RunOptions, takes_options
from assay.runner.pacing import Pacing
from assay.runner.plan import Plan, PlannedAttempt, plan_new
from assay.runner.progress import ProgressCounter, RunProgress, no_progress
from assay.runner.recorder import LedgerSink, RunResources
from assay.runner.resume import plan_resumed, resumption_notes
from assay.runner.retries import read_retry_errors, tracker_for
from assay.runner.rollout import rollout
from assay.runner.services import fill_base_url, running_service
from assay.schema.episode import Episode
from assay.schema.manifest import RunManifest
from assay.schema.secrets import secret_values

T = TypeVar("T")
PlayAttempt: TypeAlias = Callable[[PlannedAttempt, Callable[[], None]], Awaitable[Episode]]
"""Plays one attempt to its end; the episode is not in the ledger yet.

It calls its second argument once the agent has shown that it can work: its model has replied, or,
where the agent names none, it has acted."""
PACKAGES = ("playwright", "scienceworld", "miniwob", "pydantic", "rapidfuzz", "httpx")
"""Their versions can change what an agent sees or what a reward says."""
ANY_ADDRESS = "http://127.0.0.1"
"""Stands for the address of a service that does not run yet."""


@takes_options(RunOptions)
def run(options: RunOptions) -> Run:
    """Run an agent on a benchmark or on tasks, and return the run in the folder `runs_dir`.

    Tasks, agent, environment and rewards are names or values: `assay.run(tasks=[…], agent=answer,
    rewards=["qa_f1_reward"])` needs no benchmark. Raises `RunStopped` when the first attempts all
    failed alike, and `BudgetSpent`, which is one, when the budget has no room for the next attempt.
    """
    with start(options) as started:
        return complete(started.execute(options.progress))


@takes_options(RunOptions)
async def run_async(options: RunOptions) -> Run:
    """Run a benchmark as `run` does, but in the event loop of the caller.

    So an agent may use what belongs to that loop, such as a client that is open already.
    Cancelling it leaves a run that can be resumed.
    """
    with await asyncio.to_thread(start, options) as started:
        return await started.execute(options.progress)


def start(options: RunOptions) -> StartedRun:
    """Return a new or resumed run that is written to disk but not executed yet.

    Errors that would end every episode are raised before anything is written.
    """
    executor = _executor_of(options)
    if read_retry_errors(options.retry_errors) and options.resume is None:
        raise BadParameter("`retry_errors` works only with `resume`; say which run to resume")
    folder = Path(options.runs_dir)
    earlier = None if options.resume is None else Run(find_run(options.resume, folder))
    plan = plan_new(options) if earlier is None else plan_resumed(options, earlier.manifest)
    code = repository_state(options.repository, exclude=[folder])
    if not (code.commit or code.dirty):
        code = state_of_files(plan.agent.files)
    # Raises what the agent raises for its options: better now than in every episode.
    complete(_check_agent(plan))
    secrets = secret_values(plan.agent.to_record())
    notes: Mapping[str, Any] = {}
    if earlier is not None:
        notes = resumption_notes(plan, earlier.manifest, code)
        writer = RunWriter.open(earlier.path, secrets=secrets)
    else:
        if options.engine == "local":
            complete(_check_environment(plan))
        manifest = _manifest(plan, code, options.focus or "")
        writer = RunWriter.create(folder, manifest, secrets=secrets)
        if options.keep_diff and code.dirty:
            in_git = uncommitted_changes(options.repository, exclude=[folder])
            writer.keep_agent_diff(in_git or source_of_files(plan.agent.files))
    return StartedRun(
        plan=plan,
        run=earlier or Run(writer.path),
        writer=writer,
        executor=executor,
        options=options,
        notes=notes,
    )


def _executor_of(options: RunOptions) -> Executor:
    if options.engine == "ray":
        from assay.runner.cluster import ray_executor

        return ray_executor(options.address)
    if options.engine != "local":
        raise BadParameter(f"engine={options.engine!r}; choose 'local' or 'ray'")
    if options.address is not None:
        raise BadParameter(
            f"address {options.address!r} is for a Ray cluster; set the engine to 'ray', too"
        )
    return local_executor


@contextmanager
def _refusal_of(what: str, options: Mapping[str, Any]) -> Iterator[None]:
    """Raise BadParameter or MissingExtra if `what` cannot be made with its options."""
    try:
        yield
    except AssayError:
        raise
    except ModuleNotFoundError as error:
        raise MissingExtra.of(what, str(error.name)) from error
    except Exception as error:  # whatever the code of a user raises
        # Their names alone: a value may be a key.
        names = f"the options {', '.join(options)}" if options else "its defaults"
        raise BadParameter(f"{what} cannot be made with {names}: {cause_of(error)}") from error


async def _check_agent(plan: Plan) -> None:
    """Raise an error if the agent refuses its options or the tasks."""
    agent = plan.agent
    with _refusal_of(f"agent {agent.name!r}", agent.options):
        built = agent.build()
    try:
        if isinstance(built, CheckableEnvironment):
            with attempt_state(AttemptState(seed=plan.seed)):
                await built.check_run(plan.tasks)
    finally:
        await built.close()


async def _check_environment(plan: Plan) -> None:
    """Raise an error if the environment refuses its options or the tasks."""
    chosen = plan.benchmark.environment
    name, options = chosen.name, dict(chosen.options)
    make = plan.environment_factory()
    build = ResourceSpec(name, fill_base_url(options, ANY_ADDRESS), make).builder()
    with _refusal_of(f"environment {name!r}", options):
        environment = build()
    try:
        if isinstance(environment, CheckableEnvironment):
            await environment.check_run(fill_base_url(plan.tasks, ANY_ADDRESS))
    finally:
        await environment.close()


def _manifest(plan: Plan, code: RepositoryState, focus: str) -> RunManifest:
    return RunManifest(
        run_id=new_run_id(),
        benchmark=plan.benchmark.name,
        agent=plan.agent.name,
        config=plan.config(),
        versions=installed_versions(PACKAGES),
        rewards=tuple(scorer.spec.id for scorer in plan.scorers),
        task_set=task_set_hash(plan.tasks),
        n_tasks=len(plan.tasks),
        repeats=plan.repeats,
        commit=code.commit,
        dirty=code.dirty,
        focus=focus,
        created_at=utc_now(),
    )


def complete(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine, also inside a running event loop, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


class Executor(Protocol):
    """The protocol of executors, which play `workers` episodes at a time."""

    def __call__(
        self, plan: Plan, writer: RunWriter, workers: int, notes: Mapping[str, Any]
    ) -> AbstractAsyncContextManager[PlayAttempt]: ...


@asynccontextmanager
async def local_executor(
    plan: Plan, writer: RunWriter, workers: int, notes: Mapping[str, Any]
) -> AsyncIterator[PlayAttempt]:
    """Play episodes in this process, in coroutines that share environments and services."""
    async with open_run_resources(plan, writer, workers, notes) as resources:

        async def play_attempt(
            planned_attempt: PlannedAttempt, on_work: Callable[[], None]
        ) -> Episode:
            attempt = writer.new_attempt(planned_attempt.task, planned_attempt.repeat)
            return await rollout(attempt, planned_attempt, resources, on_work)

        yield play_attempt


@dataclass(frozen=True, slots=True)
class StartedRun:
    """A run with its plan and its open ledger, ready to be executed."""

    plan: Plan
    run: Run
    writer: RunWriter
    executor: Executor
    options: RunOptions
    notes: Mapping[str, Any]
    """What every episode from now on has in its metadata."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.writer.close()

    async def execute(self, on_progress: Callable[[RunProgress], None] = no_progress) -> Run:
        """Play the missing episodes of the plan, and return the run."""
        plan, writer = self.plan, self.writer
        retries = tracker_for(plan, self.run, read_retry_errors(self.options.retry_errors))
        queue = deque(attempt for attempt in plan.attempts() if not retries.refusal(attempt.key))
        total = len(plan.tasks) * plan.repeats
        counter = ProgressCounter(total, total - len(queue))
        on_progress(counter.now())
        if not queue:
            return self.run
        limit = self.options.stop_after_errors
        if limit is None:
            limit = plan.benchmark.limits.stop_after_errors
        spending = BudgetTracker(plan.budget, self.run.episodes())
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

        workers = min(self.options.workers, len(queue))
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
    """Return the first error of Assay in the group, or the group itself."""
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
    """Open the resources that all episodes share, and close them after the block."""
    benchmark = plan.benchmark
    async with running_service(benchmark) as base_url:
        options = fill_base_url(dict(benchmark.environment.options), base_url)
        environment = ResourceSpec(benchmark.environment.name, options, plan.environment_factory())
        own: PoolLimits = getattr(environment.factory(), "limits", PoolLimits())
        # Room for every worker, also in a pool whose own cap is lower.
        more = {} if own.cap >= workers else {environment.name: replace(own, cap=workers)}
        pools = Pools(more)
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
