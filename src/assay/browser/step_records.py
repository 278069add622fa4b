"""Observations of an environment as scored steps, and as records of the ledger.

    scoring = StepScoring(contract)
    with StepsWriter("steps.jsonl") as steps:
        steps.write(scoring.record("", await environment.reset(task)))
        steps.write(scoring.record(action, await environment.step(action)))

A record holds all that the score was computed from, as codes and digests, so `rescore` gives the
same score from the file alone. Nothing is sent or carried out, and no score changes what an
environment does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from hashlib import sha256
from types import NoneType
from typing import Any, Final, NamedTuple, cast

from assay.browser.drive.actions import arguments_by_name, parse_action
from assay.browser.steps import (
    Contract,
    ContractProgress,
    ContractStatus,
    Effect,
    RecoveryRewardScorer,
    StepHistory,
    StepInput,
    ToolOutcome,
    follow,
)
from assay.browser.steps.inputs import Progress
from assay.browser.steps.telemetry import redact
from assay.errors import BadRecord
from assay.schema.action import BadAction
from assay.schema.episode import Step
from assay.schema.evidence import PageEvidence, StepEvents
from assay.schema.observation import Observation
from assay.schema.step_score import StepScore, step_score_from_record, step_score_to_record

ACTION_CHARS: Final = 200
ARGUMENTS_BYTES: Final = 600
CODE_CHARS: Final = 64
"""A longer digest or name, or one beyond ASCII, is recorded as its hash: only equality counts."""

_OUTCOME_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "tool": (str,),
    "call": (str, NoneType),
    "target": (str, NoneType),
    "gate": (str,),
    "ok": (bool, NoneType),
    "error": (str, NoneType),
    "block": (str, NoneType),
    "items": (int, NoneType),
    "info": (str, NoneType),
}
_CONTRACT_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "verdict": (str, NoneType),
    "satisfied": (int,),
    "total": (int,),
    "prev_satisfied": (int, NoneType),
    "critical": (bool,),
    "fresh": (bool,),
    "id": (str,),
}


class StepScoring:
    """Scores the steps of one tab in turn; one for each episode."""

    def __init__(
        self,
        contract: Contract | None = None,
        *,
        verbatim: bool = False,
        scorer: RecoveryRewardScorer | None = None,
    ) -> None:
        """`verbatim` records actions in full, with their secrets."""
        self._contract = contract
        self._verbatim = verbatim
        self._scorer = scorer or RecoveryRewardScorer()
        self.history = StepHistory()
        self.contract_progress: ContractProgress | None = None
        """How much of the contract holds, which is the potential that shaping takes."""
        self._before: PageEvidence | None = None
        self._steps = 0
        self.score: StepScore | None = None
        """The score of the latest step; `None` for the reset and for a step without an outcome."""

    def record(
        self,
        action: str,
        observation: Observation,
        *,
        arguments: Mapping[str, Any] | None = None,
        progress: Progress = "unknown",
        due: bool = False,
        elapsed_s: float = 0.0,
    ) -> Step:
        """The record of the step, scored; the first one is the reset, which has no score.

        `arguments` are those of a tool that is not one of the browser environment's own actions.
        `due` says that the contract must hold by now, so that not holding is failing.
        """
        index, self._steps = self._steps, self._steps + 1
        status = self._follow(observation, index, due=due)
        seen = observation.evidence
        after = _compact_page(seen) if isinstance(seen, PageEvidence) else None
        outcome = None if observation.outcome is None else _compact_outcome(observation.outcome)
        scores: tuple[dict[str, Any], ...] = ()
        self.score = None
        if outcome is not None:
            step = StepInput(
                outcome, self._before, after, progress, status, events=observation.events
            )
            self.history, score = self._scorer.advance(self.history, step)
            if index > 0:
                self.score = score
            if index > 0 or status is not None:
                options = _arguments(action) if arguments is None else arguments
                scores = (_score_record(self._scorer.id, self.score, step, options),)
        self._before = after
        return Step(
            index=index,
            action=action if self._verbatim else _redacted_action(action),
            observation_chars=len(observation.text),
            truncated=observation.truncated,
            evidence=seen if after is None else after,
            outcome=None if outcome is None else _outcome_record(outcome),
            scores=scores,
            elapsed_s=elapsed_s,
            reward=observation.reward,
            raw_reward=observation.raw_reward,
        )

    def _follow(self, seen: Observation, index: int, *, due: bool) -> ContractStatus | None:
        if self._contract is None:
            return None
        self.contract_progress, status = follow(
            self._contract, seen.facts, step=index, before=self.contract_progress, due=due
        )
        return status._replace(id=_compact(status.id) or "")


class RescoredStep(NamedTuple):
    """A recorded step, its recorded score, and its score by today's rules."""

    step: Step
    scorer: str
    """The scorer that wrote the record; empty when the step was not scored."""
    stored: StepScore | None
    """`None` also when this version cannot read it."""
    score: StepScore | None
    """`None` for the reset and for a step without an outcome."""

    @property
    def differs(self) -> bool:
        return bool(self.scorer) and self.stored != self.score

    def to_record(self, scorer: str) -> dict[str, Any]:
        """The row as plain JSON values; `scorer` is the one of today."""
        score, stored = self.score, self.stored
        return {
            "step": self.step.index,
            "action": self.step.action,
            "score": None if score is None else step_score_to_record(score, scorer=scorer),
            "stored": None if stored is None else step_score_to_record(stored),
            "stored_by": self.scorer or None,
            "differs": self.differs,
        }


