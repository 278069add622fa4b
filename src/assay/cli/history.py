"""`assay history`: show all runs, each compared with an earlier run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal

import click
from rich.console import Group
from rich.table import Column, Table
from rich.text import Text

from assay.cli.options import json_option, runs_option
from assay.cli.terminal import (
    difference_text,
    interval_text,
    number_text,
    output,
    plain,
    print_json,
    print_notes,
    reward_text,
    table_of,
)
from assay.errors import UnknownName, did_you_mean
from assay.ledger.layout import archive, find_run
from assay.report.timeline import (
    HistoryRow,
    RewardGrid,
    RunHistory,
    comparable_groups,
    grid,
    history,
)

WIDE = 140
"""Columns of a terminal that the whole table fits in."""
OUTCOMES = {True: "came true", False: "did not come true", None: "cannot be said"}
"""What became of a prediction, in words."""
GROUPS = ("#2563a8", "#c2571a", "#3f8f4f", "#8a4fa8", "#a8882b", "#5b6b7b")
"""One colour for each set of runs that can be compared with each other."""
LOW, HIGH, NONE = (248, 222, 196), (20, 83, 136), "#f1f3f5"
"""The colours of the rewards 0 and 1, and of none."""


@click.command(name="history")
@click.argument("benchmark", required=False)
@click.option("--agent", metavar="NAME", help="Only runs of this agent.")
@click.option("--model", metavar="NAME", help="Only runs of this model.")
@click.option("--archive", "archive_runs", multiple=True, metavar="RUN",
              help="Hide RUN in lists from now on; no file is deleted.")  # fmt: skip
@click.option("--unarchive", "restore_runs", multiple=True, metavar="RUN",
              help="Show RUN in lists again.")  # fmt: skip
@click.option("--archived", is_flag=True, help="Show archived runs too.")
@click.option("--plot", type=click.Choice(["rewards", "tasks"]), is_flag=False,
              flag_value="rewards",
              help="Draw a chart: the mean of each run, or every task in every run.")  # fmt: skip
@runs_option
@json_option
def command(
    benchmark: str | None,
    agent: str | None,
    model: str | None,
    archive_runs: Sequence[str],
    restore_runs: Sequence[str],
    archived: bool,
    plot: Literal["rewards", "tasks"] | None,
    runs_dir: Path,
    as_json: bool,
) -> None:
    """Show all runs, or the runs of BENCHMARK, oldest first.

    A run is set against the latest scored one before it with the same reward, task set, step
    budget and model, or else against one of another model. What was predicted with `assay run
    --expect` is checked against that.

    \b
    assay history townsquare --model rules
    assay history townsquare --plot tasks
    assay history --archive 20261115-0528 --archive @-2
    assay history --unarchive 20261115-0528
    """
    if archive_runs or restore_runs:
        _archive(archive_runs, restore_runs, runs_dir)
        return
    runs = history(benchmark, agent=agent, model=model, archived=archived, runs_dir=runs_dir)
    nothing = "" if runs.rows else _nothing(benchmark, agent, model, runs_dir)
    matrix = grid(runs, runs_dir=runs_dir) if plot == "tasks" else None
    if as_json:
        print_json(runs.to_record() if matrix is None else asdict(matrix))
        return
    console = output()
    if not runs.rows:
        console.print(nothing, soft_wrap=True)
    elif plot is not None:
        console.print(_bars(runs) if matrix is None else _map(matrix))
        return
    else:
        console.print(_table(runs.rows) if console.width >= WIDE else _list(runs.rows))
    for remark, names in _remarks(runs).items():
        who = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        console.print(Text(f"{who}: {plain(remark, 300)}"), soft_wrap=True)
    print_notes(console, runs.notes)


def _archive(archive_runs: Sequence[str], restore_runs: Sequence[str], runs_dir: Path) -> None:
    # Every name is read before the first run moves out of the order that `@-2` counts in.
    chosen = [(find_run(name, runs_dir), True) for name in archive_runs]
    chosen += [(find_run(name, runs_dir), False) for name in restore_runs]
    for run, archived in chosen:
        changed = archive(run, archived=archived)
        state = "archived" if archived else "no longer archived"
        click.echo(f"{run.name}: {'' if changed else 'already '}{state}")


def _nothing(benchmark: str | None, agent: str | None, model: str | None, runs_dir: Path) -> str:
    """The message for an empty history, which names the benchmarks that have runs."""
    wishes = {"": benchmark, "agent ": agent, "model ": model}
    what = "".join(f" of {kind}{name}" for kind, name in wishes.items() if name)
    rows = history(archived=True, runs_dir=runs_dir).rows if what else ()
    others = sorted({row.benchmark for row in rows})
    there = f"there are runs of {', '.join(others[:10])}" if others else ""
    hint = did_you_mean(benchmark, others, there) if benchmark else there
    sentence = f"no runs{what} in {runs_dir}{'; ' * bool(hint)}{hint}"
    named = ((row.benchmark, row.agent, row.model) for row in rows)
    known = [set(values) for values in zip(*named, strict=True)] or [set()] * len(wishes)
    if any(name and name not in names for name, names in zip(wishes.values(), known, strict=True)):
        raise UnknownName(sentence)
    return sentence


def _table(rows: Sequence[HistoryRow]) -> Table:
    """A line for each run."""
    numbers = ("n", "mean", "95 %", "pass", "best", "worst", "answered", "errors", "change")
    columns = (Column(name, justify="right", no_wrap=True) for name in numbers)
    first = (Column("run", no_wrap=True), Column("commit", no_wrap=True))
    table = table_of(*first, Column("focus", overflow="fold"), *columns, "verdict")
    for row in rows:
        table.add_row(
            _name(row),
            Text(plain(row.commit, 10)),
            Text(plain(row.focus, 32)),
            str(row.n),
            _mean(row),
            interval_text(row.interval) or "—",
            _share(row.pass_rate),
            reward_text(row.best),
            reward_text(row.worst),
            _count(row.answered, row),
            _count(row.errors, row),
            *_change(row),
        )
    return table


def _list(rows: Sequence[HistoryRow]) -> Group:
    """The runs for a narrow terminal: a short table, then details of each run."""
    numbers = ("n", "mean", "95 %", "change")
    columns = (Column(name, justify="right", no_wrap=True) for name in numbers)
    table = table_of(Column("run", no_wrap=True), *columns, "verdict")
    for row in rows:
        number = (str(row.n), _mean(row), interval_text(row.interval) or "—")
        table.add_row(_name(row), *number, *_change(row))
    below = []
    for row in rows:
        below.append(Text(f"{row.run_id}  {plain(row.focus, 200)}".rstrip()))
        passed = f"pass {_share(row.pass_rate)}, "
        extremes = f"{passed}best {reward_text(row.best)}, worst {reward_text(row.worst)}"
        ended = f"answered {_count(row.answered, row)}, errors {_count(row.errors, row)}"
        commit = f", commit {plain(row.commit, 10)}" if row.commit else ""
        below.append(Text(f"  {extremes}, {ended}{commit}", style="dim"))
    return Group(table, Text(), *below)


def _bars(runs: RunHistory) -> Group:
    """A bar for each run; runs that can be compared share a colour."""
    table = table_of("run", "focus", ">mean", Column("0", no_wrap=True))
    for row, group in zip(runs.rows, comparable_groups(runs), strict=True):
        colour = "grey62" if row.reported else GROUPS[group % len(GROUPS)]
        bar = Text(bar_text(row.mean or 0.0), style=colour)
        table.add_row(Text(row.run_id), Text(plain(row.focus, 32)), number_text(row.mean), bar)
    return Group(table, Text("same colour: comparable with each other", style="dim"))


def _map(matrix: RewardGrid) -> Group:
    """A square for each task in each run, lighter or darker by its reward."""
    numbers = range(1, len(matrix.runs) + 1)
    columns = (Column(str(number), justify="center", min_width=2) for number in numbers)
    table = table_of("task", *columns)
    for task, rewards in zip(matrix.tasks, matrix.rewards, strict=True):
        cells = [Text(_square(r), style=shade(r)) for r in rewards]
        table.add_row(Text(plain(task, 40)), *cells)
    names = (Text(f"{number:>3}  {run}") for number, run in enumerate(matrix.runs, 1))
    key = "░ below 0.25, ▒ below 0.5, ▓ below 0.75, █ from there, · no reward"
    return Group(table, *names, Text(key, style="dim"))


def bar_text(value: float, *, width: int = 24) -> str:
    """The value from 0 to 1 as a bar of block characters."""
    eighths = round(min(max(value, 0.0), 1.0) * width * 8)
    return "█" * (eighths // 8) + (" ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else "")


def shade(reward: float | None) -> str:
    """The colour of a reward, as `#rrggbb`: from sand (0) to blue (1), grey for none."""
    if reward is None:
        return NONE
    part = min(max(reward, 0.0), 1.0)
    mixed = (round(a + (b - a) * part) for a, b in zip(LOW, HIGH, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _square(reward: float | None) -> str:
    """Two characters that show the reward even without colour."""
    if reward is None:
        return "··"
    return 2 * "░▒▓█"[min(max(int(reward * 4), 0), 3)]


def _mean(row: HistoryRow) -> Text:
    return reward_text(row.mean).append("*" * row.reported)


def _change(row: HistoryRow) -> tuple[Text, str]:
    if row.change is None:
        return Text("—", style="dim"), ""
    return difference_text(row.change.difference), row.change.verdict


def _name(row: HistoryRow) -> Text:
    return Text(row.run_id + " (archived)" * row.archived)


def _share(value: float | None) -> str:
    return "—" if value is None else f"{value:.0%}"


def _count(value: int | None, row: HistoryRow) -> str:
    return "—" if value is None else f"{value}/{row.attempts}"


def _remarks(runs: RunHistory) -> dict[str, list[str]]:
    """Each remark on the table, with the ids of its runs."""
    remarks: dict[str, list[str]] = {}
    for row in runs.rows:
        for remark in _remarks_on(row):
            remarks.setdefault(remark, []).append(row.run_id)
    return remarks


def _remarks_on(row: HistoryRow) -> list[str]:
    remarks = []
    if row.prediction is not None:
        outcome = OUTCOMES[row.prediction.came_true]
        remarks.append(f"{row.prediction.sentence} ({outcome})")
    if row.not_comparable:
        remarks.append(f"not comparable with the run before it: {row.not_comparable}")
    if row.change is not None and row.change.verdict == "no verdict possible":
        remarks.append(row.change.because)
    elif row.change is not None and row.change.labels:
        remarks.append(f"set against {row.change.against}: {'; '.join(row.change.labels)}")
    return [*remarks, *row.notes]
