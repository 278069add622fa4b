"""The rules of the step scorer on cases that a person can check."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from assay.browser.observe.digest import call_signature, info_digest, page_evidence
from assay.browser.steps import (
    ContractStatus,
    Effect,
    HistoryFacts,
    RecoveryRewardScorer,
    StepHistory,
    StepInput,
    ToolOutcome,
    contract_from_toml,
    follow,
    history_from_json,
    history_to_json,
    observe,
)
from assay.browser.steps.history import PATIENCE_STEPS
from assay.errors import BadRecord
from assay.schema.evidence import PageEvidence, PageFacts
from assay.schema.step_score import StepScore, step_score_from_record, step_score_to_record

scorer = RecoveryRewardScorer()

A = PageEvidence(url="u1", dom="d1", text="t1", net="n1", refs="r1", n_refs=4, shot=0)
CLICK = ToolOutcome("click", "click:7", effect=Effect.BROWSER, ok=True)
READ = ToolOutcome("read_page", "read", effect=Effect.READ, ok=True, info="i1")
BUY = ToolOutcome("click", "buy", effect=Effect.IRREVERSIBLE, ok=True)
NEW = HistoryFacts(seen_info=False)
SEEN = HistoryFacts(seen_info=True)


def page(**changes: Any) -> PageEvidence:
    return replace(PageEvidence("u1", "d1", "t1", "n1", "r1", shot=0), **changes)


def score(outcome: ToolOutcome, **rest: Any) -> StepScore:
    return scorer.score(StepInput(outcome, **rest))


MOVED = page(url="u2", dom="d2", text="t2")
GAINED = ContractStatus(None, 2, 4, 1)

ROWS: list[tuple[str, StepInput, int, str]] = [
    ("no gate passed", StepInput(BUY._replace(gate="missing")), -1000, "destructive_ungated"),
    ("nobody says so", StepInput(BUY), -1000, "destructive_ungated"),
    ("gated", StepInput(BUY._replace(gate="satisfied")), 0, "unknown"),
    (
        "an order without its gate is transactional",
        StepInput(CLICK._replace(effect=Effect.EXTERNAL, gate="missing")),
        -1000,
        "destructive_ungated",
    ),
    (
        "a gate beats a contract",
        StepInput(BUY, contract=ContractStatus("pass")),
        -1000,
        "destructive_ungated",
    ),
    (
        "the contract's word is final",
        StepInput(CLICK._replace(ok=False, error="timeout"), contract=ContractStatus("pass")),
        1000,
        "contract_pass",
    ),
    (
        "an old pass proves nothing now",
        StepInput(CLICK, A, A, contract=ContractStatus("pass", fresh=False)),
        -100,
        "no_progress",
    ),
    (
        "a pass is paid once",
        StepInput(CLICK, A, A, contract=ContractStatus("pass"), recent=HistoryFacts(passed=True)),
        -100,
        "no_progress",
    ),
    ("a CAPTCHA", StepInput(CLICK._replace(block="captcha"), A, MOVED), -750, "blocked"),
    ("stale", StepInput(CLICK._replace(ok=False, error="stale_ref")), -450, "failure"),
    ("not found", StepInput(CLICK._replace(error="not_found")), -450, "failure"),
    (
        "failed the same way three times before",
        StepInput(CLICK._replace(ok=False, error="timeout"), recent=HistoryFacts(same_error=3)),
        -600,
        "failure",
    ),
    (
        "the contract failed, although the page moved",
        StepInput(CLICK, A, MOVED, contract=ContractStatus("fail")),
        -300,
        "contract_fail",
    ),
    (
        "a critical contract",
        StepInput(CLICK, A, MOVED, contract=ContractStatus("fail", critical=True)),
        -400,
        "contract_fail",
    ),
    (
        "half of it was gained",
        StepInput(CLICK, contract=ContractStatus("fail", 2, 2, 1)),
        -225,
        "contract_fail",
    ),
    (
        "a retry that worked",
        StepInput(CLICK, A, MOVED, recent=HistoryFacts(pending="stale_ref", same_target=True)),
        625,
        "recovered",
    ),
    (
        "a retry that did nothing",
        StepInput(CLICK, A, A, recent=HistoryFacts(pending="stale_ref", same_target=True)),
        -100,
        "no_progress",
    ),
    (
        "a retry of which nobody says that it worked",
        StepInput(
            CLICK._replace(ok=None),
            A,
            MOVED,
            recent=HistoryFacts(pending="timeout", same_target=True),
        ),
        450,
        "progress",
    ),
    (
        "much else, while a failure is pending",
        StepInput(CLICK._replace(items=4), A, MOVED, recent=HistoryFacts(pending="timeout")),
        450,
        "progress",
    ),
    (
        "another way to the same goal",
        StepInput(CLICK, contract=GAINED, recent=HistoryFacts(pending="timeout")),
        568,
        "recovered",
    ),
    ("a quarter of the contract", StepInput(CLICK, contract=GAINED), 275, "target_reached"),
    ("address, structure and text", StepInput(CLICK, A, MOVED), 500, "progress"),
    ("only the text", StepInput(CLICK, A, page(text="t2")), 100, "progress"),
    ("only the fragment or address", StepInput(CLICK, A, page(url="u1#x")), 250, "progress"),
    ("only the picture", StepInput(CLICK, A, page(shot=0x7F)), 50, "progress"),
    ("six bits are the same picture", StepInput(CLICK, A, page(shot=0x3F)), -100, "no_progress"),
    ("a request was sent", StepInput(CLICK, A, page(net="n2")), 150, "progress"),
    ("one item", StepInput(READ._replace(items=1), recent=NEW), 200, "progress"),
    ("three items", StepInput(READ._replace(items=3), recent=NEW), 300, "progress"),
    ("four items", StepInput(READ._replace(items=4), recent=NEW), 350, "progress"),
    (
        "items that were seen before",
        StepInput(READ._replace(items=4), recent=SEEN),
        -100,
        "no_progress",
    ),
    (
        "other elements after a stale reference",
        StepInput(
            READ, A, A, recent=HistoryFacts(seen_info=False, pending="stale_ref", fresh_refs=True)
        ),
        250,
        "progress",
    ),
    ("a look with news", StepInput(READ, A, A, recent=NEW), 50, "observation"),
    ("a page that moves by itself", StepInput(READ, A, MOVED, recent=NEW), 50, "observation"),
    ("a look without news", StepInput(READ, A, A, recent=SEEN), -100, "no_progress"),
    (
        "the same look again",
        StepInput(READ, A, A, recent=HistoryFacts(same_call=1, seen_info=True)),
        -180,
        "repeat",
    ),
    (
        "the same look again, stuck",
        StepInput(READ, A, A, "stuck", recent=HistoryFacts(same_call=1, seen_info=True)),
        -260,
        "repeat",
    ),
    (
        "back where it was",
        StepInput(CLICK, A, MOVED, recent=HistoryFacts(revisits=1)),
        0,
        "repeat",
    ),
    (
        "back from a page that did not load",
        StepInput(CLICK, A, MOVED, recent=HistoryFacts(revisits=1, pending="page_error")),
        500,
        "recovered",
    ),
    (
        "back from it again",
        StepInput(
            CLICK, A, MOVED, recent=HistoryFacts(revisits=2, pending="page_error", same_call=1)
        ),
        -120,
        "repeat",
    ),
    (
        "back after a refused form",
        StepInput(CLICK, A, MOVED, recent=HistoryFacts(revisits=1, pending="form_rejected")),
        0,
        "repeat",
    ),
    (
        "back again and again",
        StepInput(CLICK, A, MOVED, recent=HistoryFacts(revisits=5)),
        -160,
        "repeat",
    ),
    (
        "half of the contract was lost",
        StepInput(CLICK, contract=ContractStatus(None, 1, 4, 3)),
        -200,
        "no_progress",
    ),
    ("nothing known", StepInput(ToolOutcome("click")), 0, "unknown"),
    ("a look of which nothing is known", StepInput(READ), 0, "unknown"),
]


@pytest.mark.parametrize(("why", "step", "milli", "classification"), ROWS, ids=[r[0] for r in ROWS])
def test_each_rule_gives_its_number(
    why: str, step: StepInput, milli: int, classification: str
) -> None:
    found = scorer.score(step)
    assert (found.milli, found.classification) == (milli, classification), found.because


def test_reasons_name_the_evidence_that_was_observed() -> None:
    codes = [reason.code for reason in score(CLICK, before=A, after=MOVED).reasons]
    assert codes == ["url_changed", "dom_changed", "text_changed"]
    assert "the address changed" in score(CLICK, before=A, after=MOVED).because


def test_missing_evidence_gives_a_low_confidence_and_is_not_called_unchanged() -> None:
    blind = score(CLICK, before=None, after=MOVED)
    assert blind.classification == "unknown"
    assert blind.confidence <= 0.2
    assert not blind.evidence_backed
    seen = score(CLICK, before=A, after=A)
    assert seen.classification == "no_progress"
    assert seen.confidence > blind.confidence


def test_blocks_and_a_broken_protocol_are_not_the_agents_doing() -> None:
    assert not score(CLICK._replace(block="auth_redirect")).controllable
    assert not score(CLICK._replace(ok=False, error="protocol")).controllable
    assert score(CLICK._replace(ok=False, error="timeout")).controllable


def test_the_word_of_a_tool_is_not_evidence() -> None:
    retry = HistoryFacts(pending="timeout", same_target=True, seen_info=False)
    by_word = score(CLICK._replace(info="clicked"), recent=retry)
    by_sight = score(CLICK, before=A, after=MOVED, recent=retry)
    assert by_word.classification == by_sight.classification == "recovered"
    assert not by_word.evidence_backed
    assert by_sight.evidence_backed
    assert not score(CLICK._replace(items=3)).evidence_backed


def test_an_unknown_code_counts_as_other() -> None:
    odd: Any = "no such code"
    assert score(CLICK._replace(error=odd)).reasons[0].code == "error_other"
    assert score(CLICK._replace(block=odd)).reasons[0].code == "block_other"


def run(*steps: StepInput) -> list[StepScore]:
    history, scores = StepHistory(), []
    for step in steps:
        history, found = scorer.advance(history, step)
        scores.append(found)
    return scores


def test_a_fresh_read_after_a_failure_beats_repeating_it_and_the_retry_beats_both() -> None:
    stale = ToolOutcome("click", "click:e7", "Save", ok=False, error="stale_ref")
    rerendered = page(refs="r2")
    failed, repeated = run(
        StepInput(stale, A, rerendered), StepInput(stale, rerendered, rerendered)
    )
    _, read, retried = run(
        StepInput(stale, A, rerendered),
        StepInput(READ, rerendered, rerendered),
        StepInput(ToolOutcome("click", "click:e9", "Save", ok=True), rerendered, MOVED),
    )
    assert retried.milli > read.milli > failed.milli > repeated.milli
    assert [s.classification for s in (failed, repeated, read, retried)] == [
        "failure",
        "failure",
        "progress",
        "recovered",
    ]
    assert "fresh_refs" in [reason.code for reason in read.reasons]


def test_elements_found_after_a_stale_reference_are_paid_once() -> None:
    stale = ToolOutcome("click", "click:e7", ok=False, error="stale_ref")
    look = StepInput(READ._replace(info=None), page(refs="r2"), page(refs="r2"))
    _, first, second = run(StepInput(stale, A, page(refs="r2")), look, look)
    assert (first.milli, second.milli) == (200, -180)


def test_a_failed_look_does_not_make_the_failed_action_before_it_forgotten() -> None:
    failed = StepInput(CLICK._replace(ok=False, error="timeout"), A, A)
    blind = StepInput(READ._replace(ok=False, error="timeout"), A, A)
    assert run(failed, blind, StepInput(CLICK, A, MOVED))[-1].classification == "recovered"


def test_a_failure_stops_pending_after_ten_steps() -> None:
    history, _ = observe(StepHistory(), StepInput(CLICK._replace(ok=False, error="timeout"), A, A))
    for index in range(PATIENCE_STEPS):
        assert history.pending is not None
        history, _ = observe(history, StepInput(READ._replace(call=f"read{index}"), A, A))
    assert history.pending is None


def test_the_same_extraction_on_different_pages_is_not_a_loop() -> None:
    scores = run(
        *(
            StepInput(
                ToolOutcome("extract", "rows", effect=Effect.READ, ok=True, items=3, info=f"i{n}"),
                page(url=f"p{n}"),
                page(url=f"p{n}"),
            )
            for n in range(12)
        )
    )
    assert {s.classification for s in scores} == {"progress"}
    assert len({s.milli for s in scores}) == 1


def test_the_same_call_with_other_results_is_not_a_loop_when_no_page_is_recorded() -> None:
    scores = run(*(StepInput(READ._replace(info=f"i{n}")) for n in range(8)))
    assert {s.classification for s in scores} == {"observation"}
    same = run(*(StepInput(READ) for _ in range(8)))
    assert [s.milli for s in same[:3]] == [50, -180, -260]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"schema":"h2"}',
        '{"schema":"h1","keys":"!","counts":"","state":null,"pending":null}',
        '{"schema":"h1","keys":"","counts":"1","state":null,"pending":null}',
        '{"schema":"h1","keys":"","counts":"","state":null,"pending":["x",1,0,null,false,0]}',
    ],
)
def test_what_is_not_a_history_is_refused(text: str) -> None:
    with pytest.raises(BadRecord, match="not a history"):
        history_from_json(text)


def test_a_history_of_a_new_tab_can_be_written_and_read() -> None:
    assert history_from_json(history_to_json(StepHistory())) == StepHistory()


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "assay.step_score/9"},
        {"classification": "splendid"},
        {"score": None},
        {"score": float("nan")},
        {"reasons": [{"code": "because", "n": 0}]},
    ],
)
def test_what_is_not_a_step_score_is_refused(change: dict[str, Any]) -> None:
    record = {**step_score_to_record(score(CLICK)), **change}
    with pytest.raises(BadRecord):
        step_score_from_record(record)


def test_a_step_score_reads_as_numbers_between_fixed_bounds() -> None:
    found = score(CLICK, before=A, after=MOVED)
    assert (found.score, found.unit, found.strength) == (0.5, 0.75, "weak_positive")
    assert json.dumps(step_score_to_record(found, scorer=scorer.id))


def test_pages_from_a_contract_to_a_score() -> None:
    contract = contract_from_toml(
        'all = [{ url = { suffix = "/done" } }, { dom_text = { contains = "Saved" } }]'
    )
    click = CLICK._replace(call=call_signature("click", {"ref": "e7"}), info=info_digest("ok"))
    shown = [("/form", "Name"), ("/form", "Saved"), ("/done", "Saved")]
    before, contract_so_far, history, kinds = None, None, StepHistory(), []
    for index, (path, text) in enumerate(shown):
        url = f"https://x.test{path}"
        facts = PageFacts(step=index, url=url, text=text)
        contract_so_far, status = follow(
            contract, facts, step=index, before=contract_so_far, due=False
        )
        after = page_evidence(url=url, text=text)
        step = StepInput(click._replace(call=f"c{index}"), before, after, contract=status)
        history, found = scorer.advance(history, step)
        kinds.append(found.classification)
        before = after
    assert kinds == ["unknown", "target_reached", "contract_pass"]
