"""A caller's request as a plan: of a new run, or of a recorded run that is resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.agents.protocol import Agent
from assay.errors import BadParameter, BadRecord
from assay.ledger.provenance import task_set_hash
from assay.runner.agents import choose_agent
from assay.runner.benchmark import SECTIONS, Benchmark, find_benchmark, read_benchmark
from assay.runner.plan import Plan, make_plan
from assay.schema.manifest import RunManifest
from assay.scoring.scorer import without_defaults

LISTED_CHANGES = 5


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The arguments of a run; `None` stands for one that was left out."""

    benchmark: str | Path | None = None
    agent: str | Callable[..., Agent] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Options of the agent; with a section before them (`limits.steps`), of the benchmark."""
    tasks: str | None = None
    repeats: int | None = None
    expect: Mapping[str, Sequence[str]] | None = None
    focus: str | None = None

    def settings_of(self, *, benchmark: bool) -> dict[str, Any]:
        return {
            key: value
            for key, value in self.settings.items()
            if ("." in key and key.partition(".")[0] in SECTIONS) == benchmark
        }


def plan_new(request: RunRequest) -> Plan:
    """The plan of a new run."""
    if request.benchmark is None or request.agent is None:
        raise BadParameter("name a benchmark and an agent, or a run to resume")
    return make_plan(
        find_benchmark(request.benchmark, request.settings_of(benchmark=True)),
        choose_agent(request.agent, request.settings_of(benchmark=False)),
        selection=request.tasks or "",
        repeats=1 if request.repeats is None else request.repeats,
        expect=request.expect,
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
    options = {} if request.agent is not None else config["agent"]["options"]
    plan = make_plan(
        _benchmark(request, manifest),
        choose_agent(
            config["agent"]["name"] if request.agent is None else request.agent,
            {**options, **request.settings_of(benchmark=False)},
        ),
        selection=config["tasks"] if request.tasks is None else request.tasks,
        repeats=config["repeats"] if request.repeats is None else request.repeats,
        expect=config["expect"] if request.expect is None else request.expect,
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


def _benchmark(request: RunRequest, manifest: RunManifest) -> Benchmark:
    settings = request.settings_of(benchmark=True)
    if request.benchmark is not None:
        return find_benchmark(request.benchmark, settings)
    where = f"manifest of {manifest.run_id}"
    return read_benchmark(manifest.config["benchmark"], where=where, settings=settings)


def _changes(plan: Plan, manifest: RunManifest, focus: str | None) -> Iterator[str]:
    """Each difference between what was planned and what would be done now, as a sentence."""
    yield from differences(_without_default_options(manifest.config, plan), plan.config())
    rewards = tuple(scorer.spec.id for scorer in plan.scorers)
    if rewards != manifest.rewards:
        yield f"rewards were {list(manifest.rewards)} and are {list(rewards)} now"
    if task_set_hash(plan.tasks) != manifest.task_set:
        yield "the tasks have other contents now"
    if focus is not None and focus != manifest.focus:
        yield f"focus was {manifest.focus!r} and is {focus!r} now"


def _without_default_options(config: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    """The configuration of a manifest; older ones name options also where they are the default."""
    benchmark = dict(config["benchmark"])
    rewards = dict(benchmark.get("rewards") or {})
    options = dict(rewards.get("options") or {})
    for reward, scorer in zip(plan.benchmark.rewards, plan.scorers, strict=True):
        params = without_defaults(scorer.spec, options.pop(reward.name, {}))
        if params:
            options[reward.name] = params
    return {**config, "benchmark": {**benchmark, "rewards": {**rewards, "options": options}}}


def differences(then: Any, now: Any, path: str = "") -> Iterator[str]:
    """Every place where two configurations differ, by its key."""
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for key in sorted({*then, *now}):
            yield from differences(then.get(key), now.get(key), f"{path}.{key}" if path else key)
    elif then != now:
        yield f"{path} was {then!r:.100} and is {now!r:.100} now"
