"""Score one observed step of a browser agent: deterministic, bounded and explained.

The rules are in `docs/steps.md`; numbers are thousandths here. More positive evidence never
lowers a score, and a repetition or a return never raises it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from assay.browser.steps.history import Phase, StepHistory, enter_phase, observe
from assay.browser.steps.inputs import (
    ADDRESS,
    NETWORK,
    PICTURE,
    ContractStatus,
    HistoryFacts,
    PageDelta,
    Progress,
    StepInput,
    contract_change,
    failure_code,
    page_delta,
)
from assay.schema.evidence import StepEvents
from assay.schema.outcome import Effect, ErrorCode, ToolOutcome
from assay.schema.step_score import MOST, SENTENCES, Classification, Reason, StepScore

_CHANNELS: Final = (
    (1, 250, Reason("url_changed")),
    (2, 150, Reason("dom_changed")),
    (4, 100, Reason("text_changed")),
    (8, 150, Reason("net_changed")),
    (16, 50, Reason("refs_changed")),
    (32, 50, Reason("shot_changed")),
)
_PAGE_GAIN: Final = tuple(
    sum(gain for bit, gain, _ in _CHANNELS if mask & bit) for mask in range(64)
)
_PAGE_REASONS: Final = tuple(
    tuple(reason for bit, _, reason in _CHANNELS if mask & bit) for mask in range(64)
)
_EVENTS: Final = (
    ("tabs", 250, Reason("tab_opened")),
    ("downloads", 150, Reason("download")),
    ("copies", 100, Reason("copied")),
    ("closed", 100, Reason("popup_closed")),
    ("dialogs", 50, Reason("dialog_opened")),
)
_FRESH_REFS: Final = 200
_NEW_INFO: Final = 50
_MOST_GAIN: Final = 700
_MOST_PENDING: Final = 450
_LEAST: Final = -440
"""Above every failed call, so that failing is never better than doing nothing useful."""
_BARREN: Final = 3
"""Steps in a row that led nowhere, after which one that leads somewhere is a recovery."""
_LOST: Final = frozenset(("page_error", "nav_error"))
"""Failures that are made good by any page that loads."""
_PATIENCE: Final = 5
"""Repetitions after which a step has lost all its gain and takes the whole penalty."""
_PROGRESS_COST: Final[dict[str, int]] = {"stalling": 40, "stuck": 80}

_REASONS: Final = {code: Reason(code) for code in SENTENCES}
_COUNTED_REASONS: Final = {
    code: tuple(Reason(code, n) for n in range(16))
    for code, text in SENTENCES.items()
    if "{" in text
}
_ERROR_REASONS: Final = {
    code.removeprefix("error_"): reason
    for code, reason in _REASONS.items()
    if code.startswith("error_")
}
_BLOCK_SCORES: Final = {
    code.removeprefix("block_"): StepScore(-750, "blocked", (reason,), 900, False, True, 3)  # noqa: FBT003 - fields of a record
    for code, reason in _REASONS.items()
    if code.startswith("block_")
}
_GATE_MISSING: Final = StepScore(
    -1000, "destructive_ungated", (_REASONS["gate_missing"],), 950, evidence_backed=True, rule=1
)
_GATE_UNKNOWN: Final = _GATE_MISSING._replace(
    reasons=(_REASONS["gate_unknown"],), confidence_milli=800, evidence_backed=False
)
_CONTRACT_PASSED: Final = StepScore(
    1000, "contract_pass", (_REASONS["contract_pass"],), 1000, evidence_backed=True, rule=2
)
_PHASES: Final[dict[str, Phase]] = {
    "contract_pass": "done", "blocked": "blocked", "recovered": "recovered",
}  # fmt: skip
_NOTHING_RECENT: Final = HistoryFacts()


class RecoveryRewardScorer:
    """Scores observed steps; it has no state, so all tabs, threads and processes may share it."""

    __slots__ = ()

    id: Final = "recovery@4"
    """Recorded with every score; the number rises whenever a score can change."""

    def score(self, step: StepInput) -> StepScore:
        """Score one step, with the summary of its history in `step.recent`."""
        return _score(step, step.recent)

    def advance(self, history: StepHistory, step: StepInput) -> tuple[StepHistory, StepScore]:
        """Add a step to the history; return the new history and the step's score."""
        history, recent = observe(history, step)
        score = _score(step, recent)
        return enter_phase(history, _PHASES.get(score.classification, "running")), score


