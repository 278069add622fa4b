"""Advice: ranking, hints and learned patterns, from evidence only."""

from __future__ import annotations

from itertools import permutations
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.browser.steps import Effect, HistoryFacts, RecoveryRewardScorer, StepInput, ToolOutcome
from assay.browser.steps.recovery_ranking import (
    MOST_PATTERNS,
    FailureKey,
    RecoveryAttempt,
    RecoveryCandidate,
    RecoveryCounts,
    RecoveryStatistics,
    TrajectoryStep,
    failure_fingerprint,
    learn,
    next_look,
    patterns_from_json,
    patterns_to_json,
    rank_recoveries,
    tried_actions,
)
from assay.errors import BadRecord
from assay.schema.blocking import BlockCode, ReadAction
from assay.schema.evidence import PageEvidence
from assay.schema.outcome import ErrorCode
from assay.schema.step_score import StepScore

scorer = RecoveryRewardScorer()
KEY = FailureKey("stale_ref:1", "shop.test", "click")
OK = ToolOutcome("click", "c", ok=True)
A, B = PageEvidence(url="a"), PageEvidence(url="b")
RETRY = HistoryFacts(pending="stale_ref", same_target=True)

RECOVERED = scorer.score(StepInput(OK, A, B, recent=RETRY))
BY_WORD = scorer.score(StepInput(OK, recent=RETRY))
NOTHING = scorer.score(StepInput(OK, A, A))
LOOK = scorer.score(
    StepInput(
        ToolOutcome("read", effect=Effect.READ, ok=True), recent=HistoryFacts(seen_info=False)
    )
)
BLOCKED = scorer.score(StepInput(OK._replace(block="captcha")))
FAILED = scorer.score(StepInput(OK._replace(ok=False, error="stale_ref")))


def learned(*scores: StepScore, recovery: str = "find") -> RecoveryStatistics:
    patterns = RecoveryStatistics()
    for score in scores:
        patterns = learn(patterns, RecoveryAttempt(KEY, recovery, score))
    return patterns


@pytest.mark.parametrize(
    ("why", "scores", "promoted"),
    [
        ("three that worked", [RECOVERED] * 3, True),
        ("two are too few", [RECOVERED] * 2, False),
        ("two of three are too few", [RECOVERED, RECOVERED, NOTHING], False),
        ("three of four", [RECOVERED] * 3 + [NOTHING], True),
        ("the tool's word is no evidence", [BY_WORD] * 9, False),
        ("a look is no recovery", [LOOK] * 9, False),
        ("a block is not held against it", [RECOVERED] * 3 + [BLOCKED] * 9, True),
    ],
)
def test_a_pattern_is_promoted_by_evidence_only(
    why: str, scores: list[StepScore], promoted: bool
) -> None:
    assert bool(learned(*scores).promoted(KEY)) is promoted


def test_patterns_of_another_failure_site_or_tool_do_not_count() -> None:
    patterns = learned(*[RECOVERED] * 5)
    for other in (KEY._replace(domain="x"), KEY._replace(tool="x"), KEY._replace(fingerprint="x")):
        assert patterns.promoted(other) == ()
        assert patterns.counts_of(other, "find") == RecoveryCounts()


def test_patterns_are_a_value_that_can_be_written() -> None:
    before = learned(RECOVERED)
    after = learn(before, RecoveryAttempt(KEY, "find", NOTHING))
    assert before.counts_of(KEY, "find") == RecoveryCounts(1, 1)
    assert after.counts_of(KEY, "find") == RecoveryCounts(2, 1)
    assert patterns_from_json(patterns_to_json(after)) == after
    for text in ("", "[]", "{}", '{"schema":"assay.recovery_patterns/1","patterns":[["a"]]}'):
        with pytest.raises(BadRecord, match="not recovery patterns"):
            patterns_from_json(text)
    lie = patterns_to_json(after).replace(b"2,1]", b"2,3]")
    with pytest.raises(BadRecord, match="3 successes of 2 attempts"):
        patterns_from_json(lie)


