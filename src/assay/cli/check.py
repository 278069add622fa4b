"""`assay check`: whether something of one's own keeps the promises that Assay relies on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click
import orjson
from rich.text import Text

from assay.cli.groups import NamingGroup
from assay.cli.options import json_option
from assay.cli.terminal import output, plain, table_of
from assay.envs.contract import ContractCheck, check_environment
from assay.errors import BadParameter, UsageError
from assay.schema.task import Task


@click.group(name="check", cls=NamingGroup)
def command() -> None:
    """Check an environment against its contract: `assay check env NAME`."""


@command.command(name="env")
@click.argument("name")
@click.option("--config", default="{}", help="The environment's options, as a JSON object.")
@click.option("--task", "tasks", multiple=True, help="Id of a task to play; two or more.")
@click.option("--action", "actions", multiple=True, help="What to do, if it lists nothing.")
@click.option("--steps", default=6, show_default=True, help="Length of the walks.")
@click.option("--seed", default=0, show_default=True, help="What the walks are drawn with.")
@json_option
def env(
    name: str,
    config: str,
    tasks: tuple[str, ...],
    actions: tuple[str, ...],
    steps: int,
    seed: int,
    as_json: bool,
) -> None:
    """Play short walks in the environment NAME, and say which promises it keeps.

    Exit code 1 when it breaks one.
    """
    findings = check_environment(
        name,
        config=_options(config),
        tasks=[Task(id=task) for task in tasks] or None,
        actions=actions,
        steps=steps,
        seed=seed,
    )
    if as_json:
        click.echo(orjson.dumps([asdict(finding) for finding in findings]))
    else:
        _show(findings)
    if not all(finding.passed for finding in findings):
        raise click.exceptions.Exit(1)


def _options(text: str) -> dict[str, Any]:
    try:
        options = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadParameter(f"--config {plain(text)!r} is not JSON: {error}") from error
    if not isinstance(options, dict):
        raise UsageError(f"--config {plain(text)!r} is not a JSON object such as {{}}")
    return options


def _show(findings: list[ContractCheck]) -> None:
    table = table_of("check", "", "because")
    for finding in findings:
        word = Text("kept", style="green") if finding.passed else Text("BROKEN", style="red")
        table.add_row(finding.check, word, Text(plain(finding.because, 300)))
    output().print(table)
