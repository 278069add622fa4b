"""The part of `assay score` that scores a recorded run again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress

from assay.cli.show import progress_output
from assay.cli.summary import print_run
from assay.errors import UnknownName
from assay.ledger.layout import RunLayout, find_run
from assay.ledger.run import Run
from assay.runner.rescore import rescore
from assay.scoring.scorer import Scorer


def named_run(source: str, runs_dir: Path) -> Run | None:
    """The run that the argument names; `None` when it names a file, or nothing."""
    if RunLayout(Path(source)).manifest.is_file():
        return Run(source)
    if source == "-" or Path(source).exists() or not runs_dir.is_dir():
        return None
    try:
        return Run(find_run(source, runs_dir))
    except UnknownName:
        return None


def score_run(run: Run, scorers: Sequence[Scorer], *, as_json: bool) -> None:
    """The child run is there, and its summary printed."""
    bar = Progress(
        "{task.description}", BarColumn(), MofNCompleteColumn(), console=progress_output()
    )
    with bar:
        task = bar.add_task("scoring", total=None)
        child = rescore(run, scorers, on_progress=lambda done: bar.update(task, completed=done))
    print_run(child, as_json=as_json)
