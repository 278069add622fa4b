"""The calls of one MCP session as scored steps, their file, and the advice that follows from them.

A step is one `tools/call` and its reply. What was not recorded (a reply that came too fast to be
looked at, one that could not be read) leaves a step without evidence, so that the next one is not
compared with a page that is long gone; `rescore` of the file gives the same scores.
"""

from __future__ import annotations

import copy
import json
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from assay.browser.connect.mcp.calls import LOOKS, BrowserCall, browser_call
from assay.browser.connect.mcp.results import (
    ResultPage,
    SnapshotNode,
    read_page,
    result_info,
    result_text,
    section,
)
from assay.browser.observe.digest import text_digest
from assay.browser.outcome.blocks import detect_block
from assay.browser.outcome.classify import classify_error, classify_mcp_result
from assay.browser.step_records import StepScoring
from assay.browser.steps import status
from assay.browser.steps.advice import (
    WATCHED_STEPS,
    FailureKey,
    RankedCandidate,
    RecoveryCandidate,
    RecoveryPatterns,
    ScoredCall,
    failure_fingerprint,
    learn,
    next_look,
    rank_recoveries,
    tried_actions,
)
from assay.browser.steps.telemetry import redact
from assay.ledger.steps import StepsWriter
from assay.schema.blocking import BlockCode, ReadAction
from assay.schema.evidence import PageEvidence, PageFacts, StepEvents
from assay.schema.observation import Observation
from assay.schema.outcome import Effect, ErrorCode, Gate, ToolOutcome
from assay.schema.step_score import StepScore

KEPT_STEPS: Final = 50
KNOWN_NODES: Final = 20_000
GAP: Final = "(not recorded)"
_FAILED_NAVIGATION: Final = "Unable to navigate in the selected page: "
"""How chrome-devtools-mcp begins a result that is an error without being marked as one."""

_REFUSALS: Final = ("stale_ref", "not_found", "not_interactive")
"""Errors of calls that were refused before anything was done to the page."""


class ScoredStep(NamedTuple):
    """One call with what it was worth, as `assay_steps` shows it."""

    number: int
    action: str
    score: StepScore

    def line(self) -> str:
        """The step in one line of text."""
        reasons = ", ".join(
            reason.code + (f" {reason.n}" if reason.n else "") for reason in self.score.reasons
        )
        worth = f"{self.score.score:+.3f} {self.score.classification}"
        return f"{self.number:>3} {worth:<27} {self.action}  [{reasons}]"

    def to_record(self) -> dict[str, Any]:
        return {
            "step": self.number,
            "action": self.action,
            "score": self.score.score,
            "class": self.score.classification,
            "because": self.score.because,
            "reasons": [{"code": one.code, "n": one.n} for one in self.score.reasons],
            "confidence": self.score.confidence,
        }


