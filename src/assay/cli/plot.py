"""`assay plot`: the history as a picture, in a file or in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click
from rich.table import Column
from rich.text import Text

from assay.cli.options import check_folder, runs_option
from assay.cli.terminal import number_text, output, plain, print_json, table_of
from assay.errors import BadParameter
from assay.report.charts import (
    GROUPS,
    RewardGrid,
    bar_text,
    comparable_groups,
    grid,
    heat_map,
    reward_chart,
    shade,
)
from assay.report.timeline import RunHistory, history

Kind = Literal["rewards", "tasks"]


@click.command(name="plot")
@click.argument("benchmark", required=False)
@click.option(
    "--kind",
    type=click.Choice(["rewards", "tasks"]),
    default="rewards",
    show_default=True,
    help="Mean reward of each run, or a task × run heat map.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write it here, as SVG.")
@runs_option
@click.option("--json", "as_json", is_flag=True, help="Print what would be drawn as JSON.")
def command(
    benchmark: str | None, kind: Kind, out: Path | None, runs_dir: Path, as_json: bool
) -> None:
    """Draw the runs, or those of BENCHMARK: in the terminal, or as SVG with --out."""
    runs = history(benchmark, runs_dir=runs_dir)
    matrix = grid(runs, runs_dir=runs_dir) if kind == "tasks" else None
    if as_json:
        print_json(runs.to_record() if matrix is None else matrix.to_record())
    elif out is not None:
        _write(out, runs, matrix)
    elif not runs.rows:
        output().print(f"no runs{f' of {benchmark}' if benchmark else ''} in {runs_dir}")
    elif matrix is None:
        _bars(runs)
    else:
        _map(matrix)


def _write(out: Path, runs: RunHistory, matrix: RewardGrid | None) -> None:
    drawing = reward_chart(runs) if matrix is None else heat_map(matrix)
    if out.suffix.lower() != ".svg":
        raise BadParameter(f"--out {str(out)!r} does not end in .svg")
    check_folder(out)
    out.write_text(drawing.svg(), encoding="utf-8")
    output().print(f"written to {out}", soft_wrap=True)


def _bars(runs: RunHistory) -> None:
    table = table_of("run", "focus", ">mean", Column("0", no_wrap=True))
    for row, group in zip(runs.rows, comparable_groups(runs), strict=True):
        colour = "grey62" if row.reported else GROUPS[group % len(GROUPS)]
        bar = Text(bar_text(row.mean or 0.0), style=colour)
        table.add_row(Text(row.run_id), Text(plain(row.focus, 32)), number_text(row.mean), bar)
    console = output()
    console.print(table)
    console.print("same colour: comparable with each other", style="dim")


def _map(matrix: RewardGrid) -> None:
    console = output()
    numbers = range(1, len(matrix.runs) + 1)
    columns = (Column(str(number), justify="center", min_width=2) for number in numbers)
    table = table_of("task", *columns)
    for task, rewards in zip(matrix.tasks, matrix.rewards, strict=True):
        cells = [Text(_square(r), style=shade(r)) for r in rewards]
        table.add_row(Text(plain(task, 40)), *cells)
    console.print(table)
    for number, run in enumerate(matrix.runs, 1):
        console.print(f"{number:>3}  {run}")
    console.print("░ below 0.25, ▒ below 0.5, ▓ below 0.75, █ from there, · no reward", style="dim")


def _square(reward: float | None) -> str:
    """Two characters that tell the reward without colour too."""
    if reward is None:
        return "··"
    return 2 * "░▒▓█"[min(max(int(reward * 4), 0), 3)]
