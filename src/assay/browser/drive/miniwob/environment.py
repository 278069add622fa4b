"""MiniWoB++ as an environment: its pages and its own reward, in Assay's browser."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from assay.browser.chromium.shared import playwright_error
from assay.browser.drive.environment import BrowserEnvironment
from assay.browser.drive.miniwob.pages import PAGES, find_pages, read_page
from assay.browser.drive.page import BrowserPage
from assay.browser.observe.patience import Patience
from assay.errors import BadParameter, DeadResource
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task

if TYPE_CHECKING:
    from playwright.async_api import Page as Tab
    from playwright.async_api import Route

SITE: Final = "http://miniwob.localhost"
"""A name that never reaches a network: every request of the context is answered from the files."""
WINDOW: Final = {"width": 400, "height": 300}
LEFT: Final = "the agent left the page"
MOVING: Final = frozenset(("stock-market",))
"""Pages that change by the clock, so that two snapshots of one problem differ."""


_read_file = cache(read_page)
"""A file of the site, cached: an episode loads seven of them, and there are few."""


@dataclass(frozen=True, slots=True)
class MiniWobState:
    """The state of the episode, as the page reports it."""

    goal: str
    done: bool = False
    raw: float = 0.0
    """The page's own reward, from -1 to 1, without its discount for time."""
    reason: str = ""

    @property
    def reward(self) -> float:
        """1.0 for a positive raw reward, else 0.0, as in BrowserGym."""
        return float(self.raw > 0)


class MiniWob(BrowserEnvironment):
    """One MiniWoB++ page; `Task.id` is the name of the page and a seed, such as `click-link/7`.

    The episode ends when the page says so, when the agent leaves the page, or after `episode_s`.
    """

    name = "miniwob"

    def __init__(
        self,
        *,
        folder: str = "",
        episode_s: float = 1_000.0,
        chars: int = 100_000,
        screenshots: bool = False,
        shot_hash: bool = False,
        timeout_s: float = 10.0,
        headless: bool = True,
        patience: Patience | Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            chars=chars,
            # Scripts listen to plain elements on most of these pages.
            every_text=True,
            screenshots=screenshots,
            shot_hash=shot_hash,
            gates="not_required",
            timeout_s=timeout_s,
            timezone="UTC",
            headless=headless,
            patience=patience,
        )
        if not 0 < episode_s < 2_000_000:
            raise BadParameter(
                f"episode_s must be between 0 and 2,000,000 seconds, not {episode_s}"
            )
        self._context_options["viewport"] = WINDOW
        self._root = find_pages(folder)
        self._limit_ms = episode_s * 1000
        self._seed = 0
        self._state: MiniWobState | None = None

    async def check_run(self, tasks: Sequence[Task]) -> None:
        """Check that each task is a page and a seed, and that Chromium starts."""
        for task in tasks:
            _read_task(task)
        await super().check_run(())

    async def reset(self, task: Task) -> Observation:
        self.forget()
        page, self._seed = _read_task(task)
        start = {"start_url": f"{SITE}/miniwob/{page}.html"}
        return await super().reset(task.model_copy(update={"metadata": task.metadata | start}))

    async def _watch(self, tab: Tab, old: BrowserPage | None = None) -> None:
        if old is None:
            await tab.context.route("**/*", self._serve)
        await super()._watch(tab, old)

    async def _serve(self, route: Route) -> None:
        address = urlsplit(route.request.url)
        inside = f"{address.scheme}://{address.netloc}" == SITE
        file = _read_file(self._root, unquote(address.path)) if inside else None
        # The page may go away while it is being loaded.
        with suppress(playwright_error()):
            if file is None:
                await route.fulfill(status=404, content_type="text/plain", body="no such page")
            else:
                await route.fulfill(body=file.body, content_type=file.content_type)

    async def _begin(self, task: Task, start: str) -> Observation:
        observation = await super()._begin(task, start)
        if self._state is None:
            self._dead = f"the page of {task.id!r} did not load: {observation.text[:300]}"
            raise DeadResource(self._dead)
        return self._with_reward(observation)

    async def _on_done(self) -> None:
        # Started before the first snapshot, so that none shows a page that waits for its start.
        if self._state is not None:
            return
        options = {"seed": self._seed, "limitMs": self._limit_ms}
        try:
            async with asyncio.timeout(self.timeout_s):
                await self._tab().tab.evaluate(_script("start.js"), options)
                self._state = await self._read_state()
        except (playwright_error(), TimeoutError) as error:
            self._dead = f"the page did not start: {error}"
            raise DeadResource(self._dead) from error

    async def _step(self, action: str) -> Observation:
        if self._state is not None and self._state.done:
            return Observation("the episode is over", reward=0.0, raw_reward=0.0, done=True)
        observation = await super()._step(action)
        assert self._state is not None
        try:
            async with asyncio.timeout(self.timeout_s):
                self._state = await self._read_state()
        except (playwright_error(), TimeoutError) as error:
            self._check_alive(str(error))
            reason = f"the page does not answer: {error}"
            self._state = replace(self._state, done=True, reason=reason)
        return self._with_reward(observation)

    async def _read_state(self) -> MiniWobState:
        record: dict[str, Any] | None = await self._tab().tab.evaluate(_script("state.js"))
        if record is None:
            goal = "" if self._state is None else self._state.goal
            return MiniWobState(goal, done=True, reason=LEFT)
        raw = float(record["raw"] or 0.0)
        finite = min(1.0, max(-1.0, raw)) if math.isfinite(raw) else 0.0
        goal, reason = str(record["goal"]), str(record["reason"])[:500]
        return MiniWobState(goal, bool(record["done"]), finite, reason)

    def _with_reward(self, observation: Observation) -> Observation:
        """Put the goal before the text, and add the page's rewards."""
        state = self._state
        assert state is not None
        over = f"the episode is over: {state.reason or 'the page has judged'}\n"
        text = f"goal: {state.goal}\n{over if state.done else ''}{observation.text}"
        reward, raw = (state.reward, state.raw) if state.done else (0.0, 0.0)
        return replace(observation, text=text, reward=reward, raw_reward=raw, done=state.done)

    def evidence(self) -> WorldEvidence:
        """`score` is the page's raw reward; `progress` holds the reward of 0 or 1."""
        state = self._state
        if self._task is None or state is None or not state.done:
            self._require_episode()
        assert self._task is not None
        assert state is not None
        progress = {
            "goal": state.goal,
            "reward": state.reward,
            "raw_reward": state.raw,
            "reason": state.reason,
            "seed": self._seed,
            "steps": self._steps,
        }
        won = state.raw > 0 if state.done else None
        return WorldEvidence(self.name, self._task.id, state.raw, state.done, won, progress)

    def forget(self) -> None:
        super().forget()
        self._state = None

    def deterministic(self, task: Task) -> bool:
        """Whether the same actions always give the same observations."""
        return task.id.partition("/")[0] not in MOVING


def _read_task(task: Task) -> tuple[str, int]:
    page, _, seed = task.id.partition("/")
    if page not in PAGES or not seed.isdecimal() or len(seed) > 9:
        raise BadParameter(
            f"MiniWoB++ has no task {task.id!r}; a task is one of its {len(PAGES)} pages and a "
            "seed, such as 'click-link/7'"
        )
    return page, int(seed)


@cache
def _script(name: str) -> str:
    folder = resources.files("assay.browser.drive.miniwob")
    return folder.joinpath(name).read_text("utf-8").rstrip().rstrip(";")
