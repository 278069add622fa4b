"""`assay list`: list runs, benchmarks, rewards and other names."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import click
import orjson
from rich.table import Column
from rich.text import Text

from assay.cli.engines import import_modules
from assay.cli.groups import SuggestingGroup
from assay.cli.options import PATH, import_option, json_option, runs_option
from assay.cli.terminal import number_text, output, plain, print_json, table_of
from assay.errors import BadParameter, NameCollision, UnknownName
from assay.registry import (
    AGENTS,
    BENCHMARKS,
    ENVIRONMENTS,
    MODELS,
    REWARDS,
    SERVICES,
    STEP_SCORERS,
    TASKS,
    Registry,
    RewardSpec,
    describe_defaults,
    find_reward,
)

T = TypeVar("T")
WIDE = 110
"""Characters that the table of runs needs with all of its columns."""
UNLIMITED = 5_000
"""Characters of a line in a pipe, which has no width."""


class ListGroup(SuggestingGroup):
    """The subcommands of `assay list`; `worlds` is another name for `environments`."""

    other_words: ClassVar = {"worlds": "environments", "tasks": "task-sources"}


@click.group(name="list", cls=ListGroup)
def command() -> None:
    """List names of one kind, such as `assay list runs` or `assay list rewards NAME`."""


@command.command(name="runs")
@click.option("--archived", is_flag=True, help="Show archived runs too.")
@runs_option
@json_option
def runs(archived: bool, runs_dir: Path, as_json: bool) -> None:
    """Show every run with its progress, mean reward and purpose."""
    from assay.ledger.index import LedgerIndex
    from assay.ledger.layout import is_archived

    rows = LedgerIndex(runs_dir).runs() if runs_dir.is_dir() else []
    rows = [row for row in rows if archived or not is_archived(runs_dir / row.run_id)]
    if as_json:
        print_json([asdict(row) for row in rows])
        return
    if not rows:
        output().print(f"no runs in {runs_dir}; `assay run` makes one", soft_wrap=True)
        return
    console = output()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        # A pipe has no width, and a name that is cut does not tell runs apart.
        console.width = UNLIMITED
    wide = console.width >= WIDE
    run = Column("run", no_wrap=True, min_width=22)
    names = ("benchmark", "agent", "done", "mean")
    table = table_of(run, *names, *(("answered", "errors", "focus") if wide else ("errors",)))
    for row in rows:
        done = f"{row.n}/{row.planned}" if row.planned else str(row.n)
        focus = f"{row.focus}  (scores {row.parent} again)" if row.parent else row.focus
        longest = console.width if console.width == UNLIMITED else 30 if wide else 14
        cells: list[str | Text] = [
            row.run_id,
            Text(plain(row.benchmark, longest)),
            Text(plain(row.agent, longest)),
            done,
            number_text(row.mean, 4),
        ]
        if wide:
            table.add_row(
                *cells, str(row.answered), str(row.errors), Text(plain(focus, max(70, longest)))
            )
            continue
        table.add_row(*cells, str(row.errors))
        if focus:
            table.add_row(Text(f"  {plain(focus.strip(), 70)}"))
    console.print(table)


@command.command(name="benchmarks")
@json_option
def benchmarks(as_json: bool) -> None:
    """Show the installed benchmarks; your own TOML file can be a benchmark too."""
    from assay.runner.benchmark import find_benchmark

    listed = [benchmark for _, benchmark in _load(BENCHMARKS.names(), find_benchmark)]
    if as_json:
        print_json([benchmark.to_record() for benchmark in listed])
        return
    table = table_of("benchmark", "environment", "primary reward", "what it is")
    for benchmark in listed:
        table.add_row(
            benchmark.name, benchmark.environment.name, benchmark.rewards[0].name, benchmark.summary
        )
    output().print(table)


def _add_command(registry: Registry[Callable[..., object]], help_text: str) -> None:
    """Add the command that lists one registry, such as `assay list task-sources`."""

    @command.command(name=f"{registry.kind.replace(' ', '-')}s", help=help_text)
    @json_option
    def show(as_json: bool) -> None:
        _show_registry(registry, as_json)


for _registry, _help in (
    (AGENTS, "Show every agent with its options, as `assay run --set` takes them."),
    (MODELS, "Show every model with its options, as an agent's `model_options` take them."),
    (ENVIRONMENTS, "Show every environment, with the options of a benchmark's [environment]."),
    (TASKS, "Show where tasks can come from, with the options of a benchmark's [tasks]."),
    (STEP_SCORERS, "Show what scores the steps of a run's episodes."),
    (SERVICES, "Show the local servers that a benchmark's [service] can name."),
):
    _add_command(_registry, _help)


def _show_registry(registry: Registry[Callable[..., object]], as_json: bool) -> None:
    records: list[dict[str, Any]] = [
        {
            "name": name,
            "summary": (inspect.getdoc(factory) or "").partition("\n")[0],
            "options": describe_defaults(inspect.signature(factory).parameters.values()),
        }
        for name, factory in _load(registry.names(), registry.get)
    ]
    if as_json:
        print_json(records)
        return
    console = output()
    for record in records:
        console.print(Text(f"{record['name']}", style="bold"))
        console.print(Text(f"  {record['summary']}"), soft_wrap=True)
        for option, default in record["options"].items():
            shown = "required" if default is None else plain(default, 80)
            console.print(Text(f"  {option} = {shown}", style="dim"), soft_wrap=True)


def _load(names: Iterable[str], find: Callable[[str], T]) -> Iterator[tuple[str, T]]:
    """Yield each name with its object; print an error for an object that cannot be loaded."""
    for name in names:
        try:
            yield name, find(name)
        except (UnknownName, BadParameter, NameCollision) as error:
            # A broken plug-in must not hide the others.
            click.echo(f"assay: {error}", err=True)


@command.command(name="prices")
@click.option("--prices", type=PATH, metavar="FILE", help="Also show this table of your own.")
@json_option
def prices(prices: Path | None, as_json: bool) -> None:
    """Show the known prices of a million tokens of each model, with their dates.

    The list prices that come with Assay hold at the vendors' own addresses; a table of your own
    (`assay run --prices FILE`) holds anywhere, and comes before them.
    """
    from assay.agents.models.prices import default_prices, read_prices

    tables = [("list price", default_prices())]
    if prices is not None:
        tables.insert(0, (str(prices), read_prices(prices)))
    rows = [
        {"model": model, **asdict(price), "as_of": table.as_of, "source": source}
        for source, table in tables
        for model, price in table.models.items()
    ]
    if as_json:
        print_json(rows)
        return
    shown = table_of("model", ">input $", ">output $", "as of", "source")
    for row in rows:
        cells = (f"{row[key]:.2f}" for key in ("input_usd_per_mtok", "output_usd_per_mtok"))
        shown.add_row(Text(plain(row["model"], 60)), *cells, row["as_of"] or "—", row["source"])
    output().print(shown)


@command.command(name="rewards")
@click.argument("name", required=False)
@import_option
@json_option
def rewards(name: str | None, imports: Sequence[str], as_json: bool) -> None:
    """Show all registered rewards, or the rules, options, parts and versions of NAME.

    NAME@1 is an earlier version, as long as it is kept; what has changed since is shown by
    `assay rewards diff NAME@1 NAME --data FILE`.
    """
    import_modules(imports)
    if name:
        spec = find_reward(REWARDS.find(name))
        if as_json:
            record = {**spec.to_record(), "versions": REWARDS.versions(spec.name)}
            click.echo(orjson.dumps(record, option=orjson.OPT_INDENT_2))
        else:
            _show_one(spec)
        return
    specs = [spec for _, spec in _load(REWARDS.names(), find_reward)]
    if as_json:
        records = [spec.to_record() for spec in specs]
        click.echo(orjson.dumps(records, option=orjson.OPT_INDENT_2))
        return
    table = table_of("reward", "needs", "what it says")
    for spec in specs:
        table.add_row(spec.id, ", ".join(spec.required), Text(spec.summary))
    output().print(table)


def _show_one(spec: RewardSpec) -> None:
    console = output()
    console.print(Text(f"{spec.id}", style="bold"))
    console.print(Text(inspect.getdoc(spec.function) or "no documentation"))
    table = table_of(show_header=False)
    table.add_row("kind", spec.kind or "not declared")
    table.add_row("needs", ", ".join(spec.required) or "nothing")
    table.add_row("takes", ", ".join((*spec.optional, *(["any column"] * spec.takes_any))) or "-")
    table.add_row(
        "parts", "not declared" if spec.parts is None else ", ".join(spec.parts) or "none"
    )
    for option in spec.options.values():
        default = "required" if option.default is option.empty else f"default {option.default!r}"
        table.add_row(f"option {option.name}", Text(default))
    versions = REWARDS.versions(spec.name) or [spec.version]
    table.add_row("versions", ", ".join(f"{spec.name}@{version}" for version in versions))
    for version, text in sorted(spec.changes.items(), reverse=True):
        table.add_row(f"version {version}", Text(text))
    console.print(table)
