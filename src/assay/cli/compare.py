"""`assay compare`: compare candidate runs with a base run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from assay.cli.options import json_option, runs_option
from assay.cli.terminal import (
    difference_text,
    interval_text,
    output,
    plain,
    print_json,
    print_notes,
    reward_text,
    table_of,
)
from assay.errors import AssayError, UsageError
from assay.ledger.layout import find_run, place_from_the_end
from assay.ledger.passes import PERFECT
from assay.report.attempts import read_attempts
from assay.report.comparison import CHANGE, Comparison, SampleSize, compare_many
from assay.report.noise import NoiseFloor, noise_floor
from assay.report.statistics import EXACT_PAIRS
from assay.report.task_changes import DROP

SHOWN = 30
SHOWN_FLAKY = 20
DIFF_LINES = 12
"""Of the agent's code that are shown unasked."""
STYLE = {"improved": "bold green", "regressed": "bold red", "mixed": "bold red"}
MOST_UNSCORED = 50
"""So many runs without scores are passed over before no other is sought."""
GATE = 3
REFUSED = 2


@click.command(name="compare")
@click.argument("base")
@click.argument("cands", nargs=-1, metavar="CAND…")
@click.option("--fail-on", type=click.Choice(["regression", "task-drop", "no-verdict"]),
              multiple=True,
              help="Exit with 3 for a regression, a large drop of tasks, or no verdict.",
)  # fmt: skip
@click.option("--drop", default=DROP, metavar="SIZE",
              help="Size of a large drop of a task's reward, for --fail-on task-drop.")  # fmt: skip
@click.option("--change", default=CHANGE, metavar="SIZE",
              help="Show how many tasks would detect a change of the mean of this size.",
)  # fmt: skip
@click.option("--force", is_flag=True,
              help="Compare runs that are not comparable, and label the result.")  # fmt: skip
@click.option("--noise", is_flag=True,
              help="Show how much runs of one configuration differ by chance; give several runs "
                   "or one run with repeats.")  # fmt: skip
@click.option("--pass-at", default=PERFECT, help="The reward from which a task passes.")
@click.option("--all", "show_all", is_flag=True, help="Show every task, including unchanged tasks.")
@click.option("--diff", "show_diff", is_flag=True, help="Show the full diff of the agent's code.")
@runs_option
@json_option
def command(
    base: str,
    cands: Sequence[str],
    fail_on: Sequence[str],
    noise: bool,
    show_all: bool,
    show_diff: bool,
    runs_dir: Path,
    as_json: bool,
    **options: Any,
) -> int:
    """Compare each candidate run CAND with the run BASE, task by task.

    A run is a folder, an id, the beginning of an id, `latest`, `@-2`, or the log of another tool.

    Two models are compared, and the headline names them. Runs whose reward, task set or step
    budget differ are refused (exit code 2), unless --force labels them; what a log does not record
    is no difference, and tasks whose ids are line numbers are paired by their questions. Several
    candidates are corrected for their number (Holm).

    A regression is a significant drop of the mean or of the tasks that pass, or tasks that are
    lower in all of three or more repeats. A task-drop is a weaker sign, also of single runs: tasks
    that fell by --drop or more outnumber those that rose as far, as three to none do. It closes for
    at most one in eight pairs of runs between which nothing was changed; a regression for about one
    in twenty. A gate that closes exits with 3.

    With --noise the runs are of one configuration, as `assay run --repeat-run 5` makes them, or
    one run with repeats: how far must two of them differ before it means anything?

    \b
    assay compare @-2 latest --fail-on regression
    assay compare --noise latest
    """
    if noise:
        if fail_on or options["force"] or show_all or show_diff:
            raise UsageError(
                "--noise accepts only runs, --runs and --json; leave out the other options"
            )
        floor = noise_floor([base, *cands], runs_dir=runs_dir)
        print_json(floor.to_record()) if as_json else _show_noise(output(), floor)
        return 0
    if not cands:
        raise UsageError(
            "name at least two runs to compare; only --noise accepts a single run with repeats"
        )
    comparisons = compare_many(base, list(cands), runs_dir=runs_dir, **options)
    if as_json:
        records = [comparison.to_record() for comparison in comparisons]
        print_json(records[0] if len(records) == 1 else records)
    else:
        console = output()
        for i, comparison in enumerate(comparisons):
            if i:
                console.print()
            _show(console, comparison, show_all=show_all, show_diff=show_diff)
        if any(comparison.reward is None for comparison in comparisons):
            for line in _unscored([base, *cands], runs_dir):
                console.print(line, soft_wrap=True)
    return _exit_code(comparisons, fail_on)


