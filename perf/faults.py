"""What a pool of worlds is worth when everything goes wrong at once.

Two hundred rollouts share four instances. Some raise, some are cancelled (while they wait, while
their world starts, in the middle of a step), some have their world killed or stopped under them,
some never enter it. Each rollout plants a score of its own, so a reward that crosses from one to
another shows. Afterwards every slot must be free and no process left.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, cast

import psutil

from assay.errors import DeadResource, NotReset, ResourceError
from assay.registry import ENVIRONMENTS
from assay.resources.context import Context
from assay.resources.pool import PoolLimits, Pools
from assay.resources.protocol import Scope
from assay.resources.spec import ResourceSpec
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.score import Abstained, Score, Scored
from assay.schema.task import Task
from assay.scoring.scorer import score_async

GOLD = Path(__file__).parent.parent / "tests" / "data" / "scienceworld" / "gold_paths.json.gz"

Kind = Literal["clean", "raises", "cancelled", "cancelled early", "killed", "hung", "silent"]
KINDS: Sequence[Kind] = (
    *("clean",) * 4, "raises", "cancelled", "cancelled early", "killed", "hung", "silent",
)  # fmt: skip

HANG_LIMIT_S = 1.0
"""How long a stopped world is waited for."""

CLERK = """
import sys
for line in sys.stdin:
    print(line.strip(), flush=True)
"""


class Clerk:
    """A world in a small process, which keeps the planted score and says it back."""

    name: str = "fault-clerk"
    limits: ClassVar[PoolLimits] = PoolLimits(cap=4)

    def __init__(self) -> None:
        self.step_timeout_s = 60.0
        self._process: subprocess.Popen[str] | None = None
        self._evidence: WorldEvidence | None = None
        self._dead = False

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    async def start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-E", "-c", CLERK],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        await self._say("ready")

    async def reset(self, task: Task) -> Observation:
        self._evidence = None
        await self._say("0")
        self._evidence = WorldEvidence(self.name, task.id, score=0.0)
        return Observation("ready", self._evidence)

    async def step(self, action: str) -> Observation:
        told = self.evidence()
        self._evidence = WorldEvidence(self.name, told.task_id, float(await self._say(action)))
        return Observation(action, self._evidence)

    def evidence(self) -> WorldEvidence:
        if not self.alive():
            raise DeadResource(f"clerk {self.pid} is gone")
        if self._evidence is None:
            raise NotReset("no episode")
        return self._evidence

    def forget(self) -> None:
        self._evidence = None

    def alive(self) -> bool:
        return not self._dead and self._process is not None and self._process.poll() is None

    async def close(self) -> None:
        self._dead = True
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    async def _say(self, line: str) -> str:
        try:
            async with asyncio.timeout(self.step_timeout_s):
                return await asyncio.to_thread(self._exchange, line)
        except (TimeoutError, asyncio.CancelledError, OSError, ValueError) as error:
            self._dead = True
            if self._process is not None:
                self._process.kill()
            if isinstance(error, asyncio.CancelledError):
                raise
            raise DeadResource(f"clerk {self.pid} does not answer") from error

    def _exchange(self, line: str) -> str:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise OSError("the clerk was closed")
        process.stdin.write(line + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            raise OSError("the clerk hung up")
        return answer.strip()


async def planted_reward(context: Context) -> Score:
    """The score that this rollout planted."""
    try:
        return Scored(context.evidence(Clerk.name).score or 0.0)
    except NotReset as error:
        return Abstained("not_reset", str(error))
    except ResourceError as error:
        return Abstained("env_error", str(error))


@dataclass(frozen=True, slots=True)
class Plan:
    """What one rollout does, and what it must be paid."""

    number: int
    kind: Kind
    scope: Scope
    task: Task
    actions: Sequence[str]
    expected: float
    fault_at: int
    delay_s: float


@dataclass(frozen=True, slots=True)
class Rig:
    """A world to break, and how to plant a score in it."""

    spec: ResourceSpec
    reward: str | Callable[..., Any]
    plant: Callable[[int, random.Random], tuple[Task, Sequence[str], float]]


class Killable(Protocol):
    """What the faults need to know of a world beside the protocol."""

    pid: int | None
    step_timeout_s: float

    async def step(self, action: str) -> Observation: ...


@dataclass(slots=True)
class Report:
    """What happened to all rollouts together."""

    rollouts: int
    endings: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    """Rollouts that were paid something else than they earned."""
    slots_lost: int = 0
    processes_left: int = 0
    elapsed_s: float = 0.0

    @property
    def passed(self) -> bool:
        return not self.wrong and not self.slots_lost and not self.processes_left


class Boom(Exception):
    """An agent's own failure."""


def clerk_rig() -> Rig:
    """Small processes, which start in milliseconds."""
    ENVIRONMENTS.add(Clerk.name, Clerk)

    def plant(number: int, dice: random.Random) -> tuple[Task, Sequence[str], float]:
        actions = [str(1000 * number + turn) for turn in range(1, dice.randint(3, 6))]
        return Task(id=f"task-{number}"), actions, float(actions[-1])

    return Rig(ResourceSpec(Clerk.name), planted_reward, plant)


def scienceworld_rig() -> Rig:
    """Real simulators: the score is planted by walking so far along a gold path."""
    paths = json.loads(gzip.decompress(GOLD.read_bytes()))
    names = ("find-plant", "find-animal", "test-conductivity", "chemistry-mix")

    def plant(number: int, dice: random.Random) -> tuple[Task, Sequence[str], float]:
        name = names[number % len(names)]
        path = paths[name]
        length = dice.randint(3, min(12, len(path["actions"])))
        task = Task(id=f"{name}/{path['var']}")
        return task, path["actions"][:length], path["scores"][length - 1] / 100

    spec = ResourceSpec("scienceworld", {"step_limit": 1_000})
    return Rig(spec, "scienceworld_reward", plant)