class ScoredSession:
    """Scores the calls of one session in turn; not for several threads at a time."""

    def __init__(
        self,
        writer: StepsWriter | None = None,
        *,
        gate: Gate = "unknown",
        folder: Path | None = None,
        patterns: RecoveryPatterns | None = None,
        scoring: StepScoring | None = None,
    ) -> None:
        """`gate` holds for every risky call; `folder` is where the server runs."""
        self._writer = writer
        self._gate = gate
        self._folder = folder
        self._scoring = scoring or StepScoring()
        self.patterns = patterns or RecoveryPatterns()
        self.read_only: dict[str, bool] = {}
        """What the server says of its tools."""
        self.latest: deque[ScoredStep] = deque(maxlen=KEPT_STEPS)
        self._page = ResultPage()
        self._nodes: dict[str, SnapshotNode] = {}
        self._window: deque[ScoredCall] = deque(maxlen=WATCHED_STEPS + 1)
        self._tried: set[ReadAction] = set()
        self._failure: FailureKey | None = None
        self._trouble: ErrorCode | BlockCode | None = None
        self._evidence_before: PageEvidence | None = None
        self._record("", Observation(""), None)

    def describe(self, tool: str, arguments: Mapping[str, Any]) -> BrowserCall:
        """The call as it is about to be made, on the page that the session knows."""
        return browser_call(
            tool,
            arguments,
            nodes=self._nodes,
            dialog=self._page.dialog or "",
            read_only=self.read_only.get(tool),
        )

    def end_call(
        self,
        call: BrowserCall,
        reply: Mapping[str, Any],
        *,
        elapsed_s: float = 0.0,
        seen: Observation | None = None,
    ) -> StepScore | None:
        """The score of a call by the server's reply; the step is in the file.

        `seen` is what was read from the browser itself, instead of from the reply.
        """
        result = reply.get("result")
        result = result if isinstance(result, Mapping) else {}
        text = result_text(result)
        page = read_page(text, page_id=call.arguments.get("pageId"), folder=self._folder)
        error, message = _error(call, reply, result, text)
        outcome = ToolOutcome(
            tool=call.tool,
            call=call.signature,
            target=call.target,
            effect=call.effect,
            gate="not_required" if call.effect < Effect.EXTERNAL else self._gate,
            ok=error is None,
            error=error,
            block=self._block(call, page),
            info=None if error is not None else _info(call, result, text, page),
        )
        if seen is None:
            evidence, events = self._evidence(call, page, error), self._events(call, page)
        else:
            evidence = seen.evidence if isinstance(seen.evidence, PageEvidence) else None
            events = seen.events
            outcome = self._with_eyes(call, outcome, seen.outcome)
        observation = Observation(text, evidence=evidence, outcome=outcome, events=events)
        score = self._record(_action(call), observation, call.arguments, elapsed_s=elapsed_s)
        self._remember(page)
        if score is not None:
            self._follow(call, outcome, score, message)
        return score

    def _with_eyes(
        self, call: BrowserCall, outcome: ToolOutcome, seen: ToolOutcome | None
    ) -> ToolOutcome:
        """The outcome with what the page itself showed of the call: its element, a block, news."""
        if seen is None:
            return outcome
        if seen.target is not None and call.kind in ("click", "press"):
            gate: Gate = "not_required" if seen.effect < Effect.EXTERNAL else self._gate
            outcome = outcome._replace(effect=seen.effect, gate=gate)
        if call.kind != "read" and outcome.error is None:
            outcome = outcome._replace(info=seen.info)
        return outcome._replace(block=seen.block or outcome.block)

    @property
    def url(self) -> str | None:
        """The address of the page, as far as the server has named it."""
        return self._page.url

    def skip(self) -> None:
        """A call went by without being looked at: the next one has nothing to be compared with."""
        self._page = ResultPage()
        self._record(GAP, Observation(""), None)

    def _record(
        self,
        action: str,
        observation: Observation,
        arguments: Mapping[str, Any] | None,
        *,
        elapsed_s: float = 0.0,
    ) -> StepScore | None:
        # All of its parts are values: what fails on the way leaves the session as it was.
        scoring = copy.copy(self._scoring)
        step = scoring.record(
            action, observation, arguments=arguments or {}, elapsed_s=round(elapsed_s, 6)
        )
        if self._writer is not None:
            self._writer.write(step)
        self._scoring = scoring
        seen = observation.evidence
        self._evidence_before = seen if isinstance(seen, PageEvidence) else None
        if scoring.score is not None:
            self.latest.append(ScoredStep(step.index, step.action, scoring.score))
        return scoring.score

    def _evidence(
        self, call: BrowserCall, page: ResultPage, error: ErrorCode | None
    ) -> PageEvidence | None:
        """The page by the reply; by an earlier one if the call cannot have changed it."""
        evidence, before = page.evidence(), self._evidence_before
        if page.text is not None or (call.kind != "read" and error not in _REFUSALS):
            return evidence
        same_page = evidence is None or before is None or evidence.url == before.url
        return before or evidence if same_page else evidence

    def _events(self, call: BrowserCall, page: ResultPage) -> StepEvents | None:
        """What the reply says of the step; a status counts if the step loaded the document."""
        if page.url is None:
            return None
        before = self._page
        loaded = call.kind == "goto" or (before.url is not None and before.url != page.url)
        opened = page.dialog is not None and bool(page.dialog) and page.dialog != before.dialog
        new_tabs = None
        if page.tabs is not None and before.tabs is not None:
            new_tabs = max(page.tabs - before.tabs, 0)
        return StepEvents(
            status=page.status if loaded else None,
            downloads=page.downloads,
            tabs=new_tabs,
            dialogs=None if page.dialog is None else int(opened),
        )

    def _block(self, call: BrowserCall, page: ResultPage) -> BlockCode | None:
        if call.kind == "read" or page.url is None:
            return None
        requested = call.arguments.get("url")
        facts = PageFacts(url=page.url, title=page.title, status=page.status)
        return detect_block(facts, requested=requested if isinstance(requested, str) else None)

    def _remember(self, page: ResultPage) -> None:
        if page.url is None and page.text is None:
            return
        for number, node in page.nodes.items():
            # The newest come last; an old number says what a stale reference was meant for.
            self._nodes.pop(number, None)
            self._nodes[number] = node
        while len(self._nodes) > KNOWN_NODES:
            del self._nodes[next(iter(self._nodes))]
        if page.tabs is None:
            page = page._replace(tabs=self._page.tabs)
        self._page = page

    def _follow(
        self, call: BrowserCall, outcome: ToolOutcome, score: StepScore, message: str
    ) -> None:
        """Keep what advice reads: the failure, what was looked at since, what recoveries did."""
        failure = None
        if score.classification in ("failure", "blocked"):
            error = outcome.error or "other"
            fingerprint = failure_fingerprint(error, message)
            failure = FailureKey(fingerprint, _domain(self._page.url), call.tool)
        self._window.append(ScoredCall(call.tool, score, failure))
        self._learn()
        if call.kind == "read":
            self._tried.update(call.looks())
            return
        self._tried.clear()
        self._failure = failure
        self._trouble = outcome.block or outcome.error or _reported(score)

    def _learn(self) -> None:
        """A failure is done with when enough calls have followed it."""
        if len(self._window) == WATCHED_STEPS + 1 and self._window[0].failure is not None:
            first, *others = self._window
            calls = [first, *(call._replace(failure=None) for call in others)]
            for attempt in tried_actions(calls):
                self.patterns = learn(self.patterns, attempt)

    def finish(self) -> None:
        """Failures that few calls followed are learnt from as well, and the file is complete."""
        while self._window:
            first, *others = self._window
            calls = [first, *(call._replace(failure=None) for call in others)]
            # A full window was learnt from when it filled.
            if len(self._window) <= WATCHED_STEPS:
                for attempt in tried_actions(calls):
                    self.patterns = learn(self.patterns, attempt)
            self._window.popleft()
        if self._writer is not None:
            self._writer.close()

    def steps_report(self, last: int) -> tuple[str, dict[str, Any]]:
        """The latest steps and where the session stands, as text and as data."""
        steps = list(self.latest)[-last:]
        state = status(self._scoring.history)
        lines = [step.line() for step in steps] or ["no browser tool was called yet"]
        since = f" since step {state.since}" if state.since else ""
        lines.append(f"status: {state.state}{since}: {state.because}")
        data = {"steps": [step.to_record() for step in steps], "status": state._asdict()}
        return "\n".join(lines), data

    def hint_report(self) -> tuple[str, dict[str, Any]]:
        """What to look at next and which recoveries worked before, as text and as data."""
        state = status(self._scoring.history)
        look = next_look(self._trouble, tried=self._tried)
        tool = None if look is None else self._tool_for(look.action)
        ranked = self._ranked(tool)
        lines = [f"status: {state.state}: {state.because}"]
        if self._trouble is not None:
            lines.append(f"trouble: {self._trouble}")
        if look is None:
            lines.append("look: nothing is left to read; change the plan, or ask a person")
        else:
            lines.append(f"look: {tool or look.action}: {look.because}")
        lines += [_ranked_line(one) for one in ranked if one.counts.attempts]
        data = {
            "status": state._asdict(),
            "trouble": self._trouble,
            "look": None
            if look is None
            else {"action": look.action, "tool": tool, "because": look.because},
            "recoveries": [
                {
                    "tool": one.candidate.tool,
                    "attempts": one.counts.attempts,
                    "successes": one.counts.successes,
                    "needs_confirmation": one.needs_gate,
                }
                for one in ranked
            ],
        }
        return "\n".join(lines), data

    def _tool_for(self, action: ReadAction) -> str | None:
        """The server's tool for a read-only action; `None` if it has none."""
        return next((tool for tool in LOOKS[action] if tool in self.read_only), None)

    def _ranked(self, look: str | None) -> tuple[RankedCandidate, ...]:
        if self._failure is None:
            return ()
        proven = {tool for key, tool in self.patterns.counts if key == self._failure}
        candidates = [
            RecoveryCandidate(tool, self.describe(tool, {}).effect)
            for tool in sorted({*proven, *(() if look is None else (look,))})
        ]
        return rank_recoveries(candidates, self.patterns, self._failure)


