"""How pages show scores: colours, marks and formatted numbers."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from assay.ledger.steps import StepSummary
from assay.viewer.words import page_words

Shade: TypeAlias = Literal["n4", "n3", "n2", "n1", "z", "p1", "p2", "p3", "p4", "none"]
"""A class of the style sheet: orange below zero, blue above, hatched for none."""

GLYPHS: dict[str, str] = page_words().glyphs
MEANINGS: dict[str, str] = page_words().meanings
"""Each mark in words."""
FAILURES: frozenset[str] = frozenset({"failure", "blocked", "ungated", "contract fail", "nothing"})
_CLASS_MARKS: dict[str, str] = page_words().class_marks
_SHADES: tuple[tuple[float, Shade], ...] = (
    (-0.7, "n4"), (-0.4, "n3"), (-0.15, "n2"), (-0.0005, "n1"),
    (0.0005, "z"), (0.15, "p1"), (0.4, "p2"), (0.7, "p3"),
)  # fmt: skip
NONE = "—"
MINUS = "−"


@dataclass(frozen=True, slots=True)
class RibbonCell:
    """One step in the ribbon, the row of coloured steps of an episode."""

    step: int
    value: float | None
    shade: Shade
    mark: str
    label: str
    """The cell in words, for those who do not see it."""

    @property
    def glyph(self) -> str:
        if self.mark:
            return GLYPHS[self.mark]
        if self.value is None:
            return "·"
        return "+" if self.value > 0 else MINUS if self.value < 0 else "0"


@dataclass(frozen=True, slots=True)
class RibbonSegment:
    """Several steps in the ribbon of a long episode."""

    first: int
    last: int
    mean: float | None
    shade: Shade
    failures: int


def shade(value: float | None) -> Shade:
    """The colour of a step score, which is between -1 and 1."""
    if value is None:
        return "none"
    for limit, name in _SHADES:
        # An upper limit belongs to the milder colour above zero, and to the stronger one below.
        if value <= limit if limit < 0 else value < limit:
            return name
    return "p4"


def reward_shade(value: float | None) -> Shade:
    """The colour of an outcome reward, which is usually between 0 and 1."""
    return "none" if value is None else shade(2 * value - 1)


def mark_of(step: int, summary: StepSummary) -> str:
    """The mark of a step: "blocked", the class of the step's score, or "failure"."""
    if summary.block:
        return "blocked"
    mark = _CLASS_MARKS.get(summary.classification, "failure" if summary.error else "")
    return mark or ("reset" if step == 0 else "")


def value_of(summary: StepSummary) -> float | None:
    """The step score, or the environment's reward if there is no step score."""
    return summary.reward if summary.score is None else summary.score


def cells(
    summaries: Sequence[StepSummary], first: int = 0, idle: Container[int] = ()
) -> tuple[RibbonCell, ...]:
    """The ribbon cells of the steps; `first` is the number of the first step."""
    return tuple(
        _cell(step, summary, "nothing" if step in idle else mark_of(step, summary))
        for step, summary in enumerate(summaries, first)
    )


def _cell(step: int, summary: StepSummary, mark: str) -> RibbonCell:
    value = value_of(summary)
    label = f"step {step}, {'no score' if value is None else signed(value, 2)}"
    words = MEANINGS.get(mark, mark) if mark == "nothing" else mark
    return RibbonCell(step, value, shade(value), mark, f"{label}, {words}" if mark else label)


def overview(summaries: Sequence[StepSummary], most: int) -> tuple[RibbonSegment, ...]:
    """The whole episode in at most `most` segments of equal length."""
    if not summaries:
        return ()
    length = -(-len(summaries) // most)
    starts = range(0, len(summaries), length)
    return tuple(_segment(summaries[first : first + length], first) for first in starts)


def _segment(summaries: Sequence[StepSummary], first: int) -> RibbonSegment:
    values = [value for summary in summaries if (value := value_of(summary)) is not None]
    mean = sum(values) / len(values) if values else None
    failures = sum(mark_of(first + i, summary) in FAILURES for i, summary in enumerate(summaries))
    return RibbonSegment(first, first + len(summaries) - 1, mean, shade(mean), failures)


def bars(segments: Sequence[RibbonSegment], unit: int, half: int) -> list[tuple[Shade, str]]:
    """The bars of the segments, up or down from the middle: one SVG path for each colour."""
    paths: dict[Shade, list[str]] = {}
    for i, part in enumerate(segments):
        tall = 1 + min(abs(part.mean or 0.0), 1.0) * (half - 1)
        top = half - tall if part.mean is None or part.mean >= 0 else half
        bar = f"M{i * unit} {top:.1f}h{unit - 1}v{tall:.1f}h-{unit - 1}z"
        paths.setdefault(part.shade, []).append(bar)
    return [(name, "".join(path)) for name, path in paths.items()]


def signed(value: float | None, digits: int = 3) -> str:
    """The number with its sign, or a dash for `None`."""
    if value is None:
        return NONE
    text = f"{value:+.{digits}f}"
    return text.replace("-", MINUS) if float(text) else text[1:]


def plain(value: float | None, digits: int = 3) -> str:
    return NONE if value is None else f"{value:.{digits}f}".replace("-", MINUS)


def money(value: float | None) -> str:
    if not value:
        return NONE if value is None else "$0"
    return f"${value:,.4f}" if value < 1 else f"${value:,.2f}"


def duration(seconds: float | None) -> str:
    """Seconds as `12.3 s`, `4 min` or `2 h 05 min`, or a dash."""
    if seconds is None:
        return NONE
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02d} min"


def words(code: str) -> str:
    return code.replace("_", " ")