def _plans(rig: Rig, rollouts: int, seed: int) -> list[Plan]:
    plans = []
    for number in range(1, rollouts + 1):
        dice = random.Random(f"{seed}/{number}")
        task, actions, expected = rig.plant(number, dice)
        plans.append(
            Plan(
                number=number,
                kind=dice.choice(KINDS),
                scope=dice.choice(("global", "global", "rollout")),
                task=task,
                actions=actions,
                expected=expected,
                fault_at=dice.randrange(len(actions)),
                delay_s=dice.random() * 0.2,
            )
        )
    return plans


def _inject(plan: Plan, world: Killable) -> None:
    """Let the fault of this rollout happen."""
    if plan.kind == "raises":
        raise Boom(f"rollout {plan.number} fails by itself")
    if plan.kind == "cancelled":
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().call_soon(task.cancel)
    if plan.kind in ("killed", "hung"):
        assert world.pid is not None
        os.kill(world.pid, signal.SIGKILL if plan.kind == "killed" else signal.SIGSTOP)
        # Short only where the world is known to hang, so that a busy machine fails no other.
        world.step_timeout_s = HANG_LIMIT_S


async def _rollout(rig: Rig, plan: Plan, pools: Pools) -> Score:
    name = rig.spec.name
    opened = Context.open(
        task=plan.task,
        rollout_id=f"rollout-{plan.number}",
        pools=pools,
        environments={name: rig.spec},
    )
    async with opened as context:
        if plan.kind == "silent":
            await context.acquire_resource(name, plan.scope)
        else:
            await _play(plan, context, name)
        return await score_async(rig.reward, final_response=None, context=context)


async def _play(plan: Plan, context: Context, name: str) -> None:
    try:
        # The built-in worlds and the clerk all have a pid, which the protocol does not promise.
        world = cast(Killable, await context.environment(name, plan.scope))
        for turn, action in enumerate(plan.actions):
            if turn == plan.fault_at:
                _inject(plan, world)
            await world.step(action)
    except DeadResource:
        if plan.kind not in ("killed", "hung"):
            raise


def _verdict(plan: Plan, ending: Score | BaseException) -> str:
    """What is wrong with how a rollout ended; empty when nothing is."""
    match plan.kind:
        case "clean":
            fine = isinstance(ending, Scored) and ending.value == plan.expected
        case "silent":
            fine = isinstance(ending, Abstained) and ending.reason == "not_reset"
        case "killed" | "hung":
            fine = isinstance(ending, Abstained) and ending.reason == "env_error"
            # A score that was complete before the fault stands.
            fine = fine or (isinstance(ending, Scored) and ending.value == plan.expected)
        case "raises":
            fine = isinstance(ending, Boom)
        case "cancelled" | "cancelled early":
            fine = isinstance(ending, asyncio.CancelledError)
            fine = fine or (isinstance(ending, Scored) and ending.value == plan.expected)
    return "" if fine else f"rollout {plan.number} ({plan.kind}, {plan.expected}): {ending!r:.300}"


async def _all(rig: Rig, plans: Sequence[Plan], cap: int) -> Report:
    report = Report(len(plans))
    limits = {rig.spec.name: PoolLimits(cap=cap)}
    loop = asyncio.get_running_loop()
    async with Pools(limits) as pools:
        rollouts = []
        for plan in plans:
            rollout = asyncio.create_task(_rollout(rig, plan, pools))
            rollouts.append(rollout)
            if plan.kind == "cancelled early":
                loop.call_later(plan.delay_s, rollout.cancel)
        endings = await asyncio.gather(*rollouts, return_exceptions=True)
        status = pools.pool(rig.spec).status()
        report.slots_lost = status.leased + status.waiting + status.changing
        holders = [f"after-{number}" for number in range(cap)]
        pool = pools.pool(rig.spec)
        leases = [await pool.acquire(holder, timeout_s=60.0) for holder in holders]
        for lease in leases:
            await pool.release(lease, "global")
    for plan, ending in zip(plans, endings, strict=True):
        report.endings[f"{plan.kind}: {_name(ending)}"] += 1
        problem = _verdict(plan, ending)
        if problem:
            report.wrong.append(problem)
    return report


def _name(ending: Score | BaseException) -> str:
    if isinstance(ending, Abstained):
        return f"abstained ({ending.reason})"
    return "scored" if isinstance(ending, Scored) else type(ending).__name__


def run_faults(rig: Rig, *, rollouts: int = 200, cap: int = 4, seed: int = 0) -> Report:
    """Break `rollouts` rollouts over a pool of `cap` instances, and count what was lost."""
    begin = time.monotonic()
    before = set(psutil.Process().children(recursive=True))
    report = asyncio.run(_all(rig, _plans(rig, rollouts, seed), cap))
    report.processes_left = len(set(psutil.Process().children(recursive=True)) - before)
    report.elapsed_s = time.monotonic() - begin
    return report


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    failed = False
    for title, rig in (("clerk", clerk_rig()), ("scienceworld", scienceworld_rig())):
        report = run_faults(rig, rollouts=count)
        failed = failed or not report.passed
        print(
            f"{title}: {report.rollouts} rollouts over 4 instances in {report.elapsed_s:.1f} s: "
            f"{len(report.wrong)} wrong scores, {report.slots_lost} slots lost, "
            f"{report.processes_left} processes left"
        )
        for ending, times in sorted(report.endings.items()):
            print(f"  {ending}: {times}")
        for problem in report.wrong:
            print(f"  WRONG {problem}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
