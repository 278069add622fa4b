"""Score the calls of one MCP session as steps, and write them to a file."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

import orjson

from assay.browser.connect.mcp import results
from assay.browser.connect.mcp.calls import READS, VERBS, BrowserCall, browser_call, watched_call
from assay.browser.connect.mcp.proxy import load
from assay.browser.observe.digest import text_digest
from assay.browser.outcome.blocks import detect_block
from assay.browser.outcome.classify import classify_error, classify_mcp_result
from assay.browser.step_records import StepLog, StepLogView
from assay.browser.steps import AgentStatus
from assay.browser.steps import recovery_ranking as ranking
from assay.browser.steps.recovery_ranking import RecoveryStatistics
from assay.browser.steps.redaction import redact
from assay.ledger.steps import StepsWriter
from assay.schema.blocking import BlockCode, ReadAction
from assay.schema.evidence import PageEvidence, PageFacts, StepEvents
from assay.schema.observation import Observation
from assay.schema.outcome import Effect, ErrorCode, Gate, ToolOutcome
from assay.schema.step_score import StepScore

if TYPE_CHECKING:
    from assay.browser.connect.devtools import FollowedBrowser

REPORTED: Final[tuple[ErrorCode, ...]] = (
    "page_error", "form_rejected", "request_failed", "value_refused",
)  # fmt: skip
"""What the browser reports of a call that its tool did not complain of."""


class SessionHints:
    """Advice on the next call, learnt from this session and from earlier sessions."""

    def __init__(self, patterns: ranking.RecoveryStatistics | None = None) -> None:
        self.patterns = patterns or ranking.RecoveryStatistics()
        """Which recoveries have worked, this session's included."""
        self._window: deque[ranking.TrajectoryStep] = deque(maxlen=ranking.WATCHED_STEPS + 1)
        self._tried: set[ReadAction] = set()
        self._failure: ranking.FailureKey | None = None
        self._trouble: ErrorCode | BlockCode | None = None

    def add(
        self, call: BrowserCall, outcome: ToolOutcome, score: StepScore, *, message: str, url: str
    ) -> None:
        """Add a scored call; `message` is the server's text about the call."""
        failure = None
        if score.classification in ("failure", "blocked"):
            fingerprint = ranking.failure_fingerprint(outcome.error or "other", message)
            failure = ranking.FailureKey(fingerprint, _domain(url), call.tool)
        self._window.append(ranking.TrajectoryStep(call.tool, score, failure))
        # A failure is done with when enough calls have followed it.
        if len(self._window) > ranking.WATCHED_STEPS:
            self._learn(self._window)
        if call.kind == "read":
            self._tried.update(call.reads())
            return
        self._tried.clear()
        self._failure = failure
        self._trouble = outcome.block or outcome.error or _reported(score)

    def _learn(self, window: Sequence[ranking.TrajectoryStep]) -> None:
        """Learn what followed the first call of the window, if that call failed."""
        first, *others = window
        calls = [first, *(call._replace(failure=None) for call in others)]
        for attempt in ranking.tried_actions(calls):
            self.patterns = ranking.learn(self.patterns, attempt)

    def finish(self) -> None:
        """Learn also from the last failures, which only a few calls followed."""
        calls = tuple(self._window)
        self._window.clear()
        # A full window was learnt from when it filled.
        for start in range(len(calls) > ranking.WATCHED_STEPS, len(calls)):
            self._learn(calls[start:])

    def report(
        self, state: AgentStatus, tools: Collection[str], describe: Callable[[str], BrowserCall]
    ) -> tuple[str, dict[str, Any]]:
        """Advise what to read next and which recovery worked before, as text and as data."""
        look = ranking.next_look(self._trouble, tried=self._tried)
        at_hand = () if look is None else READS[look.action]
        tool = next((each for each in at_hand if each in tools), None)
        ranked = self._ranked(tool, describe)
        lines = [f"status: {state.state}: {state.because}"]
        if self._trouble is not None:
            lines.append(f"trouble: {self._trouble}")
        if look is None:
            lines.append("look: nothing is left to read; change the plan, or ask a person")
        else:
            lines.append(f"look: {tool or look.action}: {look.because}")
        recoveries = [
            {"tool": r.candidate.tool, **r.counts._asdict(), "needs_confirmation": r.needs_gate}
            for r in ranked
        ]
        for each in ranked:
            asks = "; ask for a confirmation first" if each.needs_gate else ""
            tried, worked = each.counts
            if tried:
                lines.append(f"worked before: {each.candidate.tool}, {worked} of {tried}{asks}")
        data = {
            "status": state._asdict(),
            "trouble": self._trouble,
            "look": look and {"action": look.action, "tool": tool, "because": look.because},
            "recoveries": recoveries,
        }
        return "\n".join(lines), data

    def _ranked(
        self, look: str | None, describe: Callable[[str], BrowserCall]
    ) -> tuple[ranking.RankedCandidate, ...]:
        if self._failure is None:
            return ()
        proven = {tool for key, tool in self.patterns.counts if key == self._failure}
        candidates = [
            ranking.RecoveryCandidate(tool, describe(tool).effect)
            for tool in sorted({*proven, *(() if look is None else (look,))})
        ]
        return ranking.rank_recoveries(candidates, self.patterns, self._failure)


