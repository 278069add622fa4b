"""`assay export`: a run in a shape that other tools read."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.options import runs_option
from assay.cli.terminal import progress_output
from assay.errors import BadParameter
from assay.formats import describe, writable
from assay.ledger.layout import find_run
from assay.ledger.run import Run
from assay.ledger.transfer import export_run

HELP = f"""Write every attempt of RUN: a folder, an id, the beginning of one, or `latest`.

\b
{describe(writable())}

An atif is a folder; with --out NAME.jsonl, it is a line for each attempt. What was written is
printed on stdout.
"""


@click.command(name="export", help=HELP)
@click.argument("run")
@click.option(
    "--format",
    "file_format",
    type=click.Choice(list(writable())),
    help="[default: by the ending of --out, else jsonl]",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Where to write.  [default: RUN.ENDING here]"
)
@click.option("--overwrite", is_flag=True, help="Replace what --out names.")
@runs_option
def command(
    run: str, file_format: str | None, out: Path | None, overwrite: bool, runs_dir: Path
) -> None:
    recorded = Run(find_run(run, runs_dir))
    chosen = writable()[file_format or format_of(out)]
    path = out or Path(f"{recorded.id}{chosen.suffix}")
    if path.exists() and not overwrite:
        raise BadParameter(f"{str(path)!r} exists; give --overwrite, or another --out")
    count = export_run(recorded, path, chosen.name)
    progress_output().print(f"{count:,} {chosen.counted}")
    click.echo(path)


def format_of(out: Path | None) -> str:
    """The format whose files end like `out`, the longest ending first; else JSON lines."""
    name = "" if out is None else out.name
    fitting = [each for each in writable().values() if each.suffix and name.endswith(each.suffix)]
    return max(fitting, key=lambda each: len(each.suffix)).name if fitting else "jsonl"
