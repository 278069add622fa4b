"""The requests of one tab, by step, as the browser reports them.

A step's own requests are those of scripts and frames that were sent in the step, without
pictures, analytics, the main document and what the page sends by itself.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final, NamedTuple

from assay.browser.observe.digest import MUTATING, is_analytics, net_line, request_line
from assay.browser.observe.patience import Patience
from assay.browser.outcome.risk import names_destruction
from assay.schema.evidence import Channel, ConsoleFact, NetworkFact

OWN_TYPES: Final = frozenset(("XHR", "Fetch", "Document"))
"""Types of requests whose answers a page usually shows; `Document` is that of a frame here."""
SAFE: Final = frozenset(("GET", "HEAD", "OPTIONS"))
ASKS: Final = frozenset(("XHR", "Fetch"))
KEPT_ANSWERS: Final = 5
ANSWER_CHARS: Final = 100_000
"""A longer answer is data, and not a refusal."""
REFUSALS: Final = (401, 402, 403, 407, 429, 451, 511)
"""Statuses that say who may not do something, rather than that it cannot be done."""
FRAMES: Final = 20
"""Calls that tell where a request was sent from."""
TIMER_S: Final = 0.5
"""What is sent again sooner, or sooner after an input, may have been asked for twice."""
STREAMS: Final = frozenset(("text/event-stream", "application/x-ndjson"))
GENERAL: Final = frozenset(
    "api ajax admin-ajax.php index.php graphql gql rpc jsonrpc trpc query batch $batch "
    "batchexecute aura".split()
) | {""}
"""Last parts of addresses to which a site sends whatever it wants."""
NO_STEP: Final = -1
"""In the place of a step: the page does by itself what it does."""
KEPT_FACTS: Final = 200
KEPT_MESSAGES: Final = 50
KEPT_LINES: Final = 1_000
"""Kinds of request that are counted apart; a page that makes up more is counted as one."""
KEPT_REQUESTS: Final = 500
"""Requests that are followed at once; a page that sends more has its oldest ones forgotten."""


class TrafficRecord:
    """The requests and console messages of a tab and of the tabs that replaced it."""

    def __init__(self) -> None:
        self.requests: deque[NetworkFact] = deque(maxlen=KEPT_FACTS)
        self.messages: deque[ConsoleFact] = deque(maxlen=KEPT_MESSAGES)
        self.cut: set[Channel] = set()
        """The records whose beginning was dropped."""
        self.sent: Counter[str] = Counter()
        """Every request that changed something since the tab was opened, counted by kind."""

    def add_request(self, request: _Request, status: int | None) -> None:
        """Add a request that was answered or has failed."""
        if request.url.startswith("data:"):
            return
        if len(self.requests) == KEPT_FACTS:
            self.cut.add("network")
        fact = NetworkFact(request.method, request.url[:2_000], status, request.sent_in)
        self.requests.append(fact)
        line = net_line(fact)
        if line is not None:
            counted = line in self.sent or len(self.sent) < KEPT_LINES
            self.sent[line if counted else "more"] += 1

    def add_message(self, level: str, text: str, step: int) -> None:
        if len(self.messages) == KEPT_MESSAGES:
            self.cut.add("console")
        self.messages.append(ConsoleFact(level, text[:500], step))


class MainDocumentResponse(NamedTuple):
    """The response for a step's main document, with its redirects."""

    status: int
    redirects: tuple[str, ...]
    """The addresses that it was sent on from, in order."""
    url: str
    method: str = "GET"
    """Of the first request; a form that is sent mostly has POST."""


class StepRequestCounts(NamedTuple):
    """How many requests of one step were answered, failed, or are pending."""

    answered: int = 0
    failed_writes: int = 0
    failed_reads: int = 0
    pending: int = 0


def sum_requests(frames: Iterable[StepRequestCounts]) -> StepRequestCounts:
    """Sum the request counts of several frames."""
    return StepRequestCounts(*map(sum, zip(*frames, strict=True)))


@dataclass(slots=True)
class _Request:
    method: str
    url: str
    kind: str
    step: int
    """The step that sent it, or `NO_STEP`."""
    sent_in: int
    """The step during or after which it was sent."""
    main: bool
    first_method: str = "GET"
    redirects: list[str] = field(default_factory=list)
    status: int | None = None
    ended: bool = False
    canceled: bool = False
    json: bool = False
    """Whether the answer is JSON."""
    read: bool = False
    refused: bool = False
    """Whether the answer says itself that it is a refusal."""
    stack: int = 0
    """Where in the page's scripts it was sent from; 0 if that is not known."""
    sent_at: float = 0.0
    heard_at: float = 0.0
    """When something of its answer last came."""
    streams: bool = False
    """Whether its answer comes bit by bit, and nothing of it has come."""
    general: bool = False
    """Whether its address serves all purposes, and says nothing of what was meant."""

    @property
    def failed(self) -> bool:
        # Many pages look at the status alone; then the rest of an answer never comes.
        if self.status is not None:
            return self.status >= 400 or self.refused
        return self.ended and not self.canceled

    @property
    def well(self) -> bool:
        return self.status is not None and not self.failed

    @property
    def unanswered(self) -> bool:
        """Whether the request has no answer yet, and has not failed."""
        return not self.ended and self.status is None

    @property
    def first_url(self) -> str:
        return (*self.redirects, self.url)[0]

    @property
    def line(self) -> str:
        """The method, host and path of the request."""
        return f"{self.method} {request_line(self.url)}"


