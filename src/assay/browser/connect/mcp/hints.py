"""What `assay_hint` knows of a session: what failed, what was looked at since, what has worked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from assay.browser.connect.mcp.calls import READS, BrowserCall
from assay.browser.steps import AgentStatus
from assay.browser.steps.recovery_ranking import (
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
from assay.schema.blocking import BlockCode, ReadAction
from assay.schema.outcome import ErrorCode, ToolOutcome
from assay.schema.step_score import StepScore

REPORTED: Final[tuple[ErrorCode, ...]] = (
    "page_error", "form_rejected", "request_failed", "value_refused",
)  # fmt: skip
"""What the browser reports of a call that its tool did not complain of."""


class SessionHints:
    """Advice on the next call, from the scored calls of a session and those before it."""

    def __init__(self, patterns: RecoveryPatterns | None = None) -> None:
        self.patterns = patterns or RecoveryPatterns()
        """Which recoveries have worked, this session's included."""
        self._window: deque[ScoredCall] = deque(maxlen=WATCHED_STEPS + 1)
        self._tried: set[ReadAction] = set()
        self._failure: FailureKey | None = None
        self._trouble: ErrorCode | BlockCode | None = None

    def add(
        self, call: BrowserCall, outcome: ToolOutcome, score: StepScore, *, message: str, url: str
    ) -> None:
        """A call was scored; `message` is what the server said of it, on the page at `url`."""
        failure = None
        if score.classification in ("failure", "blocked"):
            fingerprint = failure_fingerprint(outcome.error or "other", message)
            failure = FailureKey(fingerprint, _domain(url), call.tool)
        self._window.append(ScoredCall(call.tool, score, failure))
        # A failure is done with when enough calls have followed it.
        if len(self._window) > WATCHED_STEPS:
            self._learn(self._window)
        if call.kind == "read":
            self._tried.update(call.reads())
            return
        self._tried.clear()
        self._failure = failure
        self._trouble = outcome.block or outcome.error or _reported(score)

    def _learn(self, window: Sequence[ScoredCall]) -> None:
        """The patterns know what followed the first call, if that failed."""
        first, *others = window
        calls = [first, *(call._replace(failure=None) for call in others)]
        for attempt in tried_actions(calls):
            self.patterns = learn(self.patterns, attempt)

    def finish(self) -> None:
        """Failures that few calls followed are learnt from as well."""
        calls = tuple(self._window)
        self._window.clear()
        # A full window was learnt from when it filled.
        for start in range(len(calls) > WATCHED_STEPS, len(calls)):
            self._learn(calls[start:])

    def report(
        self, state: AgentStatus, tools: Collection[str], describe: Callable[[str], BrowserCall]
    ) -> tuple[str, dict[str, Any]]:
        """What to look at next and which recoveries worked before, as text and as data.

        `tools` are those of the server.
        """
        look = next_look(self._trouble, tried=self._tried)
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
        lines += [_ranked_line(one) for one in ranked if one.counts.attempts]
        recoveries = [
            {"tool": r.candidate.tool, **r.counts._asdict(), "needs_confirmation": r.needs_gate}
            for r in ranked
        ]
        data = {
            "status": state._asdict(),
            "trouble": self._trouble,
            "look": look and {"action": look.action, "tool": tool, "because": look.because},
            "recoveries": recoveries,
        }
        return "\n".join(lines), data

    def _ranked(
        self, look: str | None, describe: Callable[[str], BrowserCall]
    ) -> tuple[RankedCandidate, ...]:
        if self._failure is None:
            return ()
        proven = {tool for key, tool in self.patterns.counts if key == self._failure}
        candidates = [
            RecoveryCandidate(tool, describe(tool).effect)
            for tool in sorted({*proven, *(() if look is None else (look,))})
        ]
        return rank_recoveries(candidates, self.patterns, self._failure)


def _reported(score: StepScore) -> ErrorCode | None:
    """The trouble of a call that the tool itself did not complain of."""
    codes = {reason.code.removeprefix("error_") for reason in score.reasons}
    for code in REPORTED:
        if code in codes:
            return code
    return "silent_click" if score.classification in ("no_progress", "repeat") else None


def _domain(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "")[:253]
    except ValueError:
        return ""


def _ranked_line(one: RankedCandidate) -> str:
    asks = "; ask for a confirmation first" if one.needs_gate else ""
    counts = one.counts
    return f"worked before: {one.candidate.tool}, {counts.successes} of {counts.attempts}{asks}"
