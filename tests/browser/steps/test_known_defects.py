"""Eight defects of the rule set that this scorer replaces, each of which would be seen here."""

from __future__ import annotations

from itertools import product
from typing import Any

from assay.browser.outcome.blocks import detect_block
from assay.browser.outcome.classify import classify_error, classify_mcp_result
from assay.browser.steps import (
    ContractStatus,
    Effect,
    HistoryFacts,
    RecoveryRewardScorer,
    StepHistory,
    StepInput,
    ToolOutcome,
)
from assay.browser.steps.recovery_ranking import (
    FailureKey,
    RecoveryAttempt,
    RecoveryCandidate,
    RecoveryStatistics,
    learn,
    rank_recoveries,
)
from assay.schema.evidence import PageEvidence, PageFacts

scorer = RecoveryRewardScorer()
OLD: dict[str, Any] = {"url": "a", "dom": "a", "text": "a", "net": "a", "refs": "a"}


def every_evidence() -> list[StepInput]:
    """All combinations of changed channels, items, repetition and error."""
    steps = []
    for url, dom, net, refs, items, again, ok in product(
        "ab", "ab", "ab", "ab", (0, 1, 4), (0, 1, 4), (True, False)
    ):
        outcome = ToolOutcome("click", ok=ok, items=items)
        after: dict[str, Any] = {**OLD, "url": url, "dom": dom, "net": net, "refs": refs}
        recent = HistoryFacts(same_call=again, same_error=again)
        steps.append(StepInput(outcome, PageEvidence(**OLD), PageEvidence(**after), recent=recent))
    return steps


def test_defect_1_a_failed_contract_lowers_the_score_and_is_never_positive() -> None:
    for step in every_evidence():
        without = scorer.score(step)
        failed = scorer.score(step._replace(contract=ContractStatus("fail")))
        assert failed.milli < 0
        assert failed.milli <= without.milli


def test_defect_2_no_heuristic_ties_a_contract_pass() -> None:
    best = max(scorer.score(step).milli for step in every_evidence())
    passed = scorer.score(StepInput(ToolOutcome("assert"), contract=ContractStatus("pass")))
    assert best <= 700 < passed.milli == 1000


def test_defect_3_one_extracted_item_is_not_punished() -> None:
    outcome = ToolOutcome("extract", effect=Effect.READ, ok=True, items=1)
    for recent in (None, HistoryFacts(), HistoryFacts(seen_info=False)):
        assert scorer.score(StepInput(outcome, recent=recent)).milli >= 150


def test_defect_4_page_content_never_looks_like_a_failure_or_a_block() -> None:
    hostile = "Forbidden City tickets: session timeout, captcha, access denied, element not found"
    assert classify_mcp_result({"content": [{"type": "text", "text": hostile}]}) is None
    quoted = f"Error: locator.click: Timeout 5000ms exceeded.\n  waiting for getByText('{hostile}')"
    assert classify_error(quoted) == "timeout"
    assert classify_error(f"Could not save {hostile!r}") == "other"
    page = PageFacts(
        url="https://x.test/forbidden-city",
        title=hostile,
        text=hostile,
        status=200,
        counts={"*": 9},
    )
    assert detect_block(page) is None


def test_defect_5_repetition_lowers_the_score_evenly_without_a_cliff() -> None:
    def scores(before: PageEvidence, after: PageEvidence) -> list[int]:
        step = StepInput(ToolOutcome("click", ok=True), before, after)
        return [
            scorer.score(step._replace(recent=HistoryFacts(same_call=k))).milli for k in range(6)
        ]

    assert scores(PageEvidence(net="a"), PageEvidence(net="b")) == [150, 40, -70, -180, -290, -400]
    assert scores(PageEvidence(url="a"), PageEvidence(url="b")) == [250, 225, 200, 175, 150, 125]


def test_defect_6_clicking_back_and_forth_does_not_pay() -> None:
    pages = [PageEvidence(url=f"u{n}", dom=f"d{n}", text=f"t{n}") for n in range(2)]
    same_calls = [f"c{n % 2}" for n in range(60)]
    other_calls = [f"at {n},{n}" for n in range(60)]
    for calls in (same_calls, other_calls):
        history, total, last = StepHistory(), 0, 0
        for n, call in enumerate(calls):
            step = StepInput(ToolOutcome("click", call, ok=True), pages[n % 2], pages[1 - n % 2])
            history, score = scorer.advance(history, step)
            total += score.milli
            last = score.milli
        assert last < 0
        assert total < 0


def test_defect_7_candidates_are_ranked_by_what_was_observed_of_them() -> None:
    failure = FailureKey("stale_ref:1", "shop.test", "click")
    worked = scorer.score(
        StepInput(
            ToolOutcome("click", ok=True),
            PageEvidence(url="a"),
            PageEvidence(url="b"),
            recent=HistoryFacts(pending="stale_ref", same_target=True),
        )
    )
    patterns = RecoveryStatistics()
    for _ in range(3):
        patterns = learn(patterns, RecoveryAttempt(failure, "find", worked))
    candidates = [RecoveryCandidate(tool, Effect.READ) for tool in ("another", "find", "read_page")]
    ranked = rank_recoveries(candidates, patterns, failure)
    assert [r.candidate.tool for r in ranked] == ["find", "another", "read_page"]
    assert ranked[0].counts.lower_bound > ranked[1].counts.lower_bound == 0.0


def test_defect_8_a_look_at_the_page_after_an_error_is_not_a_recovery() -> None:
    page = PageEvidence(url="a", dom="a")
    failed = ToolOutcome("click", "click", ok=False, error="not_found")
    look = ToolOutcome("read_page", "read", effect=Effect.READ, ok=True, info="text")
    history, _ = scorer.advance(StepHistory(), StepInput(failed, page, page))
    history, score = scorer.advance(history, StepInput(look, page, page))
    assert score.classification == "observation"
    assert history.pending is not None
