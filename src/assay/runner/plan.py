"""Plans a run: the tasks, repeats, agent and rewards, fixed before the run."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeAlias

from assay.agents.models.prices import read_prices
from assay.errors import BadParameter, MissingParameter
from assay.ledger.provenance import resolved_config
from assay.registry import ENVIRONMENTS, RESERVED, REWARDS, STEP_SCORERS, TASKS
from assay.registry.addresses import is_address
from assay.registry.annotations import annotations_of, names_none
from assay.resources.protocol import StepScorer
from assay.resources.spec import check_options
from assay.runner.agents import AgentChoice, choose_agent, with_defaults, with_recordings
from assay.runner.benchmark import Benchmark, ComponentSpec, find_benchmark, read_benchmark
from assay.runner.budget import NO_BUDGET, Budget, check_prices, make_budget, with_prices
from assay.runner.options import RunOptions
from assay.runner.services import service_options
from assay.runner.values import benchmark_of_values, with_values
from assay.schema.column_names import ANSWERS, GOALS
from assay.schema.manifest import RunManifest
from assay.schema.task import Task
from assay.scoring.scorer import Scorer
from assay.tasks.jsonl import PARTS, columns_of, likely_answer

DIRECTIONS = ("up", "down")
NEAR = 0.83
"""Similarity above which a name is suggested as a typo: `answr`, `ansewr`, not `problem_id`."""
AttemptKey: TypeAlias = tuple[str, int]
"""A task's id and the number of its repeat: what identifies an episode of a run."""


