"""Generated inputs for the step scorer, and every guarantee that they must not break."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from assay.browser.observe.digest import page_evidence
from assay.browser.outcome.blocks import detect_block
from assay.browser.outcome.classify import classify_error
from assay.browser.step_records import StepLog
from assay.browser.steps import (
    ContractStatus,
    Effect,
    HistoryFacts,
    RecoveryRewardScorer,
    StepHistory,
    StepInput,
    ToolOutcome,
    history_from_json,
    history_to_json,
)
from assay.browser.steps.inputs import Progress
from assay.schema.blocking import BlockCode
from assay.schema.evidence import PageEvidence, PageFacts, StepEvents
from assay.schema.observation import Observation
from assay.schema.outcome import ErrorCode, Gate
from assay.schema.step_score import BANDS, StepScore, step_score_to_record

EXAMPLES = 5
LAPS = 9
RECORD_LIMIT_BYTES = 4_096
TEXTS = ("a", "b", "c", "", "\ud800", "ünï\x00", "http://[", "d1:text:0123456789abcdef")
ABSURD = (-1, 0, 1, 2, 3, 5, 9, 10**9, -(10**30), 10**30)
CHANNELS = ("url", "dom", "text", "net", "refs")
CODES: dict[str, tuple[Any, ...]] = {
    "gate": get_args(Gate),
    "error": (*[None] * 12, *get_args(ErrorCode), "no such code"),
    "block": (*[None] * 15, *get_args(BlockCode), "no such code"),
    "progress": (*get_args(Progress), "no such status"),
}

scorer = RecoveryRewardScorer()


class Generator:
    """Inputs that no browser would give, and some that one would."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.huge = "x" * 100_000

    def pick(self, choices: Sequence[Any], missing: float = 0.0) -> Any:
        return None if self.rng.random() < missing else self.rng.choice(choices)

    def text(self, missing: float = 0.0) -> Any:
        return self.huge if self.rng.random() < 0.001 else self.pick(TEXTS, missing)

    def page(self) -> PageEvidence | None:
        if self.rng.random() < 0.15:
            return None
        digests = {channel: self.text(0.3) for channel in CHANNELS}
        return PageEvidence(
            **digests,
            n_refs=self.pick(ABSURD, 0.4),
            shot=self.pick((0, 1, 0b1111111, 2**64 - 1, -5, 2**90), 0.4),
            dialog=self.pick((True, False), 0.4),
            schema=self.pick(("d1", "d1", "d1", "d2")),
        )

    def outcome(self) -> ToolOutcome:
        return ToolOutcome(
            self.text(),
            call=self.text(0.3),
            target=self.text(0.5),
            effect=self.pick(list(Effect)),
            gate=self.pick(CODES["gate"]),
            ok=self.pick((True, True, False), 0.3),
            error=self.pick(CODES["error"]),
            block=self.pick(CODES["block"]),
            items=self.pick(ABSURD, 0.4),
            info=self.text(0.4),
        )

    def contract(self) -> ContractStatus:
        return ContractStatus(
            self.pick(("pass", "fail", "inconclusive"), 0.4),
            satisfied=self.pick(ABSURD),
            total=self.pick(ABSURD),
            prev_satisfied=self.pick(ABSURD, 0.3),
            critical=self.pick((True, False)),
            fresh=self.pick((True, True, False)),
            id=self.text(),
        )

    def recent(self) -> HistoryFacts:
        return HistoryFacts(
            same_call=self.pick(ABSURD),
            same_error=self.pick(ABSURD),
            revisits=self.pick(ABSURD),
            seen_info=self.pick((True, False), 0.3),
            pending=self.pick(get_args(ErrorCode), 0.5),
            same_target=self.pick((True, False)),
            fresh_refs=self.pick((True, False)),
            passed=self.pick((True, False, False, False)),
        )

    def step(self) -> StepInput:
        contract = self.contract() if self.rng.random() < 0.5 else None
        recent = self.recent() if self.rng.random() < 0.7 else None
        progress = self.pick(CODES["progress"])
        events = self.events() if self.rng.random() < 0.5 else None
        return StepInput(
            self.outcome(), self.page(), self.page(), progress, contract, recent, events
        )

    def events(self) -> StepEvents:
        counts = {name: self.pick((0, 0, 0, 1, 3, -1), 0.5) for name in StepEvents._fields}
        counts["status"] = self.pick((200, 200, 302, 404, 500), 0.7)
        return StepEvents(**counts)._replace(kept=self.pick((True, False), 0.8))

    def loop(self) -> list[StepInput]:
        steps = (self.step() for _ in range(self.rng.randrange(1, 20)))
        # What waits for an answer costs nothing, however often.
        return [
            s._replace(
                outcome=s.outcome._replace(gate="satisfied"),
                events=s.events and s.events._replace(pending=None),
            )
            for s in steps
        ]