def _error(
    call: BrowserCall, reply: Mapping[str, Any], result: Mapping[str, Any], text: str
) -> tuple[ErrorCode | None, str]:
    """The code of a failed call and its message; no code for one that worked."""
    refusal = reply.get("error")
    if isinstance(refusal, Mapping):
        message = str(refusal.get("message", ""))[:2_000]
        return classify_error(message), message
    error = classify_mcp_result(result)
    if error is None and call.kind == "goto" and text.startswith(_FAILED_NAVIGATION):
        return classify_error(text.removeprefix(_FAILED_NAVIGATION)), text[:2_000]
    return error, text[:2_000]


def _info(call: BrowserCall, result: Mapping[str, Any], text: str, page: ResultPage) -> str | None:
    """The digest of what the agent got to read; a snapshot in a file is not that yet."""
    if page.text is not None and page.inline and section(text, "Result") is None:
        return text_digest(page.text)
    return result_info(result, text) if call.kind == "read" else None


def _reported(score: StepScore) -> ErrorCode | None:
    """The trouble of a call that the tool itself did not complain of."""
    codes = {reason.code.removeprefix("error_") for reason in score.reasons}
    reported: tuple[ErrorCode, ...] = (
        "page_error", "form_rejected", "request_failed", "value_refused",
    )  # fmt: skip
    for code in reported:
        if code in codes:
            return code
    return "silent_click" if score.classification in ("no_progress", "repeat") else None


def _action(call: BrowserCall) -> str:
    """The call as the steps file shows it, without secrets and typed text."""
    arguments = json.dumps(redact(call.arguments), ensure_ascii=False)
    return f"{call.tool}({arguments if call.arguments else ''})"


def _domain(url: str | None) -> str:
    try:
        return (urlsplit(url or "").hostname or "")[:253]
    except ValueError:
        return ""


def _ranked_line(one: RankedCandidate) -> str:
    asks = "; ask for a confirmation first" if one.needs_gate else ""
    counts = one.counts
    return f"worked before: {one.candidate.tool}, {counts.successes} of {counts.attempts}{asks}"
