"""Generated steps, absurd ones among them, and small changes to them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

from hypothesis import strategies as st

from assay.browser.steps import (
    ContractStatus,
    Effect,
    HistoryFacts,
    RecoveryRewardScorer,
    StepInput,
    ToolOutcome,
)
from assay.browser.steps.inputs import ContractVerdict, Progress
from assay.schema.blocking import BlockCode
from assay.schema.evidence import PageEvidence, StepEvents
from assay.schema.outcome import ErrorCode, Gate

CHANNELS = ("url", "dom", "text", "net", "refs")
scorer = RecoveryRewardScorer()

small_digest = st.sampled_from(["a", "b", "c", "d1:text:0123456789abcdef", "\ud800 odd"])
count = st.one_of(st.integers(-3, 9), st.integers(-(10**30), 10**30))


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


pages = st.builds(
    PageEvidence,
    url=maybe(small_digest),
    dom=maybe(small_digest),
    text=maybe(small_digest),
    net=maybe(small_digest),
    refs=maybe(small_digest),
    n_refs=maybe(count),
    shot=maybe(st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 0b1111111])),
    dialog=maybe(st.booleans()),
    schema=st.sampled_from(["d1", "d1", "d1", "d2"]),
)
outcomes = st.builds(
    ToolOutcome,
    tool=st.sampled_from(["click", "read_page", "navigate", "", "\ud83d"]),
    call=maybe(small_digest),
    target=maybe(small_digest),
    effect=st.sampled_from([Effect.READ, Effect.BROWSER, *Effect]),
    gate=st.sampled_from(["satisfied", "not_required", *get_args(Gate)]),
    ok=st.sampled_from([None, True, True, False]),
    error=st.sampled_from([None] * 12 + list(get_args(ErrorCode))),
    block=st.sampled_from([None] * 12 + list(get_args(BlockCode))),
    items=maybe(count),
    info=maybe(small_digest),
)
contracts = st.builds(
    ContractStatus,
    verdict=st.sampled_from([None, None, *get_args(ContractVerdict)]),
    satisfied=count,
    total=count,
    prev_satisfied=maybe(count),
    critical=st.booleans(),
    fresh=st.booleans(),
    id=st.sampled_from(["", "one", "two"]),
)
recents = st.builds(
    HistoryFacts,
    same_call=count,
    same_error=count,
    revisits=count,
    seen_info=maybe(st.booleans()),
    pending=maybe(st.sampled_from(get_args(ErrorCode))),
    same_target=st.booleans(),
    fresh_refs=st.booleans(),
    passed=st.booleans(),
)
events = st.builds(
    StepEvents,
    status=st.sampled_from([None, None, 200, 302, 404, 500, -1]),
    kept=st.sampled_from([None, None, True, False]),
    **{
        name: st.sampled_from([None, None, 0, 0, 1, 3, -1, 10**30])
        for name in StepEvents._fields
        if name not in ("status", "kept")
    },
)
steps = st.builds(
    StepInput,
    outcome=outcomes,
    before=maybe(pages),
    after=maybe(pages),
    progress=st.sampled_from(get_args(Progress)),
    contract=maybe(contracts),
    recent=maybe(recents),
    events=maybe(events),
)


def page(step: StepInput, side: str, **changes: Any) -> PageEvidence:
    found = (step.before if side == "before" else step.after) or PageEvidence()
    return replace(found, **changes)


def step_with(step: StepInput, **changes: Any) -> StepInput:
    return step._replace(**changes)


def outcome_with(step: StepInput, **changes: Any) -> StepInput:
    return step._replace(outcome=step.outcome._replace(**changes))


def events_with(step: StepInput, **changes: Any) -> StepInput:
    return step._replace(events=(step.events or StepEvents())._replace(**changes))


def recent_with(step: StepInput, **changes: Any) -> StepInput:
    return step._replace(recent=(step.recent or HistoryFacts())._replace(**changes))


cycle_step = st.builds(
    StepInput,
    outcome=outcomes.map(lambda o: o._replace(gate="satisfied")),
    before=maybe(pages),
    after=maybe(pages),
    progress=st.sampled_from(get_args(Progress)),
    contract=maybe(contracts),
    events=maybe(events),
)
