"""What every world owes the rest of Assay, as checks that can fail.

`check_environment("alfworld")` plays short seeded walks on a few tasks and reports a finding for
each promise. A world of one's own needs only to be registered; if it is not deterministic on some
task, its method `deterministic(task)` says so.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from typing import Any

from assay.errors import BadParameter, DeadResource, NotReset
from assay.resources.protocol import Environment, Startable
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
"""Texts that no world has a use for, by what is wrong with them."""

TEXT_LIMIT = 200_000
"""Characters of an observation; one that echoes a hostile action whole is too long."""

COUNTERS = ("steps", "moves")
"""Entries of `progress` that may count an action which did nothing."""

WALKS: Mapping[str, Sequence[str]] = {
    "webshop": ("search[shirt]", "click[next >]", "click[< prev]", "click[back to search]"),
}
"""Actions for worlds that do not offer their own list of possible ones."""


@dataclass(frozen=True, slots=True)
class ContractProblem:
    """One promise, and whether the world keeps it."""

    check: str
    passed: bool
    because: str


@dataclass(frozen=True, slots=True)
class _Trial:
    """What a check works with."""

    world: Environment
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
) -> list[ContractProblem]:
    """A finding for every promise, for a world by its registry name.

    `tasks` are two or more of the world's own (by default its first and last), `actions` what to
    choose from when the world has neither `admissible_commands` nor `valid_actions`.
    """
    spec = ResourceSpec(name, config or {})
    chosen = _default_tasks(spec) if tasks is None else tasks
    if len(chosen) < 2:
        raise BadParameter(f"checking {name!r} needs two tasks, not {len(chosen)}; pass tasks=")
    walk = actions or WALKS.get(name, ())
    return asyncio.run(_check(spec, chosen, steps, seed, walk))


async def _check(
    spec: ResourceSpec, tasks: Sequence[Task], steps: int, seed: int, walk: Sequence[str]
) -> list[ContractProblem]:
    build = spec.builder()
    async with AsyncExitStack() as stack:

        async def opened() -> Environment:
            world = build()
            stack.push_async_callback(_attempt, world.close)
            if isinstance(world, Startable):
                await world.start()
            return world

        # Two instances serve all checks: some worlds take seconds to start.
        trial = _Trial(await opened(), await opened(), tasks, steps, seed, walk)
        return [await _judge(check, trial) for check in CHECKS]


Check = Callable[[_Trial], Awaitable[str]]


async def _judge(check: Check, trial: _Trial) -> ContractProblem:
    name = check.__name__.removeprefix("_").replace("_", " ")
    problem = await _attempt(lambda: check(trial))
    promise = (inspect.getdoc(check) or "").partition("\n")[0]
    return ContractProblem(name, not problem, problem or promise)


async def _attempt(act: Callable[[], Awaitable[str | None]]) -> str:
    try:
        return await act() or ""
    except Exception as error:  # noqa: BLE001 - whatever a world raises here is the finding
        return f"it raised {type(error).__name__}: {str(error)[:300]}"


async def _no_testimony_before_reset(trial: _Trial) -> str:
    """Before the first reset, testimony and step raise NotReset."""
    return await _has_no_episode(trial.world)


async def _reset_binds_the_task(trial: _Trial) -> str:
    """After reset, testimony names the world and the task, as the observation does."""
    for task in trial.tasks:
        observation = await trial.world.reset(task)
        evidence = trial.world.evidence()
        if (evidence.world, evidence.task_id) != (trial.world.name, task.id):
            return f"reset to {task.id!r}, and the testimony is {evidence!r}"
        if observation.evidence != evidence:
            return "the observation's evidence is not the testimony"
        if evidence.done or not observation.text:
            return f"a fresh episode is over or says nothing: {observation!r:.300}"
    return ""


async def _unknown_task_is_refused(trial: _Trial) -> str:
    """A task that the world does not have is a BadParameter, and leaves no episode behind."""
    try:
        await trial.world.reset(Task(id="no-such-task/999999999"))
    except BadParameter:
        return await _has_no_episode(trial.world)
    return "a task that does not exist was accepted"


async def _testimony_is_read_only(trial: _Trial) -> str:
    """Reading the testimony changes nothing and is plain JSON."""
    await trial.world.reset(trial.tasks[0])
    before = trial.world.evidence()
    if any(trial.world.evidence() != before for _ in range(20)):
        return "reading it twice gives two testimonies"
    record = json.loads(json.dumps(asdict(before), allow_nan=False))
    if WorldEvidence(**record) != before:
        return f"it does not survive JSON: {before!r}"
    return ""


async def _same_actions_same_world(trial: _Trial) -> str:
    """The same actions give the same observations, on this instance and on another."""
    for task in trial.tasks:
        if not _deterministic(trial.world, task):
            continue
        actions, seen = await _explore(trial, trial.world, task)
        for instance in (trial.world, trial.twin):
            again = [await instance.reset(task)]
            again += [await instance.step(action) for action in actions]
            for action, old, new in zip(("reset", *actions), seen, again, strict=True):
                if old != new:
                    return f"{task.id!r} differs after {action!r}: {_difference(old, new)}"
    return ""


async def _reset_leaves_nothing(trial: _Trial) -> str:
    """After an episode of another task, a reset gives what a fresh instance gives."""
    played, fresh = trial.tasks[0], trial.tasks[1]
    if not _deterministic(trial.world, fresh):
        return ""
    await _explore(trial, trial.world, played)
    trial.twin.forget()
    old, new = await trial.world.reset(fresh), await trial.twin.reset(fresh)
    return "" if old == new else f"the first observation differs: {_difference(old, new)}"


async def _hostile_actions_do_nothing(trial: _Trial) -> str:
    """An action without meaning changes the observation at most, and never raises."""
    task = trial.tasks[0]
    actions, seen = await _explore(trial, trial.twin, task)
    await trial.world.reset(task)
    before = _standing(trial.world)
    for what, action in HOSTILE.items():
        observation = await trial.world.step(action)
        if _standing(trial.world) != before:
            return f"{what} changed the testimony from {before!r} to {_standing(trial.world)!r}"
        if len(observation.text) > TEXT_LIMIT:
            return f"{what} is answered with {len(observation.text)} characters"
    if not _deterministic(trial.world, task):
        return ""
    for action, expected in zip(actions, seen[1:], strict=True):
        found = await trial.world.step(action)
        if (found.text, found.reward) != (expected.text, expected.reward):
            return f"after them {action!r} differs: {_difference(expected, found)}"
    return ""


async def _forget_unbinds(trial: _Trial) -> str:
    """After forget there is no episode; the next reset starts one."""
    await trial.world.reset(trial.tasks[0])
    trial.world.forget()
    trial.world.forget()
    problem = await _has_no_episode(trial.world)
    await trial.world.reset(trial.tasks[0])
    return problem


async def _close_is_idempotent(trial: _Trial) -> str:
    """Closing twice is closing once; a closed world neither steps nor testifies."""
    await trial.world.reset(trial.tasks[0])
    await trial.world.close()
    await trial.world.close()
    return await _has_no_episode(trial.world, closed=True)


CHECKS: tuple[Check, ...] = (
    _no_testimony_before_reset,
    _reset_binds_the_task,
    _unknown_task_is_refused,
    _testimony_is_read_only,
    _same_actions_same_world,
    _reset_leaves_nothing,
    _hostile_actions_do_nothing,
    _forget_unbinds,
    _close_is_idempotent,
)


async def _has_no_episode(world: Environment, *, closed: bool = False) -> str:
    refusals = (NotReset, DeadResource) if closed else (NotReset,)
    try:
        return f"it testifies without an episode: {world.evidence()!r}"
    except refusals:
        pass
    try:
        return f"it steps without an episode: {await world.step('look')!r:.300}"
    except refusals:
        return ""


async def _explore(
    trial: _Trial, world: Environment, task: Task
) -> tuple[list[str], list[Observation]]:
    """A seeded walk from a reset: its actions, and what was seen (the reset first)."""
    dice = random.Random(f"{trial.seed}/{task.id}")
    actions: list[str] = []
    seen = [await world.reset(task)]
    for _ in range(trial.steps):
        if seen[-1].done:
            break
        actions.append(dice.choice(await _possible(world, trial.walk)))
        seen.append(await world.step(actions[-1]))
    return actions, seen


async def _possible(world: Environment, walk: Sequence[str]) -> Sequence[str]:
    # Both methods are conventions of some worlds, not part of the protocol.
    offer: Any = getattr(world, "admissible_commands", None) or getattr(
        world, "valid_actions", None
    )
    if offer is None:
        return walk or ("look", "look around", "inventory")
    offered = offer()
    return list(await offered if inspect.isawaitable(offered) else offered)


def _deterministic(world: Environment, task: Task) -> bool:
    declared: Any = getattr(world, "deterministic", None)
    return declared is None or bool(declared(task))


def _standing(world: Environment) -> WorldEvidence:
    evidence = world.evidence()
    progress = {key: value for key, value in evidence.progress.items() if key not in COUNTERS}
    return WorldEvidence(
        evidence.world, evidence.task_id, evidence.score, evidence.done, evidence.won, progress
    )


def _difference(old: Observation, new: Observation) -> str:
    return f"{old!r:.400} became {new!r:.400}"


def _default_tasks(spec: ResourceSpec) -> list[Task]:
    """The first and the last task of the world, by the `tasks` of its class or module."""
    factory: Any = spec.factory()
    if hasattr(factory, "tasks"):
        listed = list(spec.builder()().tasks())  # type: ignore[attr-defined]  # checked one line above
    else:
        module = importlib.import_module(factory.__module__)
        listed = list(module.tasks()) if hasattr(module, "tasks") else []
    return [listed[0], listed[-1]] if len(listed) > 1 else listed