def _score(step: StepInput, recent: HistoryFacts | None) -> StepScore:
    outcome = step.outcome
    if outcome.effect >= Effect.EXTERNAL:
        if outcome.gate == "missing":
            return _GATE_MISSING
        if outcome.gate == "unknown" and outcome.effect >= Effect.DESTRUCTIVE:
            return _GATE_UNKNOWN
    contract = step.contract
    passes = contract is not None and contract.verdict == "pass" and contract.fresh
    if passes and (recent is None or not recent.passed):
        return _CONTRACT_PASSED
    if outcome.block is not None:
        return _BLOCK_SCORES.get(outcome.block) or _BLOCK_SCORES["other"]
    error = failure_code(step)
    if error is not None:
        return _score_failure(outcome, error, recent)
    if contract is not None and contract.verdict == "fail":
        return _score_contract_failure(step, contract, recent)
    return _score_evidence(step, recent)


def _score_failure(
    outcome: ToolOutcome, error: ErrorCode, recent: HistoryFacts | None
) -> StepScore:
    reason = _ERROR_REASONS.get(error) or _ERROR_REASONS["other"]
    reasons: tuple[Reason, ...] = (reason,)
    milli = -450
    if recent is not None and recent.same_error > 0:
        milli -= 50 * min(recent.same_error, 5)
        reasons = (reason, _counted_reason("repeated_failure", recent.same_error))
    # The tool says only that it failed, and nothing else does.
    unexplained = outcome.error is None and outcome.ok is False
    confidence = 800 if unexplained else 900
    return StepScore(
        milli, "failure", reasons, confidence, error != "protocol", not unexplained, rule=4
    )


def _score_contract_failure(
    step: StepInput, contract: ContractStatus, recent: HistoryFacts | None
) -> StepScore:
    subgoal_gain, _ = contract_change(contract)
    milli = (-400 if contract.critical else -300) + 150 * subgoal_gain // 1000
    reasons = [_REASONS["contract_fail_critical" if contract.critical else "contract_fail"]]
    if subgoal_gain:
        reasons.append(Reason("subgoal_gained", subgoal_gain))
    by_evidence = _score_evidence(step, recent)
    if by_evidence.milli < milli:
        # A failed contract never raises the score of a step.
        milli = by_evidence.milli
        reasons += by_evidence.reasons
    fresh = bool(contract.fresh)
    confidence = 900 if fresh else by_evidence.confidence_milli
    return StepScore(
        milli, "contract_fail", tuple(reasons), confidence, evidence_backed=fresh, rule=5
    )


