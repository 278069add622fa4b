"""The browser environment: it opens a start page, carries out actions and records evidence."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, get_args

from assay.browser.chromium.shared import (
    Browser,
    close_shared_browsers,
    playwright_error,
    shared_browser,
)
from assay.browser.drive.actions import BROWSER_ACTIONS, arguments_by_name, parse_action
from assay.browser.drive.gateway import AddressPolicy, own_places, start_gateway
from assay.browser.drive.page import BrowserPage, PageLost, PageOptions
from assay.browser.observe.digest import page_evidence
from assay.browser.observe.inputs import SeenInput
from assay.browser.observe.isolated import ActionFailed
from assay.browser.observe.patience import Patience
from assay.browser.observe.picture import Box, shot_hash
from assay.browser.observe.snapshot import PageSnapshot, render_payload
from assay.browser.outcome.classify import classify_error
from assay.errors import BadParameter, BadRecord, DeadResource, NotReset
from assay.resources.pool import PoolLimits
from assay.schema.action import ActionCall, BadAction
from assay.schema.evidence import PageEvidence, WorldEvidence
from assay.schema.observation import Observation
from assay.schema.outcome import Gate
from assay.schema.task import Task

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext
    from playwright.async_api import Page as Tab

Gates = Literal["unknown", "required", "satisfied", "not_required"]
"""Whether risky actions are confirmed; `required`: only those on the task's `approved` names."""
KNOWN_REFS: Final = 20_000
"""Elements of an episode that are remembered; the oldest are dropped first."""


class ActionTarget(NamedTuple):
    """The target element of an action, without its number."""

    role: str
    name: str
    nth: int = 0
    """Which of the elements with this role and name on the page."""