@dataclass(frozen=True, slots=True)
class PlannedAttempt:
    """A planned attempt at a task; repeats count from 0."""

    task: Task
    repeat: int
    seed: int | None = None
    """For whatever the agent draws; `None` where the run has no seed."""

    @property
    def key(self) -> AttemptKey:
        return self.task.id, self.repeat


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a run: a benchmark, an agent, and the tasks with their repeats."""

    benchmark: Benchmark
    agent: AgentChoice
    tasks: tuple[Task, ...]
    scorers: tuple[Scorer, ...]
    """The first one is primary."""
    repeats: int = 1
    selection: str = ""
    """Which of the benchmark's tasks, as the caller wrote it; empty for all."""
    expect: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Ids of the tasks whose reward the caller expects to go `up` or `down`."""
    seed: int | None = None
    """From which the seed of each attempt is derived."""
    budget: Budget = NO_BUDGET
    cache: Path | None = None
    """The folder of the replies that are kept; not part of the configuration."""

    def attempts(self) -> Iterator[PlannedAttempt]:
        """Yield all attempts: every task once, then every task again for each repeat."""
        for repeat in range(self.repeats):
            for task in self.tasks:
                yield PlannedAttempt(task, repeat, derived_seed(self.seed, task.id, repeat))

    def environment_factory(self) -> Callable[..., Any]:
        """Return the factory of environments that fit the agent."""
        return _environment_for(self.agent, self.benchmark.environment)

    def config(self) -> dict[str, Any]:
        """Return the resolved configuration for the manifest, with defaults and nulls."""
        benchmark = self.benchmark.to_record()
        environment = self.benchmark.environment.find(ENVIRONMENTS)
        if self.benchmark.tasks.value is None:
            source = self.benchmark.tasks.find(TASKS)
            benchmark["tasks"] = with_defaults(source, benchmark["tasks"])
        benchmark["environment"] = with_defaults(environment, benchmark["environment"])
        benchmark["rewards"]["options"] = {
            reward.name: scorer.params
            for reward, scorer in zip(self.benchmark.rewards, self.scorers, strict=True)
            if scorer.params
        }
        return resolved_config(
            {
                "benchmark": benchmark,
                "agent": self.agent.to_record(),
                "tasks": self.selection,
                "repeats": self.repeats,
                "expect": {key: list(ids) for key, ids in self.expect.items()},
                "seed": self.seed,
                "budget": asdict(self.budget) if self.budget else None,
            }
        )


def derived_seed(seed: int | None, task_id: str, repeat: int) -> int | None:
    """Return the seed of an attempt, from 0 to 2³¹ - 1, derived from the seed of the run."""
    if seed is None:
        return None
    digest = hashlib.sha256(f"{seed}/{repeat}/{task_id}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def plan_new(options: RunOptions) -> Plan:
    """Return the plan of a new run."""
    agent = options.agent_or_chat
    named = options.benchmark is not None or options.task_values is not None
    if agent is None and named:
        raise BadParameter(
            "the agent is missing: --agent FILE.py:NAME is a function of the question, "
            "stdio:COMMAND a program, a URL a server; --model openai:NAME asks a model; `assay "
            "list agents` shows other agents"
        )
    if agent is None or not named:
        raise BadParameter(
            "name a benchmark and an agent, or a run to resume; a benchmark is a name, a TOML file "
            "or a file of questions (JSONL, JSON, CSV), and a model may replace the agent "
            "(openai:NAME)"
        )
    return make_plan(
        benchmark_of(options),
        agent_of(options, agent, options.agent_settings),
        selection=options.selection or "",
        repeats=1 if options.repeats is None else options.repeats,
        expect=options.expect,
        seed=options.seed,
        budget=make_budget(options.max_cost, options.max_tokens),
        cache=options.cache,
    )


def benchmark_of(options: RunOptions, manifest: RunManifest | None = None) -> Benchmark:
    """Return the benchmark of the options or of the manifest, or one made for given tasks."""
    settings = options.benchmark_settings
    if options.benchmark is not None:
        benchmark = find_benchmark(options.benchmark, settings)
    elif manifest is not None:
        where = f"manifest of {manifest.run_id}"
        benchmark = read_benchmark(manifest.config["benchmark"], where=where, settings=settings)
    else:
        benchmark = benchmark_of_values(settings)
    return with_values(
        benchmark,
        tasks=options.task_values,
        columns=options.columns or {},
        environment=options.environment,
        rewards=options.rewards,
    )


def agent_of(options: RunOptions, agent: Any, settings: Mapping[str, Any]) -> AgentChoice:
    """Return the agent with its options, the prices of its model, and the run to replay."""
    prices = None if options.prices is None else read_prices(options.prices)
    choice = with_prices(choose_agent(agent, settings), prices, options.settings or {})
    return with_recordings(choice, Path(options.runs_dir))


def make_plan(
    benchmark: Benchmark,
    agent: AgentChoice,
    *,
    selection: str = "",
    repeats: int = 1,
    expect: Mapping[str, Sequence[str]] | None = None,
    seed: int | None = None,
    budget: Budget = NO_BUDGET,
    cache: str | Path | None = None,
) -> Plan:
    """Return a plan, after a check of its names, options and columns."""
    if repeats < 1:
        raise BadParameter(f"repeats is {repeats!r}; it must be a whole number >= 1")
    environment = benchmark.environment
    check_options(
        f"[environment] {environment.name!r}",
        _environment_for(agent, environment),
        environment.options,
    )
    service_options(benchmark)
    check_prices(agent, budget.cost_usd, benchmark.limits.cost_usd)
    scorers = tuple(map(_scorer, benchmark.rewards))
    _check_parts(benchmark.tasks.options.get("columns"), scorers, agent)
    all_tasks = load_tasks(benchmark)
    tasks = select_tasks(all_tasks, selection)
    for scorer in scorers:
        _check_references(scorer, benchmark, all_tasks)
        _check_columns(scorer, tasks)
    for task in tasks:
        step_scorer_of(task)
    return Plan(
        benchmark=benchmark,
        agent=agent,
        tasks=tasks,
        scorers=scorers,
        repeats=repeats,
        selection=selection,
        expect=_resolve_expectations(tasks, expect or {}),
        seed=seed,
        budget=budget,
        cache=None if cache is None else _make_cache(cache),
    )


def _make_cache(folder: str | Path) -> Path:
    """Create the cache folder; raise BadParameter if it is not writable."""
    path = Path(folder).resolve()
    try:
        path.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=path).close()
    except OSError as error:
        raise BadParameter(f"cache {str(folder)!r} cannot be used: {error.strerror}") from error
    return path


def _environment_for(agent: AgentChoice, chosen: ComponentSpec) -> Callable[..., Any]:
    """Return the factory of environments; raise BadParameter if the agent cannot use them."""
    make = chosen.find(ENVIRONMENTS)
    if not agent.drives:
        return make
    driven: Callable[..., Any] | None = getattr(make, "driven", lambda: None)()
    if driven is None:
        raise BadParameter(
            f"agent {agent.name!r} needs a `browser`, but the environment "
            f"{chosen.name!r} has none; use the environment 'browser'"
        )
    return driven


def _scorer(reward: ComponentSpec) -> Scorer:
    if isinstance(reward.value, Scorer):
        return reward.value
    is_registered = reward.value is None and not is_address(reward.name)
    return Scorer(reward.name if is_registered else reward.find(REWARDS), reward.options)


def load_tasks(benchmark: Benchmark) -> tuple[Task, ...]:
    """Return all tasks of the benchmark; raise BadParameter if two have the same id."""
    tasks: tuple[Task, ...] | None = benchmark.tasks.value
    if tasks is None:
        source = benchmark.tasks.find(TASKS)
        check_options(f"[tasks] source {benchmark.tasks.name!r}", source, benchmark.tasks.options)
        tasks = tuple(source(**benchmark.tasks.options))
    for name, count in Counter(task.id for task in tasks).items():
        if count > 1:
            raise BadParameter(f"benchmark {benchmark.name!r} has two tasks with the id {name!r}")
    if not tasks:
        raise BadParameter(f"benchmark {benchmark.name!r} has no tasks with these options")
    return tasks


def step_scorer_of(task: Task) -> StepScorer:
    """Return a step scorer for one episode; raise BadParameter if the task is invalid."""
    try:
        scorer: StepScorer = STEP_SCORERS.get("recovery")(task)
        return scorer
    except BadParameter as error:
        raise BadParameter(f"task {task.id!r}: {error}") from error


def select_tasks(tasks: Sequence[Task], selection: str) -> tuple[Task, ...]:
    """Return the selected tasks in the benchmark's order; an empty selection means all.

    It is a list with commas. An entry is an id, a pattern (`rain_*`), a word that the tasks'
    metadata has as a flag (`demo`), or the end of one id alone (`3` for `validation.3`).
    """
    words = [word.strip() for word in selection.split(",") if word.strip()]
    if not words:
        return tuple(tasks)
    chosen = {task.id for word in words for task in _matching(tasks, word)}
    return tuple(task for task in tasks if task.id in chosen)


def _matching(tasks: Sequence[Task], word: str) -> list[Task]:
    exact = [task for task in tasks if task.id == word]
    flagged = [task for task in tasks if task.metadata.get(word) is True]
    fitting = [task for task in tasks if fnmatchcase(task.id, word)]
    ending = [task for task in tasks if task.id.rpartition(".")[2] == word]
    matches = exact or flagged or fitting or ending
    if not matches:
        examples = ", ".join(task.id for task in tasks[:5])
        raise BadParameter(
            f"no task {word!r} among {len(tasks)}; ids look like {examples}; "
            "a pattern such as 'x*' or a flag of the tasks' metadata is possible, too"
        )
    if matches is ending and len(ending) > 1:
        raise BadParameter(f"{word!r} is ambiguous among {[task.id for task in ending[:5]]}")
    return matches


def _resolve_expectations(
    tasks: Sequence[Task], expect: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    resolved: dict[str, tuple[str, ...]] = {}
    for direction, words in expect.items():
        if direction not in DIRECTIONS:
            raise BadParameter(f"expect has {direction!r}; the direction of a reward is up or down")
        chosen = select_tasks(tasks, ",".join(words)) if words else ()
        resolved[direction] = tuple(task.id for task in chosen)
    return resolved


def _check_parts(columns: Any, scorers: Sequence[Scorer], agent: AgentChoice) -> None:
    """Raise BadParameter if a column is set for a misspelt part of a task.

    Any other name may be one that the reward or the agent looks up by itself.
    """
    if not isinstance(columns, Mapping):
        return
    parameters = {name for each in scorers for name in (*each.spec.required, *each.spec.optional)}
    parameters |= {*PARTS, *getattr(agent.factory, "parameters", ())}
    for part, column in columns.items():
        near = () if part in parameters else get_close_matches(part[:100], PARTS, 1, NEAR)
        if near:
            raise BadParameter(
                f"--column {part}={column}: a task has no part {part!r}, and neither the "
                f"reward nor the agent asks for it; did you mean {near[0]}={column}?"
            )


def _check_references(scorer: Scorer, benchmark: Benchmark, tasks: Sequence[Task]) -> None:
    """Raise MissingParameter if the reward needs a reference but no task has a reference."""
    spec, source = scorer.spec, benchmark.tasks
    if "answer" not in spec.required or any(task.answer is not None for task in tasks):
        return
    if names_none(annotations_of(spec.function).get("answer")):
        return
    file = source.options.get("path") if source.name == "jsonl" else None
    columns = list(tasks[0].metadata) if file is None else columns_of(Path(file))
    raise MissingParameter(
        f"{spec.name} needs 'answer', the reference, but no task of {benchmark.name!r} has one; "
        f"the columns are: {', '.join(sorted(columns)) or 'none'}; name the column of references: "
        f"--column answer={likely_answer(columns)}"
    )


def _check_columns(scorer: Scorer, tasks: Sequence[Task]) -> None:
    """Raise MissingParameter if a task lacks a column that the reward needs."""
    for task in tasks:
        columns = {*task.columns(), *RESERVED}
        for name in scorer.spec.required:
            if name not in columns:
                usual = {**dict.fromkeys(ANSWERS, "answer"), **dict.fromkeys(GOALS, "goal")}
                hint = f"; call it {usual[name]!r}, as every run does" if name in usual else ""
                raise MissingParameter(
                    f"{scorer.spec.name} needs {name!r}, but task {task.id!r} has no such column; "
                    f"it has: {', '.join(sorted(columns))}{hint}"
                )
