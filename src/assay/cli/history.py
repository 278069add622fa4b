"""`assay history`: the iteration table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Group
from rich.table import Table
from rich.text import Text

from assay.cli.printed import RUNS_DIR, between, print_json, reward, signed
from assay.cli.show import output, plain
from assay.report.timeline import HistoryRow, RunHistory, history

WIDE = 120
"""Columns of a terminal that the whole table fits in."""


@click.command(name="history")
@click.argument("benchmark", required=False)
@click.option("--runs", "runs_dir", type=click.Path(path_type=Path), default=RUNS_DIR)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(benchmark: str | None, runs_dir: Path, as_json: bool) -> None:
    """Show every run, or those of BENCHMARK, oldest first.

    A run is set against the latest one before it with the same reward, task set, step budget and
    model. What was predicted with `assay run --expect` is checked against that.
    """
    found = history(benchmark, runs_dir=runs_dir)
    if as_json:
        print_json(found.to_record())
        return
    console = output()
    if not found.rows:
        console.print(f"no runs{f' of {benchmark}' if benchmark else ''} in {runs_dir}")
    else:
        console.print(_table(found.rows) if console.width >= WIDE else _list(found.rows))
    for remark, runs in _remarks(found).items():
        who = runs[0] if len(runs) == 1 else f"{runs[0]} and {len(runs) - 1} more"
        console.print(Text(f"{who}: {plain(remark, 300)}"), soft_wrap=True)
    for note in found.notes:
        console.print(Text(f"note: {plain(note, 300)}", style="yellow"), soft_wrap=True)


def _table(rows: Sequence[HistoryRow]) -> Table:
    """A line for each run."""
    table = Table(box=None, pad_edge=False)
    table.add_column("run", no_wrap=True)
    table.add_column("commit", no_wrap=True)
    table.add_column("focus", overflow="fold")
    for name in ("n", "mean", "95 %", "best", "worst", "answered", "errors", "change"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for row in rows:
        table.add_row(
            Text(row.run_id),
            Text(plain(row.commit, 10)),
            Text(plain(row.focus, 32)),
            str(row.n),
            _mean(row),
            between(row.interval) or "—",
            reward(row.best),
            reward(row.worst),
            _count(row.answered, row),
            _count(row.errors, row),
            *_change(row),
        )
    return table


def _list(rows: Sequence[HistoryRow]) -> Group:
    """What is needed of each run on a line, and the rest under it."""
    table = Table(box=None, pad_edge=False)
    table.add_column("run", no_wrap=True)
    for name in ("n", "mean", "95 %", "change"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict")
    for row in rows:
        number = (str(row.n), _mean(row), between(row.interval) or "—")
        table.add_row(Text(row.run_id), *number, *_change(row))
    below = []
    for row in rows:
        below.append(Text(f"{row.run_id}  {plain(row.focus, 200) or 'no focus given'}"))
        extremes = f"best {reward(row.best)}, worst {reward(row.worst)}"
        ended = f"answered {_count(row.answered, row)}, errors {_count(row.errors, row)}"
        commit = f", commit {plain(row.commit, 10)}" if row.commit else ""
        below.append(Text(f"  {extremes}, {ended}{commit}", style="dim"))
    return Group(table, Text(), *below)


def _mean(row: HistoryRow) -> Text:
    mean = reward(row.mean)
    if row.reported:
        mean.append("*")
    return mean


def _change(row: HistoryRow) -> tuple[Text, str]:
    if row.change is None:
        return Text("—", style="dim"), ""
    return signed(row.change.difference), row.change.verdict


def _count(value: int | None, row: HistoryRow) -> str:
    return "—" if value is None else f"{value}/{row.attempts}"


def _remarks(found: RunHistory) -> dict[str, list[str]]:
    """What is to be said beside the table, each remark with the runs that it is about."""
    remarks: dict[str, list[str]] = {}
    for row in found.rows:
        for remark in _remarks_on(row):
            remarks.setdefault(remark, []).append(row.run_id)
    return remarks


def _remarks_on(row: HistoryRow) -> list[str]:
    remarks = []
    if row.prediction is not None:
        held = "came true" if row.prediction.came_true else "did not come true"
        remarks.append(f"{row.prediction.sentence} ({held})")
    if row.not_comparable:
        remarks.append(f"not comparable with the run before it: {row.not_comparable}")
    if row.change is not None and row.change.verdict == "no verdict possible":
        remarks.append(row.change.because)
    return [*remarks, *row.notes]