class RequestLog:
    """Follows the network events of one tab; `frame_id` is its main frame."""

    def __init__(
        self,
        *,
        frame_id: str,
        patience: Patience | None = None,
        record: TrafficRecord | None = None,
    ) -> None:
        self._frame_id = frame_id
        self._reads_s = (patience or Patience()).reads_s
        self.record = record or TrafficRecord()
        self._requests: dict[str, _Request] = {}
        self._step = NO_STEP
        self.number = 0
        """The latest step, also between steps."""
        self._background: Counter[str] = Counter()
        self.document: MainDocumentResponse | None = None
        """The main document that the current step loaded."""
        self.document_lost = False
        """Whether the main document that the step asked for did not come."""
        self.frames_sent = 0
        """Messages over open connections in the current step."""
        self._by_timer: set[tuple[str, int]] = set()
        """What the page sends by itself in the current step, and from where in its scripts."""

    def begin(self, step: int) -> None:
        """Attribute all later requests to this step."""
        self._step = self.number = step
        self._by_timer.clear()
        self.document, self.document_lost, self.frames_sent = None, False, 0
        self._requests = {key: r for key, r in self._requests.items() if not r.ended}

    def rest(self) -> None:
        """Attribute all later requests to the page itself."""
        self._step = NO_STEP

    def on_sent(self, event: Mapping[str, Any]) -> None:
        key, sent = str(event["requestId"]), event["request"]
        before = self._requests.get(key)
        if before is not None and "redirectResponse" in event:
            self.record.add_request(before, int(event["redirectResponse"]["status"]))
            before.redirects.append(before.url)
            before.url, before.method = str(sent["url"]), str(sent["method"])
            return
        kind, method = str(event.get("type", "Other")), str(sent["method"])
        main = kind == "Document" and event.get("frameId") == self._frame_id
        url = str(sent["url"])[:8_192]
        request = _Request(method, url, kind, self._step, self.number, main, method)
        request.stack, request.sent_at = _stack(event), monotonic()
        # A page that sends its forms to its own address does so with all of them.
        line = request_line(request.url)
        at_home = line == request_line(str(event.get("documentURL", "")))
        request.general = at_home or line.rpartition("/")[2].lower() in GENERAL
        if self._step == NO_STEP and not main:
            self._background[request.line] += 1
        if len(self._requests) >= KEPT_REQUESTS:
            del self._requests[next(iter(self._requests))]
        self._requests[key] = request

    def _of(self, event: Mapping[str, Any]) -> _Request | None:
        return self._requests.get(str(event["requestId"]))

    def on_frame(self, _: Mapping[str, Any]) -> None:
        self.frames_sent += self._step != NO_STEP

    def on_response(self, event: Mapping[str, Any]) -> None:
        request = self._of(event)
        if request is None:
            return
        request.status, request.heard_at = int(event["response"]["status"]), monotonic()
        kind = str(event["response"].get("mimeType", ""))
        request.json, request.streams = "json" in kind, kind in STREAMS
        self.record.add_request(request, request.status)
        if request.main:
            self.document = MainDocumentResponse(
                request.status, tuple(request.redirects), request.url[:8_192], request.first_method
            )

    def on_data(self, event: Mapping[str, Any]) -> None:
        if (request := self._of(event)) is not None:
            request.heard_at, request.streams = monotonic(), False

    def is_main(self, event: Mapping[str, Any]) -> bool:
        """Whether the event is about a main document."""
        request = self._of(event)
        return request is not None and request.main

    def on_ended(self, event: Mapping[str, Any]) -> None:
        """Note the end of a request; a cancelled request has not failed."""
        if (request := self._of(event)) is not None:
            request.ended, request.canceled = True, bool(event.get("canceled"))
            if request.status is None:
                self.record.add_request(request, None)
            if request.main and request.failed and request.status is None:
                self.document_lost = True

    @property
    def waiting(self) -> bool:
        """Whether an answer to the step's requests is still expected."""
        return any(
            r.status is None or r.streams or monotonic() - r.heard_at < self._reads_s
            for r in self._own(main=True)
            if not r.ended
        )

    @property
    def unanswered(self) -> bool:
        """Whether a request of the current step has no answer yet."""
        return any(r.unanswered for r in self._own(main=True))

    def own(self, *, earlier: bool = False) -> StepRequestCounts:
        """Count the step's own requests; `earlier` adds pending requests of earlier steps."""
        own = self._own()
        failed = [r for r in own if r.failed]
        late = [r for r in self._counted() if earlier and r.step not in (NO_STEP, self._step)]
        writes = sum(r.method in MUTATING for r in failed)
        answered, pending = sum(r.well for r in own), sum(r.unanswered for r in (*own, *late))
        return StepRequestCounts(answered, writes, len(failed) - writes, pending)

    @property
    def refused(self) -> int | None:
        """The status of the step's latest request that the site refused, such as 403."""
        refused = [r.status for r in self._own() if r.failed and r.status in REFUSALS]
        return refused[-1] if refused else None

    def unread(self) -> list[str]:
        """The ids of the step's requests whose JSON answers have not been read."""
        own = {id(r) for r in self._own() if r.json and r.ended and not r.read and not r.failed}
        return [key for key, r in self._requests.items() if id(r) in own][-KEPT_ANSWERS:]

    def take_answer(self, key: str, body: str) -> None:
        """Note whether an answer says that its request was refused."""
        if (request := self._requests.get(key)) is not None:
            request.read, request.refused = True, is_refused(body)

    @property
    def wrote(self) -> bool:
        """Whether a request of the step changed something and succeeded."""
        return any(r.method in MUTATING and r.well for r in self._own())

    @property
    def submitted(self) -> bool:
        """Whether the step's document is the answer to a form."""
        return self.document is not None and self.document.method == "POST"

    @property
    def reached_out(self) -> bool:
        """Whether the step may have changed something outside the page."""
        return bool(self.frames_sent or self.document or self.document_lost) or any(
            r.step == self._step
            and not is_analytics(r.url)
            and (r.main or r.method not in SAFE or names_destruction(r.url))
            for r in self._requests.values()
        )

    def written(self) -> list[tuple[str, str]]:
        """The method and address of the step's changing requests that have not failed."""
        own = (r for r in self._own(main=True) if r.first_method in MUTATING and not r.failed)
        return [(r.first_method, r.first_url) for r in own if not is_analytics(r.url)]

    def kinds_written(self, *, failed: bool) -> list[str]:
        """The method and path of the step's changing requests that failed, or that succeeded."""
        return [
            f"{r.first_method} {request_line(r.first_url)}"
            for r in self._own()
            if r.first_method in MUTATING and not r.general and (r.failed if failed else r.well)
        ]

    def risky_addresses(self) -> list[str]:
        """The addresses of the step's reading requests that name a destruction."""
        sent = (r for r in self._requests.values() if r.step == self._step)
        urls = (r.first_url for r in sent if r.first_method in SAFE)
        return [url for url in urls if names_destruction(url)]

    def disown(self, *, acted_at: float) -> None:
        """Leave out failed requests that the page's timers repeat.

        What is sent again from the very same place in the page's scripts, a while after the last
        input, was sent by a timer. So was, wrongly, what a page tries again after another wait.
        """
        sent = [r for r in self._own() if r.method in SAFE]
        for failed in [request for request in sent if request.failed]:
            same = [request for request in sent if request.line == failed.line]
            first, last = same[0].sent_at, same[-1].sent_at
            by_timer = last - first >= TIMER_S and last - acted_at >= TIMER_S
            if by_timer and failed.stack and {request.stack for request in same} == {failed.stack}:
                self._by_timer.add((failed.line, failed.stack))

    @property
    def polls(self) -> bool:
        """Whether the step makes the page repeat a request."""
        lines = Counter(r.line for r in self._own() if r.kind in ASKS)
        return any(count > 1 for count in lines.values())

    def _own(self, *, main: bool = False) -> list[_Request]:
        """The requests of the current step that count; `main` adds its main document."""
        return [r for r in self._counted(main=main) if r.step == self._step]

    def _counted(self, *, main: bool = False) -> list[_Request]:
        return [
            r
            for r in self._requests.values()
            if (r.main and main) or (not r.main and r.kind in OWN_TYPES and self._is_by_step(r))
        ]

    def _is_by_step(self, r: _Request) -> bool:
        """Whether the step caused the request, rather than analytics or the page itself."""
        by_itself = self._background[r.line] or (r.line, r.stack) in self._by_timer
        return not is_analytics(r.url) and not by_itself


def is_refused(body: str) -> bool:
    """Whether a JSON answer reports a failure or an error."""
    if len(body) > ANSWER_CHARS:
        return False
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return False
    if not isinstance(answer, dict):
        return False
    says_no = answer.get("success") is False or answer.get("ok") is False
    errors = answer.get("error") or answer.get("errors")
    return says_no or bool(errors and not answer.get("data"))


def _stack(event: Mapping[str, Any]) -> int:
    calls = event.get("initiator", {}).get("stack", {}).get("callFrames", ())[:FRAMES]
    places = [(call.get("url"), call.get("lineNumber"), call.get("columnNumber")) for call in calls]
    return hash(tuple(places)) if places else 0
