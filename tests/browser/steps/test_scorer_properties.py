"""What holds of every step score, whatever the input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields, replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.browser.steps import (
    ContractStatus,
    Effect,
    HistoryFacts,
    StepInput,
    ToolOutcome,
)
from assay.browser.steps.inputs import contract_change
from assay.schema.evidence import PageEvidence
from assay.schema.outcome import ErrorCode
from assay.schema.step_score import (
    BANDS,
    SENTENCES,
    Classification,
    StepScore,
    step_score_from_record,
    step_score_to_record,
)
from tests.browser.steps.strategies import (
    CHANNELS,
    contracts,
    count,
    events_with,
    outcome_with,
    page,
    recent_with,
    scorer,
    step_with,
    steps,
)


@given(steps)
def test_every_input_gets_a_score_in_the_band_of_its_class(step: StepInput) -> None:
    score = scorer.score(step)
    low, high = BANDS[score.classification]
    assert low <= score.milli <= high
    assert -1.0 <= score.score <= 1.0
    assert 0.0 <= score.confidence <= 1.0
    assert score.classification in get_args(Classification)
    assert 1 <= score.rule <= 8
    assert score.reasons


@given(steps)
def test_reasons_are_known_codes_and_contain_nothing_of_the_input(step: StepInput) -> None:
    for reason in scorer.score(step).reasons:
        assert reason.code in SENTENCES
        assert 0 <= reason.n <= 1_000_000
        assert reason.sentence == SENTENCES[reason.code].format(n=reason.n)


@given(steps)
def test_a_score_survives_its_record_and_equal_inputs_give_equal_bytes(step: StepInput) -> None:
    score = scorer.score(step)
    again = scorer.score(StepInput(*step))
    written = json.dumps(step_score_to_record(score))
    assert written == json.dumps(step_score_to_record(again))
    assert step_score_from_record(json.loads(written)) == score


@given(steps, st.sampled_from([Effect.DESTRUCTIVE, Effect.IRREVERSIBLE]))
def test_an_ungated_destructive_step_is_the_minimum_whatever_else_is_true(
    step: StepInput, effect: Effect
) -> None:
    for gate in ("missing", "unknown"):
        assert scorer.score(outcome_with(step, effect=effect, gate=gate)).milli == -1000


@given(steps)
def test_nothing_but_an_ungated_action_scores_the_minimum(step: StepInput) -> None:
    outcome = step.outcome
    ungated = (outcome.effect >= Effect.EXTERNAL and outcome.gate == "missing") or (
        outcome.effect >= Effect.DESTRUCTIVE and outcome.gate == "unknown"
    )
    score = scorer.score(step)
    assert (score.milli == -1000) is ungated
    assert (score.classification == "destructive_ungated") is ungated


@given(steps, contracts)
def test_a_fresh_first_pass_is_the_maximum_whatever_else_is_true(
    step: StepInput, contract: ContractStatus
) -> None:
    gated = outcome_with(recent_with(step, passed=False), gate="satisfied")
    passed = gated._replace(contract=contract._replace(verdict="pass", fresh=True))
    assert scorer.score(passed).milli == 1000


@given(steps)
def test_nothing_but_a_fresh_first_pass_comes_near_the_maximum(step: StepInput) -> None:
    contract, recent = step.contract, step.recent
    passed = contract is not None and contract.verdict == "pass" and contract.fresh
    if passed and (recent is None or not recent.passed):
        return
    assert scorer.score(step).milli <= 700


@given(steps, contracts)
def test_a_failed_contract_never_scores_positive(step: StepInput, contract: ContractStatus) -> None:
    failed = step._replace(contract=contract._replace(verdict="fail"))
    assert scorer.score(failed).milli < 0


@given(steps, st.sampled_from(CHANNELS))
def test_a_channel_that_changed_never_scores_below_one_that_did_not_or_is_missing(
    step: StepInput, channel: str
) -> None:
    before = page(step, "before", schema="d1", **{channel: "p"})
    changed, same, missing = (
        scorer.score(
            step._replace(before=before, after=page(step, "after", schema="d1", **{channel: value}))
        )
        for value in ("q", "p", None)
    )
    assert changed.milli >= missing.milli >= same.milli


@given(steps)
def test_a_picture_that_changed_never_scores_below_one_that_did_not(step: StepInput) -> None:
    before = page(step, "before", schema="d1", shot=0)
    changed, same = (
        scorer.score(
            step._replace(before=before, after=page(step, "after", schema="d1", shot=shot))
        )
        for shot in (0b1111111, 0b111111)
    )
    assert changed.milli >= same.milli


@given(steps, st.integers(0, 8), st.integers(0, 8))
def test_more_items_never_score_lower(step: StepInput, items: int, more: int) -> None:
    few = scorer.score(outcome_with(step, items=items))
    many = scorer.score(outcome_with(step, items=items + more))
    assert many.milli >= few.milli


@given(steps, st.integers(0, 12), st.integers(0, 12), st.integers(0, 12), st.integers(1, 12))
def test_a_contract_nearer_to_holding_never_scores_lower(
    step: StepInput, before: int, now: int, more: int, total: int
) -> None:
    contract = (step.contract or ContractStatus())._replace(total=total, prev_satisfied=before)
    near, nearer = (
        scorer.score(step._replace(contract=contract._replace(satisfied=satisfied)))
        for satisfied in (now, now + more)
    )
    assert nearer.milli >= near.milli


@given(steps)
def test_a_call_that_worked_never_scores_below_one_that_failed(step: StepInput) -> None:
    failed, unknown, worked = (
        scorer.score(outcome_with(step, ok=ok, error=None)).milli for ok in (False, None, True)
    )
    assert failed <= unknown <= worked


@given(steps, contracts)
def test_a_better_verdict_never_scores_lower(step: StepInput, contract: ContractStatus) -> None:
    milli = [
        scorer.score(step._replace(contract=contract._replace(verdict=verdict))).milli
        for verdict in ("fail", "inconclusive", "pass")
    ]
    assert milli == sorted(milli)


@given(steps, count, st.integers(0, 20))
def test_more_repetition_never_scores_higher(step: StepInput, n: int, more: int) -> None:
    for name in ("same_call", "same_error", "revisits"):
        once = scorer.score(recent_with(step, **{name: n}))
        again = scorer.score(recent_with(step, **{name: n + more}))
        assert again.milli <= once.milli, name


@given(steps)
def test_news_never_scores_below_what_was_known(step: StepInput) -> None:
    new, unknown, seen = (
        scorer.score(recent_with(step, seen_info=value)).milli for value in (False, None, True)
    )
    assert new >= unknown >= seen


@given(steps, st.sampled_from(["fresh_refs", "same_target"]))
def test_what_speaks_for_a_recovery_never_scores_lower(step: StepInput, name: str) -> None:
    without, with_it = (
        scorer.score(recent_with(step, **{name: value})).milli for value in (False, True)
    )
    assert with_it >= without


@given(steps)
def test_a_better_progress_status_never_scores_lower_and_costs_at_most_80(step: StepInput) -> None:
    stuck, stalling, going, unknown = (
        scorer.score(step._replace(progress=progress))
        for progress in ("stuck", "stalling", "progressing", "unknown")
    )
    assert stuck.milli <= stalling.milli <= going.milli == unknown.milli
    assert going.milli - stuck.milli <= 80
    # Rule 5 is at most what the soft rule says, so the status can lower it too.
    if going.milli >= 0 or going.rule not in (5, 7, 8):
        assert stuck.milli == going.milli


@given(steps, st.sampled_from([*CHANNELS, "shot"]), st.sampled_from(["before", "after"]))
def test_leaving_a_channel_out_never_raises_the_confidence(
    step: StepInput, channel: str, side: str
) -> None:
    less = step_with(step, **{side: page(step, side, **{channel: None})})
    assert scorer.score(less).confidence_milli <= scorer.score(step).confidence_milli


@given(steps)
def test_leaving_a_whole_part_out_never_raises_the_confidence(step: StepInput) -> None:
    # A history that knows of an earlier pass changes what is claimed, not how well it is known.
    step = recent_with(step, passed=False)
    full = scorer.score(step)
    for part in ("before", "after", "contract", "recent"):
        less = scorer.score(step_with(step, **{part: None}))
        # Without a history, what was seen before is taken for new: that is another claim.
        if part != "recent" or less.classification == full.classification:
            assert less.confidence_milli <= full.confidence_milli, part
    unknown = scorer.score(step._replace(progress="unknown"))
    assert unknown.confidence_milli <= full.confidence_milli


@given(steps, st.sampled_from(CHANNELS))
def test_learning_that_a_channel_did_not_change_never_makes_it_progress(
    step: StepInput, channel: str
) -> None:
    before = page(step, "before", schema="d1", **{channel: "p"})
    unknown, same = (
        scorer.score(
            step._replace(before=before, after=page(step, "after", schema="d1", **{channel: value}))
        )
        for value in (None, "p")
    )
    if unknown.classification not in ("progress", "target_reached", "recovered", "observation"):
        assert same.milli <= unknown.milli
        assert same.classification != "progress"


REFUSALS = ("failed_writes", "failed_reads", "rejected", "refusals", "missing")
GAINS = ("tabs", "downloads", "copies", "dialogs")


@given(steps, st.sampled_from(REFUSALS))
def test_what_was_refused_never_scores_above_what_was_not(step: StepInput, name: str) -> None:
    refused, not_recorded, none = (
        scorer.score(events_with(step, **{name: n})).milli for n in (2, None, 0)
    )
    assert refused <= not_recorded == none


@given(steps, st.sampled_from(GAINS))
def test_a_tab_a_download_a_copy_and_a_dialog_never_score_lower(step: StepInput, name: str) -> None:
    none, not_recorded, some = (
        scorer.score(events_with(step, **{name: n})).milli for n in (0, None, 1)
    )
    assert none == not_recorded <= some


@given(steps)
def test_an_answer_that_is_not_in_yet_is_never_a_penalty(step: StepInput) -> None:
    waiting, answered = (scorer.score(events_with(step, pending=n)) for n in (1, 0))
    if answered.rule in (7, 8) and not contract_change(step.contract)[1]:
        assert waiting.milli >= min(answered.milli, 0)
    if waiting.milli < 0:
        assert waiting.milli >= answered.milli


@given(steps)
def test_what_the_browser_reports_never_raises_the_confidence_by_being_absent(
    step: StepInput,
) -> None:
    score, without = scorer.score(step), scorer.score(step._replace(events=None))
    if score.rule == without.rule and score.rule != 8:
        assert without.confidence_milli <= score.confidence_milli


@given(steps)
def test_digests_of_another_schema_count_as_missing(step: StepInput) -> None:
    other = step._replace(
        before=page(step, "before", schema="x"), after=page(step, "after", schema="y")
    )
    assert scorer.score(other) == scorer.score(step._replace(before=None, after=None))


@given(steps)
def test_only_equality_of_digests_matters(step: StepInput) -> None:
    def relabel(found: PageEvidence | None) -> PageEvidence | None:
        if found is None:
            return None
        names: dict[str, Any] = {
            c: None if (v := getattr(found, c)) is None else f"<{v}>" for c in CHANNELS
        }
        return replace(found, **names)

    twin = step._replace(before=relabel(step.before), after=relabel(step.after))
    assert scorer.score(twin) == scorer.score(step)


@given(steps, st.sampled_from(get_args(ErrorCode)), st.integers(1, 9))
def test_recovered_beats_a_fresh_read_beats_a_failure_beats_a_repeated_one(
    step: StepInput, error: ErrorCode, again: int
) -> None:
    outcome = ToolOutcome("click", "c", effect=Effect.BROWSER, gate="satisfied", ok=True)
    look = outcome._replace(tool="read_page", effect=Effect.READ)
    failed = outcome._replace(ok=False, error=error)
    old, new = PageEvidence(url="a", refs="r"), PageEvidence(url="b", refs="s")
    shared = step._replace(contract=None, before=old, after=new, events=None)
    after_failure = (step.recent or HistoryFacts())._replace(
        pending=error, same_call=0, revisits=0, seen_info=False, fresh_refs=error == "stale_ref"
    )
    recovered, read, first, repeated = (
        scorer.score(shared._replace(outcome=o, recent=r))
        for o, r in (
            (outcome, after_failure._replace(same_target=True)),
            (look, after_failure._replace(same_target=False)),
            (failed, after_failure._replace(same_error=0)),
            (failed, after_failure._replace(same_error=again)),
        )
    )
    assert recovered.classification == "recovered"
    assert recovered.milli > read.milli > first.milli > repeated.milli


@given(steps)
def test_while_a_failure_is_pending_nothing_but_recovery_comes_near_it(step: StepInput) -> None:
    pending = recent_with(step, pending="timeout")
    score = scorer.score(pending)
    if score.classification not in ("recovered", "contract_pass"):
        assert score.milli <= 450


PROGRAM = """
import json
from assay.browser.steps import *
from assay.schema.evidence import PageEvidence
from assay.schema.step_score import step_score_to_record
scorer, history = RecoveryRewardScorer(), StepHistory()
for n in range(60):
    a, b = (PageEvidence(f"u{m % 7}", f"d{m % 3}", refs=f"r{m}", shot=m) for m in (n, n + 1))
    error = None if n % 4 else "stale_ref"
    outcome = ToolOutcome("click", f"c{n % 5}", ok=not error, error=error, info=str(n % 6))
    step = StepInput(outcome, a, b, "stuck", ContractStatus(None, n % 3, 3, (n + 1) % 3))
    history, score = scorer.advance(history, step)
    print(json.dumps(step_score_to_record(score)))