def _score_evidence(step: StepInput, recent: HistoryFacts | None) -> StepScore:
    earlier = _NOTHING_RECENT if recent is None else recent
    delta = page_delta(step, recent)
    reasons: list[Reason] = []
    subgoal_gain, subgoal_loss = contract_change(step.contract)
    gains = _gains(step, earlier, delta, subgoal_gain, reasons)
    milli = _after_costs(gains, subgoal_loss, delta, earlier, step.progress, reasons)
    _add_contract_reason(step.contract, earlier, reasons)

    classification: Classification
    backed = _is_evidenced(step.outcome, earlier, subgoal_gain, delta)
    rule = 7
    repaired = earlier.pending is not None and _is_recovery(
        step.outcome, earlier, subgoal_gain, gains.total, delta
    )
    if repaired or _finds_way(step, earlier, delta, milli):
        milli = 500 + max(0, milli) // 4
        reasons.insert(0, _REASONS["recovered" if repaired else "way_found"])
        classification, rule = "recovered", 6
    elif _waits(step.events) and (
        # Nothing but the look of the page is different.
        milli <= 0 or not (gains.other or delta.changed & (ADDRESS | NETWORK))
    ):
        # A page that waits for an answer may look like anything.
        assert step.events is not None
        reasons.append(_counted_reason("pending", step.events.pending or 0))
        milli, classification, rule, backed = 0, "unknown", 8, False
    else:
        if earlier.pending is not None:
            milli = min(milli, _MOST_PENDING)
            reasons.append(_REASONS["failure_pending"])
        if milli > 0:
            classification = _classify_gain(step.outcome, subgoal_gain, gains.total, earlier)
        elif milli == 0 == gains.total:
            reasons.append(_REASONS["no_evidence"])
            classification, rule = "unknown", 8
        else:
            again = earlier.same_call > 0 or earlier.revisits > 0
            classification = "repeat" if again else "no_progress"
            backed = delta.compared > 0
    confidence = min(_confidence(step, recent, delta), 200 if rule == 8 else 1000)
    return StepScore(
        milli, classification, tuple(reasons), confidence, evidence_backed=backed, rule=rule
    )


class _Gains(NamedTuple):
    """The gains of a step, before its costs."""

    page: int
    """For the page that it led to."""
    other: int
    """For what it took from the page, and for dialogs, tabs and downloads."""

    @property
    def total(self) -> int:
        return min(self.page + self.other, _MOST_GAIN)


def _gains(
    step: StepInput,
    recent: HistoryFacts,
    delta: PageDelta,
    subgoal_gain: int,
    reasons: list[Reason],
) -> _Gains:
    outcome, changed = step.outcome, delta.changed
    page = gains = 0
    if changed:
        # A picture that was shown before is nothing new to see.
        page = 0 if changed == PICTURE and recent.seen_info else _PAGE_GAIN[changed]
        reasons += _PAGE_REASONS[changed]
    if step.events is not None:
        gains = _event_gains(step.events, outcome.effect, reasons)
    if outcome.effect == Effect.READ:
        page = _NEW_INFO if changed or delta.new_info else 0
        if delta.new_info:
            reasons.append(_REASONS["new_info"])
        elif recent.seen_info:
            reasons.append(_REASONS["known_info"])
    if recent.fresh_refs:
        gains += _FRESH_REFS
        reasons.append(_REASONS["fresh_refs"])
    items = outcome.items
    if items is not None and items > 0 and not recent.seen_info:
        gains += 150 if items == 1 else 250 if items < 4 else 300
        reasons.append(_counted_reason("items", items))
    if subgoal_gain:
        gains += 200 + 300 * subgoal_gain // 1000
        reasons.append(Reason("subgoal_gained", subgoal_gain))
    return _Gains(page, gains)


def _event_gains(events: StepEvents, effect: Effect, reasons: list[Reason]) -> int:
    if events.popups is not None and events.popups > 0:
        reasons.append(_REASONS["popup"])
    if effect == Effect.READ:
        return 0
    gains = 0
    for name, gain, reason in _EVENTS:
        count = getattr(events, name)
        if count is not None and count > 0:
            gains += gain
            reasons.append(reason)
    return gains


def _waits(events: StepEvents | None) -> bool:
    return events is not None and events.pending is not None and events.pending > 0


