"""The view of one step in full: its action, result, scores and reasons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from math import isfinite
from struct import unpack
from typing import Any, Literal, TypeAlias

from assay.errors import AssayError, BadRecord
from assay.report.traces import REFUSED, Turn
from assay.schema.episode import Step
from assay.schema.evidence import PageEvidence, WorldEvidence
from assay.viewer.pages.conversation import diff_view, message_views, shown_text
from assay.viewer.pages.records import PageRecord, cut_text, label_views, pick
from assay.viewer.pages.world import world_view
from assay.viewer.runs_reader import RunsReader
from assay.viewer.theme import shade
from assay.viewer.words import event_sentences, page_words

TEXT_CHARS = 30_000
ACTION_CHARS = 4_000
CODE_CHARS = 300
MOST_REASONS = 50
DIGITS = 8
CHANNELS: dict[str, str] = page_words().channels
MOST_JPEG_SEGMENTS = 1_000
LARGEST_SIDE = 20_000
"""Pixels; a header that claims more is not believed."""
_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""The JPEG segments that hold a size."""

PictureKind: TypeAlias = Literal["image/png", "image/jpeg", "image/webp"]


@dataclass(frozen=True, slots=True)
class PictureSize:
    """The size of a picture, in pixels."""

    width: int
    height: int


UNSIZED = PictureSize(1280, 720)
"""For a picture whose header does not tell; it keeps its own proportions anyway."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle on a picture, in pixels of the picture."""

    x: float
    y: float
    width: float
    height: float


def step_view(
    reader: RunsReader,
    run_id: str,
    attempt: str,
    index: int,
    *,
    most: int = TEXT_CHARS,
    turns: tuple[Turn, ...] | None = None,
    following: bool = True,
) -> PageRecord:
    """The record of one step, with the changes since the step before.

    `following` says that what the agent was shown afterwards is to be there too.
    """
    (step,) = reader.steps(run_id, attempt, index, index + 1)
    before = None
    # What changed since a step that is damaged is not recorded.
    with suppress(BadRecord):
        before = next(iter(reader.steps(run_id, attempt, index - 1, index)), None)
    text = reader.text(run_id, step.observation) if step.observation else ""
    recorded = step.scores[0] if step.scores else {}
    refused = REFUSED.search(step.think)

    def earlier_text() -> str:
        known = before is not None and before.observation
        return reader.text(run_id, before.observation) if before and known else ""

    earlier = before.evidence if before is not None else None
    return pick(
        step,
        "truncated reward raw_reward elapsed_s usage",
        index=index,
        action=cut_text(step.action, ACTION_CHARS),
        think=cut_text(step.think, most),
        error=cut_text(step.error, ACTION_CHARS),
        refused=refused["because"] if refused else "",
        observation=cut_text(text, most) if step.observation else None,
        observation_sha256=step.observation,
        pictures=_pictures(reader, run_id, step, before),
        scores=[_score(score) for score in step.scores],
        facts=_facts(step, before),
        outcome=[
            (_code(key), _code(value))
            for key, value in (step.outcome or {}).items()
            if value is not None and key not in ("call", "target", "info", "box")
        ],
        talk=_talk(turns, index, most, earlier_text, lambda: text, following=following),
        events=event_sentences(recorded.get("events")),
        world=world_view(step.evidence, earlier, text, index=index),
        labels=label_views(reader.labels(run_id).of(attempt, index)),
    )


def _talk(
    turns: tuple[Turn, ...] | None,
    index: int,
    most: int,
    before: Callable[[], str],
    after: Callable[[], str],
    *,
    following: bool,
) -> PageRecord | None:
    """The messages of a step: its turn and the start of the next one; `None` if unclear."""
    if turns is None or index > len(turns):
        return None
    turn = turns[index - 1] if index else ()
    first = next((i for i, message in enumerate(turn) if message.role == "assistant"), len(turn))
    following_turn = turns[index] if following and index < len(turns) else ()
    result = list(takewhile(lambda message: message.role != "assistant", following_turn))
    roles = ([message.role for message in each] for each in turns[:index])
    spoken = [i for i, each in enumerate(roles, 1) if "assistant" in each]
    earlier = shown_text(turns[index - 2]) if index > 1 else ""
    return {
        "shown": message_views(turn[:first], most=most, whole=before),
        # More than one where the first could not be used.
        "replies": message_views(turn[first:], most=most),
        # What came back as the agent was shown it.
        "result": message_views(
            [each for each in result if each.role != "system"], most=most, whole=after
        ),
        "n_before": sum(map(len, turns[: max(index - 1, 0)])),
        # The step whose reply held the call of this one, where it had no reply of its own.
        "reply_step": spoken[-1] if turn and spoken and spoken[-1] != index else None,
        "diff": diff_view(earlier, shown_text(turn)) if earlier else None,
    }


