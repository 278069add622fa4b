"""`assay list`: what there is, by kind."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import orjson
from rich.table import Table
from rich.text import Text

from assay.cli.options import runs_option
from assay.cli.terminal import output, plain
from assay.errors import BadParameter, UnknownName
from assay.registry import (
    AGENTS,
    BENCHMARKS,
    ENVIRONMENTS,
    MODELS,
    REWARDS,
    SERVICES,
    TASKS,
    Registry,
    RewardSpec,
    find_reward,
)


@click.group(name="list")
def command() -> None:
    """Show what there is: `assay list runs`, `assay list rewards NAME`."""


@command.command(name="runs")
@runs_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def runs(runs_dir: Path, as_json: bool) -> None:
    """Show every run: how far it is, what it scored, and what it was meant to show."""
    from assay.ledger.index import LedgerIndex

    rows = LedgerIndex(runs_dir).runs() if runs_dir.is_dir() else []
    if as_json:
        _print_json([asdict(row) for row in rows])
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("run", no_wrap=True, min_width=22)
    for column in ("benchmark", "agent", "done", "mean", "answered", "errors", "focus"):
        table.add_column(column)
    for row in rows:
        mean = "—" if row.mean is None else f"{row.mean:.4f}"
        done = f"{row.n}/{row.planned}" if row.planned else str(row.n)
        focus = f"{row.focus}  (scores {row.parent} again)" if row.parent else row.focus
        table.add_row(
            row.run_id,
            Text(plain(row.benchmark, 30)),
            Text(plain(row.agent, 30)),
            done,
            mean,
            str(row.answered),
            str(row.errors),
            Text(plain(focus.strip(), 70)),
        )
    output().print(table)


@command.command(name="benchmarks")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def benchmarks(as_json: bool) -> None:
    """Show the benchmarks of this installation; a TOML file of your own is one too."""
    from assay.runner.benchmark import find_benchmark

    listed = []
    for name in BENCHMARKS.names():
        try:
            listed.append(find_benchmark(name))
        except (UnknownName, BadParameter) as error:
            # A broken plug-in must not hide the others.
            click.echo(f"assay: {error}", err=True)
    if as_json:
        _print_json([benchmark.to_record() for benchmark in listed])
        return
    table = Table(
        "benchmark", "environment", "primary reward", "what it is", box=None, pad_edge=False
    )
    for benchmark in listed:
        table.add_row(
            benchmark.name, benchmark.environment.name, benchmark.rewards[0].name, benchmark.summary
        )
    output().print(table)


@command.command(name="agents")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def agents(as_json: bool) -> None:
    """Show every agent with its options, as `assay run --set` takes them."""
    _show_registry(AGENTS, as_json)


@command.command(name="models")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def models(as_json: bool) -> None:
    """Show every model with its options, as an agent's `model_options` take them."""
    _show_registry(MODELS, as_json)


@command.command(name="environments")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def environments(as_json: bool) -> None:
    """Show every world with its options, as a benchmark's [environment] takes them."""
    _show_registry(ENVIRONMENTS, as_json)


@command.command(name="task-sources")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def task_sources(as_json: bool) -> None:
    """Show where tasks can come from, with the options of a benchmark's [tasks]."""
    _show_registry(TASKS, as_json)


@command.command(name="services")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def services(as_json: bool) -> None:
    """Show the local servers that a benchmark's [service] can name."""
    _show_registry(SERVICES, as_json)


def _show_registry(registry: Registry[Callable[..., object]], as_json: bool) -> None:
    records = [record for name in registry.names() if (record := _described(registry, name))]
    if as_json:
        _print_json(records)
        return
    console = output()
    for record in records:
        console.print(Text(f"{record['name']}", style="bold"))
        console.print(Text(f"  {record['summary']}"), soft_wrap=True)
        for option, default in record["options"].items():
            shown = "required" if default is None else plain(default, 80)
            console.print(Text(f"  {option} = {shown}", style="dim"), soft_wrap=True)


def _described(registry: Registry[Callable[..., object]], name: str) -> dict[str, Any] | None:
    try:
        factory = registry.get(name)
    except UnknownName as error:
        # A broken plug-in must not hide the others.
        click.echo(f"assay: {error}", err=True)
        return None
    parameters = inspect.signature(factory).parameters.values()
    return {
        "name": name,
        "summary": (inspect.getdoc(factory) or "").partition("\n")[0],
        "options": {
            option.name: None if option.default is option.empty else repr(option.default)
            for option in parameters
        },
    }


def _print_json(value: object) -> None:
    click.echo(json.dumps(value, indent=2))


@command.command(name="rewards")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def rewards(name: str | None, as_json: bool) -> None:
    """Show every registered reward, or NAME with its rules, options and parts."""
    if name:
        spec = find_reward(name)
        if as_json:
            click.echo(orjson.dumps(spec.to_record(), option=orjson.OPT_INDENT_2))
        else:
            _show_one(spec)
        return
    specs = _loadable(REWARDS.names())
    if as_json:
        records = [spec.to_record() for spec in specs]
        click.echo(orjson.dumps(records, option=orjson.OPT_INDENT_2))
    else:
        _show_all(specs)


def _loadable(names: list[str]) -> list[RewardSpec]:
    specs = []
    for name in names:
        try:
            specs.append(find_reward(name))
        except UnknownName as error:
            # A broken plug-in must not hide the others.
            click.echo(f"assay: {error}", err=True)
    return specs


def _show_all(specs: list[RewardSpec]) -> None:
    table = Table("reward", "needs", "what it says", box=None, pad_edge=False)
    for spec in specs:
        table.add_row(spec.id, ", ".join(spec.required), Text(spec.summary))
    output().print(table)


def _show_one(spec: RewardSpec) -> None:
    console = output()
    console.print(Text(f"{spec.id}", style="bold"))
    console.print(Text(inspect.getdoc(spec.function) or "no documentation"))
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_row("needs", ", ".join(spec.required) or "nothing")
    table.add_row("takes", ", ".join((*spec.optional, *(["any column"] * spec.takes_any))) or "-")
    table.add_row(
        "parts", "not declared" if spec.parts is None else ", ".join(spec.parts) or "none"
    )
    for option in spec.options.values():
        default = "required" if option.default is option.empty else f"default {option.default!r}"
        table.add_row(f"option {option.name}", Text(default))
    console.print(table)
