"""Observe the steps of one tab: `begin`, then the driver acts, then `end`.

    watch = await PageWatch.open(transport)
    scoring.record("", watch.first)
    between = await watch.begin("click", {"selector": "#save"})
    ...                                        the driver acts
    scoring.record("click", await watch.end(), arguments={"selector": "#save"})

The clicked element is read from the page's input events, so the arguments may be empty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import monotonic
from typing import Any, Final, Self

from assay.browser.observe.digest import call_signature, info_digest
from assay.browser.observe.inputs import SeenInput, read_input
from assay.browser.observe.isolated import DocumentLost
from assay.browser.observe.observer import TICK_S, PageObserver
from assay.browser.observe.patience import Patience
from assay.browser.observe.snapshot import PageSnapshot
from assay.browser.observe.transport import Transport
from assay.browser.outcome.blocks import find_block
from assay.browser.outcome.classify import classify_error
from assay.browser.outcome.effect import RetryElements, TargetedStep, came_back
from assay.browser.outcome.notices import Notice, find_notice
from assay.browser.outcome.pictures import StepPictures, missing_answers
from assay.schema.blocking import BlockCode
from assay.schema.evidence import PageEvidence, StepEvents
from assay.schema.observation import Observation
from assay.schema.outcome import Effect, ErrorCode, Gate, ToolOutcome

ANSWERED_S: Final = 0.5
"""How much later than its driver the browser may say that a dialog was answered."""
GatePolicy = Callable[[SeenInput | None], Gate]
"""Says whether a risky step on this target has its confirmation."""


class PageWatch:
    """Observes the steps of one tab; a page that does not answer is missing evidence."""

    def __init__(
        self,
        observer: PageObserver,
        transport: Transport,
        *,
        selectors: Sequence[str] = (),
        pictures: bool = True,
        every_text: bool = False,
        alone: bool = False,
    ) -> None:
        self.observer = observer
        self._transport = transport
        self._failures = missing_answers(transport)
        self._selectors = tuple(selectors)[:50]
        self._every_text = every_text
        self._alone = alone
        self._pictures = StepPictures(observer, transport, in_use=pictures, alone=alone)
        self.first = Observation("")
        """The page as it was when it was first observed."""
        self.snapshot: PageSnapshot | None = None
        """The last look at the page; `None` after one that failed."""
        self.trouble: Exception | None = None
        self.steps = 0
        """How many have begun; the first of an empty tab, which opens the page, is no step."""
        self._tool = ""
        self._arguments: Mapping[str, Any] = {}
        self._ref: int | None = None
        self._requested: str | None = None
        self._target: SeenInput | None = None
        self._latest: PageEvidence | None = None
        self._last: PageSnapshot | None = None
        self._before: PageSnapshot | None = None
        self._start: PageEvidence | None = None
        self._blocked = False
        self._retries = RetryElements()

    @classmethod
    async def open(
        cls,
        transport: Transport,
        *,
        patience: Patience | None = None,
        old: PageWatch | None = None,
        **options: Any,
    ) -> Self:
        """Start to watch a tab, with the record of the `old` watch of a lost tab.

        Without `pictures`, a change of a canvas is missed; with `every_text`, each text has a
        number; `alone` says that only the caller acts in the tab, which begins empty.
        """
        past = None if old is None else old.observer
        observer = await PageObserver.open(transport, patience=patience or Patience(), old=past)
        watch = cls(observer, transport, **options)
        if watch._alone:
            # Its first step opens the page.
            watch.steps = -1 if old is None else old.steps
            return watch
        await watch._quietly(observer.arrive())
        snapshot = await watch._look()
        await watch._quietly(observer.rest())
        outcome = None
        if snapshot is not None and watch._pictures.in_use:
            await watch._pictures.take(snapshot)
            watch._attach_tiles()
            outcome = ToolOutcome("open", effect=Effect.READ, gate="not_required", ok=True)
            outcome = outcome._replace(info=watch._pictures.digest)
        watch.first = watch._observation(snapshot, outcome)
        return watch

    async def begin(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        ref: int | None = None,
        requested: str | None = None,
    ) -> Observation | None:
        """Begin a step; return the page if it changed since the last observation, else `None`.

        `ref` is the number of the target, `requested` the address to open; both may also be among
        the arguments, as `selector` and `url`.
        """
        self.name(tool, arguments or {})
        self._ref, self._requested = ref, requested
        latest = self._latest
        self.steps += 1
        self.observer.begin(self.steps)
        # From here on nothing that happens is missed, whenever the driver begins to act.
        aim = {"ref": ref, "selector": str(self._arguments.get("selector") or "")}
        armed: dict[str, Any] = await self._quietly(self.observer.arm(aim)) or {}
        target = armed.get("target")
        self._target = None if target is None else read_input(target)
        before = self._last
        # What came since the last look is what a step that waits waits for, or a part of that.
        known = self._step.tool == "wait" or (self._alone and not armed.get("altered", True))
        if not (known and latest is not None) and not (self._alone and before is None):
            before = await self._look({"begins": True})
            self._attach_tiles()
        changed = before is not None and self._latest != latest
        if changed and before is not None and self._pictures.tell_more(before):
            await self._pictures.take(before)
            self._attach_tiles()
        self._before, self._start = before, self._latest
        return self._observation(before, None) if changed else None

    async def end(
        self, error: BaseException | str | None = None, *, gate: Gate | GatePolicy = "unknown"
    ) -> Observation:
        """End the step, wait until the page has settled, and return the observation.

        `error` is what the driver's call raised, or its message, not an assertion of the caller.
        """
        await self._quietly(self._wait_for_dialog(ANSWERED_S))
        await self._quietly(self.observer.settle())
        return await self.conclude(error, gate=gate)

    async def conclude(
        self,
        error: BaseException | str | None = None,
        *,
        gate: Gate | GatePolicy = "unknown",
        payload: str | None = None,
    ) -> Observation:
        """End the step on a settled page; `payload` is the text that the call returned."""
        observer, scroll = self.observer, self._scroll
        snapshot = await self._look_until_sure()
        if snapshot is not None and snapshot.waited and not snapshot.busy:
            await self._quietly(observer.watch_polls())
        await self._quietly(observer.watch_failures())
        await self._quietly(observer.read_tab_status())
        if snapshot is None or not snapshot.rested:
            await self._quietly(observer.rest())
        code: ErrorCode | None = None if error is None else classify_error(str(error))
        if code is None and observer.requests.document_lost:
            code = "nav_error"
        moved = self._scroll != scroll
        outcome = self._outcome(code, gate, await self._effect(code, snapshot, moved=moved))
        events = None
        if snapshot is not None:
            notice = None if outcome.effect == Effect.READ else self._notice(snapshot)
            events = self._events(snapshot, outcome, notice, scrolled_from=scroll[0])
            outcome = outcome._replace(block=self._block(snapshot, code, notice))
            pictured = await self._compare_pictures(snapshot)
            if code is None:
                info = self._pictures.digest if pictured else self._info(moved=moved)
                info = info_digest(payload) if payload else info
                outcome = outcome._replace(info=info)
            refused = observer.kinds_written(failed=True)
            self._retries.note(outcome, events, self._before, snapshot, refused=refused)
        observer.requests.rest()
        return self._observation(snapshot, outcome, events=events)

    def unseen(
        self, error: BaseException | str | None, *, gate: Gate | GatePolicy = "unknown"
    ) -> ToolOutcome:
        """The outcome of a step whose page can no longer be read."""
        code = None if error is None else classify_error(str(error))
        return self._outcome(code, gate, self._step.effect(moved=False))

    async def stand_by(self) -> None:
        """Prepare for a step that is not announced; `seen` begins that step."""
        self.name("", {})
        self._target = self._ref = self._requested = None
        self.steps += 1
        self._before, self._start = self._last, self._latest
        self.observer.begin(self.steps)
        self.observer.requests.rest()
        await self._quietly(self.observer.arm())
        await self._quietly(self.observer.rest())

    def seen(self) -> None:
        """Begin the unannounced step; later requests of the page belong to it."""
        self.observer.requests.begin(self.steps)

    def name(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Set the tool and the arguments of a step after its beginning."""
        self._tool, self._arguments = tool, dict(arguments)

    async def close(self) -> None:
        await self._quietly(self.observer.close())

    @property
    def url(self) -> str | None:
        return None if self._last is None else self._last.url

    @property
    def target(self) -> SeenInput | None:
        """The target of the step, if it is known by now."""
        return self._step.target

    @property
    def _step(self) -> TargetedStep:
        return TargetedStep(self._tool, self._arguments, self._target, self._before, self.observer)

    @property
    def _scroll(self) -> tuple[int, str]:
        """The scroll positions of the window and its parts in the last snapshot."""
        return (0, "") if self._last is None else (self._last.scroll[0], self._last.scrolls)

    async def _look_until_sure(self) -> PageSnapshot | None:
        """Read the page again until it is known which changes the step caused."""
        answered = not self.observer.requests.waiting
        snapshot = await self._look(self._field(), rests=answered)
        for _ in range(2):
            if answered and self.observer.requests.waiting:
                # It asked for something while it was read.
                await self._quietly(self.observer.settle())
                answered = False
            elif snapshot is None or not snapshot.suspects:
                break
            else:
                await self._quietly(self.observer.confirm())
            snapshot = await self._look(self._field())
        return snapshot

    async def _look(
        self, field: Mapping[str, Any] | None = None, *, rests: bool = False
    ) -> PageSnapshot | None:
        """Read the page; return `None` if it cannot be read."""
        self.snapshot = self._latest = self.trouble = None
        for _ in range(3):
            if self._alone:
                # The caller answers every one of them.
                await self._quietly(self._wait_for_dialog(self.observer.patience.answer_s))
            if self.observer.step.dialog_open:
                break
            try:
                self.snapshot = self._last = await self.observer.look(
                    every_text=self._every_text, selectors=self._selectors, field=field, rests=rests
                )
            except DocumentLost:
                await self._quietly(self.observer.arrive())
                continue
            except self._failures as error:
                self.trouble = error
                break
            self._latest = self.snapshot.evidence(sent=self.observer.requests.record.sent)
            break
        return self.snapshot

    async def _wait_for_dialog(self, limit_s: float) -> None:
        """Wait up to `limit_s` for the answer to an open dialog."""
        until = monotonic() + limit_s
        while self.observer.step.dialog_open and monotonic() < until:
            await self._transport.sleep(TICK_S)

    async def _quietly(self, work: Any) -> Any:
        # What cannot be asked is missing evidence, and no failure of the step.
        with suppress(*self._failures, DocumentLost):
            return await work
        return None

    def _field(self) -> dict[str, Any]:
        value = self._arguments.get("value", self._arguments.get("text"))
        return {
            "selector": self._arguments.get("selector"),
            "ref": self._ref,
            "value": value if self._step.tool == "fill" and isinstance(value, str) else None,
            "submitted": self.observer.requests.submitted,
        }

    def _events(
        self,
        snapshot: PageSnapshot,
        outcome: ToolOutcome,
        notice: Notice | None,
        *,
        scrolled_from: int,
    ) -> StepEvents:
        """The events of the step; for a call that fills a field, only that field's errors count."""
        rejected = snapshot.own
        if not self._step.fills:
            back = came_back(snapshot, self._before, self.observer.requests)
            rejected = len(snapshot.refused) + back
        kind = None if notice is None else notice.kind
        events = self.observer.events(
            snapshot, scrolled_from=scrolled_from, earlier=outcome.effect == Effect.READ
        )
        return events._replace(
            rejected=rejected,
            kept=snapshot.holds if outcome.error is None else None,
            refusals=kind == "failed",
            missing=kind in ("missing", "broken"),
        )

    def _notice(self, snapshot: PageSnapshot) -> Notice | None:
        step, requests = self.observer.step, self.observer.requests
        fresh, settled = requests.document is not None, not (snapshot.busy or requests.unanswered)
        own = self._step.fills
        return find_notice(
            snapshot, self._before, step.dialogs, fresh=fresh, own=own, settled=settled
        )

    def _block(
        self, snapshot: PageSnapshot, code: ErrorCode | None, notice: Notice | None
    ) -> BlockCode | None:
        target, requested = self._step.target, self._requested
        if requested is None and self._step.tool == "goto":
            requested = self._arguments.get("url", self._arguments.get("value"))
        block = find_block(
            self.observer.facts(snapshot),
            snapshot,
            self._before,
            self.observer.requests,
            requested=requested if isinstance(requested, str) and code is None else None,
            target="" if target is None else target.name,
            blocked=self._blocked,
            notice=notice,
        )
        # A page that was there before the first step has stopped none.
        self._blocked = block is not None and self._before is not None
        return block

    async def _effect(
        self, code: ErrorCode | None, snapshot: PageSnapshot | None, *, moved: bool
    ) -> Effect:
        """The effect of the step; for a failed step, the effect that it would have had."""
        step = self._step
        effect = step.effect(moved=moved)
        if snapshot is None or code is not None:
            return effect
        destroys = effect >= Effect.DESTRUCTIVE
        database = destroys and await self.observer.keeps_database(snapshot.url)
        return step.effect_on(snapshot, moved=moved, database=database)

    def _outcome(
        self, code: ErrorCode | None, gate: Gate | GatePolicy, effect: Effect
    ) -> ToolOutcome:
        target = self._step.target
        arguments: dict[str, Any] = dict(self._arguments)
        role, name = ("", "") if target is None else (target.role, target.name)
        on = None if target is None else [role, name]
        if not arguments and on is not None:
            arguments["on"] = on
        if on is None and "selector" in arguments:
            on = [arguments["selector"]]
        if on is None and isinstance(arguments.get("ref"), list):
            # An element that is gone, by its role and name.
            on = arguments["ref"][:2]
        written = self.observer.kinds_written(failed=False) if self._step.presses else ()
        goal = self._retries.goal(role, name, written=written)
        if goal is None and on is not None:
            goal = call_signature(self._tool, {"on": on})
        if effect < Effect.EXTERNAL:
            gate = "not_required"
        call, gate = call_signature(self._tool, arguments), gate(target) if callable(gate) else gate
        return ToolOutcome(self._tool, call, goal, effect, gate, code is None, code)

    def _info(self, *, moved: bool) -> str | None:
        """The digest of the page's text, if the step changed the text."""
        info = None if self._latest is None else self._latest.text
        if not moved and info == (None if self._start is None else self._start.text):
            return None
        target = self._step.target
        jumps = target is not None and target.jumps and self._step.tool == "click"
        if info is not None and (jumps or self._step.tool in ("scroll", "press")):
            # Another place on the same page is something new to see.
            position, inner = self._scroll
            info = info_digest(f"{info} at place {position // 50}x {inner}")
        return info

    async def _compare_pictures(self, snapshot: PageSnapshot) -> bool:
        """Attach the picture's tiles to the evidence; return whether only the picture changed."""
        pages = (self._start, self._latest)
        changed = await self._pictures.compare(snapshot, self._before, self._step.target, pages)
        if self._pictures.comparable:
            self._attach_tiles()
        return changed

    def _attach_tiles(self) -> None:
        if self._latest is not None and self._pictures.tiles is not None:
            self._latest = replace(self._latest, tiles=self._pictures.tiles)

    def _observation(
        self, snapshot: PageSnapshot | None, outcome: ToolOutcome | None, **rest: Any
    ) -> Observation:
        if snapshot is None:
            return Observation("", outcome=outcome, **rest)
        facts, cut = self.observer.facts(snapshot), bool(snapshot.omitted or snapshot.short)
        return Observation(
            snapshot.text, self._latest, outcome=outcome, facts=facts, truncated=cut, **rest
        )
