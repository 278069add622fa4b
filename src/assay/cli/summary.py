"""A run's summary in the terminal."""

from __future__ import annotations

import json
import re

import click
from rich.table import Table
from rich.text import Text

from assay.cli.terminal import output, plain
from assay.ledger.run import Run
from assay.ledger.summary import Counts, RunSummary, TaskSummary, summarise


def print_run(run: Run, *, as_json: bool) -> None:
    """The run's summary on stdout, for a person or as JSON."""
    if as_json:
        record = {
            "path": str(run.path),
            "parent": run.manifest.parent,
            **summarise(run).to_record(),
        }
        # ASCII: the ids and domains of tasks may hold what has no other form.
        click.echo(json.dumps(record, indent=2))
    else:
        print_summary(run)


def print_summary(run: Run) -> None:
    """The run's numbers, and a table of its tasks."""
    summary = summarise(run)
    console = output()
    console.print(_tasks(summary))
    console.print(_totals(summary))
    console.print(Text(f"{run.path}", style="bold"), soft_wrap=True)


def _tasks(summary: RunSummary) -> Table:
    table = Table("task", "domain", "n", box=None, pad_edge=False)
    table.add_column("mean", justify="right")
    table.add_column("steps", justify="right")
    table.add_column("endings")
    for row in sorted(summary.tasks, key=_place):
        endings = ", ".join(
            name if count == 1 and row.counts.n == 1 else f"{count} {name}"
            for name, count in row.endings.items()
        )
        table.add_row(
            Text(plain(row.task_id, 60)),
            Text(plain(row.domain, 30)),
            str(row.counts.n),
            _mean(row.counts.mean),
            _number(row.counts.mean_steps),
            endings,
        )
    return table


def _place(row: TaskSummary) -> tuple[str, list[tuple[int, str]]]:
    """Where a task stands in the table: by domain, then by id with numbers as numbers."""
    pieces = re.split(r"(\d+)", row.task_id[:200])
    return row.domain, [(int(piece) if piece.isdecimal() else -1, piece) for piece in pieces]


def _totals(summary: RunSummary) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in _lines(summary.counts, summary.scorer):
        table.add_row(name, value)
    if summary.retried:
        table.add_row("attempts", f"{summary.attempts}, of which {summary.retried} were replaced")
    if summary.usage.calls:
        usage = summary.usage
        cost = "" if usage.cost_usd is None else f", ${usage.cost_usd:.4f}"
        table.add_row(
            "model",
            f"{usage.calls:,} calls, {usage.prompt_tokens:,} + {usage.completion_tokens:,} "
            f"tokens{cost}",
        )
    return table


def _lines(counts: Counts, scorer: str) -> list[tuple[str, str]]:
    beside = [
        f"{count} {what}"
        for count, what in (
            (counts.abstained, "abstained"),
            (counts.env_errors, "env_error"),
            (counts.unscored, "unscored"),
        )
        if count
    ]
    left_out = f"; not in it: {', '.join(beside)}" if beside else ""
    rate = counts.error_rate
    return [
        ("mean reward", f"{_number(counts.mean, 4)} of {counts.scored} ({scorer}){left_out}"),
        ("answered", _share(counts.answered, counts.n)),
        ("perfect (≥ 0.99)", _share(counts.perfect, counts.n)),
        ("above 0.6", _share(counts.good, counts.n)),
        ("zero", _share(counts.zero, counts.n)),
        ("mean steps", _number(counts.mean_steps)),
        ("error rate", "—" if rate is None else f"{rate:.1%}"),
    ]


def _share(count: int, n: int) -> str:
    return f"{count} of {n}"


def _number(value: float | None, digits: int = 1) -> str:
    return "—" if value is None else f"{value:.{digits}f}"


def _mean(value: float | None) -> Text:
    if value is None:
        return Text("—", style="yellow")
    style = "green" if value >= 0.99 else "red" if value <= 0 else "cyan"
    return Text(f"{value:.3f}", style=style)