def _reported(score: StepScore) -> ErrorCode | None:
    """The trouble that the browser showed although the tool reported no error."""
    codes = {reason.code.removeprefix("error_") for reason in score.reasons}
    silent = score.classification in ("no_progress", "repeat")
    return next((code for code in REPORTED if code in codes), "silent_click" if silent else None)


def _domain(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "")[:253]
    except ValueError:
        return ""


IDLE_S: Final = 4.0
"""How long a call may wait for the look after the one before."""
MOST_CALLS: Final = 1_000
"""Calls without a reply that are waited for; the oldest is given up first."""
KNOWN_NODES: Final = 20_000
GAP: Final = "(not recorded)"
_FAILED_NAVIGATION: Final = "Unable to navigate in the selected page: "
"""How chrome-devtools-mcp begins a result that is an error without being marked as one."""
_REFUSALS: Final = ("stale_ref", "not_found", "not_interactive")
"""Errors of calls that were refused before they did anything."""


class _OpenCall(NamedTuple):
    call: BrowserCall
    at_s: float


class BrowserSession(StepLogView):
    """Scores the calls of one session, and answers the calls of Assay's own two tools.

    The proxy calls `prepare` on the thread that forwards, and everything else on another.
    """

    def __init__(
        self,
        steps: str | Path | StepsWriter | None = None,
        *,
        gate: Gate = "unknown",
        folder: Path | None = None,
        patterns: RecoveryStatistics | None = None,
        browser: FollowedBrowser | None = None,
        on_finish: Callable[[RecoveryStatistics], None] | None = None,
    ) -> None:
        """`gate` applies to every risky call; `browser` replaces the server's texts as evidence."""
        self._log = StepLog(steps=steps)
        self._gate = gate
        self._folder = folder
        self._hints = SessionHints(patterns)
        self._browser = browser
        self._on_finish = on_finish
        self.latest: deque[results.ScoredStep] = deque(maxlen=results.MOST_STEPS)
        self._read_only: dict[str, bool] = {}
        self._open: dict[bytes, _OpenCall] = {}
        self._followed: bytes | None = None
        """The call that the browser is looked at for: one at a time."""
        self._idle = threading.Event()
        self._idle.set()
        self._page = results.ResultPage()
        self._nodes: dict[str, results.SnapshotNode] = {}
        self._evidence_before: PageEvidence | None = None
        self._record("", Observation("") if browser is None else browser.first)

    def prepare(self, message: Mapping[str, Any]) -> None:
        """Observe the page before a call is forwarded; wait up to `IDLE_S` for the earlier call."""
        if self._browser is None or "id" not in message:
            return
        if not self._idle.wait(IDLE_S):
            self._release()
        tool, options = watched_call(*_tool_of(message))
        if self._browser.begin(tool, options, self._page.url):
            self._idle.clear()
            self._followed = orjson.dumps(message["id"])

    def request(self, message: Mapping[str, Any], at_s: float) -> None:
        """Remember a client's call until its reply comes."""
        if "id" not in message or not isinstance(message["params"].get("name"), str):
            return
        call = self.describe(*_tool_of(message))
        self._open[orjson.dumps(message["id"])] = _OpenCall(call, at_s)
        while len(self._open) > MOST_CALLS:
            del self._open[next(iter(self._open))]

    def reply(self, line: bytes, at_s: float) -> None:
        """Score each reply in a line that the server wrote."""
        message = load(line) if self._open else None
        for one in message if isinstance(message, list) else [message]:
            if isinstance(one, dict) and "method" not in one and "id" in one:
                number = orjson.dumps(one["id"])
                if (opened := self._open.pop(number, None)) is not None:
                    seen = self._look(number, one)
                    self.end_call(opened.call, one, elapsed_s=at_s - opened.at_s, seen=seen)

    def _look(self, number: bytes, reply: Mapping[str, Any]) -> Observation | None:
        """Observe the browser after a call; empty if the browser was watched for another call."""
        if self._browser is None:
            return None
        if number != self._followed:
            return Observation("")
        try:
            failed = "error" in reply or (reply.get("result") or {}).get("isError") is True
            seen = self._browser.end("the call failed" if failed else None)
            if seen is not None and self._browser.changed is not None:
                self._record("", self._browser.changed)
            return seen or Observation("")
        finally:
            self._release()

    def _release(self) -> None:
        """Free the browser to observe the next call."""
        self._followed = None
        self._idle.set()

    def lost(self) -> None:
        """Note that lines were not read; the next step is not compared with an older page."""
        self._release()
        if self._open:
            self.skip()

    def skip(self) -> None:
        """Record a gap; the next call is not compared with an older page."""
        self._page = results.ResultPage()
        self._record(GAP, Observation(""))

    def tools(self, tools: Sequence[Mapping[str, Any]]) -> None:
        hints = {str(tool.get("name")): tool.get("annotations") for tool in tools}
        self._read_only = {
            name: isinstance(hint, Mapping) and hint.get("readOnlyHint") is True
            for name, hint in hints.items()
        }

    def answer(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Answer a call of `assay_steps` or `assay_hint`."""
        if tool == results.HINT_TOOL:
            text, data = self._hints.report(self.status, self._read_only, self.describe)
            return results.text_result(text, data=data)
        last = arguments.get("last", 10)
        if not isinstance(last, int) or not 1 <= last <= results.MOST_STEPS:
            refusal = f"last is a number from 1 to {results.MOST_STEPS}, not {last!r:.40}"
            return results.text_result(f"{results.STEPS_TOOL}: {refusal}", error=True)
        text, data = results.steps_report(list(self.latest)[-last:], self.status)
        return results.text_result(text, data=data)

    def finish(self) -> None:
        """End the session, and complete the steps file."""
        self._hints.finish()
        self._log.close()
        if self._browser is not None:
            self._browser.close()
        if self._on_finish is not None:
            self._on_finish(self._hints.patterns)

    def describe(self, tool: str, arguments: Mapping[str, Any] | None = None) -> BrowserCall:
        """Describe a call on the page that the session saw last."""
        dialog, read_only = self._page.dialog or "", self._read_only.get(tool)
        return browser_call(
            tool, arguments or {}, nodes=self._nodes, dialog=dialog, read_only=read_only
        )

    def end_call(
        self,
        call: BrowserCall,
        reply: Mapping[str, Any],
        *,
        elapsed_s: float = 0.0,
        seen: Observation | None = None,
    ) -> StepScore | None:
        """Score a call by its reply, or by `seen`, the observation of the browser itself."""
        result = reply.get("result")
        result = result if isinstance(result, Mapping) else {}
        text = results.result_text(result)
        page = results.read_page(text, page_id=call.arguments.get("pageId"), folder=self._folder)
        error, message = _error(call, reply, result, text)
        info = None if error is not None else _info(call, result, text, page)
        if seen is None:
            evidence = self._evidence(call, page, error)
            seen = Observation("", evidence=evidence, events=self._events(call, page))
        outcome = self._outcome(call, error, info, self._block(call, page), seen.outcome)
        observation = Observation(text, evidence=seen.evidence, outcome=outcome, events=seen.events)
        score = self._record(_action(call), observation, call.arguments, elapsed_s=elapsed_s)
        self._remember(page)
        if score is not None:
            self._hints.add(call, outcome, score, message=message, url=self._page.url or "")
        return score

    def _outcome(
        self,
        call: BrowserCall,
        error: ErrorCode | None,
        info: str | None,
        block: BlockCode | None,
        seen: ToolOutcome | None,
    ) -> ToolOutcome:
        """Build the outcome from the reply, and from the page if the browser was observed."""
        effect, target = call.effect, call.target
        if seen is not None:
            # The page says which element it was, and which earlier one it tries again.
            block, target = seen.block or block, seen.target or target
            clicked = call.kind == "click" and seen.target is not None
            if clicked or call.kind == "press" or call.tool in VERBS:
                effect = seen.effect
            info = seen.info if call.acts and error is None else info
        gate: Gate = "not_required" if effect < Effect.EXTERNAL else self._gate
        signature, ok = call.signature, error is None
        return ToolOutcome(
            call.tool, signature, target, effect, gate, ok, error, block=block, info=info
        )

    def _record(
        self,
        action: str,
        observation: Observation,
        arguments: Mapping[str, Any] | None = None,
        *,
        elapsed_s: float = 0.0,
    ) -> StepScore | None:
        step = self._log.record(
            action, observation, arguments=arguments or {}, elapsed_s=round(elapsed_s, 6)
        )
        seen = observation.evidence
        self._evidence_before = seen if isinstance(seen, PageEvidence) else None
        if self.score is not None:
            self.latest.append(results.ScoredStep(step.index, step.action, self.score))
        return self.score

    def _evidence(
        self, call: BrowserCall, page: results.ResultPage, error: ErrorCode | None
    ) -> PageEvidence | None:
        """The page in the reply, or the earlier page if the call cannot have changed it."""
        evidence, before = page.evidence(), self._evidence_before
        if page.text is not None or (call.kind != "read" and error not in _REFUSALS):
            return evidence
        same_page = evidence is None or before is None or evidence.url == before.url
        return before or evidence if same_page else evidence

    def _events(self, call: BrowserCall, page: results.ResultPage) -> StepEvents | None:
        """The reply's events; a status counts only if the step loaded the document."""
        if page.url is None:
            return None
        before = self._page
        loaded = call.kind == "goto" or (before.url is not None and before.url != page.url)
        opened = bool(page.dialog) and page.dialog != before.dialog
        known = page.tabs is not None and before.tabs is not None
        return StepEvents(
            status=page.status if loaded else None,
            downloads=page.downloads,
            tabs=max((page.tabs or 0) - (before.tabs or 0), 0) if known else None,
            dialogs=None if page.dialog is None else int(opened),
        )

    def _block(self, call: BrowserCall, page: results.ResultPage) -> BlockCode | None:
        if call.kind == "read" or page.url is None:
            return None
        requested = call.arguments.get("url")
        facts = PageFacts(url=page.url, title=page.title, status=page.status)
        return detect_block(facts, requested=requested if isinstance(requested, str) else None)

    def _remember(self, page: results.ResultPage) -> None:
        if page.url is None and page.text is None:
            return
        for number, node in page.nodes.items():
            # The newest come last; an old number says what a stale reference was meant for.
            self._nodes.pop(number, None)
            self._nodes[number] = node
        while len(self._nodes) > KNOWN_NODES:
            del self._nodes[next(iter(self._nodes))]
        self._page = page if page.tabs is not None else page._replace(tabs=self._page.tabs)


def _tool_of(message: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The name and the arguments of a `tools/call` request."""
    params = message["params"]
    arguments = params.get("arguments")
    return str(params.get("name")), arguments if isinstance(arguments, dict) else {}


def _error(
    call: BrowserCall, reply: Mapping[str, Any], result: Mapping[str, Any], text: str
) -> tuple[ErrorCode | None, str]:
    """The error code and the message of a call; a successful call has no code."""
    if isinstance(refusal := reply.get("error"), Mapping):
        message = str(refusal.get("message", ""))[:2_000]
        return classify_error(message), message
    error = classify_mcp_result(result)
    if error is None and call.kind == "goto" and text.startswith(_FAILED_NAVIGATION):
        return classify_error(text.removeprefix(_FAILED_NAVIGATION)), text[:2_000]
    return error, text[:2_000]


def _info(
    call: BrowserCall, result: Mapping[str, Any], text: str, page: results.ResultPage
) -> str | None:
    """The digest of the text that the agent read; a snapshot in a file does not count."""
    if page.text is not None and page.inline and results.section(text, "Result") is None:
        return text_digest(page.text)
    return results.result_info(result, text) if call.kind == "read" else None


def _action(call: BrowserCall) -> str:
    """The text of a call for the steps file, without secrets and typed text."""
    arguments = json.dumps(redact(call.arguments), ensure_ascii=False)
    return f"{call.tool}({arguments if call.arguments else ''})"
