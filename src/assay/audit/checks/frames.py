"""Where a target looks for the answer: the frames that models write around one, and which fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum, isfinite
from typing import Final

from assay.audit.checks.episodes import recorded
from assay.audit.checks.talk import conversation
from assay.audit.data import gold_text
from assay.audit.findings import Call, Kind, Sample, Verdict

MEASURED_SAMPLES = 12
"""Rows on which every frame is tried."""
NEARLY = 0.9
"""A frame that is paid so much of the best is as good; the usual one of the kind is preferred."""
SLOT: Final = "⟨answer⟩"


@dataclass(frozen=True, slots=True)
class Frame:
    """A way to hand in an answer."""

    name: str
    template: str

    def put(self, answer: str) -> str:
        """The whole response with this answer."""
        return self.template.replace(SLOT, answer)

    @property
    def anchored(self) -> bool:
        """Whether the answer has a place of its own, so that text around it is not part of it."""
        return self.name != "bare"


@dataclass(frozen=True, slots=True)
class Measured:
    """How a target wants answers, and what it pays for a right one."""

    frame: Frame
    full_marks: float
    """The most common value over right answers in this frame; 0.0 when none is paid."""
    accepted: int
    """Golds paid full marks in this frame."""
    tried: int


_THOUGHT: Final = "<think>I work it out step by step.</think>\n"
BARE: Final = Frame("bare", SLOT)
BOXED: Final = Frame("boxed", f"\\boxed{{{SLOT}}}")
TAG: Final = Frame("answer tag", f"<answer>{SLOT}</answer>")
FRAMES: Final[tuple[Frame, ...]] = (
    BOXED,
    BARE,
    TAG,
    Frame("label", f"Answer: {SLOT}"),
    Frame("sentence", f"The answer is {SLOT}."),
    Frame("hashes", f"I work it out.\n#### {SLOT}"),
    Frame("fence", f"```json\n{SLOT}\n```"),
    Frame("thought and box", f"{_THOUGHT}\\boxed{{{SLOT}}}"),
    Frame("thought and tag", f"{_THOUGHT}<answer>{SLOT}</answer>"),
    Frame("thought, tag and box", f"{_THOUGHT}<answer>\\boxed{{{SLOT}}}</answer>"),
)


def usual(kind: Kind) -> tuple[Frame, ...]:
    """The frames to try for a kind, the usual one first."""
    if kind == "environment":
        return (BARE,)
    if kind == "maths":
        return FRAMES
    return (BARE, *(frame for frame in FRAMES if frame is not BARE))


def say(kind: Kind, sample: Sample, text: str) -> Call:
    """The question whether this response to this row is right.

    An agent's comes after a tool was called and answered; an environment's after a world in which
    the task was done.
    """
    if kind == "agent":
        return Call(text, sample.columns, conversation(sample, text))
    if kind == "environment":
        return Call(text, {"episode": recorded(sample), **sample.columns})
    return Call(text, sample.columns)


def measure(
    ask: Callable[[Sequence[Call]], Sequence[Verdict]], kind: Kind, samples: Sequence[Sample]
) -> Measured:
    """The frame in which the target pays the golds best, and what it pays there."""
    rows = samples[:MEASURED_SAMPLES]
    frames = usual(kind)
    answers = [gold_text(row.gold) if kind != "environment" else row.right[0] for row in rows]
    calls = [
        say(kind, row, frame.put(answer))
        for frame in frames
        for row, answer in zip(rows, answers, strict=True)
    ]
    verdicts = ask(calls) if calls else []
    paid = {
        frame: [_worth(verdict) for verdict in verdicts[at * len(rows) : (at + 1) * len(rows)]]
        for at, frame in enumerate(frames)
    }
    best = max((fsum(values) for values in paid.values()), default=0.0)
    frame = next(frame for frame in frames if fsum(paid[frame]) >= NEARLY * best)
    counts = Counter(round(value, 9) for value in paid[frame] if value > 0)
    full, accepted = max(counts.items(), key=lambda item: (item[1], item[0]), default=(0.0, 0))
    return Measured(frame, full, accepted, len(rows))


def _worth(verdict: Verdict) -> float:
    value = verdict.value
    if verdict.status != "scored" or value is None or not isfinite(value):
        return 0.0
    return max(0.0, value)
