"""The steps of a tab that somebody else drives, as observations that can be scored.

    watch = await PageWatch.open(transport)
    scoring.record("", watch.first)
    between = await watch.begin("click", {"selector": "#save"})
    ...                                        the driver acts
    scoring.record("click", await watch.end(), arguments={"selector": "#save"})

Over a raw websocket beside another driver, write a `Transport` (its docstring says how) and use it
in the same way; `begin` may be left until the driver is known to act, and `end` called when it
reports that it is done. What was clicked is read from the input events that the page received, so
the arguments may be empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final, Self

from assay.browser.observe.digest import call_signature, info_digest
from assay.browser.observe.inputs import SeenInput, read_input
from assay.browser.observe.isolated import ActionFailed, DocumentLost
from assay.browser.observe.observer import PageObserver
from assay.browser.observe.snapshot import PageSnapshot
from assay.browser.observe.tiles import Box, WindowPicture, changed_tiles, tiles_of
from assay.browser.observe.transport import Transport
from assay.browser.outcome.aimed_step import AimedStep
from assay.browser.outcome.classify import classify_error
from assay.browser.outcome.notices import Notice
from assay.browser.outcome.obstacles import (
    OfferedRetries,
    came_back,
    find_block,
    find_notice,
    submitted,
)
from assay.schema.blocking import BlockCode
from assay.schema.evidence import PageEvidence, PageFacts
from assay.schema.observation import Observation
from assay.schema.outcome import Effect, ErrorCode, Gate, ToolOutcome

ANSWER_S: Final = 5.0
"""How long a page may take to answer a question about itself."""
MOVES_S: Final = 0.15
"""After so long it shows which parts of a picture move by themselves."""


class PageWatch:
    """Follows one tab from step to step; every method returns, whatever the page does."""

    def __init__(self, observer: PageObserver, transport: Transport) -> None:
        self.observer = observer
        self._transport = transport
        self._failures: tuple[type[Exception], ...] = (
            *transport.errors,
            TimeoutError,
            ActionFailed,
        )
        self._selectors: Sequence[str] = ()
        self.first = Observation("")
        """The page as it was when it was first observed."""
        self._steps = 0
        self._latest: PageEvidence | None = None
        self._scroll = (0, "")
        self._tool = ""
        self._arguments: Mapping[str, Any] = {}
        self._target: SeenInput | None = None
        self._last: PageSnapshot | None = None
        self._before: PageSnapshot | None = None
        self._text: str | None = None
        self._blocked = False
        self._retries = OfferedRetries()
        self._pictures = True
        self._picture: WindowPicture | None = None
        self._tiles: str | None = None
        self._boxes: tuple[Box, ...] = ()

    @classmethod
    async def open(
        cls, transport: Transport, *, selectors: Sequence[str] = (), pictures: bool = True
    ) -> Self:
        """A watch over the tab, from now on.

        `selectors` are what an outcome contract reads; without `pictures`, a change that only the
        eye can see, as on a canvas, is not seen.
        """
        observer = await PageObserver.open(transport, answer_s=ANSWER_S)
        watch = cls(observer, transport)
        watch._selectors, watch._pictures = tuple(selectors)[:50], pictures
        await watch._quietly(observer.arrive())
        snapshot = await watch._look()
        await watch._quietly(observer.rest())
        outcome = None
        if snapshot is not None and pictures:
            watch._picture = await observer.picture(snapshot)
            watch._tiles = None if watch._picture is None else tiles_of(watch._picture)
            watch._attach_tiles()
            outcome = ToolOutcome("open", effect=Effect.READ, gate="not_required", ok=True)
            outcome = outcome._replace(info=watch._picture_digest())
        watch.first = watch._observation(snapshot, outcome)
        return watch

    async def begin(
        self, tool: str, arguments: Mapping[str, Any] | None = None
    ) -> Observation | None:
        """A step begins; the page as it is, if it changed since the last look, else `None`."""
        self._tool, self._arguments = tool, dict(arguments or {})
        latest = self._latest
        self._steps += 1
        self.observer.begin(self._steps)
        # From here on nothing that happens is missed, whenever the driver begins to act.
        await self._quietly(self.observer.arm())
        if self._step.tool == "wait" and latest is not None:
            # What came since the last look is what it waits for, or a part of that.
            self._target, self._before, self._text = None, self._last, latest.text
            return None
        snapshot = await self._look({"begins": True})
        self._attach_tiles()
        changed = snapshot is not None and self._latest != latest
        if changed and self._pictures:
            assert snapshot is not None
            self._picture = await self.observer.picture(snapshot)
            self._tiles = None if self._picture is None else tiles_of(self._picture)
            self._attach_tiles()
        self._target = await self._describe(str(self._arguments.get("selector") or ""))
        self._before = snapshot
        self._text = None if self._latest is None else self._latest.text
        return self._observation(snapshot, None) if changed else None

    async def end(
        self, error: BaseException | str | None = None, *, gate: Gate = "unknown"
    ) -> Observation:
        """The step has ended; what is to be seen of it, once the page has settled.

        `error` is what the driver's own call raised, or its message; one that is not a tool's
        (an assertion of the caller) says nothing about the page, and must not be given.
        """
        scroll = self._scroll
        observer = self.observer
        await self._quietly(observer.settle())
        answered = not observer.requests.waiting
        snapshot = await self._look(self._field())
        for _ in range(2):
            if answered and observer.requests.waiting:
                # It asked for something while it was read.
                await self._quietly(observer.settle())
                answered = False
            elif snapshot is None or not snapshot.suspects:
                break
            else:
                await self._quietly(observer.confirm())
            snapshot = await self._look(self._field())
        if snapshot is not None and snapshot.waited and not snapshot.busy:
            await self._quietly(observer.watch_polls())
        await self._quietly(observer.watch_failures())
        await self._quietly(observer.look_at_tab())
        await self._quietly(observer.rest())
        code: ErrorCode | None = None if error is None else classify_error(str(error))
        if code is None and observer.requests.document_lost:
            code = "nav_error"
        moved = self._scroll != scroll
        outcome = self._outcome(code, gate, await self._effect(code, snapshot, moved=moved))
        events = None
        if snapshot is not None:
            reads = outcome.effect == Effect.READ
            notice = None if reads else self._notice(snapshot)
            kind = None if notice is None else notice.kind
            events = observer.events(
                snapshot,
                scrolled_from=scroll[0],
                rejected=self._rejected(snapshot),
                holds=snapshot.holds if code is None else None,
                earlier=reads,
                refusals=kind == "failed",
                missing=kind in ("missing", "broken"),
            )
            outcome = outcome._replace(block=self._block(snapshot, notice))
            pictured = await self._compare_pictures(snapshot)
            if code is None:
                info = self._picture_digest() if pictured else self._info(moved=moved)
                outcome = outcome._replace(info=info)
            refused = observer.kinds_written(failed=True)
            self._retries.note(outcome, events, self._before, snapshot, refused=refused)
        observer.requests.rest()
        return self._observation(snapshot, outcome, events=events)

    def _rejected(self, snapshot: PageSnapshot) -> int:
        """Fields and forms that were refused; a call that fills one in is about that one alone."""
        if self._step.fills:
            return snapshot.own
        return len(snapshot.refused) + came_back(snapshot, self._before, self.observer.requests)

    def _submitted(self) -> bool:
        return submitted(self.observer.requests)

    def _notice(self, snapshot: PageSnapshot) -> Notice | None:
        return find_notice(
            snapshot,
            self._before,
            self.observer.dialogs,
            fresh=self.observer.requests.document is not None,
            own=self._step.fills,
            settled=not (snapshot.busy or self.observer.requests.unanswered),
        )

    def _block(self, snapshot: PageSnapshot, notice: Notice | None) -> BlockCode | None:
        target = self._step.target
        block = find_block(
            self._facts(snapshot),
            snapshot,
            self._before,
            self.observer.requests,
            requested=self._requested(),
            target="" if target is None else target.name,
            blocked=self._blocked,
            notice=notice,
        )
        self._blocked = block is not None
        return block

    async def stand_by(self) -> None:
        """Wait for a step that nobody will announce; `seen` says that it begins."""
        self.name("", {})
        self._target = None
        self._steps += 1
        self._before = self._last
        self._text = None if self._latest is None else self._latest.text
        self.observer.begin(self._steps)
        self.observer.requests.rest()
        await self._quietly(self.observer.arm())
        await self._quietly(self.observer.rest())

    def seen(self) -> None:
        """The step that was waited for begins: what the page sends from now on is its doing."""
        self.observer.requests.begin(self._steps)

    def name(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Say what the step is, where that was not known when it began."""
        self._tool, self._arguments = tool, dict(arguments)

    @property
    def url(self) -> str | None:
        """The address of the page at the last look."""
        return None if self._last is None else self._last.url

    @property
    def target(self) -> SeenInput | None:
        """What the step is aimed at, as far as is known by now."""
        return self._step.target

    @property
    def _step(self) -> AimedStep:
        return AimedStep(self._tool, self._arguments, self._target, self._before, self.observer)

    async def _compare_pictures(self, snapshot: PageSnapshot) -> bool:
        """Note how the picture has changed; whether it is the only thing that has."""
        if not self._pictures:
            return False
        before, old = self._picture, self._tiles
        after = self._picture = await self.observer.picture(snapshot)
        self._tiles = None
        target = self._step.target
        boxes = () if target is None or target.drawn or target.box is None else (target.box,)
        moves = snapshot.restless if self._before is None else self._before.restless
        focus = (snapshot.focus,) if snapshot.focus else ()
        masks = (*boxes, *self._boxes, *focus, *snapshot.restless, *moves)
        self._boxes = boxes
        alone = self._before is not None and _looks_alike(
            self._before.evidence(sent={}, shot=None), snapshot.evidence(sent={}, shot=None)
        )
        if after is None or before is None or old is None or before.place != after.place:
            self._tiles = None if after is None else tiles_of(after)
            return False
        drawn = target is not None and target.drawn
        if before.data == after.data or (alone and snapshot.popups and not drawn):
            self._tiles = old
        elif not alone:
            self._tiles = tiles_of(after)
        else:
            inside = (target.box,) if target is not None and drawn and target.box else ()
            compare = partial(
                changed_tiles, old, before, after, masks=masks, regions=(*snapshot.drawn, *inside)
            )
            self._tiles = compare(moving=None)
            if self._tiles not in (None, old):
                await self._quietly(self._transport.sleep(MOVES_S))
                self._tiles = compare(moving=await self.observer.picture(snapshot))
        self._attach_tiles()
        return alone and self._tiles is not None and self._tiles != old

    def _attach_tiles(self) -> None:
        if self._latest is not None and self._tiles is not None:
            self._latest = replace(self._latest, tiles=self._tiles)

    def _picture_digest(self) -> str | None:
        return None if self._tiles is None else info_digest(f"picture {self._tiles}")

    async def close(self) -> None:
        """The tab is observed no more, and nothing is left in it."""
        await self._quietly(self.observer.close())

    def _field(self) -> dict[str, Any]:
        value = self._arguments.get("value", self._arguments.get("text"))
        if self._step.tool != "fill" or not isinstance(value, str):
            value = None
        return {
            "selector": self._arguments.get("selector"),
            "value": value,
            "submitted": self._submitted(),
        }

    def _requested(self) -> str | None:
        url = self._arguments.get("url", self._arguments.get("value"))
        return url if self._step.tool == "goto" and isinstance(url, str) else None

    async def _describe(self, selector: str) -> SeenInput | None:
        if not selector or self.observer.dialog_open:
            return None
        with suppress(*self._failures, DocumentLost, TypeError):
            record = await self.observer.ask("target", {"selector": selector})
            return None if record is None else read_input(record)
        return None

    async def _look(self, field: Mapping[str, Any] | None = None) -> PageSnapshot | None:
        """The page now; `None` while it cannot be read."""
        for _ in range(3):
            if self.observer.dialog_open:
                break
            try:
                snapshot = await self.observer.look(selectors=self._selectors, field=field)
            except DocumentLost:
                await self._quietly(self.observer.arrive())
                continue
            except self._failures:
                break
            self._latest = snapshot.evidence(sent=self.observer.requests.sent, shot=None)
            self._scroll = snapshot.scroll[0], snapshot.scrolls
            self._last = snapshot
            return snapshot
        self._latest = None
        return None

    async def _quietly(self, work: Any) -> None:
        # What cannot be asked is missing evidence, and no failure of the step.
        with suppress(*self._failures, DocumentLost):
            await work

    async def _effect(
        self, code: ErrorCode | None, snapshot: PageSnapshot | None, *, moved: bool
    ) -> Effect:
        """What the step did; of one that failed, what it would have done."""
        step = self._step
        effect = step.effect(moved=moved)
        if snapshot is None or code is not None:
            return effect
        destroys = effect >= Effect.DESTRUCTIVE
        database = destroys and await self.observer.keeps_database(snapshot.url)
        return step.effect_on(snapshot, moved=moved, database=database)

    def _outcome(self, code: ErrorCode | None, gate: Gate, effect: Effect) -> ToolOutcome:
        target = self._step.target
        arguments: dict[str, Any] = dict(self._arguments)
        on = None if target is None else [target.role, target.name]
        if not arguments and on is not None:
            arguments["on"] = on
        if on is None and "selector" in arguments:
            on = [arguments["selector"]]
        role, name = ("", "") if target is None else (target.role, target.name)
        written = self.observer.kinds_written(failed=False) if self._step.presses else ()
        goal = self._retries.goal(role, name, written=written)
        if goal is None and on is not None:
            goal = call_signature(self._tool, {"on": on})
        return ToolOutcome(
            tool=self._tool,
            call=call_signature(self._tool, arguments),
            target=goal,
            effect=effect,
            gate="not_required" if effect < Effect.EXTERNAL else gate,
            ok=code is None,
            error=code,
        )

    def _info(self, *, moved: bool) -> str | None:
        """A digest of what there is to read, if the call has changed that."""
        info = None if self._latest is None else self._latest.text
        if info == self._text and not moved:
            return None
        target = self._step.target
        jumps = target is not None and target.jumps and self._step.tool == "click"
        if info is not None and (jumps or self._step.tool in ("scroll", "press")):
            # Another place on the same page is something new to see.
            position, inner = self._scroll
            info = info_digest(f"{info} at place {position // 50}x {inner}")
        return info

    def _facts(self, snapshot: PageSnapshot) -> PageFacts:
        return PageFacts(
            step=self._steps,
            url=snapshot.url,
            title=snapshot.title,
            status=self.observer.status,
            text=snapshot.plain,
            texts=snapshot.texts,
            counts=snapshot.counts,
            dialog=self.observer.dialog_open,
            cut=frozenset(("text",)) if snapshot.omitted or snapshot.short else frozenset(),
        )

    def _observation(
        self, snapshot: PageSnapshot | None, outcome: ToolOutcome | None, **rest: Any
    ) -> Observation:
        if snapshot is None:
            return Observation("", outcome=outcome, **rest)
        return Observation(
            snapshot.text,
            evidence=self._latest,
            outcome=outcome,
            facts=self._facts(snapshot),
            truncated=bool(snapshot.omitted or snapshot.short),
            **rest,
        )


def _looks_alike(a: PageEvidence, b: PageEvidence) -> bool:
    return (a.url, a.dom, a.text, a.refs) == (b.url, b.dom, b.text, b.refs)
