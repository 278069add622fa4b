"""Resumes a run: its plan comes from its manifest.

Only the budget, and the address and the time limits of the model, may differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from assay.errors import BadParameter, BadRecord
from assay.ledger.provenance import RepositoryState, task_set_hash
from assay.registry.options import without_defaults
from assay.runner.budget import make_budget
from assay.runner.limits import RunLimits
from assay.runner.options import RunOptions
from assay.runner.plan import Plan, agent_of, benchmark_of, make_plan
from assay.schema.manifest import MODEL_ACCESS_OPTIONS, RunManifest
from assay.schema.secrets import SECRET

LISTED_CHANGES = 5


def plan_resumed(options: RunOptions, manifest: RunManifest) -> Plan:
    """Return the plan of the run; raise BadParameter if the options differ from it."""
    config = manifest.config
    if not {"benchmark", "agent", "tasks", "repeats"} <= config.keys():
        raise BadRecord(
            f"run {manifest.run_id!r} was not made by `assay run`, so it cannot be resumed"
        )
    agent = options.agent_or_chat
    recorded = {} if agent is not None else config["agent"]["options"]
    settings = {**recorded, **options.agent_settings}
    for key, value in settings.items():
        if SECRET in json.dumps(value, default=str):
            raise BadParameter(
                f"run {manifest.run_id!r} was started with a secret in the agent's option {key!r}, "
                f"which is not recorded; give the whole option again, as in `--set {key}=…`"
            )
    plan = make_plan(
        benchmark_of(options, manifest),
        agent_of(options, config["agent"]["name"] if agent is None else agent, settings),
        selection=config["tasks"] if options.selection is None else options.selection,
        repeats=config["repeats"] if options.repeats is None else options.repeats,
        expect=config["expect"] if options.expect is None else options.expect,
        seed=config.get("seed") if options.seed is None else options.seed,
        budget=make_budget(options.max_cost, options.max_tokens, config.get("budget")),
        cache=options.cache,
    )
    changes = list(_changes(plan, manifest, options.focus))
    if changes:
        more = f" and {len(changes) - LISTED_CHANGES} more" * (len(changes) > LISTED_CHANGES)
        raise BadParameter(
            f"run {manifest.run_id!r} cannot be resumed with another configuration: "
            f"{'; '.join(changes[:LISTED_CHANGES])}{more}. `--resume` alone takes everything from "
            "the run; for another configuration start a new run"
        )
    return plan


def _changes(plan: Plan, manifest: RunManifest, focus: str | None) -> Iterator[str]:
    """Yield each difference between the run's configuration and the plan, as a sentence."""
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
    """Return the configuration of a manifest in today's form.

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


def resumption_notes(plan: Plan, manifest: RunManifest, code: RepositoryState) -> dict[str, Any]:
    """Return notes for later attempts: a changed commit, changed access to the model."""
    notes: dict[str, Any] = {}
    recorded = (manifest.commit, manifest.dirty)
    if (code.commit, code.dirty) != recorded and any(recorded):
        notes |= {"resumed_at_commit": code.commit, "resumed_with_dirty": code.dirty}
    then, now = _model_options(manifest.config), _model_options(plan.config())
    keys = sorted(MODEL_ACCESS_OPTIONS)
    moved = {key: now.get(key) for key in keys if then.get(key) != now.get(key)}
    return notes | ({"resumed_with": moved} if moved else {})


def _with_model_where_it_is_now(
    then: Mapping[str, Any], now: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the earlier configuration with the model's current address and time limits."""
    before, after = _model_options(then), _model_options(now)
    identity = {key: value for key, value in before.items() if key not in MODEL_ACCESS_OPTIONS}
    location = {key: value for key, value in after.items() if key in MODEL_ACCESS_OPTIONS}
    if not after or not (identity or location):
        return then
    options = {**then["agent"]["options"], "model_options": {**identity, **location}}
    return {**then, "agent": {**then["agent"], "options": options}}


def _model_options(config: Mapping[str, Any]) -> Mapping[str, Any]:
    options = config["agent"]["options"].get("model_options")
    return options if isinstance(options, Mapping) else {}


def differences(then: Any, now: Any, path: str = "") -> Iterator[str]:
    """Yield each key in which two configurations differ, with both values."""
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for key in sorted({*then, *now}):
            yield from differences(then.get(key), now.get(key), f"{path}.{key}" if path else key)
    elif then != now:
        yield f"{path} was {then!r:.100} and is {now!r:.100} now"
