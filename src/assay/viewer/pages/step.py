"""One step in full: what was done, what came back, every score of it with its grounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, TypeAlias

from assay.errors import AssayError, BadRecord
from assay.schema.episode import Step
from assay.schema.evidence import PageEvidence, WorldEvidence
from assay.schema.usage import Usage
from assay.viewer.pictures import Size, picture_kind, picture_size
from assay.viewer.runs_reader import RunsReader
from assay.viewer.text import CutText, cut_text
from assay.viewer.theme import Shade, shade

TEXT_CHARS = 30_000
ACTION_CHARS = 4_000
CODE_CHARS = 300
MOST_REASONS = 50
DIGITS = 8
CHANNELS = {
    "url": "address",
    "dom": "structure",
    "text": "visible text",
    "net": "requests that change something",
    "refs": "actionable elements",
    "shot": "picture",
    "dialog": "dialog",
}
UNSIZED = Size(1280, 720)
"""For a picture whose header does not say; it keeps its own proportions anyway."""

Change: TypeAlias = Literal["changed", "same", "not recorded"]


@dataclass(frozen=True, slots=True)
class ReasonView:
    """One ground of a step score."""

    code: str
    n: int
    sentence: str


@dataclass(frozen=True, slots=True)
class StepScoreView:
    """One score of a step, with everything that it stands on."""

    scorer: str
    score: float | None
    shade: Shade
    classification: str
    strength: str
    reasons: tuple[ReasonView, ...]
    confidence: float | None
    controllable: bool | None
    evidence_backed: bool | None
    rule: int | None
    progress: str
    contract: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that the world testifies, against the step before."""

    name: str
    change: Change
    value: str


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle on a picture, in its pixels."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Picture:
    """A screenshot, and where on it the action went."""

    sha256: str
    kind: str
    size: Size
    box: Rectangle | None
    title: str


@dataclass(frozen=True, slots=True)
class StepView:
    """One step."""

    index: int
    action: CutText
    think: CutText
    error: CutText
    observation: CutText | None
    observation_sha256: str
    truncated: bool
    """Whether the agent saw only a part of what there was."""
    pictures: tuple[Picture, ...]
    scores: tuple[StepScoreView, ...]
    facts: tuple[Fact, ...]
    outcome: tuple[tuple[str, str], ...]
    reward: float | None
    raw_reward: float | None
    elapsed_s: float
    usage: Usage


def step_view(
    reader: RunsReader, run_id: str, attempt: str, index: int, *, most: int = TEXT_CHARS
) -> StepView:
    """The step with this number, and what changed since the one before it."""
    (step,) = reader.steps(run_id, attempt, index, index + 1)
    before = _before(reader, run_id, attempt, index)
    text = reader.text(run_id, step.observation) if step.observation else ""
    return StepView(
        index=index,
        action=cut_text(step.action, ACTION_CHARS),
        think=cut_text(step.think, most),
        error=cut_text(step.error, ACTION_CHARS),
        observation=cut_text(text, most) if step.observation else None,
        observation_sha256=step.observation,
        truncated=step.truncated,
        pictures=_pictures(reader, run_id, step, before),
        scores=tuple(_score(record) for record in step.scores),
        facts=_facts(step, before),
        outcome=tuple(
            (key[:CODE_CHARS], str(value)[:CODE_CHARS])
            for key, value in (step.outcome or {}).items()
            if value is not None and key not in ("call", "target", "info", "box")
        ),
        reward=step.reward,
        raw_reward=step.raw_reward,
        elapsed_s=step.elapsed_s,
        usage=step.usage,
    )


def _before(reader: RunsReader, run_id: str, attempt: str, index: int) -> Step | None:
    """The step before this one; `None` for the first, and where that one is damaged."""
    try:
        return next(iter(reader.steps(run_id, attempt, index - 1, index)), None)
    except BadRecord:
        return None


