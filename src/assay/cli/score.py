"""`assay score`: score every row of a file, or a run again."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click
import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from assay.cli.engines import engine_options, import_modules, opened_engine, stdout_kept_for_data
from assay.cli.options import (
    column_map,
    column_option,
    count_or_share,
    max_abstained_option,
    options_of,
    param_option,
    runs_option,
)
from assay.cli.terminal import (
    number_text,
    output,
    plain,
    progress_bar,
    progress_output,
    reward_text,
    table_of,
)
from assay.errors import AssayError, BadParameter, BadRecord, TooManyAbstained, UnknownName
from assay.registry import REWARDS, find_reward
from assay.schema.score import Abstained, Score
from assay.scoring.batch import Engine, EngineName
from assay.scoring.counts import AbstentionLimit, RewardCounts, nothing_scored
from assay.scoring.files.folders import score_folder
from assay.scoring.files.jobs import FileReport, check_source, score_file
from assay.scoring.files.rows import InputRow, encode, plan_shards, read_rows, read_stream
from assay.scoring.files.shards import bind_columns, score_rows
from assay.scoring.scorer import Scorer

if TYPE_CHECKING:
    from assay.ledger.run import Run

SHOWN_ROWS = 50


@click.command(name="score")
@click.argument("source", metavar="FILE|FOLDER|RUN")
@click.option("--reward", "rewards", required=True, metavar="NAME[,NAME]",
              help="The reward: a name, or FILE.py:NAME.")  # fmt: skip
@click.option("--out", help="Write the results to this .jsonl or .parquet file, or folder (DIR/).")
@click.option("--workers", type=click.IntRange(1),
              help="Number of processes that score.  [default: 1; on Ray, every core]")  # fmt: skip
@engine_options
@param_option
@column_option
@click.option("--keep", multiple=True, metavar="COLUMN", help="Copy this column into the results.")
@click.option("--resume", is_flag=True, help="Continue a stopped job.")
@click.option("--overwrite", is_flag=True, help="Replace what --out names.")
@max_abstained_option("Stop when more rows abstain than this: 100, 0.05 or 5%.")
@runs_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout, even in a terminal.")
@click.option("--table", "as_table", is_flag=True, help="Print a table on stdout, even in a pipe.")
def command(
    source: str,
    rewards: str,
    out: str | None,
    workers: int | None,
    engine: EngineName,
    address: str | None,
    imports: Sequence[str],
    params: Sequence[str],
    columns: Sequence[str],
    keep: Sequence[str],
    resume: bool,
    overwrite: bool,
    most: str | None,
    runs_dir: Path,
    as_json: bool,
    as_table: bool,
) -> None:
    """Score every row of FILE (JSONL, CSV, Parquet; `-` for JSONL on stdin), or a RUN again.

    All files of a FOLDER are scored into a folder of Parquet files.

    A row is an object whose columns the reward asks for by name: final_response, answer,
    trajectory and so on; `assay list rewards NAME` tells which, and --column answer=solution that
    a column has another name. A row that cannot be read, or lacks a column, abstains with its line
    number.

    Without --out a terminal gets a table of the first rows with the reasons, and a pipe gets one
    JSON object a row. With --out the job is resumable: stop it with Ctrl-C or kill it, and give
    --resume.

    Exit codes: 0 done, 1 when a reward scored none of the rows, 2 when the call makes no sense, 3
    when --max-abstained stopped the job; --resume continues it.

    A RUN (a folder, an id, the beginning of one, `latest`) is scored again into a child run
    beside it, from what was recorded: nothing is executed.

    \b
    assay score answers.jsonl --reward qa_f1_reward
    assay score answers.jsonl --reward qa_f1_reward,math_equal_reward --out scored.jsonl --workers 2
    assay score answers.jsonl --reward qa_f1_reward --param mode=hotpot --json | jq .scores
    assay score train.csv --reward math_equal_reward --column answer=solution --max-abstained 5%
    assay score rows/ --reward qa_f1_reward --out scored/ --engine ray --address auto
    assay score runs/20260329-122135-d4b692 --reward fuzzy_answer_reward
    assay score latest --reward scienceworld_reward@1
    """
    import_modules(imports)
    unbound = _scorers([name.strip() for name in rewards.split(",") if name.strip()], params)
    scorers = list(bind_columns(unbound, column_map(columns)))
    max_abstained = count_or_share(most, "--max-abstained")
    recorded = _find_run(source, runs_dir)
    if recorded is not None:
        if out or keep or resume or overwrite or columns or most:
            raise BadParameter(
                "a run is scored into a child run, without --out, --keep, --resume, --overwrite, "
                "--column or --max-abstained"
            )
        _score_run(recorded, scorers, as_json=as_json)
        return
    counts: Mapping[str, RewardCounts]
    if out is not None:
        with stdout_kept_for_data(), opened_engine(engine, address, workers) as opened:
            report = _score_to_file(
                source, scorers, out, keep, max_abstained, opened, resume, overwrite
            )
        _show_report(report, as_json)
        counts = report.rewards
    else:
        if resume:
            raise BadParameter(
                "--resume needs --out: only a job with a result file can be continued"
            )
        if engine != "local" or Path(source).is_dir():
            raise BadParameter(
                "scoring a folder, or with --engine ray, needs --out for the results"
            )
        limit = AbstentionLimit.of(max_abstained)
        as_lines = as_json or not (as_table or sys.stdout.isatty())
        counts = _score_and_print(source, scorers, keep, limit, as_lines=as_lines)
    if failures := list(nothing_scored(counts)):
        raise AssayError("\n       ".join(failures))


def _scorers(names: Sequence[str], params: Sequence[str]) -> list[Scorer]:
    if not names:
        raise BadParameter("--reward names no reward; `assay list rewards` shows all")
    specs = [find_reward(REWARDS.find(name)) for name in names]
    options = {option for spec in specs for option in spec.options}
    for key in options_of(params, "--param"):
        if key not in options:
            raise BadParameter(
                f"--param {key}: none of {', '.join(names)} has this option; "
                f"their options are: {', '.join(sorted(options)) or 'none'}"
            )
    typed = ((spec, options_of(params, "--param", spec.function)) for spec in specs)
    return [
        Scorer(spec.function, {key: own[key] for key in own if key in spec.options})
        for spec, own in typed
    ]


def _find_run(source: str, runs_dir: Path) -> Run | None:
    """The run that the argument names; `None` if it names no run."""
    from assay.ledger.layout import RunLayout, find_run
    from assay.ledger.run import Run

    if RunLayout(Path(source)).manifest.is_file():
        return Run(source)
    if source == "-" or Path(source).exists() or not runs_dir.is_dir():
        return None
    try:
        return Run(find_run(source, runs_dir))
    except UnknownName:
        return None


def _score_run(run: Run, scorers: Sequence[Scorer], *, as_json: bool) -> None:
    """Score the run into a child run, and print its summary."""
    from assay.cli.summary import fail_unless_scored, print_run
    from assay.runner.rescore import rescore

    with progress_bar("scoring") as show, stdout_kept_for_data():
        child = rescore(run, scorers, on_progress=lambda done: show(done, None))
    fail_unless_scored(child, print_run(child, as_json=as_json).counts, run.path)


def _score_to_file(
    source: str,
    scorers: list[Scorer],
    out: str,
    keep: Sequence[str],
    max_abstained: float | None,
    engine: Engine,
    resume: bool,
    overwrite: bool,
) -> FileReport:
    if source == "-":
        raise BadParameter("--out cannot be used with stdin; give a file, which can be read again")
    to_folder = out.endswith("/") or Path(source).is_dir() or Path(out).is_dir()
    try:
        with progress_bar("scoring") as show:
            return (score_folder if to_folder else score_file)(
                source,
                scorers,
                out,
                keep=keep,
                max_abstained=max_abstained,
                engine=engine,
                resume=resume,
                overwrite=overwrite,
                progress=show,
            )
    except (KeyboardInterrupt, TooManyAbstained):
        click.echo("stopped; finished rows are kept: repeat the command with --resume", err=True)
        raise


def _rows(source: str, scorers: Sequence[Scorer]) -> Iterator[InputRow]:
    if source == "-":
        return read_stream(sys.stdin.buffer)
    path = Path(source)
    if not path.is_file():
        raise BadRecord(f"there is no file {source!r}")
    check_source(path, scorers)
    return (row for shard in plan_shards(path) for row in read_rows(path, shard))


Scored: TypeAlias = tuple[dict[str, Score], dict[str, Any]]
"""The scores of a row, and the result row that is written for it."""


def _print_lines(scored: Iterator[Scored]) -> None:
    """Print a JSON object for each row, as soon as the row is scored."""
    out = sys.stdout.buffer
    try:
        with stdout_kept_for_data():
            for _, result in scored:
                out.write(encode(result))
    finally:
        out.flush()


def _print_table(rows: deque[InputRow], scored: Iterator[Scored]) -> None:
    """Print the first rows with their scores; `rows` holds the rows not yet printed."""
    console = output()
    for scores, _ in islice(scored, SHOWN_ROWS):
        console.print(_row_table(rows.popleft(), scores))
    beyond = 0
    for _ in scored:
        rows.clear()
        beyond += 1
    if beyond:
        console.print(f"… and {beyond:,} more rows; --out FILE keeps them all")


def _score_and_print(
    source: str,
    scorers: list[Scorer],
    keep: Sequence[str],
    limit: AbstentionLimit | None,
    *,
    as_lines: bool,
) -> dict[str, RewardCounts]:
    """Print the rows with their scores, then the counts of each reward."""
    counts = {scorer.spec.name: RewardCounts() for scorer in scorers}
    recent: deque[InputRow] = deque()

    def remember() -> Iterator[InputRow]:
        for row in _rows(source, scorers):
            recent.append(row)
            yield row

    def scored(rows: Iterator[InputRow]) -> Iterator[Scored]:
        for scores, result in score_rows(scorers, rows, keep):
            for name, score in scores.items():
                counts[name].add(score)
            yield scores, result
            if limit is not None:
                limit.check(counts)

    if as_lines:
        _print_lines(scored(_rows(source, scorers)))
    else:
        _print_table(recent, scored(remember()))
    if limit is not None:
        limit.check(counts, at_end=True)
    _print_counts(progress_output() if as_lines else output(), counts)
    return counts


def _row_table(row: InputRow, scores: dict[str, Score]) -> Table:
    value = row.value if isinstance(row.value, dict) else {}
    title = Text(f"{row.number}  ", style="bold")
    title.append(plain(value.get("final_response"), 70), style="bold")
    title.append(f"   reference: {plain(value.get('answer'), 40)}", style="dim")
    table = Table(title=title, title_justify="left", box=None, show_header=False, padding=(0, 1))
    table.add_column(min_width=24)
    table.add_column(justify="right", min_width=6)
    table.add_column(overflow="fold")
    for name, score in scores.items():
        number = None if isinstance(score, Abstained) else score.value
        table.add_row(f"  {name}", reward_text(number), Text(plain(score.because, 160)))
    return table


def _print_counts(console: Console, counts: Mapping[str, RewardCounts]) -> None:
    """Print the counts, and for each kind of abstention its number and an example."""
    table = table_of("reward", "mean", "scored", "abstained", "errors")
    for name, totals in counts.items():
        abstained = sorted(totals.abstained.items())
        reasons = ", ".join(f"{count} {reason}" for reason, count in abstained) or "0"
        errors = totals.abstained.get("grader_error", 0)
        table.add_row(name, number_text(totals.mean, 4), f"{totals.scored:,}", reasons, str(errors))
    console.print(table)
    for name, totals in counts.items():
        for example in sorted(totals.examples.values(), key=lambda example: -example.count):
            text = f"{name} abstained from {example.count:,}: {plain(example.because, 200)}"
            console.print(Text(text, style="dim"))


def _show_report(report: FileReport, as_json: bool) -> None:
    if as_json:
        record = {
            "out": str(report.out),
            "rows": report.rows,
            "resumed_rows": report.resumed_rows,
            "elapsed_s": round(report.elapsed_s, 3),
            "rows_per_s": round(report.rows_per_s),
            "rewards": {
                name: {
                    "mean": totals.mean,
                    "scored": totals.scored,
                    "abstained": totals.abstained,
                    "examples": [asdict(example) for example in totals.examples.values()],
                }
                for name, totals in report.rewards.items()
            },
        }
        click.echo(orjson.dumps(record, option=orjson.OPT_INDENT_2))
        return
    console = output()
    _print_counts(console, report.rewards)
    console.print(
        f"{report.rows:,} rows in {report.elapsed_s:.1f} s ({report.rows_per_s:,.0f} rows/s), "
        f"written to {report.out}"
    )
