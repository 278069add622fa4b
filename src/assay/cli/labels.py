"""`assay labels`: import and export human labels, and compare them with rewards."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from assay.cli.groups import SuggestingGroup
from assay.cli.options import json_option, runs_option
from assay.cli.terminal import (
    interval_text,
    number_text,
    output,
    plain,
    print_json,
    print_notes,
    table_of,
)
from assay.cli.terminal import progress_output as progress
from assay.errors import BadParameter, BadRecord
from assay.formats.csv_rows import is_csv
from assay.formats.lines import dump_json, write_lines
from assay.formats.table import csv_cell
from assay.ledger.labels import Label, append_labels, new_label, read_labels
from assay.ledger.layout import find_run
from assay.ledger.run import Run
from assay.ledger.summary import row_of
from assay.report.agreement import FEWEST_LABELS, PAID, Agreement, agree_with_labels
from assay.resources.files import atomic_write
from assay.scoring.files.rows import plan_shards, read_rows

COLUMNS = ("run_id", "task_id", "repeat", "attempt", "step", "label", "note", "author", "at")
TASK_COLUMNS = ("question", "final_response", "answer", "reward")
SHOWN_PROBLEMS = 10
_FORMULA = re.compile(r"^'(?=[=@\t\r+-])")


@click.group(name="labels", cls=SuggestingGroup)
def command() -> None:
    """Label attempts as right or wrong, and measure how far each reward agrees.

    Labels are set in the viewer with one key (`assay view`, then `?`), or taken from a file:

    \b
    assay labels export latest --out labels.csv      a table to fill in, or to send on
    assay labels import labels.csv latest            what was filled in
    assay labels agreement latest                    kappa of each reward, disagreements first

    They are kept in the run's folder, in labels.jsonl: appended, with who said it and when. The
    last label of a person counts; "withdrawn" takes it back.
    """


@command.command(name="export")
@click.argument("run", default="latest")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Write to this .csv or .jsonl file.  [default: JSON lines on stdout]",
)  # fmt: skip
@click.option("--all", "everything", is_flag=True,
              help="Also write the attempts that have no label yet.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace the file.")
@runs_option
def export(run: str, out: Path | None, everything: bool, overwrite: bool, runs_dir: Path) -> None:
    """Write the labels of RUN, one row for each label.

    \b
    run_id, task_id, repeat, attempt, step   what is labelled; no step: the attempt as a whole
    label                                    right, wrong, doubtful
    note, author, at                         why, who, when

    With --all every attempt that counts has a row, its label empty where there is none, and beside
    it the question, the answer, the reference and the reward: a table to fill in.
    """
    opened = Run(find_run(run, runs_dir), strict=False)
    rows = list(_rows(opened, everything=everything))
    if out is None:
        for row in rows:
            click.echo(dump_json(row))
        return
    if out.exists() and not overwrite:
        raise BadParameter(f"{str(out)!r} exists; give --overwrite, or another --out")
    with atomic_write(out) as draft:
        if out.suffix.lower() == ".csv":
            _write_csv(draft, rows)
        else:
            write_lines(draft, rows)
    progress().print(f"{len(rows):,} rows")
    click.echo(out)


@command.command(name="import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("run", default="latest")
@click.option("--author", metavar="NAME", help="Author of the labels in rows without an author.")
@runs_option
def import_(file: Path, run: str, author: str | None, runs_dir: Path) -> None:
    """Import the labels in FILE (.jsonl or .csv) into RUN.

    A row has a label (right, wrong, doubtful, withdrawn; yes, no, true, false, 1 and 0 will do),
    and says of what: an attempt, or a task_id (with repeat, 0 unless given), whose attempt that
    counts is meant. A step, a note, an author and a time are taken where they are there; every
    other column is left alone. A row without a label is passed over, and a label that the run has
    already is not written again.

    \b
    {"task_id": "weather/3", "label": "wrong", "note": "last year's number"}
    """
    folder = find_run(run, runs_dir)
    opened = Run(folder, strict=False)
    labels, problems = [], []
    for line, row in _read(file):
        try:
            label = _label(opened, row, author)
        except (BadRecord, BadParameter) as error:
            problems.append(f"line {line}: {error}")
            continue
        labels += [] if label is None else [label]
    if problems:
        more = f"; and {len(problems) - SHOWN_PROBLEMS} more" if len(problems) > 10 else ""
        listed = "; ".join(problems[:SHOWN_PROBLEMS])
        raise BadRecord(f"no label was imported: {str(file)!r} {listed}{more}")
    added = append_labels(folder, labels)
    known = len(labels) - added
    output().print(f"{added:,} labels" + (f", and {known:,} that were there" if known else ""))


@command.command(name="agreement")
@click.argument("runs", nargs=-1)
@click.option("--at", type=float, default=PAID,
              help="An attempt with at least this reward counts as paid.")  # fmt: skip
@runs_option
@json_option
def agreement_(runs: tuple[str, ...], at: float, runs_dir: Path, as_json: bool) -> None:
    """Compare the labels of RUNS (default: `latest`) with each of their rewards.

    Kappa is how far they agree beyond chance: 1 always, 0 no more than chance would. Its interval
    is a bootstrap over tasks. Doubtful labels and abstentions are in no table.
    """
    result = agree_with_labels(
        [Run(find_run(run, runs_dir), strict=False) for run in runs or ("latest",)], at=at
    )
    if as_json:
        print_json(result.to_record())
    else:
        _show(result)


def _show(result: Agreement) -> None:
    console = output()
    if not result.rewards:
        console.print("no labels yet; set them in `assay view`, or `assay labels import`")
        return
    heads = (">labels", ">kappa", "95 %", ">accuracy", ">wrong, paid", ">right, unpaid")
    table = table_of("reward", "of", *heads)
    for row in result.rewards:
        kappa = (number_text(row.kappa, 2), interval_text(row.interval))
        against = (number_text(row.accuracy, 2), str(row.wrong_paid), str(row.right_unpaid))
        table.add_row(Text(plain(row.scorer, 40)), f"{row.of}s", str(row.n), *kappa, *against)
    console.print(table)
    for row in result.rewards:
        for item in row.disagreements[:SHOWN_PROBLEMS]:
            step = "" if item.step is None else f" step {item.step}"
            notes = "; ".join(label.note for label in item.labels if label.note)
            line = f"{item.label}, and {row.scorer} says {item.value:.3f}: {item.attempt}{step}"
            console.print(Text(plain(f"{line} {notes}", 160)), soft_wrap=True)
    if any(row.n < FEWEST_LABELS for row in result.rewards):
        console.print(f"fewer than {FEWEST_LABELS} labels: the interval is wide")
    print_notes(console, result.problems)


def _rows(run: Run, *, everything: bool) -> Iterator[dict[str, Any]]:
    labels = read_labels(run.path)
    lines = run.attempts().attempts
    for label in labels.current:
        line = lines.get(label.attempt)
        task = (line.task_id, line.repeat) if line else (None, None)
        written = (label.step, label.value, label.note, label.author, label.at)
        yield dict(zip(COLUMNS, (run.id, *task, label.attempt, *written), strict=True))
    labelled = {label.attempt for label in labels.current if label.step is None}
    for episode in run.final() if everything else ():
        if episode.attempt not in labelled:
            row = {"run_id": run.id, "attempt": episode.attempt, **row_of(episode)}
            shown = ("run_id", "task_id", "repeat", "attempt", *TASK_COLUMNS)
            yield {**dict.fromkeys(COLUMNS), **{name: row[name] for name in shown}}


def _write_csv(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    listed = list(rows)
    columns = list(dict.fromkeys([*COLUMNS, *(name for row in listed for name in row)]))
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([csv_cell(row.get(name)) for name in columns] for row in listed)


def _read(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each row of the file with its line number."""
    for row in (row for shard in plan_shards(file) for row in read_rows(file, shard)):
        if not isinstance(row.value, dict):
            problem = row.problem or f"line {row.number} is not a JSON object"
            raise BadRecord(f"{str(file)!r}: {problem}")
        if is_csv(file):
            # As `export` writes a text that a spreadsheet would compute.
            cells = row.value.items()
            yield row.number, {name: _FORMULA.sub("", cell or "") for name, cell in cells}
        else:
            yield row.number, row.value