def test_patterns_are_bounded() -> None:
    patterns = RecoveryStatistics()
    for n in range(MOST_PATTERNS + 10):
        patterns = learn(patterns, RecoveryAttempt(KEY._replace(domain=str(n)), "find", RECOVERED))
    assert len(patterns.counts) == MOST_PATTERNS


def test_risk_comes_first_then_evidence_then_the_name() -> None:
    patterns = learned(*[RECOVERED] * 20, recovery="reload")
    candidates = [
        RecoveryCandidate("click", Effect.READ),
        RecoveryCandidate("find", Effect.READ),
        RecoveryCandidate("look", Effect.READ),
        RecoveryCandidate("reload", Effect.BROWSER),
        RecoveryCandidate("back", Effect.BROWSER),
        RecoveryCandidate("delete", Effect.DESTRUCTIVE),
    ]
    for order in permutations(candidates, 6):
        ranked = rank_recoveries(order, patterns, KEY, limit=6)
        tools = [r.candidate.tool for r in ranked]
        assert tools == ["find", "look", "click", "reload", "back", "delete"]
    assert [r.needs_gate for r in ranked] == [False] * 5 + [True]
    assert len(rank_recoveries(candidates, patterns, KEY)) == 3
    assert rank_recoveries([], patterns, KEY) == ()


@given(st.integers(1, 200), st.integers(0, 200))
def test_the_lower_bound_is_a_cautious_rate(attempts: int, successes: int) -> None:
    successes = min(successes, attempts)
    bound = RecoveryCounts(attempts, successes).lower_bound
    assert 0.0 <= bound <= successes / attempts + 1e-12
    if successes < attempts:
        assert RecoveryCounts(attempts, successes + 1).lower_bound > bound
    assert RecoveryCounts(attempts * 2, successes * 2).lower_bound >= bound - 1e-12


def test_attempts_are_found_in_a_trajectory() -> None:
    calls = [
        TrajectoryStep("click", FAILED, KEY),
        TrajectoryStep("find", LOOK),
        TrajectoryStep("click", RECOVERED),
        TrajectoryStep("click", FAILED, KEY),
        TrajectoryStep("click", FAILED, KEY),
        TrajectoryStep("read", LOOK),
    ]
    actions = tried_actions(calls)
    assert [(a.recovery, a.outcome.classification) for a in actions] == [
        ("find", "recovered"),
        ("read", "observation"),
        ("read", "observation"),
    ]
    assert tried_actions(calls[:1]) == ()


def test_a_fingerprint_forgets_numbers_and_keeps_the_kind() -> None:
    one = failure_fingerprint("timeout", "Timeout 5000ms  exceeded")
    assert one == failure_fingerprint("timeout", "timeout 30000ms exceeded")
    assert one != failure_fingerprint("other", "timeout 30000ms exceeded")
    assert failure_fingerprint("other", "\ud800" * 10**6).startswith("other:")


@pytest.mark.parametrize("trouble", [None, *get_args(ErrorCode), *get_args(BlockCode)])
def test_a_hint_names_a_read_that_was_not_tried_until_none_is_left(
    trouble: ErrorCode | BlockCode | None,
) -> None:
    tried: list[str] = []
    while (hint := next_look(trouble, tried=tried)) is not None:
        assert hint.action in get_args(ReadAction)
        assert hint.action not in tried
        assert hint.because
        tried.append(hint.action)
    assert len(tried) >= 5


def test_the_first_hint_fits_the_trouble() -> None:
    first = {code: hint.action for code in get_args(ErrorCode) if (hint := next_look(code))}
    assert first["stale_ref"] == "read_page"
    assert first["timeout"] == "wait_and_read"
    assert first["target_closed"] == "list_tabs"