def rescore(
    steps: Iterable[Step], *, scorer: RecoveryRewardScorer | None = None
) -> Iterator[RescoredStep]:
    """Each step with its score by today's rules, from the records alone, in order."""
    scorer = scorer or RecoveryRewardScorer()
    history, before = StepHistory(), None
    for step in steps:
        after = step.evidence if isinstance(step.evidence, PageEvidence) else None
        written = step.scores[0] if step.scores else {}
        score: StepScore | None = None
        if step.outcome is not None:
            step_input = StepInput(
                outcome_from_record(step.outcome),
                before,
                after,
                _progress_from_record(written),
                _contract_from_record(written.get("contract")),
                events=_events_from_record(written.get("events")),
            )
            history, score = scorer.advance(history, step_input)
        before = after
        scored = bool(written) and written.get("score") is not None
        yield RescoredStep(
            step,
            str(written.get("scorer", "")) if scored else "",
            _stored(written) if scored else None,
            None if step.index == 0 else score,
        )


def outcome_from_record(record: Mapping[str, Any]) -> ToolOutcome:
    """The tool outcome that a step record holds."""
    _check_kinds(record, _OUTCOME_KINDS, "a tool outcome")
    try:
        values = {name: record[name] for name in ToolOutcome._fields if name in record}
        if "effect" in values:
            values["effect"] = Effect[str(values["effect"]).upper()]
        return ToolOutcome(**values)
    except (KeyError, TypeError) as error:
        raise BadRecord(f"not a tool outcome: {record!r:.200}") from error


def _outcome_record(outcome: ToolOutcome) -> dict[str, Any]:
    record = {**outcome._asdict(), "effect": outcome.effect.name.lower()}
    if outcome.box is None:
        # Only runs that take pictures have one.
        del record["box"]
    return record


def _progress_from_record(record: Mapping[str, Any]) -> Progress:
    progress: Any = record.get("progress", "unknown")
    if not isinstance(progress, str):
        raise BadRecord(f"not a word for progress: {progress!r:.100}")
    # The scorer ignores a word that it does not know.
    return cast(Progress, progress)


def _check_kinds(
    record: Mapping[str, Any], kinds: Mapping[str, tuple[type, ...]], what: str
) -> None:
    """Raise `BadRecord` for a value of the wrong type, such as a list where a code belongs."""
    for name, allowed in kinds.items():
        if name in record and not isinstance(record[name], allowed):
            raise BadRecord(f"not {what}: {name!r} is {record[name]!r:.100}")


def _contract_from_record(record: Any) -> ContractStatus | None:
    if record is None:
        return None
    if not isinstance(record, Mapping):
        raise BadRecord(f"not the state of a contract: {record!r:.200}")
    _check_kinds(record, _CONTRACT_KINDS, "the state of a contract")
    try:
        return ContractStatus(**record)
    except TypeError as error:
        raise BadRecord(f"not the state of a contract: {record!r:.200}") from error


def _events_from_record(record: Any) -> StepEvents | None:
    if record is None:
        return None
    kinds: dict[str, tuple[type, ...]] = dict.fromkeys(StepEvents._fields, (int, NoneType))
    if not isinstance(record, Mapping) or not record.keys() <= kinds.keys():
        raise BadRecord(f"not the events of a step: {record!r:.200}")
    _check_kinds(record, kinds, "the events of a step")
    return StepEvents(**record)


def _stored(record: Mapping[str, Any]) -> StepScore | None:
    try:
        return step_score_from_record(record)
    except BadRecord:
        return None


def _score_record(
    scorer: str, score: StepScore | None, step: StepInput, arguments: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The score, with what it was computed from that the step itself does not hold."""
    redacted = None if arguments is None else redact(arguments)
    if redacted is not None and len(json.dumps(redacted)) > ARGUMENTS_BYTES:
        redacted = {"left_out": "too large"}
    unscored = {"scorer": scorer, "score": None}
    record = {
        **(unscored if score is None else step_score_to_record(score, scorer=scorer)),
        "progress": step.progress,
        "contract": None if step.contract is None else step.contract._asdict(),
        "arguments": redacted,
    }
    if step.events is not None:
        events = step.events._asdict()
        record["events"] = {name: value for name, value in events.items() if value is not None}
    return record


def _arguments(action: str) -> dict[str, Any] | None:
    call = parse_action(action)
    return None if isinstance(call, BadAction) else arguments_by_name(call)


def _redacted_action(action: str) -> str:
    """The action without the texts in its arguments, as far as it can be parsed."""
    call = parse_action(action)
    if isinstance(call, BadAction):
        return _ascii(action)
    values = [json.dumps(value) for value in redact(arguments_by_name(call)).values()]
    return _ascii(f"{call.name}({', '.join(values)})")


def _ascii(text: str) -> str:
    cut = text[:ACTION_CHARS].encode("ascii", "backslashreplace").decode()
    return cut if len(cut) <= ACTION_CHARS else f"{cut[:ACTION_CHARS]}[cut]"


def _compact(text: str | None) -> str | None:
    if text is None or (len(text) <= CODE_CHARS and text.isascii()):
        return text
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _compact_page(page: PageEvidence) -> PageEvidence:
    long = {
        field.name: _compact(value)
        for field in fields(page)
        if isinstance(value := getattr(page, field.name), str) and _compact(value) != value
    }
    return replace(page, **long) if long else page  # type: ignore[arg-type]  # texts for texts


def _compact_outcome(outcome: ToolOutcome) -> ToolOutcome:
    return outcome._replace(
        tool=_compact(outcome.tool) or "",
        call=_compact(outcome.call),
        target=_compact(outcome.target),
        info=_compact(outcome.info),
    )
