"""An environment for agents that drive the browser with their own driver.

Each episode has its own Chromium, whose pages reach only what the gateway allows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from assay.browser.chromium.own import OwnChromium, find_executable, start_chromium
from assay.browser.connect.devtools import StepContext
from assay.browser.connect.follower import BrowserFollower, SeenStep
from assay.browser.drive.environment import BrowserEnvironment
from assay.browser.drive.gateway import Gateway, start_gateway
from assay.errors import DeadResource, NotReset
from assay.resources.threads import LoopThread, watching_loop
from assay.schema.blocking import block_note
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task


class DrivenBrowser:
    """The browser that an agent drives in one episode, with the observed steps."""

    def __init__(self, loop: LoopThread, chromium: OwnChromium, gateway: Gateway) -> None:
        self._loop = loop
        self.cdp_url = chromium.address
        """Where the browser speaks the DevTools protocol: `http://127.0.0.1:PORT`."""
        self.chromium = chromium
        self.gateway = gateway
        self.follower: BrowserFollower
        self._steps: asyncio.Queue[SeenStep | None] = asyncio.Queue()

    def step(self, tool: str, **arguments: Any) -> StepContext:
        """Return a step that is recorded under the name `tool`."""
        return StepContext(self._loop, self.follower, tool, arguments)

    def put(self, step: SeenStep | None) -> None:
        self._steps.put_nowait(step)

    async def next_step(self) -> SeenStep | None:
        """Wait for the next step; raise `DeadResource` if the browser ends first."""
        step = asyncio.ensure_future(self._steps.get())
        gone = asyncio.ensure_future(self.follower.wait_closed())
        try:
            await asyncio.wait((step, gone), return_when=asyncio.FIRST_COMPLETED)
            if step.done():
                return step.result()
            raise DeadResource("Chromium ended")
        finally:
            step.cancel()
            gone.cancel()

    async def finish(self) -> None:
        # A browser that has gone is noticed by the wait for the next step.
        with suppress(DeadResource):
            await self.follower.flush()
        self.put(None)

    async def close(self) -> None:
        self.chromium.close()
        with suppress(AttributeError):
            await self.follower.close()
        await self.gateway.close()


@dataclass(kw_only=True, eq=False, repr=False)
class AgentDrivenEnvironment(BrowserEnvironment):
    """A browser that the agent drives itself; `screenshots` and `shot_hash` have no effect."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._loop = watching_loop()
        self._episode: DrivenBrowser | None = None
        self._count = 0

    async def check_run(self, tasks: Sequence[Task]) -> None:
        """Raise `BadParameter` if an address is not http(s), `MissingExtra` without Chromium."""
        for task in tasks:
            self._start_address(task)
        await self._loop.run(find_executable())

    @property
    def browser(self) -> DrivenBrowser:
        """The browser that the agent of this episode drives."""
        return self._running_episode()

    async def reset(self, task: Task) -> Observation:
        """Start a browser on the start page; raise `DeadResource` if the page does not load."""
        self._check_open()
        start = self._start_address(task)
        self.forget()
        return await self._loop.run(self._open(task, start))

    async def _open(self, task: Task, start: str) -> Observation:
        gateway = await start_gateway(await self._policy(task, start))
        try:
            chromium = await start_chromium(
                proxy=f"http://127.0.0.1:{gateway.port}",
                locale=self.locale,
                timezone=self.timezone,
                headless=self.headless,
            )
        except BaseException:
            await gateway.close()
            raise
        episode = DrivenBrowser(self._loop, chromium, gateway)
        try:
            self._task = task
            episode.follower = await BrowserFollower.open(
                chromium.address,
                selectors=self._selectors_of(task),
                gate=self._gate_of,
                on_step=episode.put,
                patience=self._patience,
            )
            first = await episode.follower.open_page(start)
            outcome = first.observation.outcome
            if outcome is not None and outcome.error == "nav_error":
                raise DeadResource(f"the start page {start[:200]!r} did not load")
        except BaseException:
            await episode.close()
            raise
        self._episode, self._count = episode, 0
        return _readable(first.observation)

    async def next_step(self) -> tuple[str, Observation] | None:
        """Return the agent's next action and its observation; `None` after the last action."""
        step = await self._loop.run(self._running_episode().next_step())
        if step is None:
            return None
        self._count += 1
        return step.action, _readable(step.observation)

    async def agent_is_done(self) -> None:
        """Finish the agent's last step, and let `next_step` return `None`."""
        await self._loop.run(self._running_episode().finish())

    async def step(self, action: str) -> Observation:
        """Return an error text, because the agent acts in the browser itself."""
        self._running_episode()
        return Observation(f"error: {action[:80]!r} was not done; drive the browser at its cdp_url")

    def _running_episode(self) -> DrivenBrowser:
        self._check_open()
        if self._episode is None:
            raise NotReset("the browser was not reset to a task by this rollout")
        return self._episode

    def evidence(self) -> WorldEvidence:
        self._running_episode()
        assert self._task is not None
        return WorldEvidence(self.name, self._task.id, progress={"steps": self._count})

    def forget(self) -> None:
        """End the browser of the episode, even if its agent still uses it."""
        self._task, episode, self._episode = None, self._episode, None
        if episode is not None:
            episode.chromium.close()
            self._loop.submit(episode.close())

    def alive(self) -> bool:
        episode = self._episode
        return not self._closed and (episode is None or episode.chromium.alive)

    async def close(self) -> None:
        """End the browser; a second call does nothing."""
        self._closed = True
        self.forget()


def _readable(observation: Observation) -> Observation:
    """Put the address and the title before the text of the page."""
    facts, outcome = observation.facts, observation.outcome
    if facts is None:
        return observation
    lines = [f"url: {facts.url}", f"title: {facts.title}"]
    if outcome is not None and outcome.block is not None:
        lines.append(block_note(outcome.block))
    if outcome is not None and outcome.error is not None:
        lines.append(f"error: {outcome.error}")
    return replace(observation, text="\n".join([*lines, "", observation.text]))