def _score(record: Mapping[str, Any]) -> StepScoreView:
    """A score as it was written; what another version wrote in another form is left out."""
    value = _number(record.get("score"))
    reasons = record.get("reasons")
    contract = record.get("contract")
    return StepScoreView(
        scorer=str(record.get("scorer", ""))[:CODE_CHARS],
        score=value,
        shade=shade(value),
        classification=str(record.get("classification") or "")[:CODE_CHARS],
        strength=str(record.get("strength") or "")[:CODE_CHARS],
        reasons=tuple(
            _reason(reason)
            for reason in (reasons if isinstance(reasons, list) else ())[:MOST_REASONS]
            if isinstance(reason, Mapping)
        ),
        confidence=_number(record.get("confidence")),
        controllable=_flag(record.get("controllable")),
        evidence_backed=_flag(record.get("evidence_backed")),
        rule=rule if isinstance(rule := record.get("rule"), int) else None,
        progress=str(record.get("progress") or "")[:CODE_CHARS],
        contract=tuple(
            (str(key)[:CODE_CHARS], str(item)[:CODE_CHARS])
            for key, item in (contract.items() if isinstance(contract, Mapping) else ())
        ),
    )


def _reason(record: Mapping[str, Any]) -> ReasonView:
    n = record.get("n")
    return ReasonView(
        code=str(record.get("code", ""))[:CODE_CHARS],
        n=n if isinstance(n, int) else 0,
        sentence=str(record.get("sentence", ""))[:CODE_CHARS],
    )


def _facts(step: Step, before: Step | None) -> tuple[Fact, ...]:
    now = step.evidence
    if isinstance(now, WorldEvidence):
        return _world_facts(now, before.evidence if before is not None else None)
    if now is None:
        return ()
    earlier = before.evidence if before is not None else None
    known = earlier if isinstance(earlier, PageEvidence) else PageEvidence()
    comparable = known.schema == now.schema
    facts = []
    for name, title in CHANNELS.items():
        value, was = getattr(now, name), getattr(known, name)
        change: Change = "not recorded"
        if value is not None and was is not None and comparable:
            change = "same" if value == was else "changed"
        facts.append(Fact(title, change, "" if value is None else _digest(value)))
    return tuple(facts)


def _digest(value: object) -> str:
    """Enough of a digest to tell it from another: its eight first digits."""
    return str(value).rpartition(":")[2][:DIGITS]


def _world_facts(now: WorldEvidence, before: Any) -> tuple[Fact, ...]:
    was = before if isinstance(before, WorldEvidence) else None
    named = {"score": now.score, "done": now.done, "won": now.won, **now.progress}
    old: Mapping[str, Any] = {}
    if was is not None:
        old = {"score": was.score, "done": was.done, "won": was.won, **was.progress}
    return tuple(
        Fact(
            str(name)[:CODE_CHARS],
            "not recorded" if name not in old else "same" if old[name] == value else "changed",
            str(value)[:CODE_CHARS],
        )
        for name, value in named.items()
    )


def _pictures(
    reader: RunsReader, run_id: str, step: Step, before: Step | None
) -> tuple[Picture, ...]:
    """What the agent saw when it chose, with what it aimed at; and what came of it."""
    found = []
    box = _box(step.outcome or {})
    if before is not None and before.screenshot and box is not None:
        title = f"before the action, step {before.index}"
        found.append(_picture(reader, run_id, before.screenshot, title, box))
    if step.screenshot:
        found.append(_picture(reader, run_id, step.screenshot, "after the action", None))
    return tuple(picture for picture in found if picture is not None)


def _picture(
    reader: RunsReader, run_id: str, sha256: str, title: str, box: Rectangle | None
) -> Picture | None:
    try:
        data = reader.artifact(run_id, sha256)
    except AssayError:
        return None
    kind = picture_kind(data)
    if kind is None:
        return None
    size = picture_size(data) or UNSIZED
    if box is not None:
        aim = "the box is what it was aimed at" if is_on(box, size) else "it was aimed out of view"
        title = f"{title}: {aim}"
    return Picture(sha256, kind.removeprefix("image/"), size, box, title)


def is_on(box: Rectangle, size: Size) -> bool:
    """Whether some of the box is on a picture of this size."""
    across = box.x < size.width and box.x + box.width > 0
    return across and box.y < size.height and box.y + box.height > 0


def _box(outcome: Mapping[str, Any]) -> Rectangle | None:
    """The target's place, where the world recorded it as `[x, y, width, height]`."""
    given = outcome.get("box")
    if not isinstance(given, list) or len(given) != 4:
        return None
    numbers = [_number(value) for value in given]
    x, y, width, height = numbers
    if x is None or y is None or width is None or height is None or min(width, height) < 0:
        return None
    return Rectangle(x, y, width, height)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        return None
    return float(value)


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None
