"""Pictures of a history: the reward of each run, and every task in every run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assay.errors import UsageError
from assay.report.attempts import read_attempts
from assay.report.drawing import FAINT, INK, Drawing
from assay.report.timeline import RunHistory

GROUPS = ("#2563a8", "#c2571a", "#3f8f4f", "#8a4fa8", "#a8882b", "#5b6b7b")
"""One colour for each set of runs that can be compared with each other."""
LOW, HIGH, NONE = (248, 222, 196), (20, 83, 136), "#f1f3f5"
MOST_TASKS = 400
MOST_RUNS = 60
TIP_CHARS = 60


@dataclass(frozen=True, slots=True)
class RewardGrid:
    """Every task in every run; `None` where there is no reward."""

    runs: tuple[str, ...]
    tasks: tuple[str, ...]
    rewards: tuple[tuple[float | None, ...], ...]
    """One row for each task."""

    def to_record(self) -> dict[str, Any]:
        """The grid as plain JSON values."""
        return asdict(self)


def grid(history: RunHistory, *, runs_dir: str | Path = "runs") -> RewardGrid:
    """The task × run matrix of the newest runs, tasks in the order in which they first came."""
    names = [row.run_id for row in history.rows if not row.reported][-MOST_RUNS:]
    means = [read_attempts(name, runs_dir).task_means for name in names]
    tasks = list(dict.fromkeys(task for run in means for task in run))[:MOST_TASKS]
    rewards = tuple(tuple(run.get(task) for run in means) for task in tasks)
    return RewardGrid(tuple(names), tuple(tasks), rewards)


def comparable_groups(history: RunHistory) -> list[int]:
    """For each run the number of the set of runs that it can be compared with."""
    groups: dict[str, int] = {}
    numbers = []
    for row in history.rows:
        number = groups[row.change.against] if row.change else len(set(groups.values()))
        groups[row.run_id] = number
        numbers.append(number)
    return numbers


def reward_chart(history: RunHistory) -> Drawing:
    """A bar for each run with its interval; runs that can be compared share a colour."""
    rows = [row for row in history.rows if row.mean is not None]
    if not rows:
        raise UsageError("no run has a mean reward to draw")
    runs = (row.run_id for row in history.rows)
    groups = dict(zip(runs, comparable_groups(history), strict=True))
    newest = rows[-MOST_RUNS:]
    top = max(1.0, *(row.mean or 0.0 for row in newest))
    left, height, step = 48, 220, 34
    drawing = Drawing(left + step * len(newest) + 20, height + 150, "Mean reward of each run")
    base = 30 + height

    def at(value: float) -> float:
        return base - height * min(max(value, 0.0), top) / top

    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        drawing.line(left, at(tick), drawing.width - 10, at(tick), "#e4e7eb")
        drawing.text(left - 6, at(tick) + 4, f"{tick:.2f}", "end", FAINT)
    for i, row in enumerate(newest):
        x, mean = left + 8 + i * step, row.mean or 0.0
        colour = GROUPS[groups[row.run_id] % len(GROUPS)] if not row.reported else FAINT
        tip = f"{row.run_id}: {mean:.3f}, {row.n} tasks, {row.focus[:TIP_CHARS]}"
        drawing.rectangle(x, at(mean), step - 12, base - at(mean), colour, tip)
        if row.interval is not None:
            middle, low, high = x + (step - 12) / 2, row.interval.low, row.interval.high
            drawing.line(middle, at(high), middle, at(low))
            for end in (low, high):
                drawing.line(middle - 4, at(end), middle + 4, at(end))
        above = at(row.interval.high if row.interval is not None else mean) - 5
        drawing.text(x + 11, above, f"{mean:.2f}", "middle", INK, 10)
        name = _short(row.focus or row.run_id, 18)
        drawing.text(x + 15, base + 8, name, "end", INK, 10, upwards=True)
    drawing.text(left, 16, drawing.title, size=13)
    note = "Same colour: comparable. Whiskers: 95 % interval over tasks. Grey: as reported."
    drawing.text(left, drawing.height - 8, note, colour=FAINT, size=10)
    return drawing


def heat_map(matrix: RewardGrid) -> Drawing:
    """A square for each task in each run, from sand (0) to blue (1), grey for none."""
    if not matrix.tasks:
        raise UsageError("no run has a task with a reward to draw")
    cell, left, top = 18, 190, 120
    drawing = Drawing(
        max(left + cell * len(matrix.runs) + 20, 420),
        top + cell * len(matrix.tasks) + 30,
        "Reward of each task in each run",
    )
    for j, run in enumerate(matrix.runs):
        x = left + j * cell + cell / 2 + 4
        drawing.text(x, top - 6, run[:15], size=10, upwards=True)
    for i, (task, rewards) in enumerate(zip(matrix.tasks, matrix.rewards, strict=True)):
        y = top + i * cell
        drawing.text(left - 8, y + 13, _short(task, 26), "end", INK, 10)
        for j, reward in enumerate(rewards):
            value = "no reward" if reward is None else f"{reward:.3f}"
            tip = f"{task[:TIP_CHARS]} in {matrix.runs[j]}: {value}"
            drawing.rectangle(left + j * cell, y, cell - 1, cell - 1, shade(reward), tip)
    drawing.text(10, 16, drawing.title, size=13)
    note = "Sand 0, blue 1, grey: no reward."
    drawing.text(10, drawing.height - 10, note, colour=FAINT, size=10)
    return drawing


def shade(reward: float | None) -> str:
    """The colour of a reward, as `#rrggbb`."""
    if reward is None:
        return NONE
    part = min(max(reward, 0.0), 1.0)
    mixed = (round(a + (b - a) * part) for a, b in zip(LOW, HIGH, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def bar_text(value: float, *, width: int = 24) -> str:
    """The value from 0 to 1 as a bar of block characters."""
    eighths = round(min(max(value, 0.0), 1.0) * width * 8)
    return "█" * (eighths // 8) + (" ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else "")


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