def _after_costs(
    gains: _Gains,
    subgoal_loss: int,
    delta: PageDelta,
    recent: HistoryFacts,
    progress: Progress,
    reasons: list[Reason],
) -> int:
    milli = gains.total
    compared = delta.compared
    returns, again = recent.revisits, recent.same_call
    if returns > 0:
        milli = min(gains.other, _MOST_GAIN) // 4
        reasons.append(_counted_reason("revisited", returns))
    if again > 0:
        reasons.append(_counted_reason("repeated_call", again))
        again = min(again, _PATIENCE)
        if delta.fresh:
            milli = milli * (2 * _PATIENCE - again) // (2 * _PATIENCE)
        else:
            milli = milli * (_PATIENCE - again) // _PATIENCE - 80 * again
    if returns > 1:
        milli -= 40 * min(returns - 1, _PATIENCE)
    if subgoal_loss:
        milli -= 400 * subgoal_loss // 1000
        reasons.append(Reason("subgoal_lost", subgoal_loss))
    if compared and not gains.total:
        milli -= 100
        reasons.append(_counted_reason("unchanged", compared))
    if milli < 0 and progress in _PROGRESS_COST:
        milli -= _PROGRESS_COST[progress]
        reasons.append(_REASONS[progress])
    return max(milli, _LEAST)


def _is_recovery(
    outcome: ToolOutcome, recent: HistoryFacts, subgoal_gain: int, gains: int, delta: PageDelta
) -> bool:
    """Whether the step achieved the effect that failed before."""
    aimed = recent.same_target and (gains > 0 or delta.compared == 0)
    return outcome.ok is True and (subgoal_gain > 0 or aimed)


def _finds_way(step: StepInput, recent: HistoryFacts, delta: PageDelta, milli: int) -> bool:
    """Whether a step leads somewhere new after a block, a lost page or steps without progress.

    From a page that did not load, the first way back to where the agent came from counts as well.
    """
    outcome = step.outcome
    if outcome.ok is not True or outcome.effect == Effect.READ or _waits(step.events):
        return False
    lost = recent.pending in _LOST and delta.changed & ADDRESS > 0
    if lost and recent.revisits == 1 and recent.same_call <= 0 and milli >= 0:
        return True
    return milli > 0 and delta.fresh and (lost or recent.blocked or recent.barren >= _BARREN)


def _is_evidenced(
    outcome: ToolOutcome, recent: HistoryFacts, subgoal_gain: int, delta: PageDelta
) -> bool:
    """Whether a gain was observed; an action's result is evidence only if it has items."""
    if delta.changed or subgoal_gain or recent.fresh_refs:
        return True
    return delta.new_info and (outcome.effect == Effect.READ or bool(outcome.items))


def _classify_gain(
    outcome: ToolOutcome, subgoal_gain: int, gains: int, recent: HistoryFacts
) -> Classification:
    if subgoal_gain:
        return "target_reached"
    reads = outcome.effect == Effect.READ and gains == _NEW_INFO and not recent.fresh_refs
    return "observation" if reads else "progress"


def _add_contract_reason(
    contract: ContractStatus | None, recent: HistoryFacts, reasons: list[Reason]
) -> None:
    if contract is None or contract.verdict in (None, "fail"):
        return
    code = "contract_held" if recent.passed and contract.fresh else "contract_stale"
    undecided = contract.verdict == "inconclusive"
    reasons.append(_REASONS["contract_inconclusive" if undecided else code])


def _confidence(step: StepInput, recent: HistoryFacts | None, delta: PageDelta) -> int:
    """The confidence of a score, which rises with the evidence and its agreement.

    The bonus for agreement is smaller than the share of a channel: leaving one out never raises it.
    """
    outcome, compared = step.outcome, delta.compared
    bonus = 60 * (recent is not None) + 40 * (step.progress != "unknown")
    bonus += 20 * (outcome.ok is not None)
    contract = step.contract
    has_contract = contract is not None and (contract.verdict is not None or contract.total > 0)
    if not compared and not has_contract:
        return 80 + bonus
    read = outcome.effect == Effect.READ
    changed = delta.changed.bit_count() + (read and delta.new_info)
    agree = changed >= 2 or (changed == 0 and compared >= 2)
    share = 500 * compared // (7 if read else 6)
    return min(200 + share + 70 * agree + 100 * has_contract + bonus, 900)


def _counted_reason(code: str, n: int) -> Reason:
    return _COUNTED_REASONS[code][n] if n < 16 else Reason(code, min(n, MOST))
