"""`assay export`: a run in a shape that other tools read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

import click

from assay.adapters import atif, otel
from assay.cli.options import runs_option
from assay.cli.terminal import progress_output
from assay.errors import BadParameter
from assay.ledger.export import ExportFormat, export_run
from assay.ledger.layout import find_run
from assay.ledger.lines import dump_line
from assay.ledger.run import Run
from assay.resources.files import atomic_write

Format: TypeAlias = ExportFormat | Literal["otel", "atif"]
SUFFIXES: dict[Format, str] = {
    "jsonl": ".jsonl",
    "parquet": ".parquet",
    "otel": ".otel.jsonl",
    "atif": ".atif",
}


@click.command(name="export")
@click.argument("run")
@click.option("--format", "file_format", type=click.Choice(list(SUFFIXES)), help="[default: jsonl]")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Where to write.  [default: RUN.FORMAT here]"
)
@click.option("--overwrite", is_flag=True, help="Replace what --out names.")
@runs_option
def command(
    run: str, file_format: Format | None, out: Path | None, overwrite: bool, runs_dir: Path
) -> None:
    """Write every attempt of RUN, a folder, an id, or the beginning of one.

    \b
    jsonl, parquet  a row for each attempt: answer, gold, ending, scores and their parts, costs
    otel            a line for each score: a gen_ai.evaluation.result event of OpenTelemetry
    atif            a file for each attempt in the Agent Trajectory Interchange Format, in a
                    folder; with --out NAME.jsonl, a line for each

    What was written is printed on stdout.
    """
    recorded = Run(find_run(run, runs_dir))
    chosen: Format = file_format or _format_of(out)
    path = out or Path(f"{recorded.id}{SUFFIXES[chosen]}")
    if path.exists() and not overwrite:
        raise BadParameter(f"{str(path)!r} exists; give --overwrite, or another --out")
    count = _write(recorded, path, chosen)
    progress_output().print(f"{count:,} {'scores' if chosen == 'otel' else 'attempts'}")
    click.echo(path)


def _format_of(out: Path | None) -> Format:
    return "parquet" if out is not None and out.suffix == ".parquet" else "jsonl"


def _write(run: Run, path: Path, chosen: Format) -> int:
    """How many rows, events or trajectories were written."""
    if chosen == "otel":
        return _write_lines(path, _events(run))
    if chosen != "atif":
        return export_run(run, path, chosen)
    if path.suffix == ".jsonl":
        return _write_lines(path, (trajectory for _, trajectory in _trajectories(run)))
    path.mkdir(parents=True, exist_ok=True)
    count = 0
    for attempt, trajectory in _trajectories(run):
        _write_lines(path / f"{attempt}.json", iter([trajectory]))
        count += 1
    return count


def _events(run: Run) -> Iterator[dict[str, Any]]:
    for episode in run.episodes():
        for event in otel.to_events(episode, run_id=run.id):
            yield otel.to_otlp(event)


def _trajectories(run: Run) -> Iterator[tuple[str, dict[str, Any]]]:
    described = run.manifest.config.get("agent")
    options = described.get("options") if isinstance(described, dict) else None
    model = options.get("model") if isinstance(options, dict) else None
    for episode in run.episodes(full=True):
        yield (
            episode.attempt,
            atif.to_trajectory(
                episode,
                agent=run.manifest.agent,
                model=model if isinstance(model, str) else "",
                read=run.text,
            ),
        )


def _write_lines(path: Path, records: Iterator[dict[str, Any]]) -> int:
    count = 0
    with atomic_write(path) as draft, draft.open("wb") as stream:
        for record in records:
            stream.write(dump_line(record))
            count += 1
    return count
