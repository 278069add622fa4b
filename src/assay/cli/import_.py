"""`assay import`: import logs of other tools as runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from assay.cli.options import PATH, RUNS_DIR, column_map, runs_option
from assay.cli.summary import print_run, run_record
from assay.cli.terminal import output, plain, print_json
from assay.errors import BadInput, printable
from assay.formats import describe, readable
from assay.ledger.layout import list_runs
from assay.ledger.run import Run
from assay.ledger.summary import primary_score, summarise
from assay.ledger.transfer import IMPORTED, import_runs, skipped_of
from assay.schema.score import Abstained

SHOWN_PROBLEMS = 10
SAME = 1e-9

HELP = f"""Take the logs of another tool at PATH into the ledger, each as a run.

\b
{describe(readable())}

The format is recognised by what the files hold. A log that was imported before is not written
again. A sample that cannot be read is named and left out. Dates are those of the log.

\b
assay import logs/2026-11-15T19-00-37_questions.eval
assay import answers.jsonl --column question=prompt --column response=output
assay import study --unpickle --references gold.jsonl --commit 1f2e3d4
"""


@click.command(name="import", help=HELP)
@click.argument("path", type=PATH)
@click.option("--format", "--from", "file_format", type=click.Choice(list(readable())),
              help="Format of the log.  [default: recognised from its contents]")  # fmt: skip
@click.option("--agent", metavar="NAME", help="Import only this agent's episodes.")
@click.option(
    "--unpickle",
    is_flag=True,
    help="Also read pickled steps (pages, prompts, exact actions), for files that you trust; "
    "no code in them is run.",
)
@click.option("--column", "columns", multiple=True, metavar="PART=COLUMN",
              help="For plain JSON lines: the column of the question, answer, response or score.",
)  # fmt: skip
@click.option("--references", type=PATH, metavar="FILE",
              help="JSON lines (id, answer) of references, if the log has none.")  # fmt: skip
@click.option("--focus", metavar="TEXT", help="The purpose of the run, in a few words.")
@click.option("--commit", metavar="HASH", help="The commit of the agent's repository.")
@runs_option
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON on stdout.")
def command(
    path: Path,
    file_format: str | None,
    agent: str | None,
    unpickle: bool,
    columns: Sequence[str],
    references: Path | None,
    focus: str | None,
    commit: str | None,
    runs_dir: Path,
    as_json: bool,
) -> None:
    options: dict[str, Any] = {"agent": agent, "unpickle": unpickle, "focus": focus}
    options |= {"columns": column_map(columns), "commit": commit}
    skipped: list[str] = []
    runs = import_runs(
        path,
        runs_dir,
        format=file_format,
        references=references,
        on_skipped=skipped.append,
        **{name: value for name, value in options.items() if value},
    )
    earlier = {folder.name for folder in list_runs(runs_dir)}
    records = [_show(run, known=run.path.name in earlier, as_json=as_json) for run in runs]
    for problem in skipped:
        click.echo(f"assay: skipped: {printable(problem)}", err=True)
    if not records:
        raise BadInput(skipped[0] if skipped else f"{str(path)!r} holds no log")
    if as_json:
        print_json(records[0] if len(records) == 1 else records)


def _show(run: Run, *, known: bool, as_json: bool) -> dict[str, Any]:
    count, problems = skipped_of(run.manifest)
    record = run.manifest.config.get(IMPORTED)
    about = record if isinstance(record, Mapping) else {}
    if as_json:
        more = {"reported": about.get("reported") or [], "skipped": count, "problems": problems}
        return run_record(run) | more | {"imported_before": known}
    print_run(run, as_json=False)
    console = output()
    if known:
        console.print("imported before: nothing was written")
    for line in _lines(run, about, count):
        console.print(Text(plain(line, 300)), soft_wrap=True)
    for problem in problems[:SHOWN_PROBLEMS]:
        console.print(Text(f"skipped: {plain(problem, 300)}", style="yellow"), soft_wrap=True)
    console.print(Text(_next(run)), soft_wrap=True)
    return {}


def _next(run: Run) -> str:
    """A sentence with the next command for the imported run."""
    elsewhere = "" if run.path.parent == Path(RUNS_DIR) else f" --runs {run.path.parent}"
    if not any(episode.scores for episode in run.final()):
        return f"not scored yet: assay score {run.id} --reward NAME{elsewhere}"
    return f"next: assay diagnose {run.id}{elsewhere}, or assay compare {run.id} RUN{elsewhere}"


def _without_score(run: Run) -> list[str]:
    """Sentences that count the attempts without a score in the log, by reason."""
    reasons: dict[str, list[str]] = {}
    for episode in run.final():
        score = primary_score(episode)
        if isinstance(score, Abstained) and score.reason == "unscored":
            reason, _, place = score.because.rpartition(" (")
            reasons.setdefault(reason or score.because, []).append(place.rstrip(")"))
    more = len(reasons) - SHOWN_PROBLEMS
    shown = [
        f"{len(places)} without a score: {reason}{f', first at {places[0]}' * bool(places[0])}"
        for reason, places in list(reasons.items())[:SHOWN_PROBLEMS]
    ]
    return shown + [f"… and {more} more reasons"] * (more > 0)


def _lines(run: Run, about: Mapping[str, Any], count: int) -> list[str]:
    """Lines on the tool's own scores, missing scores and unreadable samples."""
    summary = summarise(run)
    counts, primary = summary.counts, summary.scorer.partition("@")[0]
    left_out = counts.model_errors + counts.env_errors
    lines = []
    for score in about.get("reported") or ():
        line = f"{about.get('format')} says {score['name']} = {score['value']:.4f}"
        other = counts.mean is None or abs(counts.mean - score["value"]) > SAME
        if other and left_out and score["name"] in (primary, "avg_reward"):
            line += f": it counts the {left_out} that the model or the environment ended as 0"
        lines.append(line)
    lines += _without_score(run)
    if count > SHOWN_PROBLEMS:
        lines.append(f"{count} samples could not be read; the first {SHOWN_PROBLEMS}:")
    return lines
