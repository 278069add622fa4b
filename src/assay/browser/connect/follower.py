"""Follow all tabs of a browser that another program drives, step by step.

A step is what the driver reports, or else input that a page received or an address that opened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import Any, Final, NamedTuple, Self

from assay.browser.chromium import cdp
from assay.browser.observe.inputs import SeenInput
from assay.browser.observe.patience import Patience
from assay.browser.observe.transport import STATUS_SCRIPT, TAB_TICKS, TICK_S
from assay.browser.outcome.watch import GatePolicy, PageWatch
from assay.errors import DeadResource
from assay.schema.action import ActionCall
from assay.schema.observation import Observation
from assay.schema.outcome import Gate

BURST_S: Final = 0.3
"""Actions that are closer together are one step; a person, or a model, takes longer."""
FIRST_TAB_S: Final = 5.0
CALLS: Final = 20
"""Actions of one step that are named; of more, the last."""
SHOWN_S: Final = 2.0
"""How long a tab is asked whether it is shown; one with a dialog does not answer."""
SHOWN_SCRIPT: Final = "document.visibilityState === 'visible'"
TOOLS: Final[Mapping[str, str]] = {"click": "click", "press": "press", "input": "fill"}


class SeenCall(NamedTuple):
    """An action that was observed in the browser: its tool and its target."""

    tool: str
    target: str = ""
    """Role and name of an element, or an address."""

    @property
    def text(self) -> str:
        return ActionCall(self.tool, (self.target,) if self.target else ()).text


class SeenStep(NamedTuple):
    """One observed step of the driving program: its action and the observation after it."""

    action: str
    tool: str
    """Of several actions, the last one's."""
    observation: Observation
    arguments: Mapping[str, Any]


_PARTS: Final = frozenset((("fill", "fill"), ("click", "press"), ("fill", "click")))
"""Calls on one element of which the second is part of the first: a tick, and its click."""


def merged(calls: Sequence[SeenCall]) -> tuple[SeenCall, ...]:
    """Merge actions that belong together, such as a click on a field and the typing in it."""
    out: list[SeenCall] = []
    for call in calls:
        pair = (out[-1].tool, call.tool) if out and out[-1].target == call.target else None
        if pair == ("click", "fill"):
            out[-1] = call
        elif pair not in _PARTS:
            out.append(call)
    return tuple(out[-CALLS:])


@dataclass(eq=False)
class FollowedTab:
    """A tab with its watch, and the actions in it since its last step."""

    target_id: str
    session: cdp.ProtocolSession
    watch: PageWatch
    seen: Observation
    opener_id: str
    """The tab that opened it; empty if none did."""
    active_at: float
    calls: list[SeenCall] = field(default_factory=list)
    script_navigates: bool = False
    """Whether the page itself asked for the document that comes next."""


