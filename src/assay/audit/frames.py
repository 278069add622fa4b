"""Answer formats, such as boxes and tags, and the format that a reward pays best."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Final

from assay.audit.conversations import calling, conversation, episode_record, tagged
from assay.audit.data import named_texts
from assay.audit.findings import CallResult, GraderCall, Sample
from assay.schema.audit import Kind

BASELINE_SAMPLES = 12
"""Rows on which every frame is tried."""
NEARLY = 0.9
"""A frame that is paid so much of the best is as good; the usual one of the kind is preferred."""
MANY = 0.25
"""The share of the paid references that must earn a number for it to be full marks."""
SLOT: Final = "⟨answer⟩"


@dataclass(frozen=True, slots=True)
class AnswerTemplate:
    """A response template with a place for the answer, such as a box or a tag."""

    name: str
    template: str

    def put(self, answer: str) -> str:
        return self.template.replace(SLOT, answer)

    @property
    def anchored(self) -> bool:
        """Whether the format marks the answer, so that text around it does not count."""
        return self.name != "bare"


@dataclass(frozen=True, slots=True)
class RightAnswerBaseline:
    """Pay of right answers in the answer format that the reward pays best."""

    frame: AnswerTemplate
    full_marks: float
    """The most that many right answers earn in this frame; 0.0 when none is paid."""
    accepted: int
    """References paid full marks in this frame."""
    tried: int


FRAMES: Final = tuple(AnswerTemplate(name, text) for name, text in named_texts("frames"))
BOXED, BARE, TAG = FRAMES[:3]
QUERY: Final = AnswerTemplate("fence", f"```sql\n{SLOT}\n```")
PROGRAM: Final = AnswerTemplate("fence", f"```python\n{SLOT}\n```")


def _frames_for(kind: Kind) -> tuple[AnswerTemplate, ...]:
    """Return the answer formats to try for a kind of reward, most usual first."""
    if kind in ("environment", "files", "tools"):
        return (BARE,)
    if kind == "sql":
        return (QUERY, BARE, TAG)
    if kind == "code":
        return (PROGRAM, BARE)
    if kind == "maths":
        return FRAMES
    return (BARE, *(frame for frame in FRAMES if frame is not BARE))


def to_call(kind: Kind, sample: Sample, text: str) -> GraderCall:
    """Build the call that scores this response to this row.

    An agent's comes after a tool was called and answered; an environment's after an episode in
    which the task was done. Where files are scored, the text is a JSON object of them; where calls
    are, a JSON list of these.
    """
    if kind == "agent":
        return GraderCall(text, sample.columns, conversation(sample, text))
    if kind == "environment":
        return GraderCall(text, {"episode": episode_record(sample), **sample.columns})
    if kind == "tools":
        return GraderCall(tagged(text), sample.columns, calling(sample, text))
    if kind == "files":
        return GraderCall("I am done.", {**sample.columns, "files": json.loads(text)})
    return GraderCall(text, sample.columns)


def measure_baseline(
    ask: Callable[[Sequence[GraderCall]], Sequence[CallResult]],
    kind: Kind,
    samples: Sequence[Sample],
) -> RightAnswerBaseline:
    """Find the answer format with the highest pay, and measure the pay in that format."""
    rows = samples[:BASELINE_SAMPLES]
    frames = _frames_for(kind)
    answers = [row.right[0] if kind == "environment" else row.reference_text for row in rows]
    calls = [
        to_call(kind, row, frame.put(answer))
        for frame in frames
        for row, answer in zip(rows, answers, strict=True)
    ]
    results = ask(calls) if calls else []
    paid = {
        frame: [result.pay for result in results[at * len(rows) : (at + 1) * len(rows)]]
        for at, frame in enumerate(frames)
    }
    best = max((fsum(values) for values in paid.values()), default=0.0)
    frame = next(frame for frame in frames if fsum(paid[frame]) >= NEARLY * best)
    counts = Counter(round(value, 9) for value in paid[frame] if value > 0)
    full = _full_marks(counts)
    return RightAnswerBaseline(frame, full, counts[full], len(rows))


def _full_marks(counts: Counter[float]) -> float:
    """Return the highest number that many right answers earn; 0.0 if none is paid."""
    many = MANY * counts.total()
    return max((value for value, count in counts.items() if count >= many), default=0.0)
