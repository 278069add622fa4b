"""Improve an agent by running it: twenty tasks, five times, one knob changed each time.

    python -m tools.demo [--runs runs] [--workers 2]

The agent is `rules`: no key, no network, the same answers every time. It works in real Chromium
on the town that comes with Assay. Every run is kept under --runs; the table at the end says which
tasks each change moved, `assay history` what can be said of the changes, and `assay diagnose` where
the last run lost its points.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

import assay
from assay.cli.main import main as assay_command
from assay.cli.run import describe
from assay.cli.terminal import output, progress_output
from assay.errors import MissingExtra
from assay.ledger.run import Run
from assay.ledger.summary import reward_of, summarise
from assay.runner.progress import RunProgress

Settings = Mapping[str, str | int | bool]


@dataclass(frozen=True)
class Trial:
    """One configuration, and what is expected of it."""

    knob: str
    settings: Settings
    focus: str


TRIALS = (
    Trial(
        "small observation budget",
        {"observation_chars": 4_000},
        "where to start: pages are cut after 4,000 characters",
    ),
    Trial("full budget", {}, "long result pages can be read to their end"),
    Trial("verbose answers", {"bare_answer": False}, "whole sentences cost points"),
    Trial("bare answers", {}, "bare answers get them back: the second run, exactly"),
    Trial(
        "whole-range API calls",
        {"api_calls": "whole_range"},
        "long payloads are cut, so sums over years go wrong",
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    began = time.monotonic()
    try:
        runs = [_run(trial, given.runs, given.workers) for trial in TRIALS]
    except MissingExtra as error:
        raise SystemExit(f"demo: {error}") from error
    console = output()
    console.print(_table(runs))
    console.print(
        f"{len(runs)} runs in {time.monotonic() - began:.0f} s, kept in {given.runs}: "
        "`assay list runs` shows them"
    )
    _ask("history", "townsquare", "--runs", str(given.runs))
    _ask("diagnose", runs[-1].id, "--runs", str(given.runs))


def _ask(*arguments: str) -> None:
    """What the command line says, under the command itself."""
    output().print(f"\n$ assay {' '.join(arguments)}", markup=False, highlight=False)
    code = assay_command(list(arguments))
    if code:
        raise SystemExit(code)


def _run(trial: Trial, runs: Path, workers: int) -> Run:
    console = progress_output()
    console.print(f"{trial.knob}: {trial.focus}")

    def tell(progress: RunProgress) -> None:
        if progress.done and progress.done % 5 == 0:
            console.print(f"  {progress.done:2} of {progress.total}  {describe(progress)}")

    return assay.run(
        "townsquare",
        agent="rules",
        settings=trial.settings,
        tasks="demo",
        workers=workers,
        focus=trial.focus,
        runs_dir=runs,
        progress=tell,
    )


def _table(runs: list[Run]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("run", no_wrap=True)
    table.add_column("knob")
    for column in ("n", "mean", "answered"):
        table.add_column(column, justify="right")
    table.add_column("changed since the run before")
    before: dict[str, float | None] = {}
    for trial, run in zip(TRIALS, runs, strict=True):
        rewards = {episode.task.id: reward_of(episode) for episode in run.final()}
        counts = summarise(run).counts
        mean = "—" if counts.mean is None else f"{counts.mean:.3f}"
        changed = _changed(before, rewards) if before else ""
        table.add_row(run.id, trial.knob, str(counts.n), mean, str(counts.answered), changed)
        before = rewards
    return table


def _changed(before: Mapping[str, float | None], after: Mapping[str, float | None]) -> str:
    """The tasks whose reward moved, the direction first."""
    groups: dict[str, list[str]] = {"up": [], "down": [], "no longer comparable": []}
    for task, reward in after.items():
        earlier = before.get(task)
        if reward == earlier:
            continue
        if reward is None or earlier is None:
            groups["no longer comparable"].append(task)
        else:
            groups["up" if reward > earlier else "down"].append(task)
    told = [
        f"{way}: all {len(ids)}"
        if len(ids) == len(after) > 1
        else f"{way}: {', '.join(sorted(ids))}"
        for way, ids in groups.items()
        if ids
    ]
    return "; ".join(told) or "nothing"


if __name__ == "__main__":
    main()
