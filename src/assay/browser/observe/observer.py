"""Observe a tab of any driver: its requests, its events and its content.

Nothing here acts: no input, no dialog answered, no request held back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from assay.browser.observe.inputs import StepInputs
from assay.browser.observe.isolated import (
    ActionFailed,
    DocumentLost,
    IsolatedScripts,
    PageListeners,
)
from assay.browser.observe.patience import Patience
from assay.browser.observe.picture import SCALE, WindowPicture
from assay.browser.observe.requests import RequestLog, StepRequestCounts, sum_requests
from assay.browser.observe.snapshot import PageSnapshot, read_snapshot, with_frame
from assay.browser.observe.transport import Transport
from assay.browser.outcome.blocks import BLOCK_SELECTORS
from assay.schema.evidence import Channel, PageFacts, StepEvents

REFS: Final = 5_000
NODES: Final = 40_000
"""Nodes visited for one snapshot; a page with more is cut, and the text says so."""
SNAPSHOT_CHARS: Final = 200_000
"""Characters of a page that are read; how many an agent sees is the environment's option."""
ROUNDS: Final = 5
"""How often a page may begin something new while it is waited for."""
TICK_S: Final = 0.02


class PageObserver:
    """Observes one tab: its requests, events and snapshots, and when it has settled."""

    def __init__(
        self, transport: Transport, frame_id: str, patience: Patience, old: PageObserver | None
    ) -> None:
        self._transport = transport
        self.frame_id = frame_id
        self.patience = patience
        record = None if old is None else old.requests.record
        self.requests: RequestLog = RequestLog(frame_id=frame_id, patience=patience, record=record)
        self.scripts = IsolatedScripts(transport, frame_id=frame_id, timeout_s=patience.answer_s)
        self._listeners = PageListeners(transport, self.scripts)
        self.step = StepInputs()
        """That of the current step, with what was done in frames."""
        self.next_ref: int = 1 if old is None else old.next_ref
        self.status: int | None = None
        self.touched = False
        """Whether the current step has done something in this very frame."""
        self.tab_status: int | None = None
        """That of the tab that the current step opened."""
        self._loading = False
        self._announced_at: float | None = None
        self.acted_at = 0.0
        self._inner: dict[Transport, PageObserver] = {}
        """Observers of the frames that have a process of their own."""

    @classmethod
    async def open(
        cls, transport: Transport, *, patience: Patience, old: PageObserver | None = None
    ) -> PageObserver:
        """Start to observe a tab, with the record and the element numbers of the `old` observer."""
        await transport.send("Page.enable")
        await transport.send("Network.enable")
        tree = await transport.send("Page.getFrameTree")
        observer = cls(transport, tree["frameTree"]["frame"]["id"], patience, old)
        observer._listen()
        await observer.scripts.prepare()
        return observer

    def _listen(self) -> None:
        requests = self.requests
        handlers: dict[str, Callable[[dict[str, Any]], None]] = {
            "Network.requestWillBeSent": self._on_sent,
            "Network.responseReceived": self._on_response,
            "Network.dataReceived": requests.on_data,
            "Network.loadingFinished": requests.on_ended,
            "Network.loadingFailed": self._on_failed,
            "Network.webSocketFrameSent": requests.on_frame,
            "Page.frameRequestedNavigation": self._on_announced,
            "Page.frameScheduledNavigation": self._on_announced,
            "Page.frameClearedScheduledNavigation": self._on_cleared,
            "Page.frameNavigated": self._on_navigated,
            "Page.domContentEventFired": lambda _: self.abandon(),
            "Page.windowOpen": self._on_window,
            "Page.downloadWillBegin": self._on_download,
            "Page.javascriptDialogOpening": lambda event: self.step.open_dialog(event),
            "Page.javascriptDialogClosed": lambda event: self.step.close_dialog(event),
            "Runtime.bindingCalled": self._on_binding,
        }
        for event, handler in handlers.items():
            self._transport.on(event, handler)

    def _on_window(self, _: dict[str, Any]) -> None:
        self.step.tabs += 1

    def _on_download(self, _: dict[str, Any]) -> None:
        self.step.downloads += 1
        self._loading = False

    def _on_binding(self, event: dict[str, Any]) -> None:
        if not self.scripts.is_ours(str(event.get("name", ""))):
            return
        with suppress(ValueError, TypeError, KeyError):
            record = json.loads(str(event["payload"])[:4_000])
            self.touched, self.acted_at = True, monotonic()
            self.step.add(record)

    def _is_main(self, event: Mapping[str, Any]) -> bool:
        return event.get("frameId") == self.frame_id

    def _on_sent(self, event: dict[str, Any]) -> None:
        self.requests.on_sent(event)
        if event.get("type") == "Document" and self._is_main(event):
            self._loading, self._announced_at = True, None

    def _on_response(self, event: dict[str, Any]) -> None:
        self.requests.on_response(event)
        if event.get("type") == "Document" and self._is_main(event):
            self.status = int(event["response"]["status"])
            if self.status in (204, 205):
                # The browser stays where it is.
                self._loading = False

    def _on_failed(self, event: dict[str, Any]) -> None:
        main = self.requests.is_main(event)
        self.requests.on_ended(event)
        # A request that failed shows the browser's own page; one that was given up shows nothing.
        if main and event.get("canceled"):
            self._loading = False

    def _on_announced(self, event: dict[str, Any]) -> None:
        here = self._is_main(event) and event.get("disposition", "currentTab") == "currentTab"
        delay = float(event.get("delay", 0))
        # A refresh in a minute is not waited for.
        if here and delay <= 1.0 and not self._loading:
            self._announced_at = monotonic() + delay

    def _on_cleared(self, event: dict[str, Any]) -> None:
        if self._is_main(event):
            self._announced_at = None

    def _on_navigated(self, event: dict[str, Any]) -> None:
        if event["frame"]["id"] == self.frame_id:
            self.scripts.forget()
            self._listeners.forget()
            if str(event["frame"].get("url", "")).startswith("about:"):
                self.status = None

    def begin(self, step: int) -> None:
        """Attribute all later events to this step."""
        self.requests.begin(step)
        self.step.begin()
        self.tab_status = None
        for inner in self._inner.values():
            inner.requests.begin(step)
            inner.touched = False

    @property
    def loading(self) -> bool:
        """Whether another document is being loaded."""
        if self._announced_at and monotonic() > self._announced_at + self.patience.begins_s:
            self._announced_at = None
        return self._loading or self._announced_at is not None

    def abandon(self) -> None:
        """Stop waiting for the document that was being loaded."""
        self._loading, self._announced_at = False, None

    async def arm(self, aim: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Tell Assay's scripts that a call begins on the element in `aim`; return their answer.

        They answer with its `target`, and whether the page was `altered` since the last look.
        """
        answer: dict[str, Any] = await self._wait_for("begin", dict(aim or {})) or {}
        for inner in self._inner.values():
            await inner.arm()
        return answer

    async def rest(self) -> None:
        """Tell Assay's scripts that no step is running."""
        await self._wait_for("rest")
        for inner in self._inner.values():
            await inner.rest()

    async def settle(self, *, effect_s: float | None = None) -> None:
        """Wait for the step's documents, requests and changes, each up to a limit."""
        patience = self.patience
        deadline = monotonic() + patience.requests_s
        arrival: float | None = None
        for _ in range(ROUNDS):
            await self._wait_for("breathe")
            arrival = arrival or monotonic() + patience.arrives_s
            await self.arrive(until=arrival)
            await self._wait_while(lambda: self.requests.waiting, until=deadline)
            limits: dict[str, float] = patience.milliseconds()
            if effect_s is not None:
                limits["effect"] = 1000 * effect_s
            limits["still"] = not self.step.dialog_open and not await self._listeners.react()
            end = await self._wait_for("quiet", limits) or {}
            busy = self.requests.waiting and monotonic() < deadline
            if not busy and not (self.loading and monotonic() < arrival):
                break
        if end.get("doubtful"):
            await self._doubt()
        await self._wait_while(lambda: self._awaits_file, until=deadline)
        for inner in self._inner.values():
            await inner.settle(effect_s=effect_s if inner.touched else patience.quiet_s)
        await self._read_answers()
        if end.get("suspects", 1):
            await self.confirm()

    @property
    def _awaits_file(self) -> bool:
        """Whether a download was requested that has not begun."""
        promised = any(seen.saves and seen.kind == "click" for seen in self.step.inputs)
        return promised and not self.step.downloads

    async def _doubt(self) -> None:
        """Let Assay's scripts ignore the changes after a click to which no script listens."""
        clicked = any(seen.kind == "click" for seen in self.step.inputs)
        with suppress(*self._transport.errors, TimeoutError, DocumentLost, ActionFailed, KeyError):
            if clicked and not self.step.dialog_open and not await self._listeners.receive_click():
                await self.ask("ignoreClick")

    async def _read_answers(self) -> None:
        """Read the JSON answers of the step's requests, to see which requests were refused."""
        for key in self.requests.unread():
            with suppress(*self._transport.errors, TimeoutError):
                answer = await self._transport.send("Network.getResponseBody", {"requestId": key})
                if not answer.get("base64Encoded"):
                    self.requests.take_answer(key, str(answer.get("body", "")))

    async def confirm(self) -> None:
        """Wait to see whether changes that only timers made continue."""
        await self._wait_for("confirm", self.patience.milliseconds())

    async def arrive(self, *, until: float | None = None) -> None:
        """Wait for the document that is being loaded."""
        until = monotonic() + self.patience.arrives_s if until is None else until
        await self._wait_while(lambda: self.loading, until=until)

    async def _wait_while(self, holds: Callable[[], object], *, until: float) -> None:
        """Wait while `holds` is true; stop for an open dialog or a closed tab."""
        with suppress(*self._transport.errors):
            while holds() and monotonic() < until and not self.step.dialog_open:
                await self._transport.sleep(TICK_S)

    async def _wait_for(self, promise: str, argument: object = None) -> Any:
        if self.step.dialog_open:
            return None
        # It ends early when the document does, and that is what it waits for.
        with suppress(*self._transport.errors, DocumentLost, ActionFailed):
            return await self.ask(promise, argument, wait=True)
        return None

    async def ask(self, function: str, argument: object = None, *, wait: bool = False) -> Any:
        return await self.scripts.call(function, argument, first_ref=self.next_ref, wait=wait)

    async def look(
        self,
        *,
        every_text: bool = False,
        selectors: Sequence[str] = (),
        field: Mapping[str, Any] | None = None,
        rests: bool = False,
    ) -> PageSnapshot:
        """Take a snapshot of the page, with the counts and first texts of the `selectors`.

        `field` describes the field of a call that filled it; `rests` says that the step is over.
        """
        limits = {"chars": SNAPSHOT_CHARS, "nodes": NODES, "refs": REFS}
        texts = {"all": every_text, "blocks": BLOCK_SELECTORS, "selectors": list(selectors)}
        options: dict[str, Any] = {**limits, **texts, "field": dict(field or {}), "rests": rests}
        snapshot = await self._read(options)
        if snapshot.hosts and await self.scripts.adopt(snapshot.hosts):
            snapshot = await self._read(options)
        for frame in await self._frames():
            with suppress(*self._transport.errors, TimeoutError, DocumentLost, ActionFailed):
                # Numbers are those of this document.
                inside = {**options["field"], "ref": None}
                inner = await frame.look(every_text=every_text, field=inside, rests=rests)
                snapshot = with_frame(snapshot, inner)
        return snapshot

    async def _read(self, options: Mapping[str, Any]) -> PageSnapshot:
        snapshot = read_snapshot(await self.ask("look", options))
        self.next_ref = snapshot.next_ref
        return snapshot

    async def _frames(self) -> list[PageObserver]:
        """The observers of frames of other sites; each new frame gets an observer."""
        transports = await self._transport.frames()
        for transport in transports:
            if transport not in self._inner:
                with suppress(*self._transport.errors, TimeoutError):
                    inner = await PageObserver.open(transport, patience=self.patience)
                    inner.step = self.step
                    self._inner[transport] = inner
        for gone in [transport for transport in self._inner if transport not in transports]:
            del self._inner[gone]
        return list(self._inner.values())

    async def watch_polls(self) -> None:
        """Wait to see whether the page repeats its requests."""
        until = monotonic() + self.patience.polls_s
        await self._wait_while(lambda: not self.requests.polls, until=until)

    async def watch_failures(self) -> None:
        """Wait to see whether the page repeats failed requests by itself."""
        if not self.step.dialog_open:
            until = monotonic() + self.patience.repeats_s
            await self._wait_while(self._disown_repeats, until=until)

    def _disown_repeats(self) -> bool:
        """Leave out requests that timers repeat; return whether data is still missing."""
        if self._lacks_data:
            acted_at = max(part.acted_at for part in (self, *self._inner.values()))
            for log in self.logs:
                log.disown(acted_at=acted_at)
        return self._lacks_data

    @property
    def _lacks_data(self) -> bool:
        own = self._own()
        lost = own.failed_reads > 0 and not (own.failed_writes or own.answered)
        return lost and self.requests.document is None

    @property
    def logs(self) -> list[RequestLog]:
        """The request logs of the page and of its frames in other processes."""
        return [self.requests, *(inner.requests for inner in self._inner.values())]

    def _own(self, *, earlier: bool = False) -> StepRequestCounts:
        return sum_requests([log.own(earlier=earlier) for log in self.logs])

    async def read_tab_status(self) -> None:
        """Read the HTTP status of the tab that the step opened."""
        if self.step.tabs:
            with suppress(*self._transport.errors, TimeoutError):
                self.tab_status = await self._transport.tab_status()

    def events(
        self, snapshot: PageSnapshot, *, scrolled_from: int, earlier: bool = False
    ) -> StepEvents:
        """The events that the browser reported for the current step."""
        own, document = self._own(earlier=earlier), self.requests.document
        lost_tab = self.tab_status if self.tab_status and self.tab_status >= 400 else None
        return StepEvents(
            status=lost_tab if document is None else document.status,
            redirects=None if document is None else len(document.redirects),
            answered=own.answered,
            failed_writes=own.failed_writes,
            failed_reads=own.failed_reads,
            pending=own.pending + (snapshot.busy or (snapshot.waited and self.requests.polls)),
            downloads=self.step.downloads,
            tabs=self.step.tabs,
            dialogs=sum(dialog.counts for dialog in self.step.dialogs),
            copies=snapshot.copies,
            scrolled=abs(snapshot.scroll[0] - scrolled_from),
            popups=snapshot.popups,
            closed=snapshot.closed,
        )

    def facts(self, snapshot: PageSnapshot) -> PageFacts:
        """The facts that an outcome contract can check."""
        record = self.requests.record
        cut: set[Channel] = {"text"} if snapshot.omitted or snapshot.short else set()
        return PageFacts(
            step=self.requests.number,
            url=snapshot.url,
            title=snapshot.title,
            status=self.status,
            text=snapshot.plain,
            texts=snapshot.texts,
            counts=snapshot.counts,
            network=tuple(record.requests),
            console=tuple(record.messages),
            dialog=self.step.dialog_open,
            cut=frozenset(record.cut | cut),
        )

    @property
    def reached_out(self) -> bool:
        """Whether the step may have changed something outside the page."""
        beyond = self.step.downloads or self.step.tabs or self.loading
        return bool(beyond) or any(log.reached_out for log in self.logs)

    async def keeps_database(self, url: str) -> bool:
        """Whether the site may have a database in this browser."""
        origin = "/".join(url.split("/", 3)[:3])
        with suppress(*self._transport.errors, TimeoutError, KeyError):
            question = {"securityOrigin": origin}
            answer = await self._transport.send("IndexedDB.requestDatabaseNames", question)
            return bool(answer["databaseNames"])
        return True

    def kinds_written(self, *, failed: bool) -> list[str]:
        """The method and path of the step's changing requests that failed, or that succeeded."""
        return [line for log in self.logs for line in log.kinds_written(failed=failed)]

    async def picture(self, snapshot: PageSnapshot) -> WindowPicture | None:
        """Take a small picture of the window; `None` if the browser gives no picture."""
        if self.step.dialog_open:
            return None
        clip = {"x": 0, "y": 0, "width": snapshot.width, "height": snapshot.scroll[2]}
        options = {"format": "png", "clip": {**clip, "scale": SCALE}, "optimizeForSpeed": True}
        with suppress(*self._transport.errors, TimeoutError):
            answer = await self._transport.send("Page.captureScreenshot", options)
            return WindowPicture(str(answer["data"]), (snapshot.scroll[0], snapshot.scrolls))
        return None

    async def close(self) -> None:
        await self._transport.close()