def _show_noise(console: Console, floor: NoiseFloor) -> None:
    means = ", ".join(f"{mean:.3f}" for mean in floor.means)
    console.print(f"means of {floor.k} runs of {floor.n} tasks: {means}")
    console.print(f"largest difference between two of them: {floor.largest:.3f}")
    if floor.flaky:
        table = table_of("flaky task", "rewards", ">mean", ">spread")
        for task in floor.flaky[:SHOWN_FLAKY]:
            rewards = " ".join(f"{value:.2f}" for value in task.rewards[:12])
            cells = (rewards, reward_text(task.mean), f"{task.spread:.3f}")
            table.add_row(Text(plain(task.task_id, 40)), *cells)
        console.print(table)
        if len(floor.flaky) > SHOWN_FLAKY:
            console.print(f"… and {len(floor.flaky) - SHOWN_FLAKY} more; --json has them all")
    console.print(Text(floor.sentence, style="bold"))
    print_notes(console, floor.notes)


def _unscored(names: Sequence[str], runs_dir: Path) -> Iterator[str]:
    """Yield a hint for each run, named as `latest` or `@-N`, that has no scores."""
    places = [place_from_the_end(name) for name in names]
    if not all(places):
        return
    scored: list[int] = []
    ids: list[str] = []
    place = 0
    while len(scored) < max(places) and place < max(places) + MOST_UNSCORED:
        place += 1
        try:
            attempts = read_attempts(find_run(f"@-{place}", runs_dir))
        except AssayError:
            break
        if attempts.rewards:
            scored.append(place)
        elif place in places:
            ids.append(attempts.run_id)
    meant = " ".join(f"@-{scored[each - 1]}" for each in places if each <= len(scored))
    perhaps = f"perhaps you meant assay compare {meant}; " * (meant.count("@") == len(places))
    for run_id in ids:
        yield (
            f"{run_id} has no scores; {perhaps}assay history --archive {run_id} leaves it out of "
            "that order"
        )


def _exit_code(comparisons: Sequence[Comparison], fail_on: Sequence[str]) -> int:
    verdicts = {comparison.verdict for comparison in comparisons}
    if "regression" in fail_on and any(comparison.regressed for comparison in comparisons):
        return GATE
    drops = (comparison.drops for comparison in comparisons if comparison.drops is not None)
    if "task-drop" in fail_on and any(each.alarm for each in drops):
        return GATE
    if "no-verdict" in fail_on and verdicts & {"no verdict possible", "not comparable"}:
        return GATE
    return REFUSED if "not comparable" in verdicts else 0


def _show(console: Console, comparison: Comparison, *, show_all: bool, show_diff: bool) -> None:
    console.print(Text(f"{comparison.base} → {comparison.cand}", style="bold"), soft_wrap=True)
    verdict = Text(comparison.verdict, style=STYLE.get(comparison.verdict, "bold yellow"))
    because = comparison.because.replace(f"{comparison.verdict}: ", "", 1)
    console.print(Text.assemble(verdict, ": ", plain(because, 1000)), soft_wrap=True)
    if comparison.verdict == "not comparable":
        console.print("--force compares the tasks that both have, and labels the result")
    for change in comparison.changes:
        console.print(Text(f"  changed  {plain(change, 160)}", style="dim"), soft_wrap=True)
    _code(console, comparison, whole=show_diff)
    if comparison.reward is not None:
        console.print()
        _statistics(console, comparison)
        _tasks(console, comparison, show_all=show_all)
        _costs(console, comparison)
    print_notes(console, comparison.notes)