class BrowserFollower:
    """Follows all tabs of a browser, on the event loop that opened it."""

    def __init__(
        self,
        connection: cdp.ProtocolConnection,
        *,
        selectors: Sequence[str] = (),
        gate: GatePolicy | None = None,
        on_step: Callable[[SeenStep], None] = lambda _: None,
        on_change: Callable[[Observation], None] = lambda _: None,
        patience: Patience | None = None,
    ) -> None:
        """`on_step` receives each step, and `on_change` receives its first page, if that is new."""
        self._patience = patience
        self._connection = connection
        self._selectors = selectors
        self._gate = gate
        self._on_step = on_step
        self._on_change = on_change
        self._tabs: dict[str, FollowedTab] = {}
        self._opening: set[asyncio.Task[None]] = set()
        self._shown: FollowedTab | None = None
        self.reporting = False
        """Whether a step was begun, and has not ended."""
        self._reported_tab: FollowedTab | None = None
        self._tool = ""
        self._arguments: Mapping[str, Any] = {}
        self._stirred = asyncio.Event()
        self._stepping = asyncio.Lock()
        self._following: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, address: str, **options: Any) -> Self:
        """Follow the browser at `address`; raise `DeadResource` if it has no tab."""
        follower = cls(await cdp.connect_to_browser(address), **options)
        browser = follower._connection.browser
        browser.on("Target.attachedToTarget", follower._on_attached)
        browser.on("Target.detachedFromTarget", follower._on_detached)
        attach = {**cdp.AUTO_ATTACH, "filter": [{"type": "page"}]}
        try:
            await browser.send("Target.setAutoAttach", attach)
            until = monotonic() + FIRST_TAB_S
            while not follower._tabs:
                if monotonic() > until or follower.closed:
                    raise DeadResource("the browser has no tab that could be watched")
                await asyncio.sleep(0.01)
            follower._shown = follower._latest
        except (cdp.ProtocolError, DeadResource) as error:
            await follower.close()
            raise DeadResource(str(error)) from error
        follower._following = asyncio.create_task(follower._follow())
        return follower

    @property
    def closed(self) -> bool:
        return self._connection.closed.is_set()

    async def wait_closed(self) -> None:
        await self._connection.closed.wait()

    def _on_attached(self, event: dict[str, Any]) -> None:
        target = event["targetInfo"]
        if target["type"] != "page":
            return
        session = self._connection.session(str(event["sessionId"]))
        opening = asyncio.create_task(self._open_tab(target, session))
        self._opening.add(opening)
        opening.add_done_callback(self._opening.discard)

    async def _open_tab(self, target: Mapping[str, Any], session: cdp.ProtocolSession) -> None:
        target_id = str(target["targetId"])
        # A tab that closes at once is none.
        with suppress(cdp.ProtocolError, TimeoutError):
            shown = await _is_shown(session)
            watch = await PageWatch.open(
                session, selectors=self._selectors, pictures=shown, patience=self._patience
            )
            tab = FollowedTab(
                target_id, session, watch, watch.first, str(target.get("openerId", "")), monotonic()
            )
            session.status_of_opened = partial(self._status_of_opened, target_id)
            session.on("Runtime.bindingCalled", lambda event: self._on_binding(tab, event))
            session.on("Page.frameRequestedNavigation", lambda e: self._on_requested(tab, e))
            session.on("Page.frameScheduledNavigation", lambda e: self._on_requested(tab, e))
            session.on("Page.frameStartedNavigating", lambda e: self._on_navigating(tab, e))
            await watch.stand_by()
            if not session.gone:
                self._tabs[session.session_id] = tab

    async def _status_of_opened(self, target_id: str) -> int | None:
        """The HTTP status of the newest tab that a tab opened; `None` if it has not loaded."""
        await asyncio.gather(*self._opening)
        opened = [tab for tab in self._tabs.values() if tab.opener_id == target_id]
        for _ in range(TAB_TICKS if opened else 0):
            session = opened[-1].session
            answer = await session.send("Runtime.evaluate", {"expression": STATUS_SCRIPT})
            if status := int(answer["result"].get("value") or 0):
                return status
            await asyncio.sleep(TICK_S)
        return None

    def _on_detached(self, event: dict[str, Any]) -> None:
        self._connection.forget(str(event["sessionId"]))
        tab = self._tabs.pop(str(event["sessionId"]), None)
        if tab is not None and tab is self._reported_tab:
            self._reported_tab = None

    def _on_binding(self, tab: FollowedTab, event: dict[str, Any]) -> None:
        inputs = tab.watch.observer.step.inputs
        if tab.watch.observer.scripts.is_ours(str(event.get("name", ""))) and inputs:
            seen = inputs[-1]
            if tool := TOOLS.get(seen.kind):
                self._notice(tab, SeenCall(tool, f"{seen.role} {seen.name}".strip()[:200]))

    def _on_requested(self, tab: FollowedTab, event: dict[str, Any]) -> None:
        if event.get("frameId") == tab.watch.observer.frame_id:
            tab.script_navigates = True

    def _on_navigating(self, tab: FollowedTab, event: dict[str, Any]) -> None:
        if event.get("frameId") != tab.watch.observer.frame_id:
            return
        by_script, tab.script_navigates = tab.script_navigates, False
        kind = str(event.get("navigationType", ""))
        if by_script or kind == "sameDocument":
            return
        if "history" in kind.lower():
            self._notice(tab, SeenCall("back"))
        elif kind.lower().startswith("reload"):
            self._notice(tab, SeenCall("reload"))
        else:
            self._notice(tab, SeenCall("goto", str(event.get("url", ""))[:2_000]))

    def _notice(self, tab: FollowedTab, call: SeenCall) -> None:
        tab.active_at = monotonic()
        if tab is not self._reported_tab and not tab.calls:
            tab.watch.seen()
        tab.calls.append(call)
        del tab.calls[: -5 * CALLS]
        self._stirred.set()

    @property
    def first(self) -> Observation:
        return Observation("") if self._shown is None else self._shown.watch.first

    @property
    def _latest(self) -> FollowedTab | None:
        return max(self._tabs.values(), key=lambda tab: tab.active_at, default=None)

    def _tab_at(self, url: str | None) -> FollowedTab | None:
        tabs = [tab for tab in self._tabs.values() if url is not None and tab.watch.url == url]
        return max(tabs, key=lambda tab: tab.active_at, default=None)

    async def _follow(self) -> None:
        """Finish each unreported step after its tab has had no input for a while."""
        while True:
            await self._stirred.wait()
            self._stirred.clear()
            await self.flush(at_once=False)

    async def _finish(self, tab: FollowedTab, *, at_once: bool) -> None:
        while not at_once and (left := tab.active_at + BURST_S - monotonic()) > 0:
            await asyncio.sleep(left)
        calls = merged(tab.calls)
        tab.calls = []
        last = calls[-1]
        arguments: dict[str, Any] = {}
        if last.target:
            arguments["url" if last.tool == "goto" else "target"] = last.target
        if len(calls) > 1:
            arguments["calls"] = [list(call) for call in calls]
        text = "; ".join(call.text for call in calls)
        tab.watch.name(last.tool, arguments)
        observation = self._show(tab, await tab.watch.end(gate=self._gate_for(tab)))
        await tab.watch.stand_by()
        if tab.calls:
            # The driver was quicker than the look at the page.
            tab.watch.seen()
        self._on_step(SeenStep(text, last.tool, observation, arguments))

    def _show(self, tab: FollowedTab, seen: Observation) -> Observation:
        """Return `seen`; first report the tab's earlier page if another tab was shown last."""
        if tab is not self._shown:
            self._on_change(replace(tab.seen, outcome=None, events=None))
        self._shown, tab.seen = tab, seen
        return seen

    def _gate_for(self, tab: FollowedTab) -> Gate:
        return "unknown" if self._gate is None else self._gate(tab.watch.target)

    async def flush(self, *, at_once: bool = True) -> None:
        """Finish the steps so far; with `at_once`, do not wait for more input."""
        async with self._stepping:
            for tab in tuple(self._tabs.values()):
                if tab.calls and not self.reporting:
                    await self._finish(tab, at_once=at_once)

    async def begin(
        self, tool: str, arguments: Mapping[str, Any] | None = None, *, url: str | None = None
    ) -> None:
        """Begin a reported step in the tab at `url`, or else in the latest tab."""
        await self.flush()
        async with self._stepping:
            self.reporting = True
            self._tool, self._arguments = tool, dict(arguments or {})
            tab = self._reported_tab = self._tab_at(url) or self._latest
            if tab is not None:
                tab.active_at = monotonic()
                changed = await tab.watch.begin(tool, self._arguments)
                if changed is not None:
                    self._shown, tab.seen = tab, changed
                    self._on_change(changed)

    async def end(self, error: BaseException | str | None = None, *, tell: bool = True) -> SeenStep:
        """End the reported step, with the driver's error if it failed."""
        async with self._stepping:
            await asyncio.gather(*self._opening)
            first, tab = self._reported_tab, self._latest
            if first is not None and first.calls:
                # A tab that it opened is not what it was done in.
                tab = first
            target = None if tab is None else tab.watch.target
            observation = Observation("")
            if tab is not None:
                tab.watch.name(self._tool, self._arguments)
                observation = self._show(tab, await tab.watch.end(error, gate=self._gate_for(tab)))
            for each in {one for one in (first, tab) if one is not None}:
                each.calls = []
                await each.watch.stand_by()
            self.reporting, self._reported_tab = False, None
            action = ActionCall(self._tool, _values(self._arguments, target)).text
            step = SeenStep(action, self._tool, observation, self._arguments)
            if tell:
                self._on_step(step)
            return step

    async def open_page(self, url: str) -> SeenStep:
        """Open an address as a step of Assay, which does not count for the agent."""
        tab = self._latest
        assert tab is not None
        await self.begin("goto", {"url": url})
        try:
            problem = (await tab.session.send("Page.navigate", {"url": url})).get("errorText")
        except cdp.ProtocolError as error:
            problem = str(error)
        return await self.end(f"Navigation failed: {problem}" if problem else None, tell=False)

    async def close(self) -> None:
        tasks = [*self._opening, *([self._following] if self._following else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._connection.close()


async def _is_shown(session: cdp.ProtocolSession) -> bool:
    """Whether a window shows the tab; a hidden tab gives no picture."""
    with suppress(cdp.ProtocolError, TimeoutError):
        async with asyncio.timeout(SHOWN_S):
            answer = await session.send("Runtime.evaluate", {"expression": SHOWN_SCRIPT})
            return answer["result"].get("value") is True
    return False


def _values(arguments: Mapping[str, Any], target: SeenInput | None) -> tuple[str, ...]:
    """The arguments in an action's text: its own values and its target element."""
    values = [str(value)[:200] for name, value in arguments.items() if name != "calls"]
    if target is not None and target.name and target.name not in values:
        values.append(f"{target.role} {target.name}".strip()[:200])
    return tuple(values)
