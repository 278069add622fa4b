"""`assay export`: a run as one flat table."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from assay.cli.show import progress_output
from assay.errors import BadParameter
from assay.ledger.export import ExportFormat, export_run
from assay.ledger.layout import find_run
from assay.ledger.run import Run


@click.command(name="export")
@click.argument("run")
@click.option(
    "--format", "file_format", type=click.Choice(get_args(ExportFormat)), help="[default: jsonl]"
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="The file to write.  [default: RUN.FORMAT here]"
)
@click.option("--overwrite", is_flag=True, help="Replace what --out names.")
@click.option("--runs", "runs_dir", type=click.Path(path_type=Path), default="runs")
def command(
    run: str, file_format: ExportFormat | None, out: Path | None, overwrite: bool, runs_dir: Path
) -> None:
    """Write every attempt of RUN as a row: answer, gold, ending, scores and their parts, costs.

    RUN is a folder, an id, or the beginning of one. The path of the file is printed on stdout.
    """
    recorded = Run(find_run(run, runs_dir))
    chosen: ExportFormat = file_format or _format_of(out)
    path = out or Path(f"{recorded.id}.{chosen}")
    if path.exists() and not overwrite:
        raise BadParameter(f"{str(path)!r} exists; give --overwrite, or another --out")
    rows = export_run(recorded, path, chosen)
    progress_output().print(f"{rows:,} attempts")
    click.echo(path)


def _format_of(out: Path | None) -> ExportFormat:
    return "parquet" if out is not None and out.suffix == ".parquet" else "jsonl"
