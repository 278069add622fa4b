"""The base class of environments whose episodes run in a separate process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, Protocol, TypeVar

from assay.errors import DeadResource, NotReset
from assay.schema.evidence import WorldEvidence

T = TypeVar("T")


class EnvironmentProcess(Protocol):
    """Protocol of an environment's process: its id, its state and its end."""

    @property
    def pid(self) -> int | None:
        """The id of the process, or `None` before the process was started."""

    def is_running(self) -> bool:
        """Whether the process was started and has not ended."""

    def kill(self) -> None:
        """Kill the process without waiting for its end."""

    def close(self) -> None:
        """End the process, wait for its end, and free its resources."""


class OwnProcessEnvironment:
    """An environment that calls its own process from a single thread.

    A call that fails, takes too long or is cancelled ends the process: what it did to the episode
    is not known. An episode that was over before keeps its evidence.
    """

    name: str
    title: ClassVar[str]
    """How messages call the environment."""
    process_title: ClassVar[str] = "process"
    """How messages call its process."""
    failures: ClassVar[tuple[type[Exception], ...]]
    """What a call raises when the process fails it."""

    def __init__(self, process: EnvironmentProcess) -> None:
        self._process = process
        # One thread: calls that run in parallel take turns.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix=self.name)
        self._calls = 0
        self._cause_of_death = ""
        self._evidence: WorldEvidence | None = None

    @property
    def pid(self) -> int | None:
        """The id of the process, or `None` before the process was started."""
        return self._process.pid

    def _describe(self, error: Exception) -> str:
        """The last part of the error message about a failed call."""
        return f" ({error})"

    def evidence(self) -> WorldEvidence:
        evidence = self._evidence
        if not self.alive() and not (evidence and evidence.done):
            raise self._dead()
        if evidence is None:
            raise NotReset(
                f"this {self.title} has no episode; start an episode with `await world.reset(task)`"
            )
        return evidence

    def alive(self) -> bool:
        startable = self._process.pid is None
        return not self._cause_of_death and (startable or self._process.is_running())

    async def close(self) -> None:
        self._evidence = None
        self._die("it was closed")
        self._worker.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self._process.close)

    async def _run(self, what: str, act: Callable[[], T], limit_s: float) -> T:
        if not self.alive():
            raise self._dead()
        self._calls += 1
        try:
            async with asyncio.timeout(limit_s):
                result = await asyncio.wrap_future(self._worker.submit(act))
        except TimeoutError as error:
            self._die(f"{what} took longer than {limit_s:g} s")
            raise self._dead() from error
        except asyncio.CancelledError:
            self._die(f"{what} was cancelled half-way")
            raise
        except self.failures as error:
            self._die(f"{what} failed{self._describe(error)}")
            raise self._dead() from error
        finally:
            self._calls -= 1
        if self._cause_of_death:
            raise self._dead()
        return result

    def _die(self, cause: str) -> None:
        self._cause_of_death = self._cause_of_death or cause
        self._process.kill()

    def _dead(self) -> DeadResource:
        cause = self._cause_of_death or f"its {self.process_title} {self.pid} has ended"
        return DeadResource(f"this {self.title} is dead: {cause}")
