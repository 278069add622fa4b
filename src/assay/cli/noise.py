"""`assay noise`: how far two single runs must differ before it means anything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.text import Text

from assay.cli.options import RUNS_DIR, column_map, json_option, key_text, reward_list
from assay.cli.terminal import output, plain, print_json, progress_output, reward_text, table_of
from assay.report.noise import NoiseFloor, noise_floor
from assay.runner.run import run

SHOWN = 20


@click.command(name="noise")
@click.argument("benchmark", required=False)
@click.option("--agent", metavar="NAME", help="Who acts.")
@click.option("--model", metavar="KIND:NAME", help="As of `assay run`.")
@click.option("--reward", "rewards", metavar="NAME[,NAME]", help="As of `assay run`.")
@click.option("--column", "columns", multiple=True, metavar="PART=COLUMN",
              help="As of `assay run`.")  # fmt: skip
@click.option("--runs", "k", type=click.IntRange(2), default=3, show_default=True, metavar="K",
              help="How often the configuration is run.")  # fmt: skip
@click.option("--of", "recorded", multiple=True, metavar="RUN", help="Recorded runs instead.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="As of `assay run`.")
@click.option("--tasks", metavar="ID,…", help="As of `assay run`.")
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True)
@click.option("--runs-dir", type=click.Path(path_type=Path), default=RUNS_DIR, show_default=True)
@json_option
def command(
    benchmark: str | None,
    agent: str | None,
    model: str | None,
    rewards: str | None,
    columns: Sequence[str],
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

    \b
    assay noise questions.jsonl --agent mine.py:answer --reward qa_f1_reward
    assay noise townsquare --agent rules --runs 5
    assay noise --of latest
    """
    if bool(recorded) == bool(benchmark):
        raise click.UsageError("name a benchmark to run, or recorded runs with --of")
    paths: list[str | Path] = list(recorded)
    for i in range(k if benchmark else 0):
        progress_output().print(f"run {i + 1} of {k}")
        finished = run(
            benchmark,
            agent=agent,
            model=model,
            rewards=reward_list(rewards),
            columns=column_map(columns),
            settings=dict(key_text(text, "--set") for text in settings),
            tasks=tasks,
            workers=workers,
            focus=f"noise, run {i + 1} of {k}",
            runs_dir=runs_dir,
        )
        paths.append(finished.path)
    floor = noise_floor(paths, runs_dir=runs_dir)
    if as_json:
        print_json(floor.to_record())
    else:
        _show(floor)


def _show(floor: NoiseFloor) -> None:
    console = output()
    means = ", ".join(f"{mean:.3f}" for mean in floor.means)
    console.print(f"means of {floor.k} runs of {floor.n} tasks: {means}")
    console.print(f"largest difference between two of them: {floor.largest:.3f}")
    if floor.flaky:
        table = table_of("flaky task", "rewards", ">mean", ">spread")
        for task in floor.flaky[:SHOWN]:
            rewards = " ".join(f"{value:.2f}" for value in task.rewards[:12])
            table.add_row(
                Text(plain(task.task_id, 40)), rewards, reward_text(task.mean), f"{task.spread:.3f}"
            )
        console.print(table)
        if len(floor.flaky) > SHOWN:
            console.print(f"… and {len(floor.flaky) - SHOWN} more; --json has them all")
    console.print(Text(floor.sentence, style="bold"))
    for note in floor.notes:
        console.print(Text(f"note: {note}", style="yellow"))
