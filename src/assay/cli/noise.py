"""`assay noise`: how far two single runs must differ before it means anything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from assay.cli.printed import RUNS_DIR, key_value, print_json, reward
from assay.cli.show import output, plain, progress_output
from assay.report.noise import NoiseFloor, noise_floor
from assay.runner.run import run

SHOWN = 20


@click.command(name="noise")
@click.argument("benchmark", required=False)
@click.option("--agent", metavar="NAME", help="Who acts.")
@click.option("--runs", "k", type=click.IntRange(2), default=3, show_default=True, metavar="K",
              help="How often the configuration is run.")  # fmt: skip
@click.option("--of", "recorded", multiple=True, metavar="RUN", help="Recorded runs instead.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="As of `assay run`.")
@click.option("--tasks", metavar="ID,…", help="As of `assay run`.")
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True)
@click.option("--runs-dir", type=click.Path(path_type=Path), default=RUNS_DIR, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    benchmark: str | None,
    agent: str | None,
    k: int,
    recorded: Sequence[str],
    settings: Sequence[str],
    tasks: str | None,
    workers: int,
    runs_dir: Path,
    as_json: bool,
) -> None:
    """Run one configuration K times, and say how much its reward varies by itself.

    With --of RUN (several times, or once for a run with repeats) nothing is run.
    """
    if bool(recorded) == bool(benchmark):
        raise click.UsageError("name a benchmark to run, or recorded runs with --of")
    paths: list[str | Path] = list(recorded)
    for i in range(k if benchmark else 0):
        progress_output().print(f"run {i + 1} of {k}")
        made = run(
            benchmark,
            agent=agent,
            settings=dict(key_value(text, "--set") for text in settings),
            tasks=tasks,
            workers=workers,
            focus=f"noise, run {i + 1} of {k}",
            runs_dir=runs_dir,
        )
        paths.append(made.path)
    found = noise_floor(paths, runs_dir=runs_dir)
    if as_json:
        print_json(found.to_record())
    else:
        _show(found)


def _show(found: NoiseFloor) -> None:
    console = output()
    means = ", ".join(f"{mean:.3f}" for mean in found.means)
    console.print(f"means of {found.k} runs of {found.n} tasks: {means}")
    console.print(f"largest difference between two of them: {found.largest:.3f}")
    if found.flaky:
        table = Table("flaky task", "rewards", box=None, pad_edge=False)
        table.add_column("mean", justify="right")
        table.add_column("spread", justify="right")
        for task in found.flaky[:SHOWN]:
            rewards = " ".join(f"{value:.2f}" for value in task.rewards[:12])
            table.add_row(
                Text(plain(task.task_id, 40)), rewards, reward(task.mean), f"{task.spread:.3f}"
            )
        console.print(table)
        if len(found.flaky) > SHOWN:
            console.print(f"… and {len(found.flaky) - SHOWN} more; --json has them all")
    console.print(Text(found.sentence, style="bold"))
    for note in found.notes:
        console.print(Text(f"note: {note}", style="yellow"))