@dataclass
class Findings:
    """What a fuzz run found."""

    broken: int = 0
    largest_history: int = 0
    examples: list[str] = field(default_factory=list)


def fuzz(count: int, seed: int) -> Findings:
    """How many of `count` generated inputs raise or break a guarantee, with examples."""
    generator, found, history = Generator(seed), Findings(), StepHistory()
    for index in range(count):
        step = generator.step()
        try:
            problems = list(_problems(step, generator.rng))
            history, _ = scorer.advance(history, step)
            if index % 50 == 0:
                written = history_to_json(history)
                found.largest_history = max(found.largest_history, len(written))
                if history_from_json(written) != history or len(written) > 1024:
                    problems.append("a history that is too large or does not survive writing")
            if index % 200 == 0:
                problems += _loop_that_pays(generator.loop())
            if index % 20 == 0:
                problems += _adapters(generator)
        except Exception as error:  # noqa: BLE001 - any exception at all is what is looked for
            problems = [f"raised {type(error).__name__}: {error!s:.100}"]
        if problems:
            found.broken += 1
            if len(found.examples) < EXAMPLES:
                found.examples.append(f"at {index}: {problems[0]}: {step!r:.500}")
    return found


def _problems(step: StepInput, rng: random.Random) -> Iterator[str]:
    score = scorer.score(step)
    low, high = BANDS[score.classification]
    if not low <= score.milli <= high or not 0 <= score.confidence_milli <= 1000:
        yield "score outside the band of its class"
    again = scorer.score(StepInput(*step))
    if json.dumps(step_score_to_record(score)) != json.dumps(step_score_to_record(again)):
        yield "other bytes for the same input"
    if scorer.score(_relabelled(step)) != score:
        yield "more than the equality of digests matters"
    yield from _extremes(step, score)
    yield from _more_evidence(step, rng)
    yield from _more_repetition(step, rng)
    yield from _reported_events(step)
    yield from _recovery_order(step)
    yield from _less_evidence(step, score, rng)


def _extremes(step: StepInput, score: StepScore) -> Iterator[str]:
    o, contract = step.outcome, step.contract
    ungated = (o.effect >= 2 and o.gate == "missing") or (o.effect >= 3 and o.gate == "unknown")
    if (score.milli == -1000) is not ungated:
        yield "the minimum is not exactly the ungated destructive step"
    passed = contract is not None and contract.verdict == "pass" and contract.fresh
    first = passed and not ungated and (step.recent is None or not step.recent.passed)
    if (score.milli == 1000) is not first or (not first and score.milli > 700):
        yield "the maximum is not exactly the fresh pass"
    if contract is not None and contract.verdict == "fail" and score.milli >= 0:
        yield "a failed contract was not negative"


def _more_evidence(step: StepInput, rng: random.Random) -> Iterator[str]:
    channel = rng.choice(CHANNELS)
    before = _page_with(step.before, schema="d1", **{channel: "p"})
    pages = [_page_with(step.after, schema="d1", **{channel: value}) for value in ("p", None, "q")]
    if not _rising(_milli(step, before=before, after=after) for after in pages):
        yield f"a change of {channel} lowered the score"
    outcomes = [step.outcome._replace(items=n) for n in (0, 1, 2, 4)]
    if not _rising(_milli(step, outcome=outcome) for outcome in outcomes):
        yield "more items lowered the score"
    outcomes = [step.outcome._replace(ok=ok, error=None) for ok in (False, None, True)]
    if not _rising(_milli(step, outcome=outcome) for outcome in outcomes):
        yield "a call that worked scored below one that failed"
    contract = step.contract or ContractStatus()
    near = [contract._replace(total=4, prev_satisfied=2, satisfied=n) for n in range(5)]
    if not _rising(_milli(step, contract=status) for status in near):
        yield "a contract nearer to holding lowered the score"
    verdicts: Any = ("fail", "inconclusive", "pass")
    if not _rising(_milli(step, contract=contract._replace(verdict=v)) for v in verdicts):
        yield "a better verdict lowered the score"


