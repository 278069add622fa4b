"""The plan of a run, new or resumed: the tasks, repeats, agent and rewards, fixed beforehand."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeAlias

from assay.agents.models.prices import read_prices
from assay.agents.models.protocol import Model
from assay.agents.protocol import Agent
from assay.errors import BadParameter, BadRecord, MissingParameter
from assay.ledger.provenance import resolved_config, task_set_hash
from assay.registry import ENVIRONMENTS, MODELS, RESERVED, REWARDS, STEP_SCORERS, TASKS
from assay.registry.addresses import is_address
from assay.registry.annotations import annotations_of, names_none
from assay.report.comparability import NO_MATTER
from assay.resources.protocol import StepScorer
from assay.resources.spec import check_options
from assay.runner.agents import AgentChoice, choose_agent, with_defaults
from assay.runner.benchmark import (
    SECTIONS,
    Benchmark,
    ComponentSpec,
    RunLimits,
    find_benchmark,
    read_benchmark,
)
from assay.runner.budget import NO_BUDGET, Budget, check_prices, make_budget, with_prices
from assay.runner.services import service_options
from assay.runner.values import (
    RewardLike,
    TaskLike,
    benchmark_of_values,
    reward_names,
    with_values,
)
from assay.schema.columns import ANSWERS, GOALS
from assay.schema.manifest import RunManifest
from assay.schema.secrets import SECRET
from assay.schema.task import Task
from assay.scoring.scorer import Scorer, without_defaults
from assay.tasks.jsonl import PARTS, columns_of, likely_answer

DIRECTIONS = ("up", "down")
LISTED_CHANGES = 5
NEAR = 0.83
"""So much alike are the name of a part and a slip of it: `answr`, `ansewr`, not `problem_id`."""
AttemptKey: TypeAlias = tuple[str, int]
"""A task's id and the number of its repeat: what identifies an episode of a run."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The arguments of a run; `None` stands for one that was left out."""

    benchmark: str | Path | None = None
    agent: str | Agent | Callable[..., Any] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Options of the agent; with a section before them (`limits.steps`), of the benchmark."""
    tasks: str | Iterable[TaskLike] | None = None
    """Which of the benchmark's tasks; or the tasks themselves."""
    repeats: int | None = None
    expect: Mapping[str, Sequence[str]] | None = None
    focus: str | None = None
    model: str | Model | None = None
    """`openai:NAME`: what the agent asks; without an agent, the agent `chat` does."""
    rewards: Sequence[RewardLike] | None = None
    """Instead of those of the benchmark."""
    columns: Mapping[str, str] | None = None
    """Where a file of questions has the parts of a task under other names."""
    environment: Any = None
    """Instead of the benchmark's: a name, a mapping with a name, what makes one, or one."""
    seed: int | None = None
    max_cost: float | None = None
    """What the whole run may cost, in dollars; 0 for no limit."""
    max_tokens: int | None = None
    prices: str | Path | None = None
    """A file that says what models cost."""

    @property
    def selection(self) -> str | None:
        """Which tasks, where the tasks are not passed themselves."""
        return self.tasks if isinstance(self.tasks, str) else None

    @property
    def task_values(self) -> Iterable[TaskLike] | None:
        """The tasks, where they are passed themselves."""
        return None if isinstance(self.tasks, str) else self.tasks

    def find_benchmark(self, manifest: RunManifest | None = None) -> Benchmark:
        """The benchmark that is named, that of the manifest, or one around the values."""
        settings = self.settings_of(benchmark=True)
        if self.benchmark is not None:
            benchmark = find_benchmark(self.benchmark, settings)
        elif manifest is not None:
            where = f"manifest of {manifest.run_id}"
            benchmark = read_benchmark(manifest.config["benchmark"], where=where, settings=settings)
        else:
            benchmark = benchmark_of_values(settings)
        return with_values(
            benchmark,
            tasks=self.task_values,
            columns=self.columns or {},
            environment=self.environment,
            rewards=self.rewards,
        )

    def settings_of(self, *, benchmark: bool) -> dict[str, Any]:
        """The settings of the benchmark, or those of the agent, short forms included."""
        short: dict[str, Any] = {}
        if benchmark:
            columns = {} if self.task_values is not None else self.columns or {}
            short |= {f"tasks.columns.{key}": name for key, name in columns.items()}
            short |= {} if self.rewards is None else {"rewards.names": reward_names(self.rewards)}
        elif self.model is not None:
            short |= model_settings(self.model)
        return short | {
            key: value
            for key, value in self.settings.items()
            if ("." in key and key.partition(".")[0] in SECTIONS) == benchmark
        }

    def with_prices(self, agent: AgentChoice) -> AgentChoice:
        """The agent, with what its model costs where that is known."""
        prices = None if self.prices is None else read_prices(self.prices)
        return with_prices(agent, prices, self.settings)

    @property
    def agent_or_chat(self) -> str | Agent | Callable[..., Any] | None:
        """The agent; the one that passes questions on where only a model is named."""
        return "chat" if self.agent is None and self.model is not None else self.agent


