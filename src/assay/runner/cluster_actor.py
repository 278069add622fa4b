"""The actor of a Ray run: it plays episodes, and sends what happens in them to the driver."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from assay.runner.cluster_payload import unpack
from assay.runner.plan import PlannedAttempt
from assay.runner.recorder import RunResources
from assay.runner.rollout import rollout
from assay.runner.run import open_run_resources
from assay.schema.episode import Episode, Step
from assay.schema.secrets import SecretMask, environment_secrets

WORKS: Literal["works"] = "works"
"""The agent has shown that it can do its work."""
Event: TypeAlias = Step | bytes | Literal["works"] | Episode
"""A step that was taken, an artifact that it refers to, or the whole episode, which is the last."""


@dataclass(frozen=True, slots=True)
class RemoteRecorder:
    """Stands in for the ledger in an actor: everything is sent to the driver, the one writer."""

    events: asyncio.Queue[Event | None] = field(default_factory=asyncio.Queue)
    """What happened; `None` when the episode is over."""
    mask: SecretMask = field(default_factory=lambda: SecretMask(environment_secrets(os.environ)))

    def steps(self, attempt: str) -> RemoteRecorder:  # noqa: ARG002 - an actor plays one at a time
        return self

    def write(self, step: Step) -> None:
        self.events.put_nowait(step)

    def artifact(self, data: bytes | str) -> str:
        content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        # Before its hash is made: the driver would mask it too, and store it under another one.
        content = self.mask.bytes(content)
        self.events.put_nowait(content)
        return hashlib.sha256(content).hexdigest()


class RolloutActor:
    """A process with its own environments, browser and service; plays one episode at a time."""

    def __init__(self, payload: bytes) -> None:
        self._payload = payload
        self._recorder = RemoteRecorder()
        self._over = asyncio.Event()
        self._lifetime: asyncio.Task[None] | None = None
        self._playing: asyncio.Task[None] | None = None
        self._resources: RunResources | None = None

    async def open(self) -> None:
        """Open what the episodes share; raises what the machine lacks for it."""
        ready = asyncio.get_running_loop().create_future()
        self._lifetime = asyncio.create_task(self._keep_open(ready))
        await asyncio.wait((ready, self._lifetime), return_when=asyncio.FIRST_COMPLETED)
        if self._lifetime.done():
            await self._lifetime
        self._resources = await ready

    async def play(self, attempt: str, planned_attempt: PlannedAttempt) -> AsyncIterator[Event]:
        """What happens, while it happens; the episode itself comes last."""
        assert self._resources is not None, "open() comes first"
        self._playing = asyncio.create_task(self._play(attempt, planned_attempt, self._resources))
        while (event := await self._recorder.events.get()) is not None:
            yield event
        await self._playing

    async def close(self) -> None:
        """Environments, browser and service are closed; an episode under way is broken off."""
        if self._playing is not None:
            self._playing.cancel()
            await asyncio.wait((self._playing,))
        self._over.set()
        if self._lifetime is not None:
            await asyncio.wait((self._lifetime,))

    async def _play(
        self, attempt: str, planned_attempt: PlannedAttempt, resources: RunResources
    ) -> None:
        events = self._recorder.events
        works = False

        def on_work() -> None:
            nonlocal works
            if not works:
                works = True
                events.put_nowait(WORKS)

        try:
            events.put_nowait(await rollout(attempt, planned_attempt, resources, on_work))
        finally:
            events.put_nowait(None)

    async def _keep_open(self, ready: asyncio.Future[RunResources]) -> None:
        # In a task of its own, so that what is opened is closed by the same one.
        plan, notes = unpack(self._payload)
        async with open_run_resources(plan, self._recorder, 1, notes) as resources:
            ready.set_result(resources)
            await self._over.wait()
