"""A benchmark, run once by one agent: planned, executed, and recorded in the ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Self

from assay.agents.attempt import AttemptState, attempt_state
from assay.agents.models.protocol import Model
from assay.agents.protocol import Agent
from assay.errors import AssayError, BadParameter, MissingExtra, cause_of
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
from assay.resources.protocol import Checkable
from assay.resources.spec import ResourceSpec
from assay.runner.agents import AgentChoice, with_recordings, with_run_id
from assay.runner.execute import Executor, RunProgress, execute, local_executor, no_progress
from assay.runner.plan import Plan, RunRequest, plan_new, plan_resumed, relocation
from assay.runner.retries import read_retry_errors
from assay.runner.services import fill_base_url
from assay.runner.values import RewardLike, TaskLike
from assay.schema.manifest import RunManifest
from assay.schema.secrets import secret_values
from assay.scoring.engine import EngineName

RUNS_DIR = "runs"
PACKAGES = ("playwright", "scienceworld", "miniwob", "pydantic", "rapidfuzz", "httpx")
"""Their versions can change what an agent sees or what a reward says."""
RUNNING = (
    "workers", "engine", "address", "resume", "retry_errors", "stop_after_errors", "cache",
    "runs_dir", "repository", "keep_diff", "progress",
)  # fmt: skip
"""Arguments of a run that say how and where it is run, not what."""
ANY_ADDRESS = "http://127.0.0.1"
"""Stands for the address of a service that does not run yet."""


def run(
    benchmark: str | Path | None = None,
    *,
    agent: str | Agent | Callable[..., Any] | None = None,
    model: str | Model | None = None,
    environment: Any = None,
    rewards: Sequence[RewardLike] | None = None,
    columns: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
    tasks: str | Iterable[TaskLike] | None = None,
    repeats: int | None = None,
    seed: int | None = None,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    prices: str | Path | None = None,
    cache: str | Path | None = None,
    workers: int = 2,
    engine: EngineName = "local",
    address: str | None = None,
    focus: str | None = None,
    expect: Mapping[str, Sequence[str]] | None = None,
    resume: str | Path | None = None,
    retry_errors: str | Sequence[str] | bool = False,
    stop_after_errors: int | None = None,
    runs_dir: str | Path = RUNS_DIR,
    repository: str | Path = ".",
    keep_diff: bool = True,
    progress: Callable[[RunProgress], None] = no_progress,
) -> Run:
    """The finished run, every attempt of which is in `runs_dir`.

    `benchmark` is a name, a TOML file or a file of questions. Everything else is a name or a
    value: `agent` is a registered name, an address (`mine.py:answer`), a function, a class or an
    agent; `model` what it asks (`openai:NAME`), and without an agent what the questions go to;
    `environment` a name, a mapping of a name and options, a class or an instance; `rewards` names,
    functions or scorers, the first one primary. `tasks` selects tasks of the benchmark by id,
    pattern or flag; a list of them (`Task`s, mappings such as `{"question": …, "answer": …}`, or
    questions) takes their place, and needs no benchmark: they are then a conversation each.
    `columns` says where else a file or mapping has `id`, `question` or `answer`.

    `settings` are the agent's options; with the name of a section before them (`limits.steps`,
    `tasks.seed`) those of the benchmark. `focus` says what the run is meant to show, and `expect`
    which tasks' rewards will go `up` or `down`: both are recorded before anything runs.
    `repository` is the agent's, whose commit the manifest names; what is not committed there is
    kept with the run, bounded and without secrets, unless `keep_diff` is false. Outside a
    repository the agent's own file is kept so.

    `seed` is what the seed of each attempt is derived from, for agents that take one. `max_cost`
    (in dollars) and `max_tokens` are for all attempts together; those of one attempt are the
    settings `limits.cost_usd` and `limits.tokens`. `prices` is a file that says what models cost.
    Replies of hosted models are kept in the folder `cache`, and taken from there at no cost.

    With `engine="ray"` the episodes are played by so many actors of a Ray cluster: the one at
    `address`, or one that is started on this machine.

    With `resume`, exactly what that run still lacks is run. Other arguments have to be what
    the run was started with; the engine may be another, and so may where the model is and how long
    a reply may take (`model_options.base_url`, `timeout_s`, …). `retry_errors` names whose errors
    are run again, as new attempts: `"env,model"`, which `True` stands for, or `"agent"`.

    Raises `RunStopped` when the first `stop_after_errors` attempts (3, or what the benchmark's
    limits say; 0 for never) all failed alike, such as with a key that is refused, and
    `BudgetSpent`, which is one, when the budget has no room for the next attempt.
    """
    request = RunRequest(
        benchmark,
        agent,
        settings or {},
        tasks,
        repeats,
        expect,
        focus,
        model=model,
        rewards=rewards,
        columns=columns,
        environment=environment,
        seed=seed,
        max_cost=max_cost,
        max_tokens=max_tokens,
        prices=prices,
    )
    executor = find_executor(engine, address)
    with start(
        request,
        workers=workers,
        resume=resume,
        retry_errors=retry_errors,
        cache=cache,
        runs_dir=runs_dir,
        repository=repository,
        keep_diff=keep_diff,
        elsewhere=engine != "local",
    ) as started:
        return started.finish(progress, executor, stop_after_errors=stop_after_errors)


async def run_async(benchmark: str | Path | None = None, **arguments: Any) -> Run:
    """As `run`, with the same arguments, played in the event loop that awaits it.

    So an agent may use what belongs to that loop, such as a client that is open already.
    Cancelling it leaves a run that can be resumed.
    """
    running = {name: arguments.pop(name) for name in RUNNING if name in arguments}
    settings = arguments.pop("settings", None) or {}
    engine: EngineName = running.pop("engine", "local")
    executor = find_executor(engine, running.pop("address", None))
    progress = running.pop("progress", no_progress)
    stop_after_errors = running.pop("stop_after_errors", None)
    request = RunRequest(benchmark, settings=settings, **arguments)
    started = await asyncio.to_thread(start, request, elsewhere=engine != "local", **running)
    with started:
        return await started.finish_async(progress, executor, stop_after_errors=stop_after_errors)


def find_executor(engine: EngineName, address: str | None = None) -> Executor:
    """The executor of that name; `address` is that of a Ray cluster."""
    if engine == "ray":
        from assay.runner.cluster import ray_executor

        return ray_executor(address)
    if engine != "local":
        raise BadParameter(f"engine={engine!r}; there are 'local' and 'ray'")
    if address is not None:
        raise BadParameter(f"address {address!r} is that of a Ray cluster; say engine 'ray' too")
    return local_executor


@dataclass(frozen=True, slots=True)
class StartedRun:
    """A run with its plan and its open ledger, not executed yet or only in part."""

    plan: Plan
    writer: RunWriter
    workers: int
    notes: Mapping[str, Any]
    """What every episode from now on has in its metadata."""
    retry_errors: tuple[str, ...] = ()
    """The stop reasons whose episodes are run again."""

    @property
    def path(self) -> Path:
        return self.writer.path

    def finish(
        self,
        progress: Callable[[RunProgress], None] = no_progress,
        executor: Executor = local_executor,
        *,
        stop_after_errors: int | None = None,
    ) -> Run:
        """Execute everything that the run still lacks, and return it.

        Raises `RunStopped` when the first `stop_after_errors` attempts all fail alike.
        """
        _complete(self._execute(progress, executor, stop_after_errors))
        return Run(self.path)

    async def finish_async(
        self,
        progress: Callable[[RunProgress], None] = no_progress,
        executor: Executor = local_executor,
        *,
        stop_after_errors: int | None = None,
    ) -> Run:
        """As `finish`, in this event loop."""
        await self._execute(progress, executor, stop_after_errors)
        return Run(self.path)

    async def _execute(
        self,
        progress: Callable[[RunProgress], None],
        executor: Executor,
        stop_after_errors: int | None,
    ) -> None:
        if stop_after_errors is not None and stop_after_errors < 0:
            raise BadParameter(
                f"stop_after_errors is {stop_after_errors!r}; it is a whole number, and 0 is never"
            )
        plan = replace(self.plan, agent=with_recordings(self.plan.agent, self.path.parent))
        await execute(
            plan,
            self.writer,
            workers=self.workers,
            executor=executor,
            on_progress=progress,
            notes=self.notes,
            retry_errors=self.retry_errors,
            stop_after_errors=stop_after_errors,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.writer.close()


def start(
    request: RunRequest,
    *,
    workers: int = 2,
    resume: str | Path | None = None,
    retry_errors: str | Sequence[str] | bool = False,
    cache: str | Path | None = None,
    runs_dir: str | Path = RUNS_DIR,
    repository: str | Path = ".",
    keep_diff: bool = True,
    elsewhere: bool = False,
) -> StartedRun:
    """A run whose manifest is on the disk, new or resumed; nothing of it is executed yet.

    What would end every episode is raised before anything is written: a missing extra, an option
    that the agent or the environment refuses, a task that the environment refuses. With `elsewhere`
    the environment is not asked, because its machine is another one.
    """
    reasons = read_retry_errors(retry_errors)
    if reasons and resume is None:
        raise BadParameter("errors are retried of a run that is resumed; say which one to resume")
    if workers < 1:
        raise BadParameter(f"workers is {workers!r}; it is a whole number from 1 up")
    folder = Path(runs_dir)
    earlier = None if resume is None else Run(find_run(resume, folder))
    plan = plan_new(request) if earlier is None else plan_resumed(request, earlier.manifest)
    plan = replace(
        plan,
        agent=with_run_id(plan.agent, folder),
        cache=None if cache is None else _make_cache(cache),
    )
    code = _code_state(repository, folder, plan.agent)
    # Raises what the agent raises for its options: better now than in every episode.
    _complete(_check_agent(with_recordings(plan.agent, folder), plan))
    secrets = secret_values(plan.agent.to_record())
    if earlier is None:
        if not elsewhere:
            _complete(_check_environment(plan))
        manifest = _manifest(plan, code, request.focus or "")
        writer = RunWriter.create(folder, manifest, secrets=secrets)
        if keep_diff and code.dirty:
            in_git = uncommitted_changes(repository, exclude=[folder])
            writer.keep_agent_diff(in_git or source_of_files(plan.agent.files))
        return StartedRun(plan, writer, workers, {})
    moved = relocation(plan, earlier.manifest)
    notes = _other_code(earlier.manifest, code) | ({"resumed_with": moved} if moved else {})
    return StartedRun(plan, RunWriter.open(earlier.path, secrets=secrets), workers, notes, reasons)


@contextmanager
def _refusal_of(what: str, options: Mapping[str, Any]) -> Iterator[None]:
    """Whatever the maker of `what` raises says so; what Assay itself raises does already."""
    try:
        yield
    except AssayError:
        raise
    except ModuleNotFoundError as error:
        raise MissingExtra.of(what, str(error.name)) from error
    except Exception as error:  # whatever a maker of somebody else's raises
        # Their names alone: a value may be a key.
        names = f"the options {', '.join(options)}" if options else "its defaults"
        raise BadParameter(f"{what} cannot be made with {names}: {cause_of(error)}") from error


def _make_cache(folder: str | Path) -> Path:
    """The folder, made where there is none; raise `BadParameter` if nothing can be kept there."""
    path = Path(folder).resolve()
    try:
        path.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=path).close()
    except OSError as error:
        raise BadParameter(f"cache {str(folder)!r} cannot be used: {error.strerror}") from error
    return path


async def _check_agent(agent: AgentChoice, plan: Plan) -> None:
    """The agent takes its options, and the tasks as far as it can say before it starts."""
    with _refusal_of(f"agent {agent.name!r}", agent.options):
        built = agent.build()
    try:
        if isinstance(built, Checkable):
            with attempt_state(AttemptState(seed=plan.seed)):
                await built.check_run(plan.tasks)
    finally:
        await built.close()


async def _check_environment(plan: Plan) -> None:
    """The environment takes its options and the tasks, as far as is known before it is reset."""
    chosen = plan.benchmark.environment
    name, options = chosen.name, dict(chosen.options)
    make = plan.environment_factory()
    build = ResourceSpec(name, fill_base_url(options, ANY_ADDRESS), make).builder()
    with _refusal_of(f"environment {name!r}", options):
        environment = build()
    try:
        if isinstance(environment, Checkable):
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


def _code_state(repository: str | Path, runs_dir: Path, agent: AgentChoice) -> RepositoryState:
    """The state of the agent's repository; outside one, that of the agent's own files."""
    state = repository_state(repository, exclude=[runs_dir])
    return state if state.commit or state.dirty else state_of_files(agent.files)


def _other_code(manifest: RunManifest, code: RepositoryState) -> dict[str, Any]:
    """The state of the agent's code, when it is not the one that the manifest names."""
    recorded = (manifest.commit, manifest.dirty)
    if (code.commit, code.dirty) == recorded or not any(recorded):
        return {}
    return {"resumed_at_commit": code.commit, "resumed_with_dirty": code.dirty}


def _complete(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end, also where an event loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()