def model_settings(model: str | Model) -> dict[str, Any]:
    """The options of an agent that `openai:NAME` stands for; a name alone is the model's kind."""
    if not isinstance(model, str):
        return {"model": model}
    kind, colon, name = model.partition(":")
    if not kind or (colon and not name):
        raise BadParameter(f"model {model!r}; write KIND:NAME, such as openai:gpt-5-mini")
    MODELS.get(kind)
    return {"model": kind, **({"model_options.model": name} if colon else {})}


@dataclass(frozen=True, slots=True)
class PlannedAttempt:
    """One task to be attempted once; repeats count from 0."""

    task: Task
    repeat: int
    seed: int | None = None
    """For whatever the agent draws; `None` where the run has no seed."""

    @property
    def key(self) -> AttemptKey:
        return self.task.id, self.repeat


@dataclass(frozen=True, slots=True)
class Plan:
    """A benchmark, an agent, and which episodes of them make the run."""

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
        """Every attempt, all tasks once before any of them a second time."""
        for repeat in range(self.repeats):
            for task in self.tasks:
                yield PlannedAttempt(task, repeat, derived_seed(self.seed, task.id, repeat))

    def environment_factory(self) -> Callable[..., Any]:
        """What makes an environment: for an agent that drives a browser, one that watches it."""
        return _environment_for(self.agent, self.benchmark.environment)

    def config(self) -> dict[str, Any]:
        """The resolved configuration as the manifest keeps it, nulls included."""
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
                "budget": self.budget.to_record(),
            }
        )


