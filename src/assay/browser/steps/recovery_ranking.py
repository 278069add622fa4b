"""Advise which recovery to try and what to read next, from scored steps."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from math import sqrt
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from assay.errors import BadRecord
from assay.schema.blocking import BLOCKING_PAGES, BlockCode, ReadAction
from assay.schema.outcome import Effect, ErrorCode
from assay.schema.step_score import StepScore

LEAST_ATTEMPTS: Final = 3
LEAST_RATE: Final = 0.67
"""A pattern is promoted from this many evidence-backed attempts and this share of successes on."""
WATCHED_STEPS: Final = 3
"""Steps after a failure within which a recovery has to show."""
MOST_PATTERNS: Final = 500
_Z: Final = 1.96
_WORKED: Final = ("recovered", "contract_pass")
_SCHEMA: Final = "assay.recovery_patterns/1"


class FailureKey(NamedTuple):
    """The key of a failure: its kind, its domain and its tool."""

    fingerprint: str
    domain: str
    tool: str


class RecoveryAttempt(NamedTuple):
    """A recovery that was tried after a failure, and the step score that decided it."""

    failure: FailureKey
    recovery: str
    outcome: StepScore


class RecoveryCounts(NamedTuple):
    """How often one recovery was tried, and how often it worked."""

    attempts: int = 0
    successes: int = 0

    @property
    def lower_bound(self) -> float:
        """The lower bound of the success rate with 95 % confidence (Wilson); 0 without attempts."""
        n = self.attempts
        if n <= 0:
            return 0.0
        p = self.successes / n
        centre = p + _Z * _Z / (2 * n)
        spread = _Z * sqrt(p * (1 - p) / n + _Z * _Z / (4 * n * n))
        return max(0.0, (centre - spread) / (1 + _Z * _Z / n))

    @property
    def promoted(self) -> bool:
        return self.attempts >= LEAST_ATTEMPTS and self.successes >= LEAST_RATE * self.attempts


class RecoveryStatistics(NamedTuple):
    """How often each recovery worked for each failure; `RecoveryStatistics()` is empty."""

    counts: Mapping[tuple[FailureKey, str], RecoveryCounts] = MappingProxyType({})

    def counts_of(self, failure: FailureKey, recovery: str) -> RecoveryCounts:
        return self.counts.get((failure, recovery), RecoveryCounts())

    def promoted(self, failure: FailureKey) -> tuple[str, ...]:
        """The recoveries that work for this failure, with the best evidence first."""
        promoted = sorted(
            (-counts.lower_bound, recovery)
            for (key, recovery), counts in self.counts.items()
            if key == failure and counts.promoted
        )
        return tuple(recovery for _, recovery in promoted)


def learn(patterns: RecoveryStatistics, attempt: RecoveryAttempt) -> RecoveryStatistics:
    """Add an attempt to the patterns; an attempt without evidence or with a block is ignored."""
    score = attempt.outcome
    if not score.evidence_backed or not score.controllable:
        return patterns
    worked = score.classification in _WORKED
    key = (attempt.failure, attempt.recovery)
    counts = dict(patterns.counts)
    before = counts.pop(key, RecoveryCounts())
    counts[key] = RecoveryCounts(before.attempts + 1, before.successes + worked)
    while len(counts) > MOST_PATTERNS:
        del counts[next(iter(counts))]
    return RecoveryStatistics(counts)


class TrajectoryStep(NamedTuple):
    """One step of a trajectory: its tool, its score, and its failure if it failed."""

    tool: str
    score: StepScore
    failure: FailureKey | None = None


def tried_actions(calls: Sequence[TrajectoryStep]) -> tuple[RecoveryAttempt, ...]:
    """Find the recoveries in a trajectory: the first call of another tool after each failure.

    It is scored by the step that achieves what had failed, or else by the last one watched.
    """
    actions: list[RecoveryAttempt] = []
    for index, call in enumerate(calls):
        watched = calls[index + 1 : index + 1 + WATCHED_STEPS]
        recovery = next((after.tool for after in watched if after.tool != call.tool), None)
        if call.failure is not None and recovery is not None:
            scores = (step.score for step in watched)
            worked = (score for score in scores if score.classification in _WORKED)
            actions.append(RecoveryAttempt(call.failure, recovery, next(worked, watched[-1].score)))
    return tuple(actions)


def failure_fingerprint(error: ErrorCode, message: str = "") -> str:
    """A short name for a kind of failure, from its code and its message without numbers."""
    folded = re.sub(r"\d+", "<n>", " ".join(message[:2_000].lower().split()))
    data = f"{error}\n{folded}".encode("utf-8", "surrogatepass")
    return f"{error}:{sha256(data).hexdigest()[:16]}"


class RecoveryCandidate(NamedTuple):
    """A recovery that could be tried."""

    tool: str
    effect: Effect


class RankedCandidate(NamedTuple):
    """A possible recovery, with the evidence for it."""

    candidate: RecoveryCandidate
    counts: RecoveryCounts
    needs_gate: bool
    """Whether it must not be tried without a confirmation; advice never passes a gate."""


def rank_recoveries(
    candidates: Iterable[RecoveryCandidate],
    patterns: RecoveryStatistics,
    failure: FailureKey,
    *,
    limit: int = 3,
) -> tuple[RankedCandidate, ...]:
    """The best candidates: by risk, with the failed tool last, then by evidence and name."""

    def place(ranked: RankedCandidate) -> tuple[Effect, bool, float, str]:
        effect, tool = ranked.candidate.effect, ranked.candidate.tool
        return effect, tool == failure.tool, -ranked.counts.lower_bound, tool

    ranked = (
        RankedCandidate(one, patterns.counts_of(failure, one.tool), one.effect >= Effect.EXTERNAL)
        for one in candidates
    )
    return tuple(sorted(ranked, key=place)[: max(limit, 0)])


class NextReadHint(NamedTuple):
    """The page-reading action that a stuck agent should take next."""

    action: ReadAction
    because: str


_READS: Final[Mapping[str, tuple[ReadAction, ...]]] = {
    "stale_ref": ("read_page", "find_element"),
    "not_found": ("read_page", "find_element", "screenshot"),
    "not_interactive": ("screenshot", "read_page"),
    "timeout": ("wait_and_read", "list_tabs", "read_console"),
    "protocol": ("list_tabs", "read_page"),
    "target_closed": ("list_tabs",),
    "nav_error": ("list_tabs", "read_console"),
    "empty_result": ("wait_and_read", "read_page"),
    "wrong_element": ("find_element", "read_page"),
    "silent_click": ("read_page", "read_console"),
    "bad_call": ("read_page", "find_element"),
    **{page.code: page.advice for page in BLOCKING_PAGES},
}
_ANY: Final[tuple[ReadAction, ...]] = (
    "read_page", "screenshot", "find_element", "list_tabs", "read_console",
)  # fmt: skip
_WHY: Final[Mapping[ReadAction, str]] = {
    "read_page": "read the page again: references and content may have changed",
    "find_element": "look the element up by its role and name instead of a reference",
    "list_tabs": "see which tabs are open and which one is active",
    "wait_and_read": "wait, then read the page: it may still be working",
    "screenshot": "look at the page: something may cover the element or be out of view",
    "read_console": "read the console: the page may have reported an error",
}


def next_look(
    trouble: ErrorCode | BlockCode | None, *, tried: Collection[str] = ()
) -> NextReadHint | None:
    """The best read-only action that was not yet tried; `None` if all were tried."""
    actions = (*_READS.get(trouble or "", ()), *_ANY)
    return next((NextReadHint(each, _WHY[each]) for each in actions if each not in tried), None)


def patterns_to_json(patterns: RecoveryStatistics) -> bytes:
    """Write patterns as JSON; equal patterns give equal bytes."""
    rows = [
        [*key, recovery, counts.attempts, counts.successes]
        for (key, recovery), counts in patterns.counts.items()
    ]
    record = {"schema": _SCHEMA, "patterns": rows}
    return json.dumps(record, sort_keys=True, separators=(",", ":")).encode()


def patterns_from_json(data: bytes | str) -> RecoveryStatistics:
    """The patterns that `patterns_to_json` wrote."""
    try:
        record: dict[str, Any] = json.loads(data)
        if record["schema"] != _SCHEMA:
            raise ValueError(f"schema {record['schema']!r:.50}")
        counts = {}
        for fingerprint, domain, tool, recovery, attempts, successes in record["patterns"]:
            if not 0 <= successes <= attempts:
                raise ValueError(f"{successes!r} successes of {attempts!r} attempts")
            key = FailureKey(str(fingerprint), str(domain), str(tool))
            counts[key, str(recovery)] = RecoveryCounts(int(attempts), int(successes))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise BadRecord(f"not recovery patterns: {type(error).__name__} {error!s:.200}") from error
    return RecoveryStatistics(counts)