_OTHER_WORDS = {"yes": "right", "true": "right", "1": "right", "correct": "right",
                "no": "wrong", "false": "wrong", "0": "wrong", "incorrect": "wrong",
                "unsure": "doubtful"}  # fmt: skip


def _label(run: Run, row: Mapping[str, Any], author: str | None) -> Label | None:
    """The label in a row; `None` for a row without a label."""
    value = row.get("label", row.get("value"))
    word = "" if value is None else str(value).strip().lower()
    if not word:
        return None
    return new_label(
        _attempt(run, row),
        _OTHER_WORDS.get(word, word),
        step=_whole(row.get("step"), "step"),
        note=str(row.get("note") or ""),
        author=str(row.get("author") or author or ""),
        at=str(row.get("at") or ""),
    )


def _attempt(run: Run, row: Mapping[str, Any]) -> str:
    attempts = run.attempts()
    named = str(row.get("attempt") or "")
    if named:
        if named in attempts.attempts:
            return named
        raise BadRecord(f"the run has no attempt {named[:200]!r}")
    task, repeat = str(row.get("task_id") or ""), _whole(row.get("repeat"), "repeat") or 0
    if not task:
        raise BadRecord("the row names neither an attempt nor a task_id")
    line = attempts.final.get((task, repeat))
    if line is None:
        raise BadRecord(f"the run has no attempt at repeat {repeat} of task {task[:200]!r}")
    return line.attempt


def _whole(value: Any, what: str) -> int | None:
    if value is None or value == "":
        return None
    try:
        number = int(str(value))
    except ValueError as error:
        raise BadParameter(f"{what} is {str(value)[:50]!r}; give a whole number") from error
    return number
