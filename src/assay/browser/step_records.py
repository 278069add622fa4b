"""Score the observations of a browser, and write them as step records.

    with StepLog(contract, steps="steps.jsonl") as log:
        log.record("", await environment.reset(task))
        log.record(action, await environment.step(action))
        print(log.score, log.status)

A record holds all inputs of its score, so `rescore` gives the same score from the file alone.
"""

from __future__ import annotations

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from hashlib import sha256
from pathlib import Path
from types import NoneType
from typing import Any, Final, NamedTuple, Self, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from assay.browser.drive.actions import arguments_by_name, parse_action
from assay.browser.steps import (
    AgentStatus,
    Contract,
    ContractProgress,
    ContractStatus,
    Effect,
    RecoveryRewardScorer,
    StepHistory,
    StepInput,
    ToolOutcome,
    follow,
    parse_contract,
    status,
)
from assay.browser.steps.inputs import Progress
from assay.browser.steps.redaction import redact
from assay.errors import BadRecord
from assay.ledger.steps import StepsWriter
from assay.schema.action import BadAction
from assay.schema.episode import Step
from assay.schema.evidence import PageEvidence, StepEvents
from assay.schema.observation import Observation
from assay.schema.step_score import StepScore, step_score_from_record, step_score_to_record
from assay.schema.task import Task

T = TypeVar("T")
_log = logging.getLogger(__name__)
ACTION_CHARS: Final = 200
ARGUMENTS_BYTES: Final = 600
CODE_CHARS: Final = 64
"""A longer digest or name, or one beyond ASCII, is recorded as its hash: only equality counts."""

_NUMBER: Final = (int, NoneType)
_TEXT: Final = (str, NoneType)
_OUTCOME_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    **dict.fromkeys(("tool", "gate"), (str,)),
    **dict.fromkeys(("call", "target", "error", "block", "info"), _TEXT),
    "ok": (bool, NoneType),
    "items": _NUMBER,
}
_CONTRACT_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    **dict.fromkeys(("satisfied", "total"), (int,)),
    **dict.fromkeys(("critical", "fresh"), (bool,)),
    "verdict": _TEXT,
    "prev_satisfied": _NUMBER,
    "id": (str,),
}
_EVENT_KINDS: Final[Mapping[str, tuple[type, ...]]] = dict.fromkeys(StepEvents._fields, _NUMBER)


class _Closing(ABC):
    """A context manager that calls `close` at its end."""

    @abstractmethod
    def close(self) -> None:
        """End it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class StepLog(_Closing):
    """Scores the steps of one tab in turn, and writes them to a file."""

    def __init__(
        self,
        contract: Contract | None = None,
        *,
        steps: str | Path | StepsWriter | None = None,
        verbatim: bool = False,
    ) -> None:
        """`steps` is a new file for `assay steps`; `verbatim` keeps secrets in the file."""
        self._contract = contract
        self._writer = StepsWriter(steps) if isinstance(steps, (str, Path)) else steps
        self._verbatim = verbatim
        self._scorer = RecoveryRewardScorer()
        self._before: PageEvidence | None = None
        self.steps = 0
        """How many are recorded, the reset included."""
        self.history = StepHistory()
        self.contract_progress: ContractProgress | None = None
        """How much of the contract holds, which is the potential that shaping takes."""
        self.score: StepScore | None = None
        """The score of the latest step; `None` for the reset and for a step without an outcome."""

    @property
    def status(self) -> AgentStatus:
        """The status of the agent: running, stuck, blocked, recovered or done."""
        return status(self.history)

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
        """Score and record a step; the first record is the reset, which has no score.

        `arguments` are those of a tool that is not one of the browser environment's own actions.
        `due` says that the contract must hold by now, so that not holding is failing.
        """
        contract_progress, contract = self._follow(observation, due=due)
        seen = observation.evidence
        after = _compact_page(seen) if isinstance(seen, PageEvidence) else None
        outcome = None if observation.outcome is None else _compact_outcome(observation.outcome)
        scores: tuple[dict[str, Any], ...] = ()
        history, score = self.history, None
        if outcome is not None:
            events = observation.events
            changed = None if observation.before is None else _compact_page(observation.before)
            before = self._before if changed is None else changed
            step = StepInput(outcome, before, after, progress, contract, events=events)
            history, score = self._scorer.advance(history, step)
            score = score if self.steps else None
            if self.steps or contract is not None:
                options = _arguments(action) if arguments is None else arguments
                scores = (_score_record(self._scorer.id, score, step, options, changed),)
        record = Step(
            index=self.steps,
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
        if self._writer is not None:
            self._writer.write(record)
        # Only now: what fails on the way leaves the log as it was.
        self.history, self.score, self.contract_progress = history, score, contract_progress
        self._before, self.steps = after, self.steps + 1
        return record

    def _follow(
        self, seen: Observation, *, due: bool
    ) -> tuple[ContractProgress | None, ContractStatus | None]:
        if self._contract is None:
            return None, None
        progress, status = follow(
            self._contract, seen.facts, step=self.steps, before=self.contract_progress, due=due
        )
        return progress, status._replace(id=_compact(status.id) or "")

    def close(self) -> None:
        """Complete the steps file."""
        if self._writer is not None:
            self._writer.close()


@contextmanager
def logged_faults() -> Iterator[None]:
    """Log an observer's error, so that the observed driver never sees it."""
    try:
        yield
    except Exception:  # noqa: BLE001 - an observer must not disturb what it observes
        _log.warning("a step could not be scored", exc_info=True)