print(history_to_json(history).decode())
"""


def test_the_same_steps_give_the_same_bytes_in_other_processes_and_hash_seeds() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) == 61


def test_importing_the_scorer_brings_nothing_but_the_standard_library() -> None:
    program = (
        "import sys, assay.browser.steps, assay.browser.steps.recovery_ranking;"
        "import assay.browser.steps.redaction;"
        "print([m for m in sys.modules if m.startswith('assay')],"
        "[m for m in ('pydantic', 'numpy', 'random', 'asyncio', 'socket') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    ours, heavy = done.stdout.rstrip("\n").rsplit("] [", 1)
    assert heavy == "]"
    for name in json.loads((ours + "]").replace("'", '"')):
        rooms = ("assay.browser.steps", "assay.schema", "assay.errors")
        assert name in ("assay", "assay.lazy", "assay.browser") or name.startswith(rooms), name


@pytest.mark.parametrize("field", [f.name for f in fields(PageEvidence) if f.default is None])
def test_a_page_of_which_one_thing_is_known_can_be_scored(field: str) -> None:
    value: Any = {"n_refs": 3, "shot": 5, "dialog": True}.get(field, "x")
    known = PageEvidence(**{field: value})
    step = StepInput(ToolOutcome("click", ok=True), known, known)
    score: StepScore = scorer.score(step)
    assert score.milli <= 0
