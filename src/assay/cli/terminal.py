"""Terminal output: safe text, numbers, tables, progress bars and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
from rich.table import Column, Table
from rich.text import Text

from assay.ledger.passes import PERFECT

if TYPE_CHECKING:
    from assay.report.statistics import ConfidenceInterval

GOOD, BAD, DULL, NONE = "green", "red", "dim", "yellow"


def output() -> Console:
    """Where results go."""
    return Console(highlight=False)


def progress_output() -> Console:
    """Where progress goes."""
    return Console(stderr=True, highlight=False)


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show a progress bar on stderr; yield a function that takes the done and total counts."""
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = progress_output()
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def table_of(
    *columns: Column | str, rows: Iterable[Iterable[str | Text]] = (), show_header: bool = True
) -> Table:
    """A table without border lines; a column named `>NAME` is aligned to the right."""
    heads = [
        Column(column[1:], justify="right")
        if isinstance(column, str) and column.startswith(">")
        else column
        for column in columns
    ]
    table = Table(*heads, box=None, pad_edge=False, show_header=show_header)
    for row in rows:
        table.add_row(*row)
    return table


def print_notes(console: Console, notes: Iterable[str]) -> None:
    """Print each note on a line of its own."""
    for note in notes:
        console.print(Text(f"note: {plain(note, 300)}", style="yellow"), soft_wrap=True)


def print_json(record: Any) -> None:
    """Print the record on stdout as JSON in ASCII."""
    click.echo(json.dumps(record, indent=2, default=str))


def plain(value: Any, limit: int = 60) -> str:
    """Any value as one short line without control characters."""
    text = value if isinstance(value, str) else repr(value)
    # Cut first: model output may be megabytes.
    cut = text[: limit + 1]
    line = "".join(char if char.isprintable() else repr(char)[1:-1] for char in cut)
    return line if len(line) <= limit else line[: limit - 1] + "…"


def reward_text(value: float | None) -> Text:
    """The reward as a coloured number, or a dash for `None`."""
    if value is None:
        return Text("—", style=NONE)
    return Text(f"{value:.3f}", style=GOOD if value >= PERFECT else BAD if value <= 0 else "cyan")


def number_text(value: float | None, digits: int = 3) -> str:
    """The number with `digits` decimals, or a dash for `None`."""
    return "—" if value is None else f"{value:.{digits}f}"


def difference_text(value: float | None, *, digits: int = 3) -> Text:
    """The difference with its sign: green if positive, red if negative."""
    if value is None:
        return Text("—", style=DULL)
    style = DULL if abs(value) < 1e-9 else GOOD if value > 0 else BAD
    return Text(f"{value:+.{digits}f}", style=style)


def interval_text(interval: ConfidenceInterval | None) -> str:
    """`[low, high]`, or nothing."""
    return "" if interval is None else f"[{interval.low:.3f}, {interval.high:.3f}]"
