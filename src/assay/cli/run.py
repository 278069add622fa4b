"""`assay run`: an agent on a benchmark, every attempt kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from assay.cli.engines import engine_options, import_modules, stdout_kept_for_data
from assay.cli.options import (
    Amount,
    WholeNumber,
    column_map,
    count_or_share,
    key_text,
    max_abstained_option,
    reward_list,
    runs_option,
)
from assay.cli.summary import fail_unless_scored, grades_of, print_run
from assay.cli.terminal import number_text, progress_output
from assay.errors import BadParameter, RunStopped, UsageError
from assay.ledger.run import Run
from assay.runner.execute import Executor, RunProgress
from assay.runner.plan import RunRequest
from assay.runner.retries import RETRIED
from assay.runner.run import StartedRun, find_executor, start
from assay.scoring.counts import AbstentionLimit
from assay.scoring.engine import EngineName

STOPPED = 130
"""The exit code of what Ctrl-C ended."""


@click.command(name="run")
@click.argument("benchmark", required=False)
@click.option(
    "--agent",
    metavar="NAME|FILE.py:NAME|stdio:COMMAND|URL",
    help="Who acts: a name (`assay list agents`), a class or function of your own, a program that "
    'speaks JSON lines ("stdio:node agent.js"), or a server (http://127.0.0.1:8000/act).',
)
@click.option(
    "--model",
    metavar="KIND:NAME",
    help="What the agent asks, such as openai:NAME; without --agent, questions go to it as they "
    "are. Short for --set model=KIND --set model_options.model=NAME.",
)
@click.option(
    "--reward",
    "rewards",
    metavar="NAME[,NAME]",
    help="What scores, instead of the benchmark's own: a name, or FILE.py:NAME. The first is "
    "primary.",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="PART=COLUMN",
    help="Where a file of questions has id, question, answer, or what a reward asks for.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="An option of the agent; with a section (limits.steps=20), of the benchmark.",
)
@click.option("--tasks", metavar="ID,…", help="Ids, patterns (rain_*), or a flag such as demo.")
@click.option("--repeats", type=WholeNumber(1), help="Episodes of each task.  [default: 1]")
@click.option(
    "--seed",
    type=int,
    metavar="N",
    help="Each attempt gets a seed of its own, derived from this one, for agents that take `seed`; "
    "--set model_options.send_seed=true sends it to an OpenAI-shaped endpoint.",
)
@click.option(
    "--max-cost",
    type=Amount(0),
    metavar="USD",
    help="No attempt begins that all of them together are likely to cost more with; the run can "
    "be resumed with a larger budget. --resume alone keeps the run's own; 0 for none.",
)
@click.option(
    "--max-tokens",
    type=WholeNumber(0),
    metavar="N",
    help="The same for tokens, of prompts and completions.",
)
@click.option(
    "--max-attempt-cost",
    type=Amount(0),
    metavar="USD",
    help="An attempt that has cost so much ends before its next turn, as budget_limit; short for "
    "--set limits.cost_usd=USD.",
)
@click.option(
    "--max-attempt-tokens",
    type=int,
    metavar="N",
    help="The same for tokens; short for --set limits.tokens=N.",
)
@click.option(
    "--prices",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What models cost, as TOML or JSON; `assay list prices` shows what is known without.",
)
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep the replies of hosted models there, and take them from there, at no cost, when the "
    "same request is made in the same repeat.",
)
@click.option(
    "--workers", type=WholeNumber(1), default=2, show_default=True, help="Episodes at a time."
)
@engine_options
@click.option("--focus", metavar="TEXT", help="What the run is meant to show; written before it.")
@click.option(
    "--expect",
    multiple=True,
    metavar="up:ID,… | down:ID,…",
    help="Tasks whose reward should move; written before the run.",
)
@click.option("--resume", metavar="RUN", help="Run exactly what that run still lacks.")
@click.option(
    "--retry-errors",
    is_flag=False,
    flag_value=",".join(RETRIED),
    metavar="[=env,model,agent]",
    help="With --resume: run what failed again too, as new attempts. Alone it stands for "
    "env,model; agent errors count as zeros, and the summary says how many were replaced.",
)
@click.option(
    "--stop-after-errors",
    type=WholeNumber(0),
    metavar="N",
    help="End the run when its first N attempts all fail alike, such as with a refused key; "
    "0 for never.  [default: 3, or the benchmark's]",
)
@max_abstained_option(
    "Exit with 3 if a reward does not grade more attempts than this: 0, 0.05 or 5%."
)
@click.option(
    "--call-timeout",
    type=float,
    metavar="SECONDS",
    help="For one reply of the model, retries included; short for --set "
    "model_options.timeout_s=SECONDS.  [default: 120]",
)
@runs_option
@click.option(
    "--repository",
    type=click.Path(path_type=Path),
    default=".",
    help="The agent's repository, whose commit is recorded.  [default: this folder's]",
)
@click.option(
    "--keep-diff/--no-diff",
    default=True,
    help="Keep what is not committed there with the run (256 kB at most, without secrets), for "
    "`assay compare`.  [default: keep]",
)
@click.option("--json", "as_json", is_flag=True, help="The summary as JSON on stdout.")
def command(
    benchmark: str | None,
    agent: str | None,
    model: str | None,
    rewards: str | None,
    columns: Sequence[str],
    settings: Sequence[str],
    tasks: str | None,
    repeats: int | None,
    seed: int | None,
    max_cost: float | None,
    max_tokens: int | None,
    max_attempt_cost: float | None,
    max_attempt_tokens: int | None,
    prices: Path | None,
    cache: Path | None,
    workers: int,
    engine: EngineName,
    address: str | None,
    imports: Sequence[str],
    focus: str | None,
    expect: Sequence[str],
    resume: str | None,
    retry_errors: str | None,
    stop_after_errors: int | None,
    most: str | None,
    call_timeout: float | None,
    runs_dir: Path,
    repository: Path,
    keep_diff: bool,
    as_json: bool,
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
    executor = find_executor(engine, address)
    if call_timeout is not None and any(text.startswith("model_timeout_s=") for text in settings):
        raise UsageError("--call-timeout and --set model_timeout_s say the same; give one of them")
    short = {
        "model_options.timeout_s": call_timeout,
        "limits.cost_usd": max_attempt_cost,
        "limits.tokens": max_attempt_tokens,
    }
    request = RunRequest(
        benchmark=benchmark,
        agent=agent,
        settings={
            **dict(key_text(text, "--set") for text in settings),
            **{key: value for key, value in short.items() if value is not None},
        },
        tasks=tasks,
        repeats=repeats,
        expect=_expectations(expect) if expect else None,
        focus=focus,
        model=model,
        rewards=reward_list(rewards),
        columns=column_map(columns),
        seed=seed,
        max_cost=max_cost,
        max_tokens=max_tokens,
        prices=prices,
    )
    with start(
        request,
        workers=workers,
        cache=cache,
        resume=resume,
        retry_errors=False if retry_errors is None else retry_errors,
        runs_dir=runs_dir,
        repository=repository,
        keep_diff=keep_diff,
        elsewhere=engine != "local",
    ) as started:
        try:
            run = _finish(started, executor, stop_after_errors)
        except RunStopped:
            print_run(Run(started.path), as_json=as_json)
            raise
    fail_unless_scored(run, print_run(run, as_json=as_json).counts, run.path)
    if limit is not None:
        limit.check(grades_of(run), at_end=True)


def _finish(started: StartedRun, executor: Executor, stop_after_errors: int | None) -> Run:
    console = progress_output()
    if "resumed_at_commit" in started.notes:
        console.print(
            "the agent's code is not what it was when this run began: attempts from now on are of "
            "other code, and the summary says how many"
        )
    try:
        with stdout_kept_for_data(), _show_progress(started) as tell:
            beginning = _FirstProgress(tell)
            run = started.finish(beginning, executor, stop_after_errors=stop_after_errors)
        if beginning.was_complete:
            console.print(f"nothing was left to run: all {beginning.total:,} episodes were there")
        return run
    except KeyboardInterrupt:
        console.print(
            f"stopped; every finished episode is kept: assay run --resume {started.path}",
            soft_wrap=True,
        )
        raise click.exceptions.Exit(STOPPED) from None


@contextmanager
def _show_progress(started: StartedRun) -> Iterator[Callable[[RunProgress], None]]:
    """A function that shows progress, as a bar in a terminal and as lines elsewhere."""
    console = progress_output()
    if not console.is_terminal:
        yield _Lines(console.print)
        return
    columns = (
        "{task.description}",
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[words]}"),
    )
    with Bar(*columns, console=console) as bar:
        task = bar.add_task(started.path.name, total=None, words="")

        def tell(progress: RunProgress) -> None:
            bar.update(
                task, completed=progress.done, total=progress.total, words=describe(progress)
            )

        yield tell


class _FirstProgress:
    """Passes progress on, and knows how much there was at the beginning."""

    def __init__(self, tell: Callable[[RunProgress], None]) -> None:
        self._tell = tell
        self.total = 0
        self.was_complete = False

    def __call__(self, progress: RunProgress) -> None:
        if not self.total:
            self.total, self.was_complete = progress.total, progress.done == progress.total
        self._tell(progress)


class _Lines:
    """Prints a line for every twentieth part of the run, and at its end."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._shown = -1

    def __call__(self, progress: RunProgress) -> None:
        part = 20 * progress.done // max(1, progress.total)
        if part > self._shown:
            self._shown = part
            self._write(f"{progress.done} of {progress.total}  {describe(progress)}")


def describe(progress: RunProgress) -> str:
    """Mean, errors and time left in a few words."""
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
