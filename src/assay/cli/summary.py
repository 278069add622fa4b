"""A run's summary in the terminal."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from assay.cli.terminal import BAD, number_text, output, plain, print_json, reward_text, table_of
from assay.errors import AssayError
from assay.ledger.failures import zeros_replaced
from assay.ledger.run import Run
from assay.ledger.summary import EpisodeCounts, RunSummary, TaskSummary, summarise

SHOWN_ERRORS = 10
SHOWN_TASKS = 200


def print_run(run: Run, *, as_json: bool) -> RunSummary:
    """The run's summary on stdout: its numbers and a table of its tasks, or JSON."""
    summary = summarise(run)
    if as_json:
        print_json(run_record(run, summary))
        return summary
    console = output()
    console.print(_tasks(summary))
    if len(summary.tasks) > SHOWN_TASKS:
        console.print(f"… and {len(summary.tasks) - SHOWN_TASKS:,} more tasks; --json has all")
    console.print(_totals(summary))
    for failure in summary.errors[:SHOWN_ERRORS]:
        console.print(Text(plain(str(failure), 600), style=BAD), soft_wrap=True)
    more = len(summary.errors) - SHOWN_ERRORS
    if more > 0:
        console.print(f"… and {more} more messages; --json has them all")
    console.print(Text(f"{run.path}", style="bold"), soft_wrap=True)
    return summary


def run_record(run: Run, summary: RunSummary | None = None) -> dict[str, Any]:
    """The run's summary as JSON values, with its place."""
    where = {"path": str(run.path), "parent": run.manifest.parent}
    return where | (summary or summarise(run)).to_record()


def fail_unless_scored(run: Run, counts: EpisodeCounts, path: Path) -> None:
    """Raise `AssayError` for a run of which nothing could be scored; `path` has its attempts."""
    if not counts.n or counts.scored or counts.unscored:
        return
    failed = counts.model_errors + counts.env_errors
    if failed:
        raise AssayError(
            f"no attempt was scored: the model or the environment ended {failed} of {counts.n}. "
            f"When it is mended: assay run --resume {path} --retry-errors"
        )
    first = next(episode.scores[0] for episode in run.final() if episode.scores)
    raise AssayError(
        f"no attempt was scored: {first.scorer} abstained from all {counts.n}, the first time "
        f"since {first.because[:300]}. When it is mended: assay score {path} --reward "
        f"{first.scorer.partition('@')[0]}"
    )


def _tasks(summary: RunSummary) -> Table:
    table = table_of("task", "domain", "n", ">mean", ">steps", "endings")
    for row in sorted(summary.tasks, key=_place)[:SHOWN_TASKS]:
        endings = ", ".join(
            name if count == 1 and row.counts.n == 1 else f"{count} {name}"
            for name, count in row.endings.items()
        )
        table.add_row(
            Text(plain(row.task_id, 60)),
            Text(plain(row.domain, 30)),
            str(row.counts.n),
            reward_text(row.counts.mean),
            number_text(row.counts.mean_steps, 1),
            endings,
        )
    return table


def _place(row: TaskSummary) -> tuple[str, list[tuple[int, str]]]:
    """Where a task stands in the table: by domain, then by id with numbers as numbers."""
    pieces = re.split(r"(\d+)", row.task_id[:200])
    return row.domain, [(int(piece) if piece.isdecimal() else -1, piece) for piece in pieces]


def _totals(summary: RunSummary) -> Table:
    table = table_of(show_header=False)
    for name, value in _lines(summary.counts, summary.scorer):
        table.add_row(name, value)
    if summary.retried:
        table.add_row("attempts", f"{summary.attempts}, of which {summary.retried} were replaced")
    if summary.replaced_zeros:
        table.add_row("", zeros_replaced(summary.replaced_zeros))
    if summary.usage.calls:
        usage = summary.usage
        cost = "" if usage.cost_usd is None else f", ${usage.cost_usd:.4f}"
        table.add_row(
            "model",
            f"{usage.calls:,} calls, {usage.prompt_tokens:,} + {usage.completion_tokens:,} "
            f"tokens{cost}",
        )
    return table


def _lines(counts: EpisodeCounts, scorer: str) -> list[tuple[str, str]]:
    beside = [
        f"{count} {what}"
        for count, what in (
            (counts.abstained, "abstained"),
            (counts.model_errors, "model_error"),
            (counts.env_errors, "env_error"),
            (counts.unscored, "unscored"),
        )
        if count
    ]
    left_out = f"; not in it: {', '.join(beside)}" if beside else ""
    rate = counts.error_rate
    return [
        ("mean reward", f"{number_text(counts.mean, 4)} of {counts.scored} ({scorer}){left_out}"),
        ("answered", f"{counts.answered} of {counts.n}"),
        ("perfect (≥ 0.99)", f"{counts.perfect} of {counts.n}"),
        ("above 0.6", f"{counts.good} of {counts.n}"),
        ("zero", f"{counts.zero} of {counts.n}"),
        ("mean steps", number_text(counts.mean_steps, 1)),
        ("error rate", "—" if rate is None else f"{rate:.1%}"),
    ]
