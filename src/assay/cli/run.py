"""`assay run`: run an agent on a benchmark, and keep every attempt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any, TypeVar

import click
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from assay.cli.engines import engine_options, import_modules, stdout_kept_for_data
from assay.cli.options import (
    PATH,
    DollarAmount,
    WholeNumber,
    column_map,
    count_or_share,
    key_text,
    max_abstained_option,
    runs_option,
)
from assay.cli.summary import fail_unless_scored, grades_of, print_run, run_record
from assay.cli.terminal import number_text, print_json, progress_output
from assay.errors import BadParameter, RunStopped, UsageError
from assay.ledger.run import Run
from assay.ledger.summary import summarise
from assay.runner.limits import RunLimits
from assay.runner.options import HELP, RunOptions
from assay.runner.progress import RunProgress
from assay.runner.retries import RETRIED
from assay.runner.run import StartedRun, complete, start
from assay.scoring.counts import AbstentionLimit

STOPPED = 130
"""The exit code of what Ctrl-C ended."""
F = TypeVar("F", bound=Callable[..., Any])
DEFAULTS = {each.name: each.default for each in fields(RunOptions)}
SHORT_SETTINGS = {
    "call_timeout": "model_options.timeout_s",
    "max_attempt_cost": "limits.cost_usd",
    "max_attempt_tokens": "limits.tokens",
}
"""Options that are short for a setting."""


def _option(name: str, *flags: str, note: str = "", **attributes: Any) -> Callable[[F], F]:
    """A click option for a field of `RunOptions`, with the field's default and help."""
    flags = flags or (f"--{name.replace('_', '-')}",)
    values = {"default": DEFAULTS[name], "show_default": False, **attributes}
    return click.option(*flags, name, help=HELP[name] + note, **values)


def _short_option(name: str, text: str, **attributes: Any) -> Callable[[F], F]:
    """A click option that stands for one `--set KEY=VALUE`."""
    help_text = f"{text}; short for --set {SHORT_SETTINGS[name]}={attributes['metavar']}."
    return click.option(f"--{name.replace('_', '-')}", name, help=help_text, **attributes)


@click.command(name="run")
@click.argument("benchmark", required=False)
@_option("agent", metavar="NAME|FILE.py:NAME|stdio:COMMAND|URL")
@_option("model", metavar="KIND:NAME")
@_option("rewards", "--reward", metavar="NAME[,NAME]")
@_option("columns", "--column", multiple=True, metavar="PART=COLUMN")
@_option("settings", "--set", multiple=True, metavar="KEY=VALUE")
@_option("tasks", metavar="ID,…")
@_option("repeats", type=WholeNumber(1), note="  [default: 1]")
@_option("seed", type=int, metavar="N")
@_option("max_cost", type=DollarAmount(0), metavar="USD")
@_option("max_tokens", type=WholeNumber(0), metavar="N")
@_short_option("max_attempt_cost",
               "An attempt that has cost so much ends before its next turn, as budget_limit",
               type=DollarAmount(0), metavar="USD")  # fmt: skip
@_short_option(
    "max_attempt_tokens",
    "An attempt that has used so many tokens ends before its next turn",
    type=int,
    metavar="N",
)
@_option("prices", type=PATH, metavar="FILE")
@_option("cache", type=PATH, metavar="DIR")
@_option("workers", type=WholeNumber(1), show_default=True)
@engine_options
@_option("focus", metavar="TEXT")
@_option("expect", multiple=True, metavar="up:ID,… | down:ID,…")
@_option("resume", metavar="RUN")
@_option("retry_errors", is_flag=False, flag_value=",".join(RETRIED), default=None,
         metavar="[=env,model,agent]")  # fmt: skip
@_option("stop_after_errors", type=WholeNumber(0), metavar="N",
         note=f"  [default: {RunLimits().stop_after_errors}, or the benchmark's]")  # fmt: skip
@max_abstained_option(
    "Exit with 3 if a reward abstains from more attempts than this: 0, 0.05 or 5%."
)
@_short_option("call_timeout",
               "Time limit for one reply of the model, with retries (default: 120 s)", type=float,
               metavar="SECONDS")  # fmt: skip