def _code(console: Console, comparison: Comparison, *, whole: bool) -> None:
    """Print the differences in the agent's code: the first lines, or all if `whole`."""
    code = comparison.code
    for file in code.files:
        line = f"  code     {plain(file.path, 100)}: +{file.added} -{file.removed} lines"
        console.print(Text(line, style="dim"), soft_wrap=True)
    lines = [line for file in code.files for line in file.diff.split("\n")]
    for line in lines if whole else lines[:DIFF_LINES]:
        colour = {"+": "green", "-": "red"}.get(line[:1], "dim")
        console.print(Text(f"           {plain(line, 160)}", style=colour), soft_wrap=True)
    if len(lines) > DIFF_LINES and not whole:
        console.print(f"           … and {len(lines) - DIFF_LINES} more lines; --diff shows them")
    for note in code.notes:
        console.print(Text(f"  code     {plain(note, 200)}", style="dim"), soft_wrap=True)


def _statistics(console: Console, comparison: Comparison) -> None:
    shift, test, passes = comparison.reward, comparison.permutation, comparison.mcnemar
    rate, drops = comparison.pass_rate, comparison.drops
    if shift is None or test is None or passes is None or rate is None or drops is None:
        return
    table = table_of(show_header=False)
    unpaired = f" ({comparison.only_base} only in base, {comparison.only_cand} only in cand)"
    alone = unpaired if comparison.only_base or comparison.only_cand else ""
    table.add_row("paired tasks", f"{comparison.n}{alone}")
    table.add_row(
        "mean reward",
        Text.assemble(
            f"{shift.base:.3f} → {shift.cand:.3f}  ",
            difference_text(shift.difference),
            f"  95 % {interval_text(shift.interval)}" if shift.interval else "",
        ),
    )
    how = "exact" if test.exact else f"Monte-Carlo, more than {EXACT_PAIRS} pairs differ"
    differ = "1 task differs" if test.nonzero == 1 else f"{test.nonzero} tasks differ"
    table.add_row("permutation", f"p = {comparison.p:.3g} ({how}; {differ})")
    counts = f"{passes.gained} gained, {passes.lost} lost, McNemar p = {comparison.pass_p:.3g}"
    table.add_row(f"pass at {comparison.pass_at:g}", f"{rate.base:.0%} → {rate.cand:.0%}  {counts}")
    alarm = f", p = {drops.p:.3g}: task-drop" if drops.alarm else ""
    moved = f"{len(drops.fell)} fell, {drops.rose} rose{alarm}"
    table.add_row(f"moved by {drops.size:g} or more", moved)
    least = comparison.detectable
    known = f"{least:.3f} (80 % power)" if least else "cannot be estimated"
    table.add_row("detectable change", known)
    if comparison.needed is not None:
        table.add_row(f"to see {comparison.needed.change:g}", _price(comparison.needed))
    console.print(table)


def _price(needed: SampleSize) -> str:
    """How many tasks or repeats would show a change of this size."""
    if needed.tasks <= needed.n:
        return f"these {needed.n} tasks are enough"
    tasks = f"{needed.tasks:,} tasks ({needed.tasks - needed.n:,} more)"
    if needed.repeats is None:
        return f"{tasks}; repeats of these are not enough"
    return f"{tasks}, or {'at least ' * needed.at_least}{needed.repeats:,} repeats of these"


def _tasks(console: Console, comparison: Comparison, *, show_all: bool) -> None:
    rows = [row for row in comparison.tasks if show_all or row.change != "unchanged"]
    if not rows:
        return
    table = table_of("task", "change", ">base", ">cand", ">difference", "endings")
    for row in rows if show_all else rows[:SHOWN]:
        same = row.base_ending == row.cand_ending
        table.add_row(
            Text(plain(row.task_id, 40)),
            row.change + (" (flaky)" if row.flaky else ""),
            reward_text(row.base),
            reward_text(row.cand),
            difference_text(row.difference),
            row.cand_ending if same else f"{row.base_ending} → {row.cand_ending}",
        )
    console.print()
    console.print(table)
    hidden = len(rows) - SHOWN
    if hidden > 0 and not show_all:
        console.print(f"… and {hidden} more; --all shows them")


def _costs(console: Console, comparison: Comparison) -> None:
    table = table_of(show_header=False)
    shifts = (comparison.steps, comparison.cost_usd, comparison.elapsed_s)
    for name, shift in zip(("steps", "cost (USD)", "time (s)"), shifts, strict=True):
        if shift is not None:
            moved = f"{shift.difference:+.3g}  95 % {interval_text(shift.interval)}"
            table.add_row(name, f"{shift.base:.3g} → {shift.cand:.3g}", moved)
    console.print()
    console.print(table)