@dataclass(kw_only=True, eq=False, repr=False)
class BrowserEnvironment:
    """A browser tab with its own context; all rollouts of the process share one browser.

    A task's metadata has `start_url`, and may have `search_url`, `selectors` (for an outcome
    contract) and `approved` (see `Gates`). An action without its gate is carried out and recorded.
    Of private networks it reaches only its start page, its search and what `allow` lists
    (`host`, `host:port`, a network, or `*`).
    """

    name = "browser"
    limits: ClassVar[PoolLimits] = PoolLimits(cap=16)

    start_url: str = "about:blank"
    search_url: str = ""
    chars: int = 100_000
    payload_chars: int = 100_000
    every_text: bool = False
    screenshots: bool = False
    shot_hash: bool = False
    gates: Gates = "unknown"
    selectors: Sequence[str] = ()
    timeout_s: float = 15.0
    noop_s: float = 0.5
    timezone: str | None = None
    locale: str = "en-US"
    headless: bool = True
    allow: Sequence[str] | None = None
    patience: Patience | Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        options = get_args(Gates)
        if self.gates not in options:
            raise BadParameter(f"gates must be one of {', '.join(options)}, not {self.gates!r}")
        self._patience = Patience.of(self.patience)
        self._context_options: dict[str, Any] = {}
        self._browser: Browser | None = None
        self._context: BrowserContext | None = None
        self._launch = 0
        self._page: BrowserPage | None = None
        self._task: Task | None = None
        self._steps = 0
        self._url = ""
        self._targets: dict[str, ActionTarget] = {}
        self._before: PageEvidence | None = None
        """The page as the step began, if it had changed since the observation before."""
        self._dead = ""
        self._closed = False
        self._allowed = AddressPolicy.of(self.allow or ())

    @classmethod
    def driven(cls) -> Callable[..., BrowserEnvironment] | None:
        """The environment class for agents that drive the browser themselves, or `None`."""
        from assay.browser.drive.driven import AgentDrivenEnvironment

        return AgentDrivenEnvironment if cls is BrowserEnvironment else None

    @classmethod
    async def close_shared(cls) -> None:
        """Close every browser that this process shares."""
        await close_shared_browsers()

    async def check_run(self, tasks: Sequence[Task]) -> None:
        """Check the start addresses and start Chromium; raise an error if a check fails."""
        for task in tasks:
            self._start_address(task)
        await shared_browser(headless=self.headless)

    def _start_address(self, task: Task) -> str:
        """The start address of the task; raises `BadParameter` if it is not http(s)."""
        start = str(task.metadata.get("start_url", self.start_url))
        if start != "about:blank" and not start.startswith(("http://", "https://")):
            raise BadParameter(
                f"task {task.id!r}: start_url {start[:200]!r} is not http(s); serve your "
                "own page first: `python -m http.server`"
            )
        return start

    async def reset(self, task: Task) -> Observation:
        """Open the start page in a fresh context; raise `DeadResource` if it does not load."""
        self._check_open()
        start = self._start_address(task)
        self._task = None
        # The old context is closed in the background.
        self._leave()
        self._dead = ""
        self._browser = await shared_browser(headless=self.headless)
        return await self._browser.run(self._begin(task, start))

    async def _begin(self, task: Task, start: str) -> Observation:
        assert self._browser is not None
        policy = await self._policy(task, start)
        port = await self._browser.port_of(policy, partial(start_gateway, policy))
        proxy = {"server": f"http://127.0.0.1:{port}", "bypass": "<-loopback>"}
        places = {"locale": self.locale, "timezone_id": self.timezone, "proxy": proxy}
        tab = await self._browser.new_tab(**self._context_options, **places)
        self._allowed = policy
        self._context, self._launch = tab.context, self._browser.launches
        self._task, self._steps, self._targets = task, 0, {}
        await self._watch(tab)
        observation = await self._act(ActionCall("goto", (start,)))
        outcome = observation.outcome
        if outcome is not None and outcome.error == "nav_error":
            self._dead = f"the start page {start[:200]!r} did not load: {observation.text[:300]}"
            raise DeadResource(self._dead)
        # The agent reads what blocks it; none of its own steps was blocked.
        return replace(observation, outcome=outcome and outcome._replace(block=None))

    async def _policy(self, task: Task, start: str) -> AddressPolicy:
        """The policy that allows the episode's own pages and the addresses in `allow`."""
        search = str(task.metadata.get("search_url", self.search_url))
        return AddressPolicy.of((*(self.allow or ()), *await own_places((start, search))))

    def _selectors_of(self, task: Task) -> tuple[str, ...]:
        return (*self.selectors, *map(str, task.metadata.get("selectors", ())))

    async def _watch(self, tab: Tab, old: BrowserPage | None = None) -> None:
        """Continue the episode in `tab`, with the record and element numbers of the `old` page."""
        assert self._task is not None
        search = str(self._task.metadata.get("search_url", self.search_url))
        selectors, patience = self._selectors_of(self._task), self._patience
        options = PageOptions(
            self.timeout_s, search, self.noop_s, self._allowed, selectors, self.every_text, patience
        )
        try:
            self._page = await BrowserPage.open(tab, options, old=old)
        except playwright_error() as error:
            raise self._died(str(error)) from error
        except TimeoutError as error:
            # Other episodes may get on well in the same browser.
            self._dead = "Chromium opened a tab that does not answer; the machine may be too busy"
            raise DeadResource(self._dead) from error

    async def step(self, action: str) -> Observation:
        """Carry out one action; a wrong action only gives an error in the observation."""
        self._require_episode()
        assert self._browser is not None
        return await self._browser.run(self._step(action))

    async def _step(self, action: str) -> Observation:
        self._steps += 1
        call = parse_action(action)
        if isinstance(call, BadAction):
            await self._begin_watch("none", {"action": action[:1_000]})
            return await self._end(call.problem)
        return await self._act(call)

    async def _act(self, call: ActionCall) -> Observation:
        problem = payload = ""
        box: Box | None = None
        try:
            box = await self._begin_call(call)
            payload = await self._tab().do(call)
            await self._on_done()
        except (ActionFailed, PageLost, playwright_error()) as error:
            if isinstance(error, playwright_error()):
                self._check_alive(str(error))
            problem = str(error) or "the call failed"
        if not payload:
            return await self._end(problem, box=box)
        answer = render_payload(call.arguments[0], payload, chars=self.payload_chars)
        return await self._end(problem, answer, payload=payload)

    async def _begin_call(self, call: ActionCall) -> Box | None:
        """Begin the step; return the place of its element if screenshots are taken."""
        page, requested = self._tab(), None
        arguments: dict[str, Any] = dict(arguments_by_name(call))
        if call.name in ("goto", "search"):
            words = call.arguments[0]
            requested = words if call.name == "goto" else page.search_address(words)
        text = str(arguments.get("ref", ""))
        target = self._targets.get(text)
        if target is not None:
            # The same call has the same signature whatever number its element has.
            arguments["ref"] = list(target)
        number = None if target is None else int(text)
        await self._begin_watch(call.name, arguments, ref=number, requested=requested)
        if text and self.screenshots:
            with suppress(ActionFailed, PageLost, playwright_error()):
                return await page.box(text)
        return None

    async def _begin_watch(self, tool: str, arguments: Mapping[str, Any], **options: Any) -> None:
        """Begin the step; keep the page if it changed since the last observation."""
        changed = await self._tab().watch.begin(tool, arguments, **options)
        page = None if changed is None else changed.evidence
        self._before = page if isinstance(page, PageEvidence) else None

    async def _on_done(self) -> None:
        """Run after an action and before the page is read; a subclass may override this."""

    def _gate_of(self, target: SeenInput | None) -> Gate:
        """Whether a risky action on the target has its confirmation."""
        if self.gates != "required":
            return self.gates
        assert self._task is not None
        approved = self._task.metadata.get("approved", ())
        names = [approved] if isinstance(approved, str) else approved
        name = "" if target is None else target.name.strip().casefold()
        return "satisfied" if name in {str(n).strip().casefold() for n in names} else "missing"

    async def _end(
        self, problem: str, message: str = "", *, payload: str | None = None, box: Box | None = None
    ) -> Observation:
        """End the step, and return the observation with its outcome."""
        page, watch = self._tab(), self._tab().watch
        message = f"error: {_line(problem)}" if problem else message
        try:
            seen = await watch.conclude(problem or None, gate=self._gate_of, payload=payload)
            snapshot = watch.snapshot
            if snapshot is None:
                raise watch.trouble or PageLost("the page does not respond")
            picture = await page.screenshot() if self.screenshots else None
            shot = await self._hash_picture(snapshot) if self.shot_hash else None
        except PageLost as error:
            if str(error) not in message:
                message = f"{message}\nerror: {error}"
            return await self._replace_page(message, problem or str(error))
        except (ActionFailed, playwright_error(), TimeoutError) as error:
            self._check_alive(str(error))
            if classify_error(str(error)) == "target_closed":
                return await self._replace_page(message, problem or str(error))
            message = f"{message}\nerror: the page cannot be read: {_line(str(error))}"
            unseen = watch.unseen(problem or None, gate=self._gate_of)
            return Observation(message.strip(), outcome=unseen, actions=BROWSER_ACTIONS)
        self._remember(snapshot)
        outcome = seen.outcome
        assert outcome is not None
        assert isinstance(seen.evidence, PageEvidence)
        assert seen.facts is not None
        notes = page.take_notes()
        return replace(
            seen,
            text=snapshot.render(message, outcome.block, notes=notes, chars=self.chars),
            evidence=replace(seen.evidence, shot=shot),
            # A call that failed has changed nothing, and its agent has not seen that page yet.
            before=None if problem else self._before,
            outcome=outcome._replace(box=box),
            truncated=seen.truncated or len(snapshot.text) > self.chars,
            facts=replace(seen.facts, shot=shot),
            screenshot=picture,
            actions=BROWSER_ACTIONS,
        )

    async def _hash_picture(self, snapshot: PageSnapshot) -> int | None:
        picture = await self._tab().watch.observer.picture(snapshot)
        with suppress(BadRecord):
            return None if picture is None else shot_hash(picture.data)
        return None

    async def _replace_page(self, message: str, problem: str) -> Observation:
        """Continue the episode in an empty tab, and close the lost tab in the background."""
        assert self._context is not None
        assert self._browser is not None
        old = self._tab()
        outcome = old.watch.unseen(problem, gate=self._gate_of)
        try:
            await self._watch(await self._context.new_page(), old)
        except playwright_error() as error:
            raise self._died(str(error)) from error
        message = f"{message.strip()}\nnote: the page was closed, and an empty one opened; use goto"
        self._browser.submit(_close_quietly(old.tab.close()))
        return Observation(
            f"url: about:blank\n{message}",
            evidence=page_evidence(sent=old.watch.observer.requests.record.sent),
            outcome=outcome._replace(error=outcome.error or "target_closed"),
            actions=BROWSER_ACTIONS,
        )

    def _remember(self, snapshot: PageSnapshot) -> None:
        self._url = snapshot.url
        count: Counter[tuple[str, str]] = Counter()
        for number, role, name in snapshot.refs:
            self._targets[str(number)] = ActionTarget(role, name, count[role, name])
            count[role, name] += 1
        while len(self._targets) > KNOWN_REFS:
            del self._targets[next(iter(self._targets))]

    def _tab(self) -> BrowserPage:
        assert self._page is not None
        return self._page

    def _running(self) -> bool:
        """Whether the Chromium that opened the context still runs."""
        browser = self._browser
        return browser is not None and browser.alive and browser.launches == self._launch

    def _check_alive(self, problem: str) -> None:
        if not self._running():
            raise self._died(problem)

    def _died(self, problem: str) -> DeadResource:
        if self._browser is not None and self._running():
            self._browser.give_up()
        self._dead = f"Chromium ended: {_line(problem)}"
        return DeadResource(self._dead)

    def _check_open(self) -> None:
        if self._closed:
            raise DeadResource("the browser environment was closed")

    def _require_episode(self) -> None:
        self._check_open()
        if self._dead:
            raise DeadResource(self._dead)
        if self._task is None or self._page is None:
            raise NotReset("the browser was not reset to a task by this rollout")
        self._check_alive("it does not run any more")

    def evidence(self) -> WorldEvidence:
        self._require_episode()
        assert self._task is not None
        progress = {"steps": self._steps, "url": self._url}
        return WorldEvidence(self.name, self._task.id, progress=progress)

    def forget(self) -> None:
        self._task = None
        if not self._closed:
            self._dead = ""

    def alive(self) -> bool:
        unbound = self._context is None
        return not self._closed and not self._dead and (unbound or self._running())

    def _leave(self) -> Future[None] | None:
        """Close the context in the background, even if the caller is cancelled."""
        context, self._context, self._page = self._context, None, None
        if context is not None and self._browser is not None and self._running():
            with suppress(DeadResource):
                return self._browser.submit(_close_quietly(context.close()))
        return None

    async def close(self) -> None:
        self._closed, self._task = True, None
        closing = self._leave()
        if closing is not None:
            await asyncio.shield(asyncio.wrap_future(closing))


async def _close_quietly(closing: Coroutine[Any, Any, None]) -> None:
    # What died is closed already, and what hangs is not worth waiting for.
    with suppress(playwright_error(), TimeoutError):
        async with asyncio.timeout(5.0):
            await closing


def _line(text: str) -> str:
    return next((line.strip()[:500] for line in text[:2_000].splitlines() if line.strip()), "")
