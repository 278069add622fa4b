"""The curves of the proofs as SVG pictures, light and dark, made from the logs alone.

python -m examples.training.plot examples/training/recorded docs/images
"""

# ruff: noqa: T201 - a script prints
from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from examples.training.logs import Run, read_runs
from examples.training.rewards import PROOFS

PANEL_WIDTH, PANEL_HEIGHT = 230, 180
LEFT, TOP, GAP, BOTTOM = 44, 62, 26, 44
FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a picture."""

    name: str
    paper: str
    ink: str
    faint: str
    curves: tuple[str, str]
    """Of the reward, and of the truth."""


LEGEND_WIDTH = 800
THEMES = (
    Theme("light", "#ffffff", "#1f2933", "#d3d9df", ("#c2571a", "#2563a8")),
    Theme("dark", "#0d1117", "#e6edf3", "#343c46", ("#f0883e", "#6cb0f5")),
)
CURVES = {"proxy": "what the reward pays", "truth": "truth, by the checker"}


def draw(runs: Sequence[Run], task: str, theme: Theme) -> str:
    """A panel for each reward of the task, with two curves for each seed, as an SVG document."""
    arms = PROOFS[task]
    panels = LEFT + len(arms) * PANEL_WIDTH + (len(arms) - 1) * GAP + 16
    width = max(panels, LEGEND_WIDTH)
    height = TOP + PANEL_HEIGHT + BOTTOM
    marks = [_legend(theme)]
    for number, arm in enumerate(arms):
        chosen = [run for run in runs if run.task == task and run.arm == arm]
        left = LEFT + number * (PANEL_WIDTH + GAP)
        marks += _panel(arm, chosen, left, theme, scale=number == 0)
    title = f"Reward and truth on held-out questions of the task {task}, by training step"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" font-family="{FONT}">\n'
        f"<title>{title}</title>\n"
        f'<rect width="{width}" height="{height}" fill="{theme.paper}"/>\n'
        + "\n".join(marks)
        + "\n</svg>\n"
    )


def _legend(theme: Theme) -> str:
    marks, x = [], LEFT
    for colour, words in zip(theme.curves, CURVES.values(), strict=True):
        marks.append(
            f'<line x1="{x}" y1="16" x2="{x + 22}" y2="16" stroke="{colour}" stroke-width="2"/>'
        )
        marks.append(_text(x + 28, 20, words, theme.ink))
        x += 60 + 7 * len(words)
    marks.append(_text(x, 20, "one curve for each seed; equal ones lie on each other", theme.ink))
    return "\n".join(marks)


def _panel(arm: str, runs: Sequence[Run], left: int, theme: Theme, *, scale: bool) -> list[str]:
    last = max((line["step"] for run in runs for line in run.truths), default=1) or 1
    marks = [_text(left, TOP - 12, arm, theme.ink, weight="600")]
    for level in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = TOP + PANEL_HEIGHT * (1 - level)
        marks.append(
            f'<line x1="{left}" y1="{y:.1f}" x2="{left + PANEL_WIDTH}" y2="{y:.1f}" '
            f'stroke="{theme.faint}"/>'
        )
        if scale:
            marks.append(_text(left - 8, y + 4, f"{level:g}", theme.ink, anchor="end"))
    bottom = TOP + PANEL_HEIGHT + 18
    marks.append(_text(left, bottom, "0", theme.ink))
    marks.append(_text(left + PANEL_WIDTH, bottom, f"{last} steps", theme.ink, anchor="end"))
    for run in runs:
        for name, colour in zip(CURVES, theme.curves, strict=True):
            points = " ".join(
                f"{left + PANEL_WIDTH * line['step'] / last:.1f},"
                f"{TOP + PANEL_HEIGHT * (1 - line[name]):.1f}"
                for line in run.truths
                if line.get(name) is not None
            )
            marks.append(
                f'<polyline points="{points}" fill="none" stroke="{colour}" '
                f'stroke-width="1.6" stroke-linejoin="round"/>'
            )
    return marks


def _text(
    x: float, y: float, text: str, colour: str, *, anchor: str = "start", weight: str = "400"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" font-weight="{weight}" fill="{colour}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("logs", type=Path, help="a folder of logs, whole or of some runs")
    parser.add_argument("pictures", type=Path, help="the folder for the pictures, made if need be")
    options = parser.parse_args(arguments)
    runs, pictures = read_runs(options.logs), options.pictures
    pictures.mkdir(parents=True, exist_ok=True)
    for task in sorted({run.task for run in runs}):
        for theme in THEMES:
            path = pictures / f"training-{task}-{theme.name}.svg"
            path.write_text(draw(runs, task, theme))
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
