"""The side of a cluster run that is elsewhere: plays episodes, and tells what happens in them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TypeAlias

from assay.runner.cluster_luggage import unpack
from assay.runner.execute import open_stage
from assay.runner.plan import Assignment
from assay.runner.rollout import rollout
from assay.runner.story import Stage
from assay.schema.episode import Episode, Step

Event: TypeAlias = Step | bytes | Episode
"""A step that was taken, an artifact that it refers to, or the whole episode, which is the last."""


@dataclass(frozen=True, slots=True)
class Telegraph:
    """Stands in for the ledger where episodes are played: everything goes to the one writer."""

    events: asyncio.Queue[Event | None] = field(default_factory=asyncio.Queue)
    """What happened; `None` when the episode is over."""

    def steps(self, attempt: str) -> Telegraph:  # noqa: ARG002 - a player plays one at a time
        return self

    def write(self, step: Step) -> None:
        self.events.put_nowait(step)

    def artifact(self, data: bytes | str) -> str:
        content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        self.events.put_nowait(content)
        return hashlib.sha256(content).hexdigest()


class Player:
    """One process with its own worlds, browser and service; it plays one episode at a time."""

    def __init__(self, luggage: bytes) -> None:
        self._luggage = luggage
        self._telegraph = Telegraph()
        self._over = asyncio.Event()
        self._house: asyncio.Task[None] | None = None
        self._playing: asyncio.Task[None] | None = None
        self._stage: Stage | None = None

    async def open(self) -> None:
        """The stage is set; what the machine lacks for it is raised here."""
        ready = asyncio.get_running_loop().create_future()
        self._house = asyncio.create_task(self._keep_open(ready))
        await asyncio.wait((ready, self._house), return_when=asyncio.FIRST_COMPLETED)
        if self._house.done():
            await self._house
        self._stage = await ready

    async def play(self, attempt: str, assignment: Assignment) -> AsyncIterator[Event]:
        """What happens, while it happens; the episode itself comes last."""
        assert self._stage is not None, "open() comes first"
        self._playing = asyncio.create_task(self._play(attempt, assignment, self._stage))
        while (event := await self._telegraph.events.get()) is not None:
            yield event
        await self._playing

    async def close(self) -> None:
        """Worlds, browser and service are gone; an episode under way is broken off."""
        if self._playing is not None:
            self._playing.cancel()
            await asyncio.wait((self._playing,))
        self._over.set()
        if self._house is not None:
            await asyncio.wait((self._house,))

    async def _play(self, attempt: str, assignment: Assignment, stage: Stage) -> None:
        events = self._telegraph.events
        try:
            events.put_nowait(await rollout(attempt, assignment, stage))
        finally:
            events.put_nowait(None)

    async def _keep_open(self, ready: asyncio.Future[Stage]) -> None:
        # In a task of its own, so that what is opened is closed by the same one.
        plan, notes = unpack(self._luggage)
        async with open_stage(plan, self._telegraph, 1, notes) as stage:
            ready.set_result(stage)
            await self._over.wait()