def _score(record: Mapping[str, Any]) -> PageRecord:
    """The page's record of a stored step score; values of unknown form are left out."""
    value = _number(record.get("score"))
    reasons, contract = record.get("reasons"), record.get("contract")
    texts = ("classification", "strength", "progress")
    return {
        "scorer": _code(record.get("scorer", "")),
        "score": value,
        "shade": shade(value),
        **{name: _code(record.get(name) or "") for name in texts},
        "reasons": [
            {
                "code": _code(reason.get("code", "")),
                "n": n if isinstance(n := reason.get("n"), int) else 0,
                "sentence": _code(reason.get("sentence", "")),
            }
            for reason in (reasons if isinstance(reasons, list) else ())[:MOST_REASONS]
            if isinstance(reason, Mapping)
        ],
        "confidence": _number(record.get("confidence")),
        "controllable": _flag(record.get("controllable")),
        "evidence_backed": _flag(record.get("evidence_backed")),
        "rule": rule if isinstance(rule := record.get("rule"), int) else None,
        "contract": [
            (_code(key), _code(item))
            for key, item in (contract.items() if isinstance(contract, Mapping) else ())
        ],
    }


def _facts(step: Step, before: Step | None) -> list[PageRecord]:
    """The facts in the evidence, each with whether it changed since the step before."""
    now, earlier = step.evidence, before.evidence if before is not None else None
    if isinstance(now, WorldEvidence) and now.world != "chat":
        old = _world_values(earlier) if isinstance(earlier, WorldEvidence) else {}
        return [
            _fact(_code(name), _code(value), name in old, value, old.get(name))
            for name, value in _world_values(now).items()
        ]
    if not isinstance(now, PageEvidence):
        return []
    page = earlier if isinstance(earlier, PageEvidence) else PageEvidence()
    facts = []
    for name, title in CHANNELS.items():
        value, was = getattr(now, name), getattr(page, name)
        comparable = value is not None and was is not None and page.schema == now.schema
        # The eight first digits of a digest are enough to tell it from another.
        digest = "" if value is None else f"#{str(value).rpartition(':')[2][:DIGITS]}"
        if isinstance(value, bool):
            digest = "open" if value else "none"
        facts.append(_fact(title, digest, comparable, value, was))
    return facts


def _fact(name: str, text: str, comparable: bool, value: object, was: object) -> PageRecord:
    changed = "same" if value == was else "changed"
    return {"name": name, "change": changed if comparable else "not recorded", "value": text}


def _world_values(evidence: WorldEvidence) -> dict[str, Any]:
    return {
        "score": evidence.score, "done": evidence.done, "won": evidence.won, **evidence.progress
    }  # fmt: skip


def _pictures(reader: RunsReader, run_id: str, step: Step, before: Step | None) -> list[PageRecord]:
    """The screenshots before the action, with its target, and after the action."""
    box = _box(step.outcome or {})
    pictures = []
    if before is not None and before.screenshot and box is not None:
        title = f"before the action, step {before.index}"
        pictures.append(_picture(reader, run_id, before.screenshot, title, box))
    if step.screenshot:
        pictures.append(_picture(reader, run_id, step.screenshot, "after the action", None))
    return [picture for picture in pictures if picture is not None]


def _picture(
    reader: RunsReader, run_id: str, sha256: str, title: str, box: Rectangle | None
) -> PageRecord | None:
    """A screenshot, and the box of the action's target on it."""
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
    kind_name = kind.removeprefix("image/")
    return {"sha256": sha256, "kind": kind_name, "size": size, "box": box, "title": title}


def is_on(box: Rectangle, size: PictureSize) -> bool:
    """Whether a part of the box is on a picture of this size."""
    across = box.x < size.width and box.x + box.width > 0
    return across and box.y < size.height and box.y + box.height > 0


def _box(outcome: Mapping[str, Any]) -> Rectangle | None:
    """The box of the target, if the environment recorded `[x, y, width, height]`."""
    values = outcome.get("box")
    if not isinstance(values, list) or len(values) != 4:
        return None
    x, y, width, height = map(_number, values)
    if x is None or y is None or width is None or height is None or min(width, height) < 0:
        return None
    return Rectangle(x, y, width, height)


def picture_kind(data: bytes) -> PictureKind | None:
    """The type of a picture, from its first bytes; `None` for other data."""
    if data.startswith(_PNG):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def picture_size(data: bytes) -> PictureSize | None:
    """The size in the header of a PNG or JPEG picture; `None` if it cannot be read."""
    kind = picture_kind(data)
    if kind == "image/png" and len(data) >= 24:
        return _plausible_size(*unpack(">II", data[16:24]))
    return _jpeg_size(data) if kind == "image/jpeg" else None


def _jpeg_size(data: bytes) -> PictureSize | None:
    at = 2
    for _ in range(MOST_JPEG_SEGMENTS):
        if at + 9 > len(data) or data[at] != 0xFF:
            return None
        if data[at + 1] in _JPEG_FRAMES:
            height, width = unpack(">HH", data[at + 5 : at + 9])
            return _plausible_size(width, height)
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


def _plausible_size(width: int, height: int) -> PictureSize | None:
    possible = 0 < width <= LARGEST_SIDE and 0 < height <= LARGEST_SIDE
    return PictureSize(width, height) if possible else None


def _code(value: object) -> str:
    return str(value)[:CODE_CHARS]


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        return None
    return float(value)


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None
