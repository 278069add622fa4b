"""`assay list`: what there is, by kind."""

from __future__ import annotations

import inspect

import click
import orjson
from rich.table import Table
from rich.text import Text

from assay.cli.show import output
from assay.errors import UnknownName
from assay.registry import REWARDS, RewardSpec, find_reward


@click.group(name="list")
def command() -> None:
    """Show what there is: `assay list rewards`, `assay list rewards NAME`."""


@command.command(name="rewards")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def rewards(name: str | None, as_json: bool) -> None:
    """Show every registered reward, or NAME with its rules, options and parts."""
    if name:
        spec = find_reward(name)
        if as_json:
            click.echo(orjson.dumps(_record(spec), option=orjson.OPT_INDENT_2))
        else:
            _show_one(spec)
        return
    specs = _loadable(REWARDS.names())
    if as_json:
        click.echo(orjson.dumps([_record(spec) for spec in specs], option=orjson.OPT_INDENT_2))
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


def _record(spec: RewardSpec) -> dict[str, object]:
    return {
        "name": spec.name,
        "version": spec.version,
        "summary": spec.summary,
        "needs": list(spec.required),
        "takes": list(spec.optional),
        "options": {
            option.name: None if option.default is option.empty else repr(option.default)
            for option in spec.options.values()
        },
        "parts": None if spec.parts is None else list(spec.parts),
        "documentation": inspect.getdoc(spec.function) or "",
    }


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
