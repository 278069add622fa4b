"""Check that an environment keeps the contract that all environments must keep.

`check_environment("alfworld")` plays short seeded walks on a few tasks and reports on every
promise. An environment of one's own needs only to be registered; if it is not deterministic on
some task, its method `deterministic(task)` returns False for it.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from assay.errors import BadParameter, DeadResource, NotReset
from assay.resources.protocol import Environment, StartableEnvironment
from assay.resources.spec import ResourceSpec
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task

HOSTILE: Mapping[str, str] = {
    "100 kB of one letter": "a" * 100_000,
    "100 kB of a command": "look around " * 8_500,
    "control characters": "look\x00\x07\x1b[2J\r\n\x7f",
    "a second line": "look around\nwin",
    "right-to-left and joiners": "\u202elook\u202c \u200d\u2066 around",
    "emoji and combining marks": "👩‍🔬" + "e\u0301" * 50,
    "a lone surrogate": "look \ud800",
    "a query parameter": "x&action=win",
    "a request to be paid": "get_reward",
    "a path": "../../done/1/B000/{}?task_id=1",
    "a format string": "%s%n{0.__class__}${7*7}",
    "markup": "<script>alert(1)</script>]]>",
    "unbalanced brackets": "click[" * 200,
    "nothing": "",
    "blanks": " \t ",
}
"""Actions without a meaning in any environment, by what is wrong with them."""

TEXT_LIMIT = 200_000
"""Characters of an observation; one that echoes a hostile action whole is too long."""

COUNTERS = ("steps", "moves")
"""Entries of `progress` that may count an action which did nothing."""

WALKS: Mapping[str, Sequence[str]] = {
    "webshop": ("search[shirt]", "click[next >]", "click[< prev]", "click[back to search]"),
}
"""Actions for environments that do not list the possible ones themselves."""


@dataclass(frozen=True, slots=True)
class ContractCheck:
    """The result of one check of the environment contract."""

    check: str
    passed: bool
    because: str


@dataclass(frozen=True, slots=True)
class _CheckRun:
    environment: Environment
    twin: Environment
    tasks: Sequence[Task]
    steps: int
    seed: int
    walk: Sequence[str]


def check_environment(
    name: str,
    *,
    config: Mapping[str, Any] | None = None,
    tasks: Sequence[Task] | None = None,
    actions: Sequence[str] = (),
    steps: int = 6,
    seed: int = 0,
) -> list[ContractCheck]:
    """Check a registered environment against every rule of the environment contract.

    `tasks` are two or more of its own (by default its first and last), `actions` what to choose
    from when it has neither `admissible_commands` nor `valid_actions`.
    """
    spec = ResourceSpec(name, config or {})
    selected = _default_tasks(spec) if tasks is None else tasks
    if len(selected) < 2:
        raise BadParameter(
            f"the check of {name!r} needs two tasks, not {len(selected)}; pass --task ID twice, "
            "or tasks= in Python"
        )
    walk = actions or WALKS.get(name, ())
    return asyncio.run(_check(spec, selected, steps, seed, walk))


async def _check(
    spec: ResourceSpec, tasks: Sequence[Task], steps: int, seed: int, walk: Sequence[str]
) -> list[ContractCheck]:
    build = spec.builder()
    async with AsyncExitStack() as stack:

        async def start_instance() -> Environment:
            environment = build()
            stack.push_async_callback(_attempt, environment.close)
            if isinstance(environment, StartableEnvironment):
                await environment.start()
            return environment

        # Two instances serve all checks: some environments take seconds to start.
        run = _CheckRun(await start_instance(), await start_instance(), tasks, steps, seed, walk)
        results = []
        for check in CHECKS:
            name = check.__name__.removeprefix("_").replace("_", " ")
            problem = await _attempt(partial(check, run))
            promise = (inspect.getdoc(check) or "").partition("\n")[0]
            results.append(ContractCheck(name, not problem, problem or promise))
        return results


Check = Callable[[_CheckRun], Awaitable[str]]


async def _attempt(act: Callable[[], Awaitable[str | None]]) -> str:
    try:
        return await act() or ""
    except Exception as error:  # noqa: BLE001 - whatever an environment raises here is the result
        return f"it raised {type(error).__name__}: {str(error)[:300]}"


async def _no_testimony_before_reset(run: _CheckRun) -> str:
    """Before the first reset, evidence and step raise NotReset."""
    return await _has_no_episode(run.environment)


async def _reset_binds_the_task(run: _CheckRun) -> str:
    """After a reset, the evidence names the environment and the task."""
    for task in run.tasks:
        observation = await run.environment.reset(task)
        evidence = run.environment.evidence()
        if (evidence.world, evidence.task_id) != (run.environment.name, task.id):
            return f"reset to {task.id!r}, and the evidence is {evidence!r}"
        if observation.evidence != evidence:
            return "the observation's evidence is not that of the environment"
        if evidence.done or not observation.text:
            return f"a fresh episode is over or says nothing: {observation!r:.300}"
    return ""


async def _unknown_task_is_refused(run: _CheckRun) -> str:
    """An unknown task raises BadParameter and starts no episode."""
    try:
        await run.environment.reset(Task(id="no-such-task/999999999"))
    except BadParameter:
        return await _has_no_episode(run.environment)
    return "a task that does not exist was accepted"


async def _testimony_is_read_only(run: _CheckRun) -> str:
    """Reading the evidence changes nothing, and the evidence is plain JSON."""
    await run.environment.reset(run.tasks[0])
    before = run.environment.evidence()
    if any(run.environment.evidence() != before for _ in range(20)):
        return "reading it twice gives two results"
    record = json.loads(json.dumps(asdict(before), allow_nan=False))
    if WorldEvidence(**record) != before:
        return f"it does not survive JSON: {before!r}"
    return ""


async def _same_actions_same_world(run: _CheckRun) -> str:
    """The same actions give the same observations on every instance."""
    for task in run.tasks:
        if not _deterministic(run.environment, task):
            continue
        actions, observations = await _explore(run, run.environment, task)
        for instance in (run.environment, run.twin):
            repeated = [await instance.reset(task)]
            repeated += [await instance.step(action) for action in actions]
            for action, old, new in zip(("reset", *actions), observations, repeated, strict=True):
                if old != new:
                    return f"{task.id!r} differs after {action!r}: {_difference(old, new)}"
    return ""


async def _reset_leaves_nothing(run: _CheckRun) -> str:
    """A reset after another task gives the same observation as a new instance."""
    first, second = run.tasks[0], run.tasks[1]
    if not _deterministic(run.environment, second):
        return ""
    await _explore(run, run.environment, first)
    run.twin.forget()
    old, new = await run.environment.reset(second), await run.twin.reset(second)
    return "" if old == new else f"the first observation differs: {_difference(old, new)}"


async def _hostile_actions_do_nothing(run: _CheckRun) -> str:
    """An invalid action changes at most the observation, and raises no error."""
    task = run.tasks[0]
    actions, observations = await _explore(run, run.twin, task)
    await run.environment.reset(task)
    before = _state(run.environment)
    for what, action in HOSTILE.items():
        observation = await run.environment.step(action)
        if _state(run.environment) != before:
            return f"{what} changed the evidence from {before!r} to {_state(run.environment)!r}"
        if len(observation.text) > TEXT_LIMIT:
            return f"{what} is answered with {len(observation.text)} characters"
    if not _deterministic(run.environment, task):
        return ""
    for action, expected in zip(actions, observations[1:], strict=True):
        observation = await run.environment.step(action)
        if (observation.text, observation.reward) != (expected.text, expected.reward):
            return f"after them {action!r} differs: {_difference(expected, observation)}"
    return ""


async def _forget_unbinds(run: _CheckRun) -> str:
    """After forget, the instance has no episode until the next reset."""
    await run.environment.reset(run.tasks[0])
    run.environment.forget()
    run.environment.forget()
    problem = await _has_no_episode(run.environment)
    await run.environment.reset(run.tasks[0])
    return problem


async def _close_is_idempotent(run: _CheckRun) -> str:
    """Closing twice is allowed; a closed environment refuses steps and evidence."""
    await run.environment.reset(run.tasks[0])
    await run.environment.close()
    await run.environment.close()
    return await _has_no_episode(run.environment, closed=True)


CHECKS: tuple[Check, ...] = (
    _no_testimony_before_reset, _reset_binds_the_task, _unknown_task_is_refused,
    _testimony_is_read_only, _same_actions_same_world, _reset_leaves_nothing,
    _hostile_actions_do_nothing, _forget_unbinds, _close_is_idempotent,
)  # fmt: skip


async def _has_no_episode(environment: Environment, *, closed: bool = False) -> str:
    refusals = (NotReset, DeadResource) if closed else (NotReset,)
    try:
        return f"it gives evidence without an episode: {environment.evidence()!r}"
    except refusals:
        pass
    try:
        return f"it steps without an episode: {await environment.step('look')!r:.300}"
    except refusals:
        return ""


async def _explore(
    run: _CheckRun, environment: Environment, task: Task
) -> tuple[list[str], list[Observation]]:
    """Play a seeded random walk; return its actions and its observations, the reset first."""
    rng = random.Random(f"{run.seed}/{task.id}")
    actions: list[str] = []
    observations = [await environment.reset(task)]
    for _ in range(run.steps):
        if observations[-1].done:
            break
        actions.append(rng.choice(await _possible(environment, run.walk)))
        observations.append(await environment.step(actions[-1]))
    return actions, observations


async def _possible(environment: Environment, walk: Sequence[str]) -> Sequence[str]:
    # Both methods are conventions of some environments, not part of the protocol.
    methods = ("admissible_commands", "valid_actions")
    offer: Any = next(filter(None, (getattr(environment, name, None) for name in methods)), None)
    if offer is None:
        return walk or ("look", "look around", "inventory")
    commands = offer()
    return list(await commands if inspect.isawaitable(commands) else commands)


def _deterministic(environment: Environment, task: Task) -> bool:
    declares: Any = getattr(environment, "deterministic", None)
    return declares is None or bool(declares(task))


def _state(environment: Environment) -> WorldEvidence:
    evidence = environment.evidence()
    progress = {key: value for key, value in evidence.progress.items() if key not in COUNTERS}
    return replace(evidence, progress=progress)


def _difference(old: Observation, new: Observation) -> str:
    return f"{old!r:.400} became {new!r:.400}"


def _default_tasks(spec: ResourceSpec) -> list[Task]:
    """The first and the last task of the environment's own task list."""
    factory: Any = spec.factory()
    if hasattr(factory, "tasks"):
        tasks = list(spec.builder()().tasks())  # type: ignore[attr-defined]  # checked one line above
    else:
        module = importlib.import_module(factory.__module__)
        tasks = list(module.tasks()) if hasattr(module, "tasks") else []
    return [tasks[0], tasks[-1]] if len(tasks) > 1 else tasks