@click.option(
    "--repeat-run",
    type=WholeNumber(1),
    default=1,
    metavar="N",
    help="Execute the run N times. `assay compare --noise RUN…` then shows how much two runs must "
    "differ to mean anything.",
)
@runs_option
@_option("repository", type=PATH, note="  [default: this folder's]")
@_option("keep_diff", "--keep-diff/--no-diff", note="  [default: keep]")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON on stdout.")
def command(
    *,
    rewards: str | None,
    columns: Sequence[str],
    settings: Sequence[str],
    expect: Sequence[str],
    retry_errors: str | None,
    imports: Sequence[str],
    most: str | None,
    repeat_run: int,
    as_json: bool,
    **others: Any,
) -> None:
    """Run an agent on BENCHMARK: a name (`assay list benchmarks`), a TOML file, or questions.

    A file of questions (JSONL, a JSON array, CSV or TSV) needs no more: `question` (or goal, task,
    prompt, problem), `answer` (or gold, golden_answers, solution) and, if there is one, `id` (or
    task_id) in each line, with --reward for what scores the answers.

    The run is a folder under --runs. Stop it with Ctrl-C (exit code 130) or kill it: every finished
    episode is kept, and --resume goes on. Progress is on stderr, the summary on stdout. An attempt
    that its model or environment ended is in no mean; one that the agent itself ended is a zero. A
    run that can only fail is stopped early, and exits with 1, as one does whose budget is spent, of
    which nothing could be scored, or whose every attempt ended in the same error of the agent. A
    reward that raises, or cannot say, abstains: the summary says how often, and --max-abstained 0
    makes it exit with 3.

    \b
    assay run townsquare --agent rules --tasks demo --focus "the budget cuts off the clubs"
    assay run townsquare --agent rules --set observation_chars=4000 --set limits.steps=20
    assay run questions.jsonl --model openai:NAME --reward math_equal_reward --workers 64
    assay run questions.jsonl --agent mine.py:answer --reward qa_f1_reward
    assay run questions.jsonl --model openai:NAME --reward qa_f1_reward --repeats 4 --max-cost 5
    assay run townsquare --agent my_agent.py:walk
    assay run townsquare --agent rules --engine ray --workers 8 --address auto
    assay run --resume 20260329-122135-d4b692
    assay run --resume 20260329-122135-d4b692 --retry-errors
    """
    limit = AbstentionLimit.of(count_or_share(most, "--max-abstained"))
    import_modules(imports)
    short = {key: others.pop(name) for name, key in SHORT_SETTINGS.items()}
    if short["model_options.timeout_s"] is not None and any(
        text.startswith("model_timeout_s=") for text in settings
    ):
        raise UsageError(
            "--call-timeout and --set model_timeout_s set the same limit; give one of them"
        )
    options = RunOptions(
        **others,
        settings={
            **dict(key_text(text, "--set") for text in settings),
            **{key: value for key, value in short.items() if value is not None},
        },
        expect=_expectations(expect) if expect else None,
        rewards=None if rewards is None else [name.strip() for name in rewards.split(",")],
        columns=column_map(columns),
        retry_errors=False if retry_errors is None else retry_errors,
    )
    if repeat_run == 1:
        _run_once(options, limit, as_json=as_json)
    else:
        _run_repeatedly(options, limit, repeat_run, as_json=as_json)


def _run_once(options: RunOptions, limit: AbstentionLimit | None, *, as_json: bool) -> None:
    """Execute one run, print its summary, and raise an error if nothing was scored."""
    with start(options) as started:
        try:
            run = _execute(started)
        except RunStopped:
            print_run(started.run, as_json=as_json)
            raise
    fail_unless_scored(run, print_run(run, as_json=as_json).counts, run.path)
    if limit is not None:
        limit.check(grades_of(run), at_end=True)


def _run_repeatedly(
    options: RunOptions, limit: AbstentionLimit | None, count: int, *, as_json: bool
) -> None:
    """Execute the same run `count` times, and print the summary of each run."""
    if options.resume is not None:
        raise BadParameter("--resume continues a single run; leave out --repeat-run")
    console = progress_output()
    runs: list[Run] = []
    try:
        for number in range(1, count + 1):
            place = f"run {number} of {count}"
            console.print(place)
            focus = f"{options.focus}, {place}" if options.focus else place
            with start(replace(options, focus=focus)) as started:
                runs.append(_execute(started))
            if not as_json:
                print_run(runs[-1], as_json=False)
    finally:
        if as_json:
            print_json([run_record(run) for run in runs])
    for run in runs:
        fail_unless_scored(run, summarise(run).counts, run.path)
        if limit is not None:
            limit.check(grades_of(run), at_end=True)
    paths = " ".join(str(run.path) for run in runs)
    console.print(f"how far they differ: assay compare --noise {paths}", soft_wrap=True)


def _execute(started: StartedRun) -> Run:
    console = progress_output()
    if "resumed_at_commit" in started.notes:
        console.print(
            "the agent's code is not what it was when this run began: attempts from now on are of "
            "other code, and the summary says how many"
        )
    try:
        first: RunProgress | None = None
        with stdout_kept_for_data(), _show_progress(started.run.path.name) as show:

            def tell(progress: RunProgress) -> None:
                nonlocal first
                first = first if first and first.total else progress
                show(progress)

            run = complete(started.execute(tell))
        if first and first.total and first.done == first.total:
            console.print(f"nothing was left to run: all {first.total:,} episodes were there")
        return run
    except KeyboardInterrupt:
        console.print(
            f"stopped; every finished episode is kept: assay run --resume {started.run.path}",
            soft_wrap=True,
        )
        raise click.exceptions.Exit(STOPPED) from None


@contextmanager
def _show_progress(name: str) -> Iterator[Callable[[RunProgress], None]]:
    """Yield a function that shows progress: a bar in a terminal, else about 20 lines."""
    console = progress_output()
    if not console.is_terminal:
        shown = -1

        def print_line(progress: RunProgress) -> None:
            nonlocal shown
            part = 20 * progress.done // max(1, progress.total)
            if part > shown:
                shown = part
                console.print(f"{progress.done} of {progress.total}  {describe(progress)}")

        yield print_line
        return
    words = TextColumn("{task.fields[words]}")
    with Bar(
        "{task.description}", BarColumn(), MofNCompleteColumn(), words, console=console
    ) as bar:
        task = bar.add_task(name, total=None, words="")
        yield lambda progress: bar.update(
            task, completed=progress.done, total=progress.total, words=describe(progress)
        )


def describe(progress: RunProgress) -> str:
    """The mean reward, errors and remaining time in a few words."""
    errors = f"{progress.errors} error" + "s" * (progress.errors != 1)
    so_far = f"mean {number_text(progress.mean)}  {errors}"
    if progress.left_s is None:
        return so_far
    minutes, seconds = divmod(round(progress.left_s), 60)
    return f"{so_far}  {minutes}:{seconds:02d} left"


def _expectations(texts: Sequence[str]) -> dict[str, list[str]]:
    expected: dict[str, list[str]] = {}
    for text in texts:
        direction, colon, ids = text.partition(":")
        if not colon or not ids.strip():
            raise BadParameter(f"--expect {text!r} is not up:ID,… or down:ID,…")
        expected.setdefault(direction, []).extend(ids.split(","))
    return expected