class StepLogView:
    """The latest score and status of the object's step log."""

    _log: StepLog

    @property
    def score(self) -> StepScore | None:
        return self._log.score

    @property
    def status(self) -> AgentStatus:
        return self._log.status


class ClosableStepLogView(StepLogView, _Closing):
    """A `StepLogView` whose `close` completes the steps file."""

    def close(self) -> None:
        self._log.close()


def recovery(task: Task) -> StepLog:
    """A step log with the outcome contract in the task's metadata, if there is one."""
    contract = task.metadata.get("contract")
    return StepLog(None if contract is None else parse_contract(contract), verbatim=True)


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
        """The step as JSON values; `scorer` is the id of today's scorer."""
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
    """Score recorded steps again, in order, from the records alone."""
    scorer = scorer or RecoveryRewardScorer()
    history, before = StepHistory(), None
    for step in steps:
        after = step.evidence if isinstance(step.evidence, PageEvidence) else None
        written = step.scores[0] if step.scores else {}
        score: StepScore | None = None
        if step.outcome is not None:
            outcome, progress = outcome_from_record(step.outcome), _progress_from_record(written)
            state, events = written.get("contract"), written.get("events")
            contract = _read(ContractStatus, state, _CONTRACT_KINDS, "the state of a contract")
            events = _read(StepEvents, events, _EVENT_KINDS, "the events of a step")
            before = _page(written["before"]) if "before" in written else before
            step_input = StepInput(outcome, before, after, progress, contract, events=events)
            history, score = scorer.advance(history, step_input)
        before = after
        scored = bool(written) and written.get("score") is not None
        written_by = str(written.get("scorer", "")) if scored else ""
        stored = _stored(written) if scored else None
        yield RescoredStep(step, written_by, stored, None if step.index == 0 else score)


def outcome_from_record(record: Mapping[str, Any]) -> ToolOutcome:
    """Read the tool outcome from a step record."""
    values = {name: record[name] for name in ToolOutcome._fields if name in record}
    effect = str(values.get("effect", "browser")).upper()
    if effect not in Effect.__members__:
        raise BadRecord(f"not a tool outcome: {record!r:.200}")
    values["effect"] = Effect[effect]
    outcome = _read(ToolOutcome, values, _OUTCOME_KINDS, "a tool outcome")
    assert outcome is not None
    return outcome


