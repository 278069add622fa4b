"""`assay export`: write a run in a format that other tools read."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.options import PATH, check_folder, runs_option
from assay.cli.terminal import progress_output
from assay.errors import BadParameter
from assay.formats import describe, writable
from assay.ledger.layout import find_run
from assay.ledger.run import Run
from assay.ledger.transfer import export_run

HELP = f"""Write every attempt of RUN: a folder, an id, the beginning of one, `latest` or `@-2`.

\b
{describe(writable())}

An atif is a folder; with --out NAME.jsonl, it is a line for each attempt. What was written is
printed on stdout.

--html writes one file to share: that run with its answers, scores and steps, and nothing else.
--otlp sends an event for each score to an OpenTelemetry endpoint; what it asks for as a key is
read from OTEL_EXPORTER_OTLP_HEADERS (authorization=Bearer%20KEY).

\b
assay export latest --html run.html
assay export latest --out run.csv
assay export latest --otlp http://127.0.0.1:4318
"""


@click.command(name="export", help=HELP)
@click.argument("run")
@click.option("--format", "file_format", type=click.Choice(list(writable())),
              help="Format of the file.  [default: from the ending of --out, else jsonl]",
)  # fmt: skip
@click.option("--out", type=PATH, help="File to write.  [default: RUN.ENDING in this folder]")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Write the run as one self-contained HTML page.")  # fmt: skip
@click.option("--otlp", metavar="URL", help="Send the scores to this URL as OpenTelemetry events.")
@click.option("--overwrite", is_flag=True, help="Replace an existing file.")
@runs_option
def command(
    run: str,
    file_format: str | None,
    out: Path | None,
    html: Path | None,
    otlp: str | None,
    overwrite: bool,
    runs_dir: Path,
) -> None:
    folder = find_run(run, runs_dir)
    if html is None and otlp is None:
        _write(Run(folder), file_format, out, overwrite=overwrite)
        return
    if out is not None or file_format is not None:
        raise BadParameter("--out and --format cannot be combined with --html or --otlp")
    if html is not None:
        _write_html(folder, html, overwrite=overwrite)
    if otlp is not None:
        from assay.ledger.otlp import logs_endpoint, send_scores

        endpoint = logs_endpoint(otlp)
        progress_output().print(f"{send_scores(Run(folder), otlp):,} scores sent")
        click.echo(endpoint)


def _write(run: Run, file_format: str | None, out: Path | None, *, overwrite: bool) -> None:
    chosen = writable()[file_format or format_of(out)]
    path = out or Path(f"{run.id}{chosen.suffix}")
    if not chosen.folder or path.suffix == ".jsonl":
        check_folder(path)
    _check_free(path, "--out", overwrite=overwrite)
    count = export_run(run, path, chosen.name)
    progress_output().print(f"{count:,} {chosen.counted}")
    click.echo(path)


def _write_html(folder: Path, path: Path, *, overwrite: bool) -> None:
    from assay.viewer.share import export_html

    check_folder(path)
    _check_free(path, "--html", overwrite=overwrite)
    count = export_html(folder, path)
    progress_output().print(f"{count:,} attempts, {path.stat().st_size / 1000:,.0f} kB")
    click.echo(path)


def _check_free(path: Path, option: str, *, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise BadParameter(f"{str(path)!r} exists; give --overwrite, or another {option}")


def format_of(out: Path | None) -> str:
    """The name of the format for the file `out`: by its ending, else JSON lines."""
    name = "" if out is None else out.name
    fitting = [each for each in writable().values() if each.suffix and name.endswith(each.suffix)]
    return max(fitting, key=lambda each: len(each.suffix)).name if fitting else "jsonl"