def derived_seed(seed: int | None, task_id: str, repeat: int) -> int | None:
    """The seed of one attempt, from 0 to 2³¹ - 1: the same for the same run's seed, always."""
    if seed is None:
        return None
    digest = hashlib.sha256(f"{seed}/{repeat}/{task_id}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def plan_new(request: RunRequest) -> Plan:
    """The plan of a new run."""
    agent = request.agent_or_chat
    named = request.benchmark is not None or request.task_values is not None
    if agent is None and named:
        raise BadParameter(
            "only the agent is missing: --agent FILE.py:NAME is a function of the question, "
            "stdio:COMMAND a program, a URL a server; --model openai:NAME asks a model; `assay "
            "list agents` shows the others"
        )
    if agent is None or not named:
        raise BadParameter(
            "name a benchmark and an agent, or a run to resume; a benchmark is a name, a TOML file "
            "or a file of questions (JSONL, JSON, CSV), and instead of an agent a model will do "
            "(openai:NAME)"
        )
    return make_plan(
        request.find_benchmark(),
        request.with_prices(choose_agent(agent, request.settings_of(benchmark=False))),
        selection=request.selection or "",
        repeats=1 if request.repeats is None else request.repeats,
        expect=request.expect,
        seed=request.seed,
        budget=make_budget(request.max_cost, request.max_tokens),
    )


def plan_resumed(request: RunRequest, manifest: RunManifest) -> Plan:
    """The plan that the run was started with; raise `BadParameter` if the request differs.

    What the request leaves out comes from the manifest.
    """
    config = manifest.config
    if not {"benchmark", "agent", "tasks", "repeats"} <= config.keys():
        raise BadRecord(
            f"run {manifest.run_id!r} is no run of `assay run`, so nothing of it can be resumed"
        )
    agent = request.agent_or_chat
    options = {} if agent is not None else config["agent"]["options"]
    settings = {**options, **request.settings_of(benchmark=False)}
    _check_secrets(settings, manifest.run_id)
    plan = make_plan(
        request.find_benchmark(manifest),
        request.with_prices(
            choose_agent(config["agent"]["name"] if agent is None else agent, settings)
        ),
        selection=config["tasks"] if request.selection is None else request.selection,
        repeats=config["repeats"] if request.repeats is None else request.repeats,
        expect=config["expect"] if request.expect is None else request.expect,
        seed=config.get("seed") if request.seed is None else request.seed,
        budget=make_budget(request.max_cost, request.max_tokens, config.get("budget")),
    )
    changes = list(_changes(plan, manifest, request.focus))
    if changes:
        more = f" and {len(changes) - LISTED_CHANGES} more" * (len(changes) > LISTED_CHANGES)
        raise BadParameter(
            f"run {manifest.run_id!r} cannot be resumed with another configuration: "
            f"{'; '.join(changes[:LISTED_CHANGES])}{more}. `--resume` alone takes everything from "
            "the run; start a new one for the change"
        )
    return plan


def _check_secrets(options: Mapping[str, Any], run_id: str) -> None:
    """Raise `BadParameter` if options of the agent are needed that no record keeps."""
    for key, value in options.items():
        if SECRET in json.dumps(value, default=str):
            raise BadParameter(
                f"run {run_id!r} was started with a secret in the agent's option {key!r}, which "
                f"no record keeps; give the whole option again, as in `--set {key}=…`"
            )


def _changes(plan: Plan, manifest: RunManifest, focus: str | None) -> Iterator[str]:
    """Each difference between what was planned and what would be done now, as a sentence."""
    now = plan.config()
    then = _with_model_where_it_is_now(_without_default_options(manifest.config, plan), now)
    # A run goes on with another budget as it would have with more of the first.
    yield from differences({**then, "budget": now["budget"]}, now)
    rewards = tuple(scorer.spec.id for scorer in plan.scorers)
    if rewards != manifest.rewards:
        yield f"rewards were {list(manifest.rewards)} and are {list(rewards)} now"
    if task_set_hash(plan.tasks) != manifest.task_set:
        yield "the tasks have other contents now"
    if focus is not None and focus != manifest.focus:
        yield f"focus was {manifest.focus!r} and is {focus!r} now"


def _without_default_options(config: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    """The configuration of a manifest, as it would be written now.

    Older ones name options also where they are the default, and lack limits that came later.
    """
    benchmark = dict(config["benchmark"])
    benchmark["limits"] = {**asdict(RunLimits()), **(benchmark.get("limits") or {})}
    rewards = dict(benchmark.get("rewards") or {})
    options = dict(rewards.get("options") or {})
    for reward, scorer in zip(plan.benchmark.rewards, plan.scorers, strict=True):
        params = without_defaults(scorer.spec, options.pop(reward.name, {}))
        if params:
            options[reward.name] = params
    return {**config, "benchmark": {**benchmark, "rewards": {**rewards, "options": options}}}


def relocation(plan: Plan, manifest: RunManifest) -> dict[str, Any]:
    """What a resumed run has otherwise of where its model is, and how long a reply may take."""
    then, now = _model_options(manifest.config), _model_options(plan.config())
    return {key: now.get(key) for key in sorted(NO_MATTER) if then.get(key) != now.get(key)}


def _with_model_where_it_is_now(
    then: Mapping[str, Any], now: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The earlier configuration, with what may be otherwise in a resumed run as it is now."""
    before, after = _model_options(then), _model_options(now)
    identity = {key: value for key, value in before.items() if key not in NO_MATTER}
    location = {key: value for key, value in after.items() if key in NO_MATTER}
    if not after or not (identity or location):
        return then
    options = {**then["agent"]["options"], "model_options": {**identity, **location}}
    return {**then, "agent": {**then["agent"], "options": options}}


def _model_options(config: Mapping[str, Any]) -> Mapping[str, Any]:
    options = config["agent"]["options"].get("model_options")
    return options if isinstance(options, Mapping) else {}


def differences(then: Any, now: Any, path: str = "") -> Iterator[str]:
    """Every place where two configurations differ, by its key."""
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for key in sorted({*then, *now}):
            yield from differences(then.get(key), now.get(key), f"{path}.{key}" if path else key)
    elif then != now:
        yield f"{path} was {then!r:.100} and is {now!r:.100} now"


def make_plan(
    benchmark: Benchmark,
    agent: AgentChoice,
    *,
    selection: str = "",
    repeats: int = 1,
    expect: Mapping[str, Sequence[str]] | None = None,
    seed: int | None = None,
    budget: Budget = NO_BUDGET,
) -> Plan:
    """A plan whose names, options and columns were checked; raise what is wrong with them."""
    if repeats < 1:
        raise BadParameter(f"repeats is {repeats!r}; it is a whole number from 1 up")
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
    )


def _environment_for(agent: AgentChoice, chosen: ComponentSpec) -> Callable[..., Any]:
    """What makes an environment; raise `BadParameter` if the agent cannot work in it."""
    make = chosen.find(ENVIRONMENTS)
    if not agent.drives:
        return make
    driven: Callable[..., Any] | None = getattr(make, "driven", lambda: None)()
    if driven is None:
        raise BadParameter(
            f"agent {agent.name!r} asks for a `browser` to drive by itself, and the environment "
            f"{chosen.name!r} has none; 'browser' has one"
        )
    return driven


def _scorer(reward: ComponentSpec) -> Scorer:
    if isinstance(reward.value, Scorer):
        return reward.value
    is_registered = reward.value is None and not is_address(reward.name)
    return Scorer(reward.name if is_registered else reward.find(REWARDS), reward.options)


def load_tasks(benchmark: Benchmark) -> tuple[Task, ...]:
    """Every task of the benchmark; raise `BadParameter` for two of one id."""
    tasks: tuple[Task, ...] | None = benchmark.tasks.value
    if tasks is None:
        source = benchmark.tasks.find(TASKS)
        check_options(f"[tasks] source {benchmark.tasks.name!r}", source, benchmark.tasks.options)
        tasks = tuple(source(**benchmark.tasks.options))
    for name, count in Counter(task.id for task in tasks).items():
        if count > 1:
            raise BadParameter(f"benchmark {benchmark.name!r} has two tasks {name!r}")
    if not tasks:
        raise BadParameter(f"benchmark {benchmark.name!r} has no tasks with these options")
    return tasks


def step_scorer_of(task: Task) -> StepScorer:
    """A scorer of the steps of one episode; raises `BadParameter` for a task it cannot read."""
    try:
        scorer: StepScorer = STEP_SCORERS.get("recovery")(task)
        return scorer
    except BadParameter as error:
        raise BadParameter(f"task {task.id!r}: {error}") from error


def select_tasks(tasks: Sequence[Task], selection: str) -> tuple[Task, ...]:
    """The tasks that a selection names, in the benchmark's order; an empty one names all.

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
            "a pattern such as 'x*' and a flag of the tasks' metadata work too"
        )
    if matches is ending and len(ending) > 1:
        raise BadParameter(f"{word!r} may be any of {[task.id for task in ending[:5]]}")
    return matches


def _resolve_expectations(
    tasks: Sequence[Task], expect: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    resolved: dict[str, tuple[str, ...]] = {}
    for direction, words in expect.items():
        if direction not in DIRECTIONS:
            raise BadParameter(f"expect {direction!r}; a reward is expected to go up or down")
        chosen = select_tasks(tasks, ",".join(words)) if words else ()
        resolved[direction] = tuple(task.id for task in chosen)
    return resolved


def _check_parts(columns: Any, scorers: Sequence[Scorer], agent: AgentChoice) -> None:
    """Raise `BadParameter` for a column that is named for nearly a part of a task.

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
                f"--column {part}={column}: no part of a task is called {part!r}, and neither the "
                f"reward nor the agent asks for it; did you mean {near[0]}={column}?"
            )


def _check_references(scorer: Scorer, benchmark: Benchmark, tasks: Sequence[Task]) -> None:
    """Raise `MissingParameter` if the reward needs a reference, and no task has one."""
    spec, source = scorer.spec, benchmark.tasks
    if "answer" not in spec.required or any(task.answer is not None for task in tasks):
        return
    if names_none(annotations_of(spec.function).get("answer")):
        return
    file = source.options.get("path") if source.name == "jsonl" else None
    columns = list(tasks[0].metadata) if file is None else columns_of(Path(file))
    raise MissingParameter(
        f"{spec.name} needs 'answer', the reference, and no task of {benchmark.name!r} has one; "
        f"the columns are: {', '.join(sorted(columns)) or 'none'}; say which one it is: --column "
        f"answer={likely_answer(columns)}"
    )


def _check_columns(scorer: Scorer, tasks: Sequence[Task]) -> None:
    """Raise `MissingParameter` if a task lacks a column that the reward needs."""
    for task in tasks:
        columns = {*task.columns(), *RESERVED}
        for name in scorer.spec.required:
            if name not in columns:
                usual = {**dict.fromkeys(ANSWERS, "answer"), **dict.fromkeys(GOALS, "goal")}
                hint = f"; call it {usual[name]!r}, as every run does" if name in usual else ""
                raise MissingParameter(
                    f"{scorer.spec.name} needs {name!r}, which task {task.id!r} does not have; "
                    f"it has: {', '.join(sorted(columns))}{hint}"
                )