def _outcome_record(outcome: ToolOutcome) -> dict[str, Any]:
    record = {**outcome._asdict(), "effect": outcome.effect.name.lower()}
    if outcome.box is None:
        # Only runs that take pictures have one.
        del record["box"]
    return record


def _progress_from_record(record: Mapping[str, Any]) -> Progress:
    progress = record.get("progress", "unknown")
    if not isinstance(progress, str):
        raise BadRecord(f"progress must be a word, not {progress!r:.100}")
    # The scorer ignores a word that it does not know.
    return cast(Progress, progress)


def _read(
    make: Callable[..., T], record: Any, kinds: Mapping[str, tuple[type, ...]], what: str
) -> T | None:
    """Read a record; raise `BadRecord` for unknown keys or wrong types."""
    if record is None:
        return None
    if not isinstance(record, Mapping):
        raise BadRecord(f"not {what}: {record!r:.200}")
    for name, allowed in kinds.items():
        if name in record and not isinstance(record[name], allowed):
            raise BadRecord(f"not {what}: {name!r} is {record[name]!r:.100}")
    try:
        return make(**record)
    except TypeError as error:
        raise BadRecord(f"not {what}: {record!r:.200}") from error


def _stored(record: Mapping[str, Any]) -> StepScore | None:
    try:
        return step_score_from_record(record)
    except BadRecord:
        return None


def _score_record(
    scorer: str,
    score: StepScore | None,
    step: StepInput,
    arguments: Mapping[str, Any] | None,
    changed: PageEvidence | None,
) -> dict[str, Any]:
    """The record of a score, with the inputs of the score that the step does not hold."""
    redacted = None if arguments is None else redact(arguments)
    if redacted is not None and len(json.dumps(redacted)) > ARGUMENTS_BYTES:
        redacted = {"left_out": "too large"}
    unscored: dict[str, Any] = {"scorer": scorer, "score": None}
    record = unscored if score is None else step_score_to_record(score, scorer=scorer)
    contract = None if step.contract is None else step.contract._asdict()
    record |= {"progress": step.progress, "contract": contract, "arguments": redacted}
    if step.events is not None:
        events = step.events._asdict()
        record["events"] = {name: value for name, value in events.items() if value is not None}
    if changed is not None:
        page = asdict(changed)
        record["before"] = {name: value for name, value in page.items() if value is not None}
    return record


def _page(record: Any) -> PageEvidence:
    try:
        return TypeAdapter(PageEvidence).validate_python(record)
    except ValidationError as error:
        raise BadRecord(f"the record is not the evidence of a page: {record!r:.200}") from error


def _arguments(action: str) -> dict[str, Any] | None:
    call = parse_action(action)
    return None if isinstance(call, BadAction) else arguments_by_name(call)


def _redacted_action(action: str) -> str:
    """The action in ASCII, without the texts in its arguments if it can be parsed."""
    call = parse_action(action)
    if not isinstance(call, BadAction):
        values = [json.dumps(value) for value in redact(arguments_by_name(call)).values()]
        action = f"{call.name}({', '.join(values)})"
    cut = action[:ACTION_CHARS].encode("ascii", "backslashreplace").decode()
    return cut if len(cut) <= ACTION_CHARS else f"{cut[:ACTION_CHARS]}[cut]"


def _compact(text: str | None) -> str | None:
    if text is None or (len(text) <= CODE_CHARS and text.isascii()):
        return text
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _compact_page(page: PageEvidence) -> PageEvidence:
    values = {field.name: getattr(page, field.name) for field in fields(page)}
    texts = {name: _compact(value) for name, value in values.items() if isinstance(value, str)}
    long = {name: text for name, text in texts.items() if text != values[name]}
    return replace(page, **long) if long else page  # type: ignore[arg-type]  # texts for texts


def _compact_outcome(outcome: ToolOutcome) -> ToolOutcome:
    names = ("tool", "call", "target", "info")
    texts: dict[str, Any] = {name: _compact(getattr(outcome, name)) for name in names}
    return outcome._replace(**texts)