def _more_repetition(step: StepInput, rng: random.Random) -> Iterator[str]:
    recent = step.recent or HistoryFacts()
    for name in ("same_call", "same_error", "revisits"):
        more: Any = {name: max(getattr(recent, name), 0) + rng.randrange(1, 4)}
        if _milli(step, recent=recent._replace(**more)) > _milli(step, recent=recent):
            yield f"a higher {name} raised the score"
    if not _rising(_milli(step, recent=recent._replace(seen_info=s)) for s in (True, None, False)):
        yield "news scored below what was known"
    if not _rising(_milli(step, progress=p) for p in ("stuck", "stalling", "progressing")):
        yield "a worse progress status raised the score"


def _reported_events(step: StepInput) -> Iterator[str]:
    events = step.events or StepEvents()
    for name in ("failed_writes", "failed_reads", "rejected", "refusals", "missing"):
        if not _rising(_milli(step, events=_with(events, name, n)) for n in (1, None, 0)):
            yield f"{name} raised the score"
    for name in ("tabs", "downloads", "copies", "dialogs"):
        if not _rising(_milli(step, events=_with(events, name, n)) for n in (0, None, 1)):
            yield f"{name} lowered the score"


def _with(events: StepEvents, name: str, value: Any) -> StepEvents:
    return events._replace(**{name: value})


def _recovery_order(step: StepInput) -> Iterator[str]:
    done = ToolOutcome("click", "c", gate="satisfied", ok=True)
    failed = done._replace(ok=False, error="stale_ref")
    look = done._replace(tool="read_page", effect=Effect.READ)
    recent = (step.recent or HistoryFacts())._replace(
        same_call=0, revisits=0, seen_info=False, pending="stale_ref", fresh_refs=True
    )
    shared = step._replace(
        contract=None,
        before=PageEvidence(url="a", refs="r"),
        after=PageEvidence(url="b", refs="s"),
        events=None,
    )
    scores = [
        _milli(shared, outcome=failed, recent=recent._replace(same_error=1)),
        _milli(shared, outcome=failed, recent=recent._replace(same_error=0)),
        _milli(shared, outcome=look, recent=recent._replace(same_target=False)),
        _milli(shared, outcome=done, recent=recent._replace(same_target=True)),
    ]
    if sorted(set(scores)) != scores:
        yield "recovery, fresh read, failure and repeated failure are out of order"


def _less_evidence(step: StepInput, score: StepScore, rng: random.Random) -> Iterator[str]:
    channel = rng.choice((*CHANNELS, "shot"))
    less = step._replace(after=_page_with(step.after, **{channel: None}))
    if scorer.score(less).confidence_milli > score.confidence_milli:
        yield f"leaving {channel} out raised the confidence"
    mismatched = step._replace(before=_page_with(step.before, schema="another"))
    if scorer.score(step._replace(before=None)) != scorer.score(mismatched):
        yield "digests of another schema were compared"


def _loop_that_pays(loop: list[StepInput]) -> list[str]:
    history, laps = StepHistory(), []
    for _ in range(LAPS):
        lap = 0
        for step in loop:
            history, score = scorer.advance(history, step)
            lap += score.milli
        laps.append(lap)
    return [] if all(lap < 0 for lap in laps[6:]) else [f"a loop that pays: {laps}"]


def _adapters(generator: Generator) -> list[str]:
    """Digests, error codes, block codes and records of whatever a page or a tool may say."""
    text, step = generator.text(), generator.step()
    page_evidence(url=text, text=text, refs=[(text, text)], counts={text: -5})
    facts = PageFacts(url=text, title=text, text=text, status=generator.pick((200, 403, 999)))
    problems = []
    if classify_error(text) not in get_args(ErrorCode):
        problems.append("an error code that does not exist")
    if detect_block(facts, requested=text) not in (None, *get_args(BlockCode)):
        problems.append("a block code that does not exist")
    seen = Observation(text, step.after, outcome=step.outcome, events=step.events)
    record = StepLog().record(text, seen, arguments={text: text})
    if (size := len(record.model_dump_json())) > RECORD_LIMIT_BYTES:
        problems.append(f"a record of {size} bytes")
    return problems


def _relabelled(step: StepInput) -> StepInput:
    def twin(page: PageEvidence | None) -> PageEvidence | None:
        if page is None:
            return None
        values = {channel: getattr(page, channel) for channel in CHANNELS}
        return _page_with(page, **{c: None if v is None else f"<{v}>" for c, v in values.items()})

    return step._replace(before=twin(step.before), after=twin(step.after))


def _rising(numbers: Iterator[int]) -> bool:
    values = list(numbers)
    return values == sorted(values)


def _page_with(page: PageEvidence | None, **changes: Any) -> PageEvidence:
    return replace(page or PageEvidence(), **changes)


def _milli(step: StepInput, **changes: Any) -> int:
    return scorer.score(step._replace(**changes)).milli
